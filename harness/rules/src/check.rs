//! A recording judged: reader and judge joined.
//!
//! What a format's recordings carry in the judge's words.

use crate::engine::{
    CheckResult, Fit, Listener, ParallelJudge, Parallelism, RecordingInfo, RecordingKind, Revision, Schemas,
};
use crate::families::{FAMILIES, TOGETHER};
use crate::rule::Need;
use formats::{Format, Input, ReadError, Spelling, Tolerance};
use std::io;
use std::thread;
use transcript::json::Json;
use transcript::session::Entry;

/// How a recording is to be judged, beyond what it shows of itself.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// The revision that rules, whatever the session shows.
    pub spec: Option<Revision>,
    /// What a recorder writes in place of what it took out, beside the usual `[REDACTED]`.
    pub redacted: Vec<String>,
    /// mcp-replay traces are held to the first text of version 1.
    pub first_text: bool,
    /// Every rule is shown everything, also what it does not listen to: slower, and comes to the same.
    pub dispatch_all: bool,
    /// Gets findings at once.
    pub listener: Option<Listener>,
    /// How several judges share the work; by the machine's cores where it is not said.
    pub parallelism: Option<Parallelism>,
}

/// What recorders commonly write in place of what they took out.
const MARKER: &str = "[REDACTED]";

/// The most judges that share the work where there is more than one core. More would go through the session once more each, and find
/// little left to share; one would be what everybody waits for, since reading takes less than judging.
const WORKERS: usize = 2;

/// Judges a recording of `format` in a single pass.
///
/// # Errors
/// Where the input cannot be read. What is wrong in it is a finding.
pub fn check(format: &Format, input: &mut Input<'_>, options: &CheckOptions) -> io::Result<CheckResult> {
    check_beside(format, input, options, &mut |_| {})
}

/// The same, and shows every entry to somebody else as well, faulty ones as [`transcript::session::Content::Noise`].
///
/// # Errors
/// As [`check`].
pub fn check_beside(
    format: &Format,
    input: &mut Input<'_>,
    options: &CheckOptions,
    beside: &mut dyn FnMut(&Entry<'_>),
) -> io::Result<CheckResult> {
    let judge_options = crate::engine::JudgeOptions {
        recording: recording(format, options),
        spec: options.spec,
        dispatch_all: options.dispatch_all,
        families: FAMILIES,
        listener: options.listener.clone(),
        together: TOGETHER,
    };
    let shared = || thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let parallelism =
        options.parallelism.unwrap_or_else(|| Parallelism::with_workers(if shared() { WORKERS } else { 0 }));
    let mut judge = ParallelJudge::new(judge_options, parallelism);
    let read_options = formats::ReadOptions::new(Tolerance::Faults);
    let read = format.entries(input, read_options, &mut |entry| {
        judge.take(&entry);
        beside(&entry);
        Ok(())
    });
    let rejected = match read {
        Ok(()) | Err(ReadError::Stopped) => None,
        Err(ReadError::Io(error)) => return Err(error),
        Err(ReadError::Rejected(rejection)) => Some(*rejection),
    };
    Ok(judge.finish(rejected))
}

fn recording(format: &Format, options: &CheckOptions) -> RecordingInfo {
    let carries = format.carries;
    let needs = [
        (Need::Direction, carries.direction),
        (Need::Times, carries.times),
        (Need::Http, carries.exchanges),
        (Need::Headers, carries.http),
        (Need::Sse, carries.sse),
        (Need::Process, carries.process),
    ];
    RecordingInfo {
        kind: kind(format),
        carries: needs.into_iter().filter(|(_, there)| *there).map(|(need, _)| need).collect(),
        markers: [MARKER]
            .into_iter()
            .chain(format.redacts.iter().copied())
            .chain(options.redacted.iter().map(String::as_str))
            .map(str::to_owned)
            .collect(),
        first_text: options.first_text,
    }
}

fn kind(format: &Format) -> RecordingKind {
    RecordingKind {
        trace: format.carries.process,
        envelope: format.is_envelope(),
        http_sse: format.transport == Some(formats::Transport::HttpSse),
        bare_lines: format.is_bare_lines(),
        own_lines: matches!(format.spelling, Spelling::Lines(_)) && !format.is_bare_lines(),
        bare_list: format.is_bare_list(),
        exchanges: format.carries.exchanges,
        http: false,
        stdio: false,
        message_levels: format.message_levels,
    }
}

/// Why a schema, both as JSON texts, refuses a value, and where; none where it accepts the value, or cannot be judged.
pub fn misfit(schema: &str, value: &str) -> Option<String> {
    match Schemas::default().fit(Json::parse(schema).ok()?, Json::parse(value).ok()?) {
        Fit::Unfit(why, at) => Some(format!("{at}: {why}")),
        _ => None,
    }
}
