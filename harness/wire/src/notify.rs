//! Reporting to a person while a session goes on.

/// A person, usually at a terminal, to whom recorders and players report while a session goes on.
pub trait Notify: Send + Sync {
    /// Reports what went wrong, in a sentence.
    fn error(&self, text: &str);

    /// Reports something that is worth knowing and is not an error, in a sentence.
    fn note(&self, text: &str);

    /// Reports where the other side differs from the session that is played, in up to four lines.
    fn mismatch(&self, text: &str);
}

/// Says nothing: what happens is seen elsewhere.
pub(crate) struct Quiet;

impl Notify for Quiet {
    fn error(&self, _: &str) {}

    fn note(&self, _: &str) {}

    fn mismatch(&self, _: &str) {}
}
