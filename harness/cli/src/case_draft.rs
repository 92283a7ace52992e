//! A case directory before it has a name: its transcripts and what is expected of them.

use formats::Format;
use generators::dialects::InDialect;
use generators::mutators::find;
use generators::variant::Variant;
use mcp_concord_suite::GeneratedCase;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};
use transcript::dialect::Dialect;
use verdict::expectation::Expectation;
use wire::files::{Access, replace};

/// Transcripts with their expectation.
#[derive(Debug, Clone)]
pub(crate) struct CaseDraft {
    pub clauses: Vec<&'static str>,
    /// What reading any of the files must give.
    pub expectation: Expectation,
    /// The dialects that make something else of it.
    pub dialects: Vec<(&'static Dialect, InDialect)>,
    /// The marker, where values were redacted.
    pub redacted: Option<&'static str>,
    /// The mutators that made it, in order.
    pub trail: Vec<String>,
    /// The transcripts, or why a format cannot have one.
    pub files: Vec<(&'static Format, Result<Vec<u8>, String>)>,
}

/// What a case says of itself besides what it holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaseHeader<'a> {
    pub name: &'a str,
    pub title: &'a str,
    /// For the person whose importer fails it.
    pub reason: &'a str,
    /// Where the expectation is from.
    pub origin: &'a str,
}

/// The header of a case that is only asked about and never written.
pub(crate) const UNWRITTEN: CaseHeader<'static> =
    CaseHeader { name: NAME, title: NAME, reason: NAME, origin: NAME };
const NAME: &str = "variant";

impl From<Variant> for CaseDraft {
    fn from(variant: Variant) -> Self {
        let Variant { trail, mut clauses, expectation, dialects, redacted, files, .. } = variant;
        if clauses.is_empty() {
            clauses.push("EQ-PAIR");
        }
        Self { clauses, expectation, dialects, redacted, trail, files }
    }
}

impl CaseDraft {
    /// The draft with only the transcript of this format.
    pub(crate) fn only(&self, format: &str) -> Self {
        let mut one = self.clone();
        one.files.retain(|(other, _)| other.name == format);
        one
    }

    /// The transcript in this format.
    pub(crate) fn bytes(&self, format: &str) -> Option<&[u8]> {
        let (_, file) = self.files.iter().find(|(other, _)| other.name == format)?;
        file.as_deref().ok()
    }

    /// The mutators that made it, in words.
    pub(crate) fn trail(&self) -> String {
        if self.trail.is_empty() { "no change".to_owned() } else { self.trail.join(", ") }
    }

    /// What its mutators do, in sentences.
    pub(crate) fn sentences(&self) -> String {
        let mutators = self.trail.iter().filter_map(|step| find(step.split(' ').next()?));
        mutators.map(|mutator| mutator.sentence).collect::<Vec<_>>().join(" ")
    }

    /// The case directory's files. A rejection names the case beside it that is the same without the fault.
    pub(crate) fn case(&self, about: &CaseHeader<'_>) -> GeneratedCase {
        let mut files = vec![("case.toml".to_owned(), self.case_file(about).into_bytes())];
        for (format, file) in &self.files {
            if let Ok(bytes) = file {
                files.push((format.file.to_owned(), bytes.clone()));
            }
        }
        if let Some(meaning) = self.expectation.meaning() {
            files.push(("meaning.json".to_owned(), meaning.text().as_bytes().to_vec()));
        }
        for (dialect, known) in &self.dialects {
            if let InDialect::Meaning(meaning) = known {
                files.push((format!("meaning.{}.json", dialect.name), meaning.clone().into_bytes()));
            }
        }
        files.sort();
        (about.name.to_owned(), files)
    }

    fn case_file(&self, about: &CaseHeader<'_>) -> String {
        // A JSON string is a TOML string but for one character.
        let quoted = |text: &str| serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f");
        let clauses: Vec<_> = self.clauses.iter().map(|clause| quoted(clause)).collect();
        let mut out = String::new();
        let mut line = |key: &str, value: &str| {
            let _ = writeln!(out, "{key} = {value}");
        };
        line("title", &quoted(about.title));
        line("clauses", &format!("[{}]", clauses.join(", ")));
        match &self.expectation {
            Expectation::Meaning(_) => line("expect", "\"meaning\""),
            Expectation::Either(_) => line("expect", "\"either\""),
            Expectation::Rejection(code) => {
                line("expect", "\"rejection\"");
                line("reject", &quoted(code.name()));
                line("twin", &quoted(&twin(about.name)));
            }
        }
        line("reason", &quoted(about.reason));
        line("origin", &quoted(about.origin));
        if let Some(marker) = self.redacted {
            line("redacted", &quoted(marker));
        }
        for (format, file) in &self.files {
            if let Err(why) = file {
                let _ = write!(out, "\n[formats.{}]\ncarries = false\nwhy = {}\n", format.name, quoted(why));
            }
        }
        for (dialect, known) in &self.dialects {
            let (reason, what) = match known {
                InDialect::Meaning(_) => (dialect.about, String::new()),
                InDialect::Rejects(code) => (dialect.about, format!("reject = {}\n", quoted(code.name()))),
                InDialect::Unknown(why) => (*why, "judged = false\n".to_owned()),
            };
            let _ = write!(out, "\n[dialects.{}]\n{what}reason = {}\n", dialect.name, quoted(reason));
        }
        out
    }
}

/// The name of the case that is the same without the fault.
pub(crate) fn twin(name: &str) -> String {
    format!("{name}-twin")
}

/// Whether this place is empty, or holds exactly these files.
pub(crate) fn is_free(out: &Path, (name, files): &GeneratedCase) -> bool {
    let folder = out.join(name);
    let count = fs::read_dir(&folder).map(Iterator::count).unwrap_or_default();
    let same = |(file, bytes): &(String, Vec<u8>)| fs::read(folder.join(file)).is_ok_and(|it| it == *bytes);
    !folder.exists() || count == files.len() && files.iter().all(same)
}

/// Writes a case directory into `out`, whole or not at all.
pub(crate) fn save(out: &Path, (name, files): &GeneratedCase) -> io::Result<PathBuf> {
    let folder = out.join(name);
    if folder.exists() {
        return Ok(folder);
    }
    // The suite's loader skips hidden folders, so half a case does no harm.
    let own = folder.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.with_file_name(format!(".{own}.part"));
    let written = fs::create_dir_all(&part)
        .and_then(|()| {
            files.iter().try_for_each(|(file, bytes)| {
                replace(&part.join(file), Access::Usual, |out| out.write_all(bytes))
            })
        })
        .and_then(|()| fs::rename(&part, &folder));
    if written.is_err() {
        // What remains of it is harmless.
        let _ = fs::remove_dir_all(&part);
    }
    written.map(|()| folder)
}

#[cfg(test)]
mod tests {
    use super::{CaseDraft, CaseHeader, is_free, save};
    use generators::seeded::{Source, recipe};
    use mcp_concord_suite::{Root, Suite};
    use verdict::expectation::Expectation;

    #[test]
    fn a_draft_is_a_case_that_loads_whatever_its_words_are() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..60 {
            let recipe = recipe(2, number, Source::Made).unwrap();
            let draft = CaseDraft::from(recipe.make().unwrap());
            let name = format!("n-{number}");
            let title = format!("{number}: \"quoted\" '''and''' \\ \u{7f} é\nmore");
            let about = CaseHeader { name: &name, title: &title, reason: "r", origin: "o" };
            let case = draft.case(&about);
            assert!(is_free(folder.path(), &case));
            save(folder.path(), &case).unwrap();
            assert!(is_free(folder.path(), &case));
            let other = draft.case(&CaseHeader { reason: "another", ..about });
            assert!(!is_free(folder.path(), &other));
            if matches!(draft.expectation, Expectation::Rejection(_)) {
                let name = super::twin(&name);
                let about = CaseHeader { name: &name, title: &name, ..about };
                save(folder.path(), &CaseDraft::from(recipe.valid_counterpart().unwrap()).case(&about))
                    .unwrap();
            }
        }
        let suite = Suite::load(&[Root::Disk(folder.path().to_owned())]).unwrap();
        assert!(suite.cases.len() >= 60);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(save(&file, &("x".to_owned(), Vec::new())).is_err());
    }
}
