//! `report`: records of runs as a site for people, and as files for programs. Nothing is judged again.

mod official;

use super::context::{CommandContext, Failure};
use super::outcome::watch;
use super::own_page::OwnPage;
use super::records::{Input, read};
use super::site::{Site, left_over};
use crate::exit;
use reports::html::findings::Finding;
use reports::markdown;
use std::io::{self, Write as _};
use std::path::PathBuf;
use transcript::dialect;
use verdict::change::{Change, Sort, changes};
use verdict::merge::merge;
use verdict::plain::plain;
use verdict::record::Record;

/// Renders results as a site: parts of a sharded run are merged, several implementations are shown side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/report.txt"))]
pub(crate) struct Args {
    /// Results of `run` or `drive`, oldest first, by their paths or URLs; findings of `check --output json`. With --official,
    /// recordings or folders of them.
    #[arg(required = true, value_name = "RESULTS")]
    records: Vec<PathBuf>,
    /// Join the results of the official conformance suite, a `checks.json` or a folder of them, with recordings of its run.
    /// Repeatable.
    #[arg(long, value_name = "CHECKS", conflicts_with_all = ["compact", "pages", "compare"])]
    official: Vec<PathBuf>,
    /// The folder for the site; created if missing.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["compare", "official"])]
    out: Option<PathBuf>,
    /// Write results.json in a compact form: a letter a verdict, the failures and the reasons of the baseline.
    #[arg(long, requires = "out")]
    compact: bool,
    /// Put this HTML page into the site, too; all pages link to it by its title. Repeatable.
    #[arg(long = "page", value_name = "FILE", requires = "out")]
    pages: Vec<PathBuf>,
    /// Compare with these results of an earlier run of the same implementation.
    #[arg(long, value_name = "OLD")]
    compare: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if !args.official.is_empty() {
        return official::run(&args.official, &args.records, args.out.as_deref(), context);
    }
    let Given { runs, findings } = Given::read(&args.records)?;
    let records = latest(&runs);
    for record in records.iter().filter(|record| record.expired) {
        let (name, day) = (record.title(), record.expires.as_deref().unwrap_or_default());
        context.terminal.note(&format!("the results of {name} expired on {day}"));
    }
    let old = args.compare.as_deref().map(|path| match read(path)? {
        Input::Run(record) => Ok::<_, Failure>(*record),
        _ => Err(format!("{} is not a record of a run", path.display()).into()),
    });
    let old = old.transpose()?;
    let compared = old.as_ref().map(|old| compared(old, &records).map(|new| (new, changes(old, new))));
    let compared = compared.transpose()?;
    let own = args.pages.iter().map(|path| OwnPage::read(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(out) = &args.out {
        // A signal is noted, so that the file that is being written is written to its end.
        watch()?;
        let site_records = records.clone();
        let site = Site {
            runs: runs.iter().collect(),
            compared: old
                .as_ref()
                .zip(compared.as_ref())
                .map(|(old, (new, changes))| (old, *new, &**changes)),
            findings: findings.as_deref(),
            own: &own,
            records,
            compact: args.compact,
            official: None,
        };
        site.write(out)?;
        context.terminal.note(&format!("written to {}", out.join("index.html").display()));
        let old = left_over(out, &site_records);
        if !old.is_empty() {
            let (out, old) = (out.display(), plain(&old.join(", ")));
            context.terminal.note(&format!(
                "{out} also holds folders of an earlier report, to which no page links: {old}"
            ));
        }
    }
    let Some((new, changes)) = compared else { return Ok(exit::WELL) };
    if let Some(dialects) = old.as_ref().and_then(|old| dialects(old, new)) {
        context.terminal.note(&dialects);
    }
    io::stdout().lock().write_all(markdown::changes(&changes).as_bytes())?;
    let regressed = changes.iter().any(|change: &Change| change.sort == Sort::Regression);
    Ok(if regressed { exit::FAILED } else { exit::WELL })
}

/// What was given, sorted by what it is.
#[derive(Default)]
struct Given {
    /// The runs in their order; the parts of one stand where its first part was given.
    runs: Vec<Record>,
    findings: Option<Vec<Finding>>,
}

impl Given {
    fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut given = Self::default();
        let mut seen: Vec<PathBuf> = Vec::new();
        // A run is a list of parts, each with the name of its file: one part, or as many as it was sharded into.
        let mut runs: Vec<Vec<(String, Record)>> = Vec::new();
        for path in paths {
            let name = path.display().to_string();
            let input = read(path)?;
            let whole = !matches!(&input, Input::Run(record) if record.shard.is_some());
            match input {
                Input::Findings(found) => given.findings.get_or_insert_default().extend(found),
                Input::Run(record) => {
                    let of_it = |parts: &&mut Vec<(String, Record)>| {
                        let first = parts.first().map(|(_, first)| first);
                        first.is_some_and(|first| sharded_alike(first, &record))
                    };
                    match runs.iter_mut().find(of_it) {
                        Some(parts) => parts.push((name.clone(), *record)),
                        None => runs.push(vec![(name.clone(), *record)]),
                    }
                }
            }
            // Two runs may be equal in every byte, but the same file twice is a mistake.
            let place = path.canonicalize().unwrap_or_else(|_| path.clone());
            if whole && seen.contains(&place) {
                return Err(format!("{name} is named twice").into());
            }
            seen.push(place);
        }
        for parts in runs {
            given.runs.extend(merge(parts)?);
        }
        Ok(given)
    }
}

/// Whether two records are parts of one run, as far as their names say.
fn sharded_alike(one: &Record, other: &Record) -> bool {
    let name = |record: &Record| record.implementation.title();
    one.shard.is_some() && other.shard.is_some() && name(one) == name(other)
}

/// The last run of each implementation, version and dialect, in the order in which these were first given.
fn latest(runs: &[Record]) -> Vec<&Record> {
    let mut latest: Vec<&Record> = Vec::new();
    for run in runs {
        let same = |one: &&mut &Record| {
            let (one, run) = (&one.implementation, &run.implementation);
            one.is_of(run) && one.version == run.version
        };
        match latest.iter_mut().find(same) {
            Some(one) => *one = run,
            None => latest.push(run),
        }
    }
    latest
}

/// What to know of two runs in two dialects.
fn dialects(old: &Record, new: &Record) -> Option<String> {
    let [before, now] =
        [old, new].map(|run| run.implementation.dialect.as_deref().unwrap_or(dialect::DEFAULT));
    (before != now).then(|| {
        format!(
            "the two runs use different dialects, {before} and {now}, in which some cases mean something else"
        )
    })
}

/// The record to compare with `old`: the one of that name, of the same dialect if there is one.
fn compared<'r>(old: &Record, records: &[&'r Record]) -> Result<&'r Record, Failure> {
    let name = &old.implementation.name;
    let of_it: Vec<&Record> =
        records.iter().copied().filter(|record| record.implementation.name == *name).collect();
    let alike: Vec<&Record> =
        of_it.iter().copied().filter(|record| record.implementation.is_of(&old.implementation)).collect();
    match if alike.is_empty() { of_it } else { alike }.as_slice() {
        [new] => Ok(new),
        [] => Err(format!("--compare holds results of `{name}`, and no other file does").into()),
        _ => Err(format!("several records are of `{name}`; compare one at a time").into()),
    }
}
