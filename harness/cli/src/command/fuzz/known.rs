//! `--baseline`: the kinds of failure that a baseline knows, so that none of them is reported.
//!
//! A baseline names cases, and every variant is a new one. So the cases that it names are judged first, those of the suite and
//! those that `fuzz` saved before, and how they fail is known.

use crate::command::baseline;
use crate::command::context::{CommandContext, Failure};
use crate::command::importer_args::Judged;
use crate::command::suites::{load, named};
use crate::fuzzing::{Kind, Signature};
use mcp_concord_suite::Root;
use mcp_concord_suite::run::{PlannedCase, Selection, Supervision, plan, supervised};
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};
use verdict::config_error::ConfigError;
use verdict::verdict::Verdict;
use wire::interrupt;

/// What a baseline says of an importer.
#[derive(Default)]
pub(super) struct KnownKinds {
    /// How it is known to fail, in each format.
    pub(super) signatures: BTreeSet<Signature>,
    /// The entries that excuse nothing any more.
    pub(super) stale: Vec<ConfigError>,
}

impl KnownKinds {
    /// Judges what the baseline in `path` names of the suite, and of the finds in `out`.
    pub(super) fn read(
        path: &Path,
        out: &Path,
        judged: &Judged,
        jobs: usize,
        context: CommandContext,
    ) -> Result<Self, Failure> {
        let mut roots = vec![Root::Embedded];
        let is_case = |entry: io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.path().join("case.toml").is_file())
        };
        if fs::read_dir(out).is_ok_and(|mut entries| entries.any(is_case)) {
            roots.push(Root::Disk(out.to_owned()));
        }
        let suite = load(&roots).map_err(|problems| {
            context.terminal.errors(problems.iter().map(ToString::to_string));
            Failure::Unusable(format!("the findings in {} cannot be used beside the suite", out.display()))
        })?;
        let suite = suite.in_dialect(judged.dialect());
        let importer = judged.as_importer();
        let mut planned = plan(&suite, importer, &Selection::default());
        let readings = planned.iter().flat_map(|PlannedCase { case, readings }| {
            readings.iter().map(|reading| (case.name.as_str(), reading.format.name))
        });
        let baseline = baseline::read(path, false, judged.dialect(), readings, context)?;
        planned.retain(|PlannedCase { case, readings }| {
            readings.iter().any(|reading| baseline.names(&case.name, reading.format.name))
        });
        let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be run: {error}"));
        let supervision = Supervision { over: &interrupt::requested, ..Supervision::default() };
        let suite = named(&suite).map_err(unreadable)?;
        let mut record = supervised(&planned, importer, jobs, suite, &supervision).map_err(unreadable)?;
        let kinds: Vec<Kind> = record.results.iter().map(Kind::new).collect();
        let stale = baseline.apply(&mut record);
        let excused =
            record.results.iter().zip(kinds).filter(|(line, _)| line.verdict == Verdict::ExpectedFail);
        let signature = |(line, kind): (&verdict::record::CaseResult, Kind)| {
            Some(Signature { format: formats::find(&line.format)?.name, kind, right: None })
        };
        let unexpected = record.results.iter().filter(|line| line.verdict == Verdict::UnexpectedPass);
        let passes = unexpected.map(|line| ConfigError {
            line: None,
            message: format!(
                "{}/{} passes: {}",
                line.case,
                line.format,
                line.message.as_deref().unwrap_or_default()
            ),
        });
        let stale = stale.into_iter().chain(passes).collect();
        Ok(Self { signatures: excused.filter_map(signature).collect(), stale })
    }
}
