//! Something wrong in a file that a person wrote: what, and on which line.

/// Something wrong with a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The line in the file, from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl ConfigError {
    /// A slip at byte `at` of `text`.
    pub(crate) fn at(text: &str, at: Option<usize>, message: impl Into<String>) -> Self {
        let before = at.map(|at| text.get(..at).unwrap_or(text));
        let line = before.map(|before| before.matches('\n').count() + 1);
        Self { line, message: message.into() }
    }
}
