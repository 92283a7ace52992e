//! An overview for a person at a terminal: one recording on a page, many in a table.

use super::bounded::shown;
use super::model::{Counts, Numbers, Open, Overview, Peer, Requests, Unanswered};
use crate::plain::{counted, cut, plain};
use crate::session::diagram::line_text::width;
use anstyle::{AnsiColor, Style};
use rules::record::Totals;
use std::fmt::Write as _;
use verdict::text::paint;

/// How many rows of a table are shown; the rest are counted.
const ROWS: usize = 20;

/// How wide a name is at most.
const NAME: usize = 40;

/// One recording.
pub fn page(overview: &Overview, colour: bool) -> String {
    let paint = Paint(colour);
    let known = |what: Option<&str>| what.map_or_else(|| "unknown".to_owned(), plain);
    let mut out = format!("{}\n\n", paint.bold(&plain(&overview.file)));
    if overview.counts.messages == 0 && overview.rejected.is_none() {
        let _ = writeln!(out, "  {}\n", paint.error("no messages: nothing was judged", true));
    }
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<11} {value}");
    };
    row("format", overview.format);
    row("transport", &known(overview.transport));
    let hint = if overview.by_hint { " (only by a hint)" } else { "" };
    row("revision", &(known(overview.revision.as_deref()) + hint));
    row("client", &peers(&overview.clients));
    row("server", &peers(&overview.servers));
    if let Some(began) = &overview.began {
        row("began", began);
    }
    if let Some(duration) = overview.duration_ms {
        row("lasted", &span(duration));
    }
    let counts = &overview.counts;
    let sides = (counts.from_client, counts.from_server);
    row("messages", &format!("{}: {} by the client, {} by the server", counts.messages, sides.0, sides.1));
    row("", &kinds(counts));
    row("unanswered", &paint.warn(&unanswered(&overview.unanswered), overview.unanswered.total > 0));
    for (name, requests) in [("refused", &overview.refused), ("cancelled", &overview.cancelled)] {
        if requests.total > 0 {
            row(name, &paint.warn(&unanswered(requests), name == "refused"));
        }
    }
    row("findings", &findings(overview.findings.totals, &paint));
    if let Some(limit) = overview.limit {
        row("limit", limit);
    }
    if let Some(why) = &overview.rejected {
        let place = format!("{}: {} (line {}, {})", why.code, plain(&why.message), why.line, why.clause);
        row("rejected", &paint.error(&place, true));
    }
    for (title, rows) in [("tool", &overview.tools), ("request", &overview.methods)] {
        out.push_str(&table(title, rows, &paint));
    }
    if !overview.findings.worst.is_empty() {
        out.push_str("\nworst findings\n");
    }
    for worst in &overview.findings.worst {
        let word = match worst.verdict {
            "fail" => paint.error("error", true),
            "warn" => paint.warn("warning", true),
            _ => "note".to_owned(),
        };
        let more = if worst.times > 1 { format!(", {} times", worst.times) } else { String::new() };
        let _ = writeln!(out, "  {word}[{}] {}", worst.rule, cut(&worst.message, 200));
        let _ = writeln!(out, "    by the {}, line {}{more}", worst.party, worst.line);
    }
    out.push_str("\nnext\n");
    for command in &overview.next {
        let _ = writeln!(out, "  {}", plain(command));
    }
    out
}

/// Many recordings, a row each, and what they sum up to. They may be a part of `all`.
pub fn rows(overviews: &[Overview], all: usize, colour: bool) -> String {
    let paint = Paint(colour);
    let folder = common_folder(overviews);
    let heads = [
        "file",
        "format",
        "transport",
        "revision",
        "messages",
        "tool calls",
        "failed",
        "unanswered requests",
        "errors",
        "warnings",
        "lasted",
        "",
    ];
    let dash = || "-".to_owned();
    let calls = |of: &Overview| of.tools.iter().map(|tool| tool.numbers.calls).sum::<u64>();
    let failed = |of: &Overview| of.tools.iter().map(|tool| tool.numbers.failed).sum::<u64>();
    let row = |overview: &Overview| {
        [
            plain(&overview.file[folder.len()..]),
            overview.format.to_owned(),
            overview.transport.map_or_else(dash, ToOwned::to_owned),
            overview.revision.as_deref().map_or_else(dash, |revision| cut(revision, 12)),
            overview.counts.messages.to_string(),
            calls(overview).to_string(),
            failed(overview).to_string(),
            overview.unanswered.total.to_string(),
            overview.findings.totals.errors.to_string(),
            overview.findings.totals.warnings.to_string(),
            overview.duration_ms.map_or_else(dash, span),
            match &overview.rejected {
                Some(why) => format!("rejected: {}", why.code),
                None if overview.counts.messages == 0 => "no messages".to_owned(),
                None if overview.refused.total > 0 => format!("{} refused by HTTP", overview.refused.total),
                None => String::new(),
            },
        ]
    };
    let cells: Vec<[String; 12]> = overviews.iter().map(row).collect();
    let mut out = if folder.is_empty() { String::new() } else { format!("in {}\n\n", plain(folder)) };
    if !cells.is_empty() {
        out += &(columns(&heads.map(ToOwned::to_owned), &cells, 4..11, "", &paint) + "\n");
    }
    if overviews.len() < all {
        let _ = write!(out, "{} of ", overviews.len());
    }
    let sum = |each: &dyn Fn(&Overview) -> u64| overviews.iter().map(each).sum::<u64>();
    let _ = writeln!(
        out,
        "{}: {}, {} ({} failed), {} unanswered, {}, {}",
        counted(all, "recording"),
        counted(sum(&|one| one.counts.messages), "message"),
        counted(sum(&calls), "tool call"),
        sum(&failed),
        counted(sum(&|one| one.unanswered.total), "request"),
        counted(sum(&|one| one.findings.totals.errors), "error"),
        counted(sum(&|one| one.findings.totals.warnings), "warning"),
    );
    out
}

fn peers(peers: &[Peer]) -> String {
    let name = |peer: &Peer| match &peer.version {
        Some(version) => format!("{} {}", plain(&peer.name), plain(version)),
        None => plain(&peer.name),
    };
    if peers.is_empty() {
        "unknown".to_owned()
    } else {
        peers.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// How many messages of each kind, and what is odd about them.
fn kinds(counts: &Counts) -> String {
    let kinds = [
        (counts.requests, "request"),
        (counts.notifications, "notification"),
        (counts.results, "result"),
        (counts.errors, "error"),
    ];
    let mut text = kinds.map(|(count, name)| counted(count, name)).join(", ");
    if counts.orphans > 0 {
        let _ = write!(text, "; {} answer no request", counts.orphans);
    }
    if let Some(exchanges) = counts.exchanges {
        let _ = write!(text, "; {}", counted(exchanges, "HTTP exchange"));
    }
    text
}

fn unanswered(unanswered: &Unanswered) -> String {
    let name = |open: &Open| {
        let what = shown(open.tool.as_deref().unwrap_or(&open.method));
        let reason = open.reason.as_ref().map_or_else(String::new, |why| format!("{}, ", cut(why, NAME)));
        format!("{} ({reason}line {})", cut(what, NAME), open.line)
    };
    let named: Vec<String> = unanswered.first.iter().take(3).map(name).collect();
    let rest = unanswered.total - named.len() as u64;
    match (unanswered.total, rest) {
        (0, _) => "0".to_owned(),
        (total, 0) => format!("{total}: {}", named.join(", ")),
        (total, rest) => format!("{total}: {} and {rest} more", named.join(", ")),
    }
}

fn findings(found: Totals, paint: &Paint) -> String {
    format!(
        "{}, {}, {}",
        paint.error(&counted(found.errors, "error"), found.errors > 0),
        paint.warn(&counted(found.warnings, "warning"), found.warnings > 0),
        counted(found.notes, "note")
    )
}

fn table(title: &str, rows: &[Requests], paint: &Paint) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut by_calls: Vec<&Requests> = rows.iter().collect();
    by_calls.sort_by_key(|row| std::cmp::Reverse(row.numbers.calls));
    let row = |row: &&Requests| {
        let [calls, failed, open, p50, p95, longest] = row.numbers.cells();
        [cut(shown(&row.name), NAME), calls, failed, open, p50, p95, longest]
    };
    let cells: Vec<[String; 7]> = by_calls.iter().take(ROWS).map(row).collect();
    let heads = [title, "calls", "failed", "unanswered", "p50", "p95", "max"].map(ToOwned::to_owned);
    let mut out = format!("\n{}", columns(&heads, &cells, 1..7, "  ", paint));
    if rows.len() > ROWS {
        let _ = writeln!(out, "  and {} more (--output json has them all)", rows.len() - ROWS);
    }
    out
}

impl Numbers {
    /// The cells of a table.
    pub(crate) fn cells(&self) -> [String; 6] {
        let [calls, failed, open] = [self.calls, self.failed, self.unanswered].map(|count| count.to_string());
        let time = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), span);
        let [p50, p95, longest] = [self.p50_ms, self.p95_ms, self.max_ms].map(time);
        [calls, failed, open, p50, p95, longest]
    }
}

/// A table; the columns of `right` are numbers.
pub(crate) fn columns<const N: usize>(
    heads: &[String; N],
    rows: &[[String; N]],
    right: std::ops::Range<usize>,
    margin: &str,
    paint: &Paint,
) -> String {
    let widths: Vec<usize> = (0..N)
        .map(|at| rows.iter().chain([heads]).map(|row| width(&row[at])).max().unwrap_or_default())
        .collect();
    let line = |row: &[String; N]| {
        let cell = |(at, text): (usize, &String)| {
            let gap = " ".repeat(widths[at].saturating_sub(width(text)));
            if right.contains(&at) { gap + text } else { text.clone() + &gap }
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        format!("{margin}{}", cells.join("  ").trim_end())
    };
    let mut out = paint.bold(&line(heads)) + "\n";
    rows.iter().for_each(|row| out.push_str(&(line(row) + "\n")));
    out
}

/// How long something took, to three digits or to the second.
pub(crate) fn span(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60_000..3_600_000 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02} h", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

/// The folder that all of several files are in, with its closing slash.
fn common_folder(overviews: &[Overview]) -> &str {
    let [first, rest @ ..] = overviews else { return "" };
    let shared = |common: &str, file: &str| {
        let same = common.bytes().zip(file.bytes()).take_while(|(one, other)| one == other).count();
        common.as_bytes()[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)
    };
    let start = first.file.rfind('/').map_or(0, |at| at + 1);
    let end = rest.iter().fold(start, |end, next| shared(&first.file[..end], &next.file));
    &first.file[..end]
}

/// Colours, where they are wanted.
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    fn style(&self, text: &str, style: Style) -> String {
        paint(text, style, self.0)
    }

    fn bold(&self, text: &str) -> String {
        self.style(text, Style::new().bold())
    }

    fn error(&self, text: &str, there: bool) -> String {
        if there { self.style(text, AnsiColor::Red.on_default().bold()) } else { text.to_owned() }
    }

    fn warn(&self, text: &str, there: bool) -> String {
        if there { self.style(text, AnsiColor::Yellow.on_default()) } else { text.to_owned() }
    }
}
