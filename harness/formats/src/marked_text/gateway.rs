//! The log of [supergateway](https://github.com/supercorp-ai/supergateway), which puts a server on stdio behind HTTP:
//! `[supergateway] StreamableHttp → Child: {…}`.
//!
//! The child is the server. A message that supergateway prints as JavaScript shows objects, and not as JSON, is missing
//! (HAR-MISSING), as all of the server's are where it stands behind SSE. A line of the child that is not JSON is noise of the
//! server's. What came in is said once more where it was held back until the child was initialized, and is passed over then, unless
//! the line behind the first says that a handshake of the gateway's own goes before: then it was sent where it stands again.
//! All other lines are passed over but those that tell of the child's end. Sessions on several connections are one log, in which
//! nothing tells them apart.

use crate::format::ReadOptions;
use crate::head::Head;
use crate::lines::Line;
use crate::log::{Log, Said};
use transcript::message::Refusal;
use transcript::session::{ServerEnd, Side};

/// What each line of its own begins with.
pub(super) const BEGIN: &str = "[supergateway] ";

pub(super) fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| line.starts_with(BEGIN)) && has_message(head)
}

fn has_message(head: &Head) -> bool {
    head.lines().any(|line| line.find(BEGIN).is_some_and(|at| arrow(&line[at + BEGIN.len()..]).is_some()))
}

pub(super) fn why_not(head: &Head) -> Option<&'static str> {
    (has_message(head) && !sniff(head)).then_some(
        "its first line does not begin with `[supergateway]`; `sed -n 's/^.*\\[supergateway\\]/[supergateway]/p' FILE > NEW` keeps \
         what does",
    )
}

/// Who sent the message that a line has, by the ends of its arrow, and where in the line it begins.
fn arrow(rest: &str) -> Option<(Side, &str)> {
    if let Some(shown) = rest.strip_prefix("Response: ") {
        return Some((Side::Server, shown));
    }
    let (from, rest) = rest.split_once(" → ")?;
    let (to, shown) = rest.split_once(':')?;
    let side = match (from, to.split(" (").next()?) {
        ("StreamableHttp" | "SSE" | "WebSocket", "Child") | ("Stdio", "SSE" | "Streamable HTTP") => {
            Side::Client
        }
        ("Child", "StreamableHttp" | "SSE" | "WebSocket") | ("SSE" | "Streamable HTTP", "Stdio") => {
            Side::Server
        }
        _ => return None,
    };
    Some((side, shown.trim_start()))
}

/// How the child ended. Supergateway itself ends it by a signal that asks.
fn ended(rest: &str) -> Option<ServerEnd> {
    let (code, signal) = rest.strip_prefix("Child exited: code=")?.split_once(", signal=")?;
    Some(match signal.trim_end() {
        "SIGTERM" | "SIGINT" | "SIGKILL" | "SIGHUP" => ServerEnd::Asked,
        _ => ServerEnd::ByItself(code.parse().ok()),
    })
}

/// Whether a line has a message once more, now that the child has its handshake.
fn is_original(line: &str) -> bool {
    line.split_once(':').is_some_and(|(to, _)| to.ends_with(" (original)"))
}

/// How many children run, as far as the log has their handshakes: of several, nothing tells whose end a line is; and how many messages
/// wait for a handshake.
#[derive(Default)]
pub(super) struct Gateway {
    children: u64,
    waiting: u64,
}

impl Log for Gateway {
    const NAME: &'static str = "supergateway's log";

    fn said(line: Line<'_>) -> Said<'_> {
        let Some(rest) = line.text.strip_prefix(BEGIN) else { return Said::Continued };
        if let Some(text) = rest.strip_prefix("Child non-JSON: ") {
            return Said::Printed(None, text.into());
        }
        match arrow(rest) {
            Some((side, shown)) if is_json(shown) => {
                Said::message(line.text, line.text.len() - shown.len(), (side, None), str::is_empty)
            }
            Some((Side::Client, _)) => Said::Shortened(Side::Client, None, "a message of the client"),
            Some((Side::Server, _)) => Said::Shortened(Side::Server, None, "a message of the server"),
            None if line.open_ended => Said::cut_off(line),
            None if rest.starts_with("Non-initialize message detected") => Said::HeldBack,
            None => ended(rest).map_or(Said::Else(None), |end| Said::Ended(None, end)),
        }
    }

    fn may_wait(said: &Said<'_>) -> bool {
        matches!(said, Said::Message { side: Side::Client, .. } | Said::Shortened(Side::Client, ..))
    }

    fn follow(&mut self, line: Line<'_>, said: &mut Said<'_>, _: ReadOptions) -> Result<(), Refusal> {
        match said {
            Said::HeldBack => self.waiting += 1,
            _ if is_original(line.text) => match self.waiting.checked_sub(1) {
                Some(waiting) => self.waiting = waiting,
                None => *said = Said::Else(None),
            },
            Said::Message { message: Ok(message), .. }
                if message.method().is_some_and(|method| method.is("initialize")) =>
            {
                self.children += 1
            }
            Said::Ended(..) => {
                if self.children > 1 {
                    *said = Said::Else(None);
                }
                self.children = self.children.saturating_sub(1);
            }
            _ => {}
        }
        Ok(())
    }
}

/// JavaScript shows the members of an object without quotes, or on lines of their own.
fn is_json(shown: &str) -> bool {
    let inside = shown.strip_prefix(['{', '[']).map(str::trim_start);
    inside.is_none_or(|inside| inside.starts_with(['"', '{', '}', ']']))
}
