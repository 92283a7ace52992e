//! Why a session cannot begin.

/// Why nothing was recorded or played; each in a sentence.
#[derive(Debug)]
pub enum StartError {
    /// A file, an address or this process cannot be used.
    Unusable(String),
    /// The program or the server at the other side cannot be run or reached.
    CannotRun(String),
}

impl StartError {
    /// The sentence.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Unusable(why) | Self::CannotRun(why) => why,
        }
    }
}
