//! Calls, failures and times over many recordings: by tool, by server, by version of a server, and by method.
//!
//! `stats.schema.json` beside this folder says what the JSON holds. Memory: of each table 1,000 rows; what has another name
//! shares the row `(others)`; and for each row at most 900 counters for each power of ten of milliseconds. It does not grow with
//! the number of recordings, nor with their size.

#[cfg(test)]
mod tests;

use super::overview::text::{Paint, columns, span};
use super::overview::{Collector, Durations, MOST, Numbers, OTHERS, Peer, Requests, Unread, shown};
use crate::plain::{counted, cut, plain};
use formats::{Format, Input, ReadError, ReadOptions, Tolerance};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

/// The numbers as JSON, and a newline.
///
/// # Errors
/// Where memory ends.
pub fn json(stats: &Stats) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(stats)? + "\n")
}

/// How many rows of a table are shown; the rest are counted.
const ROWS: usize = 20;

/// How wide a name is at most.
const NAME: usize = 60;

/// All tables that have a row.
pub fn text(stats: &Stats, colour: bool) -> String {
    let paint = Paint(colour);
    let mut out = stats.total() + "\n";
    if let Some(Slowest { tool, ms, recording, line }) = &stats.slowest {
        let (tool, recording) = (cut(&plain(shown(tool)), NAME), plain(recording));
        let _ = writeln!(out, "slowest call: {tool}, {}, {recording}:{line}", span(*ms));
    }
    for (title, rows) in [
        ("tool", &stats.tools),
        ("server", &stats.servers),
        ("version", &stats.versions),
        ("request", &stats.methods),
    ] {
        if !rows.is_empty() {
            let _ = write!(out, "\n{}", table(title, rows, &paint));
        }
    }
    out
}

fn table(title: &str, rows: &[StatsRow], paint: &Paint) -> String {
    let cells = |row: &StatsRow| {
        let [calls, failed, open, p50, p95, longest] = row.numbers.cells();
        let (name, recordings) = (cut(&plain(&row.name()), NAME), row.recordings.to_string());
        [name, recordings, calls, failed, open, p50, p95, longest]
    };
    let shown: Vec<[String; 8]> = rows.iter().take(ROWS).map(cells).collect();
    let heads = [title, "recordings", "calls", "failed", "unanswered", "p50", "p95", "max"];
    let mut out = columns(&heads.map(ToOwned::to_owned), &shown, 1..8, "", paint);
    if rows.len() > ROWS {
        let _ = writeln!(out, "and {} more (--output json has them all)", rows.len() - ROWS);
    }
    out
}

/// The names of the columns.
const COLUMNS: &str =
    "tool,server,version,recordings,calls,failed,unanswered,p50_ms,p95_ms,max_ms,refused,cancelled\r\n";

/// Tool calls by tool, server and version. What is unknown is empty.
pub fn csv(stats: &Stats) -> String {
    let mut out = COLUMNS.to_owned();
    for row in &stats.calls {
        let known = |name: &Option<Option<String>>| name.clone().flatten().unwrap_or_default();
        let tool = row.key.tool.clone().unwrap_or_default();
        for name in [tool, known(&row.key.server), known(&row.key.version)] {
            out.push_str(&field(&name));
            out.push(',');
        }
        let numbers = &row.numbers;
        let _ = write!(out, "{},{},{},{}", row.recordings, numbers.calls, numbers.failed, numbers.unanswered);
        for time in [numbers.p50_ms, numbers.p95_ms, numbers.max_ms] {
            let _ = write!(out, ",{}", time.map_or_else(String::new, |time| time.to_string()));
        }
        let _ = write!(out, ",{},{}\r\n", numbers.refused, numbers.cancelled);
    }
    out
}

/// A field in quotes where it has to be, without what a terminal or a log might obey. A spreadsheet would take a text that begins like a formula for one; such a text gets an
/// apostrophe before it.
fn field(text: &str) -> String {
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let text = format!("{}{}", if formula { "'" } else { "" }, plain(text));
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// The row of recordings in which several servers answer: nothing shows whose call is whose.
const SEVERAL: &str = "(several servers)";

/// Collects over recordings.
#[derive(Debug, Default)]
pub struct Collected {
    recordings: u64,
    rejected: u64,
    empty: u64,
    total: Sum,
    slowest: Option<Slowest>,
    tools: Table,
    servers: Table,
    versions: Table,
    calls: Table,
    methods: Table,
}

/// What recordings sum up to. `stats.schema.json` beside this folder says what each member of its JSON is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// How many recordings there are.
    pub recordings: u64,
    /// How many of them `read` rejects. They are counted as far as they can be read.
    pub(crate) rejected: u64,
    /// How many of them hold no message.
    pub(crate) empty: u64,
    /// All tool calls; then these by tool, by server, by server and its version, and by all three.
    pub(crate) total: Numbers,
    /// The call that took longest; none where no recording holds times.
    pub(crate) slowest: Option<Slowest>,
    pub(crate) tools: Vec<StatsRow>,
    pub(crate) servers: Vec<StatsRow>,
    pub(crate) versions: Vec<StatsRow>,
    pub(crate) calls: Vec<StatsRow>,
    /// Requests by method.
    pub(crate) methods: Vec<StatsRow>,
}

/// The tool call that took longest, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Slowest {
    pub(crate) tool: String,
    pub(crate) ms: u64,
    pub(crate) recording: String,
    pub(crate) line: u64,
}

/// Requests that have something in common, and how many recordings have one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct StatsRow {
    #[serde(flatten)]
    pub(crate) key: StatsKey,
    pub(crate) recordings: u64,
    #[serde(flatten)]
    pub(crate) numbers: Numbers,
}

/// The key of a row in its table. What a table does not ask is left out, and null is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct StatsKey {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<Option<String>>,
}

#[derive(Debug, Default)]
struct Table(BTreeMap<StatsKey, Sum>);

#[derive(Debug, Default)]
struct Sum {
    numbers: Numbers,
    durations: Durations,
    recordings: u64,
    /// The recording that was added last, so that each counts once.
    last: u64,
}

impl Collected {
    /// Adds a recording of this name; why `read` rejects it, where it does.
    ///
    /// # Errors
    /// Where the input cannot be read.
    pub fn add(
        &mut self,
        recording: &str,
        format: &'static Format,
        input: &mut Input<'_>,
    ) -> io::Result<Option<Unread>> {
        let mut collector = Collector::new(format);
        let read = format.entries(input, ReadOptions::new(Tolerance::Faults), &mut |entry| {
            collector.take(&entry);
            Ok(())
        });
        let stopped = match read {
            Ok(()) | Err(ReadError::Stopped) => None,
            Err(ReadError::Io(error)) => return Err(error),
            Err(ReadError::Rejected(rejection)) => Some(Unread::new(&rejection)),
        };
        collector.settle();
        let unread = collector.unread.or(stopped);
        self.recordings += 1;
        self.rejected += u64::from(unread.is_some());
        self.empty += u64::from(collector.counts.messages == 0 && unread.is_none());
        let (server, version) = match &collector.servers[..] {
            [] => (None, None),
            [Peer { name, version }] => (Some(name.clone()), version.clone()),
            [first, rest @ ..] if rest.iter().all(|peer| peer.name == first.name) => {
                (Some(first.name.clone()), Some("(several versions)".to_owned()))
            }
            _ => (Some(SEVERAL.to_owned()), None),
        };
        if let Some((ms, tool, line)) = collector.slowest
            && self.slowest.as_ref().is_none_or(|slowest| ms > slowest.ms)
        {
            let tool = collector.tools.rows[tool].0.name.clone();
            self.slowest = Some(Slowest { tool, ms, recording: recording.to_owned(), line });
        }
        let number = self.recordings;
        let by_server = StatsKey { server: Some(server), ..StatsKey::default() };
        let by_version = StatsKey { version: Some(version), ..by_server.clone() };
        for (row, durations) in &collector.tools.rows {
            let tool = Some(row.name.clone());
            self.total.add(row, durations, number);
            for (table, key) in [
                (&mut self.tools, StatsKey { tool: tool.clone(), ..StatsKey::default() }),
                (&mut self.servers, by_server.clone()),
                (&mut self.versions, by_version.clone()),
                (&mut self.calls, StatsKey { tool, ..by_version.clone() }),
            ] {
                table.add(key, row, durations, number);
            }
        }
        for (row, durations) in &collector.methods.rows {
            let key = StatsKey { method: Some(row.name.clone()), ..StatsKey::default() };
            self.methods.add(key, row, durations, number);
        }
        Ok(unread)
    }

    /// What they sum up to; the rows with most calls first.
    pub fn finish(self) -> Stats {
        Stats {
            recordings: self.recordings,
            rejected: self.rejected,
            empty: self.empty,
            total: self.total.numbers(),
            slowest: self.slowest,
            tools: self.tools.finish(),
            servers: self.servers.finish(),
            versions: self.versions.finish(),
            calls: self.calls.finish(),
            methods: self.methods.finish(),
        }
    }
}

impl Table {
    fn add(&mut self, key: StatsKey, row: &Requests, durations: &Durations, recording: u64) {
        let others = |key: StatsKey| StatsKey {
            tool: key.tool.map(|_| OTHERS.to_owned()),
            method: key.method.map(|_| OTHERS.to_owned()),
            server: key.server.map(|_| Some(OTHERS.to_owned())),
            version: key.version.map(|_| None),
        };
        let key = if self.0.len() >= MOST && !self.0.contains_key(&key) { others(key) } else { key };
        self.0.entry(key).or_default().add(row, durations, recording);
    }

    fn finish(self) -> Vec<StatsRow> {
        let row = |(key, sum): (StatsKey, Sum)| {
            let numbers = sum.numbers();
            StatsRow { key, recordings: sum.recordings, numbers }
        };
        let mut rows: Vec<StatsRow> = self.0.into_iter().map(row).collect();
        // Stable: rows with as many calls stay in the order of their names.
        rows.sort_by_key(|row| std::cmp::Reverse(row.numbers.calls));
        rows
    }
}

impl Sum {
    fn add(&mut self, row: &Requests, durations: &Durations, recording: u64) {
        self.numbers.calls += row.numbers.calls;
        self.numbers.failed += row.numbers.failed;
        self.numbers.refused += row.numbers.refused;
        self.numbers.unanswered += row.numbers.unanswered;
        self.numbers.cancelled += row.numbers.cancelled;
        self.durations.merge(durations);
        self.recordings += u64::from(self.last != recording);
        self.last = recording;
    }

    fn numbers(&self) -> Numbers {
        self.numbers.with(&self.durations)
    }
}

impl Stats {
    /// All of it in a line.
    pub(crate) fn total(&self) -> String {
        let odd = [(self.rejected, "rejected"), (self.empty, "without messages")];
        let odd =
            odd.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let rejected = match odd.collect::<Vec<_>>().join(", ") {
            odd if odd.is_empty() => odd,
            odd => format!(" ({odd})"),
        };
        let recordings = counted(self.recordings, "recording");
        let Numbers { calls, failed, refused, unanswered, cancelled, .. } = self.total;
        let calls = counted(calls, "tool call");
        let some = |count: u64, text: String| if count > 0 { text } else { String::new() };
        let refused = some(refused, format!(" ({refused} refused by HTTP)"));
        let cancelled = some(cancelled, format!(", {cancelled} cancelled"));
        format!(
            "{recordings}{rejected}: {calls}, {failed} failed{refused}, {unanswered} unanswered{cancelled}"
        )
    }
}

impl StatsRow {
    /// What the row is of, for a person: a tool, a method, or a server with its version.
    pub(crate) fn name(&self) -> String {
        let StatsKey { tool, method, server, version } = &self.key;
        let server = server.as_ref().map(|server| server.as_deref().unwrap_or("unknown"));
        let version = version.as_ref().and_then(Option::as_deref);
        let parts = [tool.as_deref().map(shown), method.as_deref().map(shown), server.map(shown), version];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ").trim_end().to_owned()
    }
}
