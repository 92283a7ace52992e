//! Two scripted peers around a recorder under test: they play a session through it, and what it forwarded and what it
//! recorded are judged against what they really sent. A trial is one session, judged in both dimensions.

mod conditions;
mod forwarding;
#[cfg(unix)]
mod http;
mod journals;
mod judge;
#[cfg(unix)]
mod process;
mod recorder;
mod recording;
mod rig;
mod scenario;
#[cfg(unix)]
mod stdio;

pub use conditions::conditions;
pub use judge::Dimension;
pub use recorder::Recorder;
pub use rig::{NotRun, Rig};
pub use scenario::{Scenario, Transport};

use crate::journal::{Entry, JournalEvent, micros};
use crate::play::read_session;
use judge::pairing::SentMessage;
use judge::passage::in_words;
use judge::{Defect, Finding, fidelity, judgement};
use recording::Recording;
use rig::{Files, Played, SESSION};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::{fs, io};
use transcript::session::Side;
use verdict::answer::Level;
use verdict::record::{self, BothSides, CaseResult, Implementation, Place, Record, kept};
use verdict::supervision::Supervision;
use verdict::verdict::{Judgement, Verdict};

/// Plays every scenario through the recorder, `jobs` at once, and records the results: two lines for each, in the
/// order of the plan. The supervision may end it before its end; the record says how much of the plan has no lines.
pub fn run(
    plan: &[Scenario],
    rig: &Rig,
    jobs: usize,
    suite: record::Suite,
    supervision: &Supervision<'_>,
) -> io::Result<Record> {
    let ran = supervision.run(plan, jobs, 0, |scenario| rig.trial(scenario))?;
    let lines: Vec<CaseResult> = ran.judged.into_iter().flatten().flatten().collect();
    let planned = plan.len() * Dimension::ALL.len();
    let left = planned - lines.len();
    if left > 0 && ran.max_failures.is_none() && !(supervision.over)() {
        let message = format!("{planned} trials were planned, but {} have a verdict", lines.len());
        return Err(io::Error::other(message));
    }
    let version = format!("over {}", rig.transport.name());
    let implementation = Implementation::new(rig.recorder.name(), &version, Level::Events);
    let judged: BTreeSet<&str> = lines.iter().map(|line| line.case.as_str()).collect();
    let cases = plan.iter().filter(|it| judged.contains(it.name.as_str()));
    let cases = cases.map(|it| (it.name.clone(), it.note.clone())).collect();
    let record = Record::new(suite, implementation, cases, lines);
    let max_failures = ran.max_failures;
    Ok(Record { subject: record::Subject::Recorder, interrupted: left as u64, max_failures, ..record })
}

impl Rig {
    /// Plays one short session, to see whether the recorder can be run at all before the plan is played.
    ///
    /// # Errors
    /// [`NotRun`], where the server was never started; or where no folder can be had, or one of the plan holds a recording.
    pub fn try_out(&self, plan: &[Scenario]) -> io::Result<Result<(), NotRun>> {
        self.check_folders(plan)?;
        let Some(scenario) = conditions(self.transport).into_iter().next() else { return Ok(Ok(())) };
        let files = Files::temporary()?;
        let played = match self.play(&scenario, &files) {
            Ok(played) => played,
            Err(error) => return error.downcast::<NotRun>().map(Err),
        };
        let began =
            |note: &Entry| matches!(note.event, JournalEvent::Asked { .. } | JournalEvent::Bytes { .. });
        let reached = match self.transport.is_http() {
            true => played.journals.server.iter().any(began),
            false => !played.journals.server.is_empty(),
        };
        if reached {
            return Ok(Ok(()));
        }
        let said = played.stderr.trim();
        let said = if said.is_empty() { String::new() } else { format!(":\n{said}") };
        let why = match (self.transport.is_http(), &played.died) {
            (true, Some(died)) => format!("the recorder never sent the server anything ({died})"),
            (true, None) => "the recorder never sent the server anything".to_owned(),
            (false, _) => {
                format!("the recorder never started the server ({})", in_words(played.journals.exit()))
            }
        };
        Ok(Err(NotRun(format!("{why}{said}"))))
    }

    /// Plays a scenario and judges both dimensions.
    pub fn trial(&self, scenario: &Scenario) -> io::Result<Vec<CaseResult>> {
        let files = match &self.save {
            Some(folder) => Files::kept(&folder.join(&scenario.name))?,
            None => Files::temporary()?,
        };
        let played = self.play(scenario, &files)?;
        let recording = recording::read(&files.recording(), self.format);
        let coarse = recording.as_ref().is_ok_and(|recording| recording.format.carries.exchanges);
        let (passed, said) = match self.transport.is_http() {
            true => forwarding::over_http(self, scenario, &played, coarse),
            false => forwarding::over_pipes(self, scenario, &played),
        };
        let kept = self.kept(scenario, &recording, &said);
        let mut lines = Vec::new();
        for (dimension, (judgement, line)) in Dimension::ALL.into_iter().zip([(passed, None), kept]) {
            let mut result = CaseResult::new(&scenario.name, dimension.name(), &scenario.clauses, judgement);
            if self.save.is_some() && files.recording().exists() {
                result.file = Some(files.recording().display().to_string());
            }
            if result.verdict.is_failure() {
                result.place = line.map(|line| Place { line, pointer: String::new() });
                result.stderr = Some(tail(&played.stderr)).filter(|said| !said.is_empty());
                if dimension == Dimension::Fidelity {
                    result.whole = Some(whole(&said, recording.as_ref().ok()));
                }
            }
            lines.push(result);
        }
        Ok(lines)
    }

    fn play(&self, scenario: &Scenario, files: &Files) -> io::Result<Played> {
        fs::write(files.path(SESSION), &scenario.session)?;
        #[cfg(unix)]
        return match self.transport.over_http() {
            Some(transport) => http::play(self, scenario, files, transport),
            None => stdio::play(self, scenario, files),
        };
        #[cfg(not(unix))]
        Err(io::Error::other("driving a recorder needs Unix processes, which this system does not have"))
    }

    /// Whether the recording says what was sent, and the line of the first finding.
    fn kept(
        &self,
        scenario: &Scenario,
        recording: &Result<Recording, Finding>,
        said: &[SentMessage],
    ) -> (Judgement, Option<u64>) {
        let recording = match recording {
            Ok(recording) => recording,
            Err(finding) => {
                let mut judged = judgement(std::slice::from_ref(finding));
                // Where nothing was said, nothing is lost.
                judged.silent_loss = said.iter().any(|one| one.due) && finding.kind == Defect::NoRecording;
                return (judged, finding.line);
            }
        };
        let skip = |why: String| (Judgement::plain(Verdict::Skip, Some(why)), None);
        let name = recording.format.name;
        if let Some((_, why)) = scenario.uncarried.iter().find(|(format, _)| *format == name) {
            return skip(format!("{name} cannot carry it: {why}"));
        }
        let within_exchange = recording.format.carries.exchanges;
        let terms = fidelity::Terms { patience: micros(self.patience), within_exchange };
        let mut judged = fidelity::judge(said, &recording.written, terms);
        if judged.findings.is_empty() {
            if let Some(why) = judged.unsaid {
                return skip(format!("{name} cannot carry it: {why}"));
            }
            if let Some(why) = unsaid(scenario, recording) {
                return skip(why);
            }
            judged.findings.extend(recording.rejected.clone());
        }
        (judgement(&judged.findings), judged.findings.first().and_then(|finding| finding.line))
    }
}

/// What the format cannot carry of the session by its own statement, so that its meaning would be another one.
fn unsaid(scenario: &Scenario, recording: &Recording) -> Option<String> {
    let session = read_session(scenario.format, &scenario.session).ok()?;
    // A challenge is not a message.
    let loss = session
        .losses(recording.format)
        .into_iter()
        .find(|loss| loss.clause.is_some_and(|clause| clause != "K2A-SUMMARY"))?;
    let clause = loss.clause.unwrap_or_default();
    Some(format!("{} cannot carry it: {clause}: {}", recording.format.name, loss.what))
}

/// How many lines of a standard error are shown.
const LAST_LINES: usize = 5;

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

/// What was sent and what was written, a message a line.
fn whole(said: &[SentMessage], written: Option<&Recording>) -> BothSides {
    let mut expected = String::new();
    for one in said.iter().filter(|one| one.due) {
        let _ = writeln!(expected, "{} {}", one.side.name(), one.text.trim());
    }
    let mut actual = String::new();
    for one in written.iter().flat_map(|recording| &recording.written) {
        let _ = writeln!(actual, "{} {}", one.side.map_or("either", Side::name), one.text.trim());
    }
    if written.is_none() {
        actual.push_str("no recording that could be read");
    }
    BothSides { expected: kept(&expected), actual: kept(&actual) }
}
