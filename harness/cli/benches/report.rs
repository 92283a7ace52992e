//! How fast a record becomes a site, and in how much memory: `cargo bench --bench report`.
//!
//! In one run, over the same record of 10,000 verdicts with 200 failures: reading and writing its JSON, which is the
//! least that any report costs; the one page of `run --report`; and `report` from the file to the whole site. Then the
//! peak memory of a process that does nothing but that. The issue asks for less than a second and 128 MiB.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made has nothing to say"
)]

use reports::html::{HtmlRenderer, Run};
use std::hint::black_box;
use std::path::Path;
use verdict::answer::Level;
use verdict::record::{BothSides, CaseNote, CaseResult, Implementation, Place, Record, Suite};
use verdict::verdict::{Judgement, Verdict};

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "other measurements need more of it")]
mod support;

const ROUNDS: usize = 7;
const VERDICTS: usize = 10_000;
const FORMATS: [&str; 5] = ["jsonrpc", "streamable-http", "http-sse", "mcp-replay", "har"];
/// One reading in this many fails: 200 in all.
const APART: usize = 50;

fn main() {
    if let Some(task) = support::child_task() {
        let text = std::fs::read_to_string(&task[1]).unwrap();
        black_box(serde_json::from_str::<Record>(&text).unwrap());
        return println!("{}", support::status());
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, site) = (folder.path().join("results.json"), folder.path().join("site"));
    let record = record();
    let text = reports::json::render(&record).unwrap();
    std::fs::write(&file, &text).unwrap();
    println!(
        "{} verdicts, {} of them failures, in {:.1} MB of JSON; median of {ROUNDS}\n",
        record.planned,
        record.totals[&Verdict::Fail],
        text.len() as f64 / 1e6
    );
    let rerun =
        |_: &Record, line: &CaseResult| format!("mcp-concord run --filter {}/{}", line.case, line.format);
    let renderer = HtmlRenderer::new("0").unwrap();
    let run = Run { record: &record, runs: &[&record], rerun: &rerun };
    timed("results.json written", || reports::json::render(&record).unwrap().len() as u64);
    timed("results.json read", || serde_json::from_str::<Record>(&text).unwrap().results.len() as u64);
    timed("the page of one run", || renderer.run(&run, Default::default()).unwrap().len() as u64);
    let [file, site] = [&file, &site].map(|path| path.display().to_string());
    timed("report: the whole site", || support::ran(&["--quiet", "report", &file, "--out", &site]));
    println!("\nthe site has {:.1} MB", walk(Path::new(&site)) as f64 / 1e6);
    println!(
        "peak memory: {:.1} MiB; of a process that only reads the JSON: {:.1} MiB",
        support::peak_of_program(&["--quiet", "report", &file, "--out", &site]),
        support::peak_of_child(&["read", &file])
    );
}

/// A record as large as a suite of years from now.
fn record() -> Record {
    let mut cases = std::collections::BTreeMap::new();
    let mut lines = Vec::new();
    for number in 0..VERDICTS / FORMATS.len() {
        let case = format!("topic-{:02}/case-{number:05}", number / 50);
        let mut note =
            CaseNote::new(&format!("Case {number} keeps what it shows"), "Look here when it fails.");
        let event = |id: usize, n: &str| {
            format!("{{\"kind\":\"tool_call\",\"id\":\"{id}\",\"tool\":\"t\",\"arguments\":{{\"n\":{n}}}}}\n")
        };
        let whole = |n: &str| (0..12).map(|id| event(id, if id == 7 { n } else { "1" })).collect::<String>();
        for (at, format) in FORMATS.iter().enumerate() {
            let short = (number * FORMATS.len() + at).is_multiple_of(APART);
            let verdict = if short { Verdict::Fail } else { Verdict::Pass };
            let clauses = ["EQ-ARGS".to_owned(), "ID-NUMBER".to_owned()];
            let mut line = CaseResult::new(&case, format, &clauses, Judgement::plain(verdict, None));
            line.file = Some(format!("{case}/{format}.json"));
            if short {
                line.place = Some(Place { line: 8, pointer: "/params".into() });
                line.whole = Some(BothSides {
                    expected: whole("9007199254740993"),
                    actual: whole("9007199254740992"),
                });
                note.transcripts =
                    FORMATS.map(|format| (format.to_owned(), whole("9007199254740993"))).into();
            }
            lines.push(line);
        }
        cases.insert(case, note);
    }
    let suite = Suite::new("1", &format!("sha256:{:064}", 0));
    let implementation = Implementation::new("made-up", "1", Level::Events);
    Record::new(suite, implementation, cases, lines)
}

fn timed(what: &str, mut run: impl FnMut() -> u64) {
    let [time] = support::in_turns(ROUNDS, [&mut run]);
    println!("{what:<26}{:>8.1} ms", time * 1e3);
}

fn walk(site: &Path) -> u64 {
    std::fs::read_dir(site).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}
