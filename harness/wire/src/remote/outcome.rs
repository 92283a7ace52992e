//! How a session over HTTP ends, and what that is as an exit code.

/// How a session over HTTP ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client closed its end.
    Closed,
    /// The server could not be reached from the beginning on.
    Unreachable,
    /// The server does not know the session any more, or its stream broke off.
    Lost,
    /// A signal of this number asked for it.
    #[cfg_attr(not(unix), expect(dead_code, reason = "no signals are caught elsewhere"))]
    Signal(i32),
}

impl Outcome {
    /// The exit code that a server over stdio would have.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Closed => 0,
            Self::Lost => 1,
            Self::Unreachable => 3,
            Self::Signal(signal) => 128 + signal,
        }
    }
}
