//! Why a session cannot begin.

/// Why nothing was recorded or played; each in a sentence.
#[derive(Debug)]
pub enum StartError {
    /// A file, an address or this process cannot be used.
    Unusable(String),
    /// The program or the server at the other side cannot be run or reached.
    CannotRun(String),
}
