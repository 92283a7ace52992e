//! `--rerun-failed`: the failures of an earlier run, and whether they say anything of this one.

use super::selection::is_compared;
use crate::command::context::{CommandContext, Failure};
use crate::command::records::{Input, read};
use mcp_concord_suite::run::PlannedCase;
use std::collections::BTreeSet;
use std::path::Path;
use verdict::record::{Implementation, Record, Subject, Suite};

/// What failed in an earlier run.
pub(super) struct FailedBefore {
    failed: BTreeSet<(String, String)>,
    /// Why results of that run are missing.
    cut: Option<String>,
}

impl FailedBefore {
    /// The failures in the record in `path`, which must be of this suite and importer; of whatever version, since a failure is
    /// run again after the importer was changed.
    pub(super) fn read(path: &Path, importer: &Implementation, suite: &Suite) -> Result<Self, Failure> {
        let name = path.display();
        let Input::Run(record) = read(path)? else {
            return Err(format!("{name} is not a record of a run").into());
        };
        if let Some(why) = foreign(&record, importer, suite) {
            return Err(format!("{name} {why}; run the whole suite again").into());
        }
        let cut = record.cut_short();
        let failed = record.results.into_iter().filter(|line| line.verdict.is_failure());
        Ok(Self { failed: failed.map(|line| (line.case, line.format)).collect(), cut })
    }

    /// Keeps of a plan what failed. Where formats are compared with each other, all of them are read again.
    pub(super) fn retain(&self, planned: &mut Vec<PlannedCase<'_>>) {
        for PlannedCase { case, readings } in planned.iter_mut() {
            let failed = |format: &str| self.failed.contains(&(case.name.clone(), format.to_owned()));
            let any = is_compared(case) && readings.iter().any(|reading| failed(reading.format.name));
            readings.retain(|reading| any || failed(reading.format.name));
        }
        planned.retain(|planned| !planned.readings.is_empty());
    }

    /// Says that nothing is left to run, and that the earlier run does not know of everything.
    pub(super) fn say(&self, path: &Path, planned: &[PlannedCase<'_>], context: CommandContext) {
        let name = path.display();
        if let Some(cut) = &self.cut {
            context
                .terminal
                .note(&format!("the run that wrote {name} {cut}; those are not judged now either"));
        }
        if self.failed.is_empty() {
            context.terminal.note(&format!("nothing failed in {name}, so nothing is run"));
        } else if planned.is_empty() {
            context.terminal.note(&format!("nothing that failed in {name} is selected, so nothing is run"));
        }
    }
}

/// Why a record says nothing of this suite and importer; none where it does.
fn foreign(record: &Record, importer: &Implementation, suite: &Suite) -> Option<String> {
    let Implementation { name, dialect, .. } = &record.implementation;
    let of = |dialect: &Option<String>| dialect.clone().unwrap_or_else(|| "default".to_owned());
    if record.subject == Subject::Recorder {
        Some("holds results of `drive`, not of `run`".to_owned())
    } else if record.suite.digest != suite.digest {
        Some("is a record of another suite, whose failures may not exist in this one".to_owned())
    } else if *name != importer.name {
        Some(format!("is a record of {name}, but this run tests {}", importer.name))
    } else if *dialect != importer.dialect {
        Some(format!(
            "is a record in the dialect {}, but this run judges by {}",
            of(dialect),
            of(&importer.dialect)
        ))
    } else {
        None
    }
}
