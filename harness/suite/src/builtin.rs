//! The importer that is built in: this house's own readers.
//!
//! How a reading of [`formats`] becomes an answer. It is judged like anybody else's.

use crate::importer::Importer;
use formats::{ReadError, ReadOptions};
use transcript::dialect::Dialect;
use verdict::answer::{Answer, FailureKind};
use verdict::meaning::{Identification, Meaning};

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

    fn identifies(&self) -> bool {
        true
    }

    fn identify(&self, recording: &[u8]) -> Answer {
        identify(recording)
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

    fn identifies(&self) -> bool {
        true
    }

    fn identify(&self, recording: &[u8]) -> Answer {
        identify(recording)
    }
}

fn identify(recording: &[u8]) -> Answer {
    match formats::identify::identify_any(&mut { recording }) {
        Ok(Some(found)) => Answer::Identification(Identification::written(found)),
        Ok(None) => Answer::Rejection { code: None, message: "its beginning fits no format".to_owned() },
        Err(error) => refused(error),
    }
}

/// What becomes of a transcript that is not read.
fn refused(error: ReadError) -> Answer {
    match error {
        ReadError::Rejected(rejection) => {
            Answer::Rejection { code: Some(rejection.code.name().into()), message: rejection.to_string() }
        }
        // Bytes in memory can always be read, and nobody asked the reader to stop.
        error => Answer::Broken { how: FailureKind::Crash, message: error.to_string() },
    }
}

fn read(format: &str, transcript: &[u8], options: ReadOptions) -> Answer {
    let Some(format) = formats::find(format) else {
        return Answer::Unsupported { why: format!("there is no format {format}") };
    };
    match formats::meaning(format, &mut { transcript }, options) {
        Ok(meaning) => Answer::Meaning(Meaning::written(meaning.text)),
        Err(error) => refused(error),
    }
}

#[cfg(test)]
mod tests {
    use super::Builtin;
    use crate::importer::Importer;
    use crate::run::{Selection, plan, run};
    use crate::suite::{Root, Suite};
    use crate::testing::Double;
    use verdict::record::{self, Record};
    use verdict::verdict::Verdict;

    #[test]
    fn who_identifies_is_asked_and_who_does_not_is_skipped() {
        let suite = Suite::load(&[Root::Embedded]).unwrap();
        let judged = |importer: &dyn Importer| -> Record {
            let filters = vec![globset::Glob::new("identify/*").unwrap().compile_matcher()];
            let plan = plan(&suite, importer, &Selection { filters, ..Selection::default() });
            run(&plan, importer, 2, record::Suite::new("", "")).unwrap()
        };
        let silent = Double::new("silent", |format, transcript| Builtin.read(format, transcript));
        let (asked, silent) = (judged(&Builtin), judged(&silent));
        assert!(asked.planned > 20, "{asked:?}");
        assert_eq!(asked.totals.get(&Verdict::Pass), Some(&asked.planned), "{asked:?}");
        assert_eq!(silent.totals.get(&Verdict::Skip), Some(&asked.planned));
        assert_eq!(silent.results[0].message.as_deref(), Some("silent does not answer `identify`"));
    }
}
