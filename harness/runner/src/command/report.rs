//! `report`: records of runs as pages and files that people and programs read.
//!
//! Knows: which files stand where. Refuses to know: what is in them; `reports` renders, and nothing is judged again.

use super::under_test::quoted;
use super::{Around, Failure};
use crate::exit;
use judge::change::{Change, Sort, changes};
use judge::merge::merge;
use judge::record::{Line, Record, SCHEMA};
use judge::times::Times;
use reports::{badge, html, json, junit, markdown};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// How long the readings took, beside the record of a folder.
const TIMES: &str = "times.json";

/// Renders the records of runs: the parts of a sharded run are put together, several implementations line up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord report results.json --out site                  a page, JUnit, Markdown and a badge
  mcp-concord report part-*.json --out site                   the parts of one sharded run, put together
  mcp-concord report a/results.json b/results.json --out site implementations side by side
  mcp-concord report results.json --compare old.json          what changed; a new failure ends with exit code 1

Into the folder go index.html, results.json, times.json, junit.xml, summary.md and badge.json; with several implementations a
folder of these for each.

Exit code 0: rendered; 1: with --compare, something fell short that did not before; 2: a record cannot be used.")]
pub struct Args {
    /// Records that `run --results` or `run --report` wrote.
    #[arg(required = true, value_name = "RESULTS")]
    records: Vec<PathBuf>,
    /// Where to write; it is made where there is none.
    #[arg(long, value_name = "DIR", required_unless_present = "compare")]
    out: Option<PathBuf>,
    /// The record of an earlier run of the same implementation, to tell what changed.
    #[arg(long, value_name = "OLD")]
    compare: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Where a record cannot be read or put together with the others, or a file cannot be written.
pub fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let mut found: BTreeMap<String, Vec<(String, Record)>> = BTreeMap::new();
    for path in &args.records {
        let record = read(path)?;
        let name = format!("{} {}", record.implementation.name, record.implementation.version);
        found.entry(name).or_default().push((path.display().to_string(), record));
    }
    let mut records = Vec::new();
    for parts in found.into_values() {
        let merged = merge(parts).map_err(|torn| Failure::Unusable(torn.to_string()))?;
        records.extend(merged);
    }
    let changed = match &args.compare {
        None => Vec::new(),
        Some(old) => compared(&read(old)?, &records)?,
    };
    if let Some(out) = &args.out {
        write(out, &records, &changed, &alone)?;
        around.voice.note(&format!("written to {}", out.join("index.html").display()));
    }
    if args.compare.is_some() {
        io::stdout().lock().write_all(markdown::changes(&changed).as_bytes())?;
    }
    let regressed = changed.iter().any(|change| change.sort == Sort::Regression);
    Ok(if regressed { exit::FELL_SHORT } else { exit::WELL })
}

/// Writes everything that there is for these records into `folder`.
///
/// # Errors
/// Where something cannot be rendered or written.
pub(super) fn write(
    folder: &Path,
    records: &[Record],
    changes: &[Change],
    alone: &dyn Fn(&Record, &Line) -> String,
) -> Result<(), Failure> {
    let page = html::render(&html::Content { records, changes, alone }).map_err(unrendered)?;
    put(folder, "index.html", &page)?;
    let several = records.len() > 1;
    for record in records {
        let folder = if several { folder.join(safe(record)) } else { folder.to_owned() };
        if several {
            let one = std::slice::from_ref(record);
            let page =
                html::render(&html::Content { records: one, changes: &[], alone }).map_err(unrendered)?;
            put(&folder, "index.html", &page)?;
        }
        put(&folder, "results.json", &json::render(record).map_err(unrendered)?)?;
        let times = Times::of(record);
        if !times.times.is_empty() {
            put(&folder, TIMES, &json::times(&times).map_err(unrendered)?)?;
        }
        put(&folder, "junit.xml", &junit::render(record).map_err(unrendered)?)?;
        put(&folder, "summary.md", &markdown::render(record))?;
        put(&folder, "badge.json", &badge::render(record))?;
    }
    Ok(())
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| Failure::Unusable(format!("{} cannot be written: {error}", path.display())))
}

fn unrendered(error: impl Display) -> Failure {
    Failure::Unusable(format!("the report cannot be rendered: {error}"))
}

/// A folder's name for an implementation, whatever it calls itself.
fn safe(record: &Record) -> String {
    let name = format!("{}-{}", record.implementation.name, record.implementation.version);
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
    let name: String = name.chars().map(safe).collect();
    name.trim_start_matches('.').to_owned()
}

/// A record, with the times that stand beside it where it is the one of its folder.
fn read(path: &Path) -> Result<Record, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
    let mut record: Record = serde_json::from_str(&text)
        .map_err(|error| Failure::Unusable(format!("{name} is no record of a run: {error}")))?;
    if record.schema != SCHEMA {
        let schema = record.schema;
        return Err(Failure::Unusable(format!("{name} is of schema {schema}; this program reads {SCHEMA}")));
    }
    let beside = path.with_file_name(TIMES);
    if path.file_name().is_some_and(|name| name == "results.json") && beside.exists() {
        let unusable = |error: &dyn Display| Failure::Unusable(format!("{}: {error}", beside.display()));
        let text = fs::read_to_string(&beside).map_err(|error| unusable(&error))?;
        let times: Times = serde_json::from_str(&text).map_err(|error| unusable(&error))?;
        times.give(&mut record).map_err(|stray| unusable(&stray))?;
    }
    Ok(record)
}

/// What changed since `old` for the one implementation of that name.
fn compared(old: &Record, records: &[Record]) -> Result<Vec<Change>, Failure> {
    let name = &old.implementation.name;
    let of_it: Vec<&Record> = records.iter().filter(|record| record.implementation.name == *name).collect();
    match of_it.as_slice() {
        [new] => Ok(changes(old, new)),
        [] => Err(Failure::Unusable(format!("none of the records is of `{name}`, which --compare is"))),
        _ => Err(Failure::Unusable(format!("several records are of `{name}`; compare one at a time"))),
    }
}

/// The command for one line; an old record does not say which program was under test.
fn alone(record: &Record, line: &Line) -> String {
    let run = record.command.as_deref().unwrap_or("mcp-concord run --adapter …");
    format!("{run} --filter {}", quoted(&globset::escape(&format!("{}/{}", line.case, line.format))))
}
