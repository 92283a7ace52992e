//! The importer that is built in: this repository's own readers.
//!
//! How a reading of [`formats`] becomes an answer. It is judged like anybody else's.

use crate::importer::Importer;
use crate::reading::{Format, Reading, Rejection, reading};
use formats::{ReadError, ReadOptions};
use transcript::dialect::{self, Dialect};
use verdict::answer::{Answer, FailureKind};
use verdict::meaning::{Identification, Meaning};

/// The readers of this program, in a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Builtin(pub &'static Dialect);

impl Default for Builtin {
    fn default() -> Self {
        Self(&dialect::ALL[0])
    }
}

impl Importer for Builtin {
    fn name(&self) -> &str {
        "mcp-concord"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn dialect(&self) -> &str {
        self.0.name
    }

    fn strict_codes(&self) -> bool {
        true
    }

    fn reads(&self, format: Format) -> bool {
        formats::find(format.name()).is_some()
    }

    fn read(&self, format: Format, transcript: &[u8]) -> Result<Reading, Rejection> {
        reading(self.answer(format, transcript))
    }

    fn answer(&self, format: Format, transcript: &[u8]) -> Answer {
        let Some(format) = formats::find(format.name()) else {
            return Answer::Unsupported { why: format!("there is no format {}", format.name()) };
        };
        match formats::meaning(format, &mut { transcript }, ReadOptions::in_dialect(self.0)) {
            Ok(meaning) => Answer::Meaning(Meaning::written(meaning.text)),
            Err(error) => refused(error),
        }
    }

    fn identifies(&self) -> bool {
        true
    }

    fn identify(&self, recording: &[u8]) -> Answer {
        match formats::identify::identify_any(&mut { recording }) {
            Ok(Some(found)) => Answer::Identification(Identification::written(found)),
            Ok(None) => {
                Answer::Rejection { code: None, message: "its beginning matches no format".to_owned() }
            }
            Err(error) => refused(error),
        }
    }
}

/// The answer about a transcript that is not read.
fn refused(error: ReadError) -> Answer {
    match error {
        ReadError::Rejected(rejection) => {
            Answer::Rejection { code: Some(rejection.code.name().into()), message: rejection.to_string() }
        }
        // Bytes in memory can always be read, and nobody asked the reader to stop.
        error => Answer::Broken { how: FailureKind::Crash, message: error.to_string() },
    }
}
