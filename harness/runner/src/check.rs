//! A recording judged: reader and judge joined.
//!
//! Knows: what a format's recordings carry in the judge's words. Refuses to know: any rule.

use formats::{Format, Input, Options, ReadError, Tolerance};
use judge::check::{Judged, Judging, Revision, Subject};
use judge::rules::Need;
use std::io;

/// How a recording is to be judged, beyond what it shows of itself.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// The revision that rules, whatever the session shows.
    pub spec: Option<Revision>,
    /// What a recorder writes in place of what it took out, beside the usual `[REDACTED]`.
    pub redacted: Vec<String>,
    /// mcp-replay traces are held to the first text of version 1.
    pub first_text: bool,
    /// Every rule is shown everything, also what it does not listen to: slower, and comes to the same.
    pub wake_everybody: bool,
}

/// What recorders commonly write in place of what they took out.
const MARKER: &str = "[REDACTED]";

/// Judges a recording of `format` in a single pass.
///
/// # Errors
/// Where the input cannot be read. What is wrong in it is a finding.
pub fn judge(format: &Format, input: &mut Input<'_>, how: &How) -> io::Result<Judged> {
    let mut judging = Judging::new(judge::check::Options {
        subject: subject(format, how),
        spec: how.spec,
        wake_everybody: how.wake_everybody,
    });
    let options = Options { tolerance: Tolerance::Faults };
    let read = (format.read)(input, options, &mut |entry| {
        judging.take(&entry);
        Ok(())
    });
    match read {
        Ok(()) | Err(ReadError::Stopped) => {}
        Err(ReadError::Io(error)) => return Err(error),
        Err(ReadError::Rejected(rejection)) => judging.rejected(*rejection),
    }
    Ok(judging.finish())
}

fn subject(format: &Format, how: &How) -> Subject {
    let carries = format.carries;
    let needs = [
        (Need::Direction, carries.direction),
        (Need::Times, carries.times),
        (Need::Http, carries.exchanges),
        (Need::Sse, carries.sse),
        (Need::Process, carries.process),
    ];
    Subject {
        format: format.name.to_owned(),
        carries: needs.into_iter().filter(|(_, there)| *there).map(|(need, _)| need).collect(),
        markers: [MARKER.to_owned()].into_iter().chain(how.redacted.iter().cloned()).collect(),
        first_text: how.first_text,
    }
}
