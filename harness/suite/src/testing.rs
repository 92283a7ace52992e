//! An importer for tests, and the suite.

use crate::importer::Importer;
use crate::reading::{Format, Reading, Rejection, reading};
use crate::suite::{Root, Suite};
use std::sync::LazyLock;
use verdict::answer::{Answer, Level};

/// The embedded suite, loaded once.
pub(crate) static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::load(&[Root::Embedded]).unwrap());

/// Reads as a function does, and is otherwise what its fields say.
pub(crate) struct Double<R> {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    /// Whether it is held to our codes.
    pub(crate) strict: bool,
    pub(crate) reads: fn(&str) -> bool,
    pub(crate) read: R,
}

impl<R: Fn(&str, &[u8]) -> Answer> Double<R> {
    pub(crate) fn new(name: &'static str, read: R) -> Self {
        Self { name, level: Level::Events, strict: false, reads: |_| true, read }
    }
}

impl<R: Fn(&str, &[u8]) -> Answer + Send + Sync> Importer for Double<R> {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        "0"
    }

    fn level(&self) -> Level {
        self.level
    }

    fn strict_codes(&self) -> bool {
        self.strict
    }

    fn reads(&self, format: Format) -> bool {
        (self.reads)(format.name())
    }

    fn read(&self, format: Format, transcript: &[u8]) -> Result<Reading, Rejection> {
        reading(self.answer(format, transcript))
    }

    fn answer(&self, format: Format, transcript: &[u8]) -> Answer {
        (self.read)(format.name(), transcript)
    }
}
