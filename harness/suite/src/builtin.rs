//! The importer that is built in: this house's own readers.
//!
//! How a reading of [`formats`] becomes an answer. It is judged like anybody else's.

use crate::importer::Importer;
use formats::{ReadError, ReadOptions};
use transcript::dialect::Dialect;
use verdict::answer::{Answer, FailureKind};
use verdict::meaning::Meaning;

/// The readers of this program.
#[derive(Debug, Clone, Copy, Default)]
pub struct Builtin;

impl Importer for Builtin {
    fn name(&self) -> &str {
        "mcp-concord"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn strict_codes(&self) -> bool {
        true
    }

    fn reads(&self, format: &str) -> bool {
        formats::find(format).is_some()
    }

    fn read(&self, format: &str, transcript: &[u8]) -> Answer {
        read(format, transcript, ReadOptions::default())
    }
}

/// The readers of this program, in a dialect.
#[derive(Debug, Clone, Copy)]
pub struct InDialect(pub &'static Dialect);

impl Importer for InDialect {
    fn name(&self) -> &str {
        Builtin.name()
    }

    fn version(&self) -> &str {
        Builtin.version()
    }

    fn dialect(&self) -> &str {
        self.0.name
    }

    fn strict_codes(&self) -> bool {
        true
    }

    fn reads(&self, format: &str) -> bool {
        Builtin.reads(format)
    }

    fn read(&self, format: &str, transcript: &[u8]) -> Answer {
        read(format, transcript, ReadOptions::of(self.0))
    }
}

fn read(format: &str, transcript: &[u8], options: ReadOptions) -> Answer {
    let Some(format) = formats::find(format) else {
        return Answer::Unsupported { why: format!("there is no format {format}") };
    };
    match formats::meaning(format, &mut { transcript }, options) {
        Ok(meaning) => Answer::Meaning(Meaning::written(meaning.text)),
        Err(ReadError::Rejected(rejection)) => {
            Answer::Rejection { code: Some(rejection.code.name().into()), message: rejection.to_string() }
        }
        // Bytes in memory can always be read, and nobody asked the reader to stop.
        Err(error) => Answer::Broken { how: FailureKind::Crash, message: error.to_string() },
    }
}
