//! Why nothing could be probed.

use verdict::plain::plain;
use wire::probe::{Probed, RECORDER};

/// Why nothing could be probed, where that is so.
pub(super) fn nothing(sessions: &[Probed]) -> Option<String> {
    let first = sessions.first().filter(|_| sessions.iter().all(|session| session.revision.is_none()))?;
    if let Some(version) = &first.unknown {
        return Some(format!(
            "`initialize` is answered with {}, which is not a known version",
            plain(version)
        ));
    }
    let said = first.refused.as_ref()?;
    let why = said.trim_start_matches(RECORDER);
    let unreached = why.strip_prefix("HTTP 502 Bad Gateway: ").and_then(|why| why.strip_prefix(RECORDER));
    let shown = plain(why);
    Some(match unreached {
        Some(why) => {
            format!("the server cannot be reached: {}; is it running, and at this address?", plain(why))
        }
        None if why.contains("where to post") => {
            format!("{shown}; see `mcp-concord explain sse.endpoint.sent`")
        }
        None if said.starts_with(RECORDER) && !why.starts_with("HTTP ") => shown,
        None => {
            let also = first.undiscovered.as_ref().filter(|other| *other != why);
            let also =
                also.map_or_else(String::new, |other| format!("; and `server/discover`: {}", plain(other)));
            format!("the server refuses `initialize`: {shown}{}{also}", hint(why))
        }
    })
}

/// Why something was refused, in the server's words, or with its status.
pub(super) fn refusal(why: &str) -> String {
    plain(why.trim_start_matches(RECORDER)).to_string()
}

/// What to look at where a server over HTTP refuses the first request.
fn hint(why: &str) -> &'static str {
    match why.strip_prefix("HTTP ").and_then(|status| status.get(..3)) {
        Some("401") => "; it requires a login, which probe does not support",
        Some("301" | "302" | "307" | "308") => "; name that address with --url",
        Some("404" | "405") => {
            "; is this the path of its endpoint? Many servers use /mcp, or /sse for HTTP+SSE"
        }
        _ => "",
    }
}
