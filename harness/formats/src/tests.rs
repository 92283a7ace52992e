//! What holds for every format, and tables of what becomes of texts.
//!
//! A table is a file of texts, each under a line that begins with `===` and says what becomes of it. A text ends ahead of the line
//! end before the next such line. `␍`, `␀` and `␛` stand for a carriage return, a NUL and a byte order mark.

use crate::format::Tolerance;
use crate::small::{lines, means, read, rejects, trace, written};
use crate::{FORMATS, Format, Input, ReadError, ReadOptions, Step, detect, find, walk, why_undetected};
use proptest::prelude::*;
use transcript::message::Id;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side};

/// The blocks of a table: what becomes of a text, and the text.
pub(crate) fn blocks(table: &str) -> impl Iterator<Item = (&str, String)> {
    let table = table.strip_prefix("=== ").and_then(|table| table.strip_suffix('\n')).unwrap();
    table.split("\n=== ").map(|block| {
        let (head, text) = block.split_once('\n').unwrap();
        (head, text.replace('␍', "\r").replace('␀', "\0").replace('␛', "\u{feff}"))
    })
}

/// Holds each block of a table to what becomes of its text.
#[track_caller]
pub(crate) fn holds(table: &str, outcome: impl Fn(&str, &str) -> String) {
    let found = blocks(table).map(|(head, text)| (head, outcome(head, &text), text));
    let wrong: Vec<_> = found
        .filter(|(head, found, _)| head != found)
        .map(|(head, found, text)| format!("=== {found}\ninstead of {head}\n{text}\n"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_refused_is_refused_at_its_place() {
    holds(include_str!("tests/rejections.txt"), |head, text| {
        let (format, _) = head.split_once(' ').unwrap();
        let (code, clause, line, column, pointer) = rejects(format, text);
        let place = format!("{line}:{column} {pointer}");
        let how = match read(format, text, false) {
            Err(ReadError::Rejected(rejection)) => rejection.message,
            other => panic!("{other:?}"),
        };
        let keep = how.find("keep the lines of").map_or(String::new(), |at| format!(", {}", &how[at..]));
        let noise = match read(format, text, true) {
            Ok(meaning) => format!(", noise {}", meaning.totals.noise),
            Err(_) => String::new(),
        };
        format!("{format} {} {clause} {}{noise}{keep}", code.name(), place.trim_end())
    });
}

#[test]
fn what_is_read_has_its_senders_and_times() {
    holds(include_str!("tests/readings.txt"), |head, text| {
        let (how, _) = head.split_once(':').unwrap();
        let (name, lenient) = how.strip_suffix(" lenient").map_or((how, false), |name| (name, true));
        let options = if lenient { ReadOptions::LENIENT } else { ReadOptions::default() };
        let (mut found, mut bytes) = (format!("{how}:"), text.as_bytes());
        let mut input = Input::new(&mut bytes).unwrap();
        let read = walk(find(name).unwrap(), &mut input, options, &mut |step| {
            found += &match step {
                Step::Event(entry, event) => {
                    let (message, at) = (entry.message().unwrap().text(), entry.location.offset as usize);
                    assert!(!text.contains(message) || text[at..].starts_with(message), "{at}: {message}");
                    format!(" {}", brief(entry, event.answers))
                }
                Step::Context(entry) => format!(" {}", context(&entry.content)),
            };
            Ok(())
        });
        let totals = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        found + if totals.authorization_discovery.is_some() { " challenge" } else { "" }
    });
}

/// A message in short: its sender, `?` and the id of a request, `!`, the id of a response and the event that it answers, or `.`; when
/// it was sent; and its pointer.
fn brief(entry: &Entry<'_>, answers: Option<u64>) -> String {
    let message = entry.message().unwrap();
    let sender = entry.side.map_or("", |side| if side == Side::Client { "c" } else { "s" });
    let id = match message.id() {
        Id::Text(text) => text.raw(),
        Id::Number(number) => number,
        _ => "",
    };
    let what = match (message.method(), message.id()) {
        (Some(_), Id::Missing) => ".".to_owned(),
        (Some(_), _) => format!("?{id}"),
        (None, _) => format!("!{id}>{}", answers.map_or("-".to_owned(), |index| index.to_string())),
    };
    let time = entry.time.map_or(String::new(), |time| format!("@{time}"));
    format!("{sender}{what}{time}{}", entry.location.pointer())
}

fn context(content: &Content<'_>) -> &'static str {
    match content {
        Content::Started => "started",
        Content::Ended(_) => "ended",
        Content::Skipped(_) => "_",
        Content::Noise(_) => "noise",
        Content::Missing(_) => "missing",
        Content::Exchange(_) => "exchange",
        Content::Event => "event",
        Content::Empty => "nothing",
        Content::ExchangeEnd => "over",
        Content::TraceStart(_) => "start",
        Content::TraceEnd(_) => "end",
        _ => "other",
    }
}

/// The texts that are read without leniency, by their formats.
fn readings() -> impl Iterator<Item = (&'static Format, String)> {
    blocks(include_str!("tests/readings.txt"))
        .filter_map(|(head, text)| Some((find(head.split_once(':').unwrap().0)?, text)))
}

#[test]
fn what_is_cut_off_is_refused_as_that() {
    for (format, text) in readings().filter(|(format, text)| text.len() < 600 && !format.messages.is_empty())
    {
        let whole = text.trim_end();
        // Lines may end behind any of them.
        let last = if format.is_lines() { whole.rfind('\n').map_or(0, |end| end + 1) + 1 } else { 0 };
        for cut in (last..whole.len()).filter(|&cut| text.is_char_boundary(cut)) {
            assert_eq!(
                rejects(format.name, &text[..cut]).0,
                Code::Truncated,
                "{}: {}",
                format.name,
                &text[..cut]
            );
        }
    }
}

#[test]
fn a_file_is_told_from_its_beginning() {
    holds(include_str!("tests/detections.txt"), |_, text| {
        // However the bytes come.
        let found = [1, 2, 3, 100, 1 << 20].map(|size| {
            let mut parts: std::collections::VecDeque<u8> =
                text.as_bytes().chunks(size).flat_map(<[u8]>::to_vec).collect();
            detect(&mut Input::new(&mut parts).unwrap()).unwrap().map(|format| format.name)
        });
        assert!(found.iter().all(|name| *name == found[0]), "{found:?}");
        found[0].map_or_else(|| format!("none: {}", why_undetected(text)), str::to_owned)
    });
}

#[test]
fn a_wrong_type_is_told_at_its_place_and_whether_a_clause_leaves_it_open() {
    holds(include_str!("tests/wrong_types.txt"), |_, text| {
        let (mut bytes, mut found) = (text.as_bytes(), Vec::new());
        let mut input = Input::new(&mut bytes).unwrap();
        let read = find("streamable-http").unwrap().read;
        read(&mut input, ReadOptions::new(Tolerance::Faults), &mut |entry| {
            if let Content::WrongType(wrong) = &entry.content {
                let open = if wrong.open { "may" } else { "must" };
                found.push(format!("{} {open}: {}", entry.location.pointer(), wrong.what));
            }
            Ok(())
        })
        .unwrap();
        if found.is_empty() { "nothing".to_owned() } else { found.join("; ") }
    });
}

#[test]
fn sessions_are_spelled_as_their_recorders_do() {
    for (head, text) in blocks(include_str!("tests/writings.txt")) {
        let (from, to) = head.split_once(" as ").unwrap();
        let to = to.split(' ').next().unwrap();
        let (text, expected) = text.split_once("\n---\n").unwrap();
        let found = written(from, text, to);
        let expected = expected.replace("[VERSION]", env!("CARGO_PKG_VERSION"));
        assert_eq!(found, expected, "=== {head}\n{text}\n---\n{found}");
        let meaning = read(to, &found, false).unwrap();
        assert_eq!(meaning.text, means(from, text), "{head}");
        // What a challenge shows stands behind the format.
        let shown = meaning.totals.authorization_discovery.map_or(String::new(), |it| {
            let parts = [(it.resource_metadata_visible, " metadata"), (it.scope_challenge_visible, " scope")];
            parts.iter().filter(|(visible, _)| *visible).map(|(_, part)| *part).collect()
        });
        assert_eq!(head, format!("{from} as {to}{shown}"));
        assert!(to != "har" || written(to, &found, to) == found, "{head} is written otherwise again");
    }
}

/// The formats that a session is written in whose sides are known, and that read what they write.
fn directed() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|format| format.is_written() && format.carries.direction)
}

#[test]
fn an_empty_session_is_one_in_every_format() {
    for format in crate::written() {
        assert_eq!(means(format.name, &written("jsonrpc", "", format.name)), means("jsonrpc", ""));
    }
}

proptest! {
    #[test]
    fn lines_mean_the_same_in_every_format(text in lines()) {
        for format in directed() {
            let found = means(format.name, &written("jsonrpc", &text, format.name));
            prop_assert_eq!(found, means("jsonrpc", &text), "{}", format.name);
        }
    }

    #[test]
    fn a_trace_means_the_same_in_every_format_and_stays_as_it_is(text in trace()) {
        for format in directed() {
            let once = written("mcp-replay", &text, format.name);
            prop_assert_eq!(means(format.name, &once), means("mcp-replay", &text), "{}", format.name);
            let twice = written(format.name, &once, format.name);
            match format.carries.exchanges {
                // When an exchange that was made up began is made up again; its messages are not.
                true => prop_assert_eq!(means(format.name, &twice), means(format.name, &once)),
                false => prop_assert_eq!(twice, once, "{}", format.name),
            }
        }
    }
}
