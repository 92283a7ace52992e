//! What a case says of the dialects in which it means something else.

use serde::Deserialize;
use transcript::dialect::{self, Dialect};
use transcript::nearest::hint;
use transcript::rejection::Code;

/// A `[dialects.NAME]` as it is spelled.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DialectNote {
    reason: Option<String>,
    reject: Option<String>,
    judged: Option<bool>,
}

/// What a case means in a dialect that reads it otherwise.
#[derive(Debug, Clone)]
pub struct InDialect {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// What it expects there.
    pub expect: OtherReading,
    /// For the person whose importer reads in this dialect; where nobody is asked, why.
    pub reason: String,
}

/// What a dialect makes of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherReading {
    /// A meaning, which is in a file of its own.
    Meaning,
    /// A rejection of this kind.
    Rejection(Code),
    /// It is not known, and no importer is asked.
    Unjudged,
}

impl DialectNote {
    /// The note as it is meant.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(super) fn check(self, name: &str) -> Result<InDialect, Vec<String>> {
        let dialect = dialect::find(name).and_then(|dialect| match dialect.is_default() {
            true => Err(format!("`{name}` needs no table: the rest of the file says how it reads the case")),
            false => Ok(dialect),
        });
        let reason = self.reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.ok_or("needs a `reason` for the person whose importer fails there".to_owned());
        let expect = match (self.reject.as_deref(), self.judged) {
            (None, None) => Ok(OtherReading::Meaning),
            (Some(name), None) => code(name).map(OtherReading::Rejection),
            (None, Some(false)) => Ok(OtherReading::Unjudged),
            (_, Some(_)) => {
                Err("takes only `judged = false`, where nobody knows what it means there".to_owned())
            }
        };
        match (dialect, expect, reason) {
            (Ok(dialect), Ok(expect), Ok(reason)) => Ok(InDialect { dialect, expect, reason }),
            (dialect, expect, reason) => {
                let wrong = [dialect.err(), reason.err(), expect.err()].into_iter().flatten();
                Err(wrong.map(|slip| format!("[dialects.{name}] {slip}")).collect())
            }
        }
    }
}

/// The rejection code of this name.
///
/// # Errors
/// A sentence with the nearest, where there is none.
pub(super) fn code(name: &str) -> Result<Code, String> {
    Code::from_name(name).ok_or_else(|| {
        format!("there is no rejection code `{name}`{}", hint(name, Code::all().map(Code::name)))
    })
}
