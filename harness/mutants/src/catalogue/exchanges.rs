//! Faults about the order of a HAR's exchanges.

use super::edit::{self, set};
use super::har::exchanges;
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "exchanges/file-order",
        &["HAR-ORDER"],
        "leaves exchanges in file order",
        exchanges(|entry| entry.member("startedDateTime").map(|_| set(entry, "startedDateTime", ""))),
    ),
    mutant(
        "exchanges/by-end",
        &["HAR-ORDER"],
        "puts exchanges in the order in which they ended",
        listed(|entry| {
            let start = start(entry)?;
            let took = entry
                .member("time")
                .and_then(|time| time.as_number()?.parse::<f64>().ok())
                .unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a recording fit")]
            Some(start + (took * 1000.0) as i64)
        }),
    ),
    mutant(
        "exchanges/ties-turned",
        &["HAR-ORDER"],
        "puts the later of two exchanges with one start first",
        Mutation::Exchanges(|entries| {
            entries.reverse();
            let key = |entry: &String| Json::parse(entry).ok().and_then(start);
            entries.sort_by_key(key);
        }),
    ),
    mutant(
        "exchanges/texts-compared",
        &["HAR-ORDER"],
        "compares the starts of exchanges as texts",
        Mutation::Exchanges(|entries| {
            let key = |entry: &String| {
                Json::parse(entry).ok().and_then(|entry| edit::content(entry.member("startedDateTime")?))
            };
            entries.sort_by_key(key);
        }),
    ),
    mutant(
        "exchanges/milliseconds",
        &["HAR-ORDER"],
        "drops what is finer than a millisecond in a start",
        exchanges(|entry| {
            let time = edit::content(entry.member("startedDateTime")?)?;
            let (seconds, rest) = time.split_once('.')?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let zone = &rest[digits.len()..];
            (digits.len() > 3)
                .then(|| set(entry, "startedDateTime", &format!("\"{seconds}.{}{zone}\"", &digits[..3])))
        }),
    ),
    mutant(
        "exchanges/zones-dropped",
        &["HAR-ORDER"],
        "does not look at the zone of a start",
        exchanges(|entry| {
            let time = edit::content(entry.member("startedDateTime")?)?;
            let zone = time.rfind(['+', '-']).filter(|&at| at > 10)?;
            Some(set(entry, "startedDateTime", &format!("\"{}Z\"", &time[..zone])))
        }),
    ),
    mutant(
        "exchanges/answers-first",
        &["HAR-ORDER"],
        "gives the messages of an answer before the one of the POST",
        Mutation::Found(|format, found| {
            if format == "har" {
                found.entries.sort_by_key(|seen| (seen.exchange, seen.side == Some(Side::Client)));
            }
        }),
    ),
    mutant(
        "exchanges/posts-first",
        &["HAR-ORDER"],
        "gives the messages of all POSTs before all answers",
        Mutation::Found(|format, found| {
            if format == "har" {
                found.entries.sort_by_key(|seen| seen.side == Some(Side::Server));
            }
        }),
    ),
];

/// A reader that puts exchanges in the order of this number.
const fn listed(key: fn(Json<'_>) -> Option<i64>) -> Mutation {
    Mutation::ExchangesBy(key)
}

/// The file with its exchanges in another order, which their starts then do not change.
pub(super) fn reordered(format: &str, text: &str, order: impl FnOnce(&mut Vec<String>)) -> Option<String> {
    if format != "har" {
        return None;
    }
    let mut order = Some(order);
    edit::text(text, &["log", "entries"], &mut |list| {
        let mut entries: Vec<String> = list.items().map(|entry| entry.text().to_owned()).collect();
        order.take()?(&mut entries);
        let bare = |entry: &String| {
            Json::parse(entry).map(|entry| set(entry, "startedDateTime", "")).unwrap_or_default()
        };
        let entries: Vec<String> = entries.iter().map(bare).collect();
        (list.kind() == JsonKind::Array).then(|| format!("[{}]", entries.join(",")))
    })
}

/// When an exchange started, in microseconds of its day.
fn start(entry: Json<'_>) -> Option<i64> {
    let time = edit::content(entry.member("startedDateTime")?)?;
    let clock = time.split_once('T')?.1;
    let number = |range: std::ops::Range<usize>| clock.get(range)?.parse::<i64>().ok();
    let seconds = number(0..2)? * 3600 + number(3..5)? * 60 + number(6..8)?;
    let fraction: String =
        clock.get(9..).unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
    let fraction = format!("{fraction:0<6}").get(..6)?.parse::<i64>().ok()?;
    Some(seconds * 1_000_000 + fraction)
}
