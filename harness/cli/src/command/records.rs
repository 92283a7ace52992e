//! Files of results: what an earlier run, or `check`, wrote for programs.

use super::context::Failure;
use super::results::is_over;
use super::site::TIMES;
use super::small_file;
use super::suites::embedded;
use mcp_concord_suite::Case;
use reports::html::findings::Finding;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt::Display;
use std::path::Path;
use transcript::dialect;
use verdict::record::{CaseNote, Record, SCHEMA};
use verdict::timings::Times;

pub(super) enum Input {
    Run(Box<Record>),
    Findings(Vec<Finding>),
}

/// The members that show which kind of file it is.
#[derive(Deserialize)]
struct RecordHead {
    schema: Option<u32>,
    kills: Option<u32>,
}

/// Reads what `run --results` or `check --output json` wrote. A compact record is made whole.
pub(super) fn read(path: &Path) -> Result<Input, Failure> {
    let url = path.to_str().filter(|url| is_url(url));
    let name = url.map_or_else(|| path.display().to_string(), without_secrets);
    let unreadable = |why: &dyn Display| Failure::Unusable(format!("{name} cannot be read: {why}"));
    let text = match url {
        Some(url) => {
            let bytes = wire::fetch(url).map_err(|why| unreadable(&why))?;
            String::from_utf8(bytes).map_err(|_| unreadable(&"it is not UTF-8"))?
        }
        None => small_file::made(path).map_err(|error| unreadable(&error))?,
    };
    if text.trim_start().starts_with('[') {
        return parsed(&text, &format!("{name} is not an output of `check --output json`"))
            .map(Input::Findings);
    }
    let no_record = format!("{name} is not a record of a run");
    let RecordHead { schema, kills } = parsed(&text, &no_record)?;
    if kills.is_some() {
        let why = "is a kill matrix, which reports no longer show; `scripts/kills.py` in the repository makes the current one";
        return Err(format!("{name} {why}").into());
    }
    let found = schema.unwrap_or(SCHEMA);
    if found != SCHEMA {
        return Err(format!("{name} has schema {found}; this program reads schema {SCHEMA}").into());
    }
    let mut record: Record = parsed(&text, &no_record)?;
    if record.compact.is_some() {
        let named = record.implementation.dialect.as_deref().unwrap_or(dialect::DEFAULT);
        let dialect = dialect::find(named).map_err(|why| format!("{name}: {why}"))?;
        let suite = embedded()?.in_dialect(dialect);
        let case = |name: &str| suite.cases.iter().find(|case| case.name == name);
        let note = |case: &Case| (CaseNote::new(&case.title, &case.reason), case.clauses.clone());
        let expanded = record.expand(|name| case(name).map(note));
        expanded.map_err(|why| format!("{no_record}: {why}"))?;
    }
    give_times(path, &mut record)?;
    record.expired = is_over(&record)?;
    Ok(Input::Run(Box::new(record)))
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// A URL as it may be shown: without a name, a password or a query.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
}

/// Gives a record the times that stand beside it, where it is the one of its folder.
fn give_times(path: &Path, record: &mut Record) -> Result<(), Failure> {
    let beside = path.with_file_name(TIMES);
    if path.file_name().is_none_or(|name| name != "results.json") || !beside.exists() {
        return Ok(());
    }
    let name = beside.display().to_string();
    let text = small_file::made(&beside).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let times: Times = parsed(&text, &name)?;
    times.give(record).map_err(|stray| Failure::Unusable(format!("{name}: {stray}")))
}

fn parsed<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Unusable(format!("{what}: {error}")))
}
