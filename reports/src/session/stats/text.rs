//! The numbers for a person at a terminal: a table for each question.

use super::collect::{Stats, StatsRow};
use crate::plain::{cut, plain};
use crate::session::overview::text::{Paint, columns};
use std::fmt::Write as _;

/// How many rows of a table are shown; the rest are counted.
const ROWS: usize = 20;

/// How wide a name is at most.
const NAME: usize = 60;

/// All tables that have a row.
#[must_use]
pub fn text(stats: &Stats, colour: bool) -> String {
    let paint = Paint(colour);
    let mut out = stats.total() + "\n";
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
