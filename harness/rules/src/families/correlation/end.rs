//! How a session over stdio ended, as far as its trace says so.

use crate::engine::{PendingRequest, Violation};
use crate::rule::Level;
use transcript::json::Json;
use transcript::session::Side;

/// Signals that a program gets for what it did itself.
const OWN: [&str; 7] = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS"];

#[derive(Default)]
pub(super) enum SessionEnd {
    #[default]
    Unknown,
    /// The server's code says that it failed. Its input may have been closed before.
    Failed(i64),
    /// The server ended by itself, for this reason, while its input was open.
    Server(String),
    /// The client closed the server's input, or the server was sent a signal.
    Asked,
}

impl SessionEnd {
    pub(super) fn new(end: Json<'_>) -> Self {
        let text = |name| end.member(name).and_then(Json::as_text).and_then(|text| text.to_str());
        let code = end.member("exitCode").and_then(|code| code.text().parse().ok());
        match (text("_input").as_deref(), text("_signal")) {
            (Some("open"), Some(signal)) if OWN.contains(&&*signal) => Self::Server(format!("by {signal}")),
            (Some("open"), None) => Self::Server(
                code.map_or("without a code".to_owned(), |code: i64| format!("with the code {code}")),
            ),
            (Some("open" | "closed"), _) => Self::Asked,
            // Past 128 are signals, by which a client may end it.
            _ => code.filter(|code| (1..128).contains(code)).map_or(Self::Unknown, Self::Failed),
        }
    }

    /// What it says of a request of this side that was open then.
    pub(super) fn judge(&self, side: Option<Side>, asked: &str) -> Result<Violation<'static>, &'static str> {
        match self {
            _ if side != Some(Side::Client) => Err("the session ended before the answer was due"),
            Self::Server(how) => Ok(Violation::new(format!(
                "{asked} was open when the server ended {how}, although its input was open"
            ))),
            Self::Failed(code) => {
                let wrong = format!("{asked} was open when the server ended with the code {code}");
                Ok(Violation::new(wrong).only(Level::Should))
            }
            Self::Asked => {
                Err("the client closed the server's input, or a signal ended it, before the answer came")
            }
            Self::Unknown => {
                Err("the trace does not say who ended the session; `record` writes it as `_input`")
            }
        }
    }
}

/// Whether somebody waits for the answer still. A subscription stays open for as long as both like.
pub(super) fn is_due(request: &PendingRequest) -> bool {
    request.cancelled.is_none()
        && request.method() != "subscriptions/listen"
        && !request.method().starts_with("notifications/")
}
