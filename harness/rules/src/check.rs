//! A recording judged: reader and judge joined.
//!
//! Knows: what a format's recordings carry in the judge's words. Refuses to know: any rule.

use crate::engine::{Judged, Panel, Revision, Sharing, Subject};
use crate::rule::Need;
use formats::{Format, Input, ReadError, ReadOptions, Tolerance};
use std::io;
use std::num::NonZero;
use std::thread;

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
    /// How several judges share the work; by the machine's cores where it is not said.
    pub sharing: Option<Sharing>,
}

/// What recorders commonly write in place of what they took out.
const MARKER: &str = "[REDACTED]";

/// More judges would go through the session once more each, and find little left to share.
const MOST_JUDGES: usize = 2;

/// Judges a recording of `format` in a single pass.
///
/// # Errors
/// Where the input cannot be read. What is wrong in it is a finding.
pub fn judge(format: &Format, input: &mut Input<'_>, how: &How) -> io::Result<Judged> {
    let how_to = crate::engine::Options {
        subject: subject(format, how),
        spec: how.spec,
        wake_everybody: how.wake_everybody,
    };
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let sharing = how.sharing.unwrap_or_else(|| Sharing::among(cores().min(MOST_JUDGES)));
    let mut panel = Panel::new(how_to, sharing);
    let options = ReadOptions { tolerance: Tolerance::Faults };
    let read = (format.read)(input, options, &mut |entry| {
        panel.take(&entry);
        Ok(())
    });
    let rejected = match read {
        Ok(()) | Err(ReadError::Stopped) => None,
        Err(ReadError::Io(error)) => return Err(error),
        Err(ReadError::Rejected(rejection)) => Some(*rejection),
    };
    Ok(panel.finish(rejected))
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
