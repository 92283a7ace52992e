//! `case.toml`: what a case says of itself.
//!
//! Its keys, and what to write where one is missing or wrong.

mod dialects;
mod words;

pub use dialects::{InDialect, OtherReading};

use crate::config_error::ConfigError;
use dialects::{DialectNote, code};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;
use transcript::clauses;
use transcript::nearest::hint;
use transcript::rejection::Code;
use words::{example, is_date, known_keys, looks_like_a_clause, looks_like_a_rule};

/// The file as it is spelled. What is required is optional here, so that all that is missing can be listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelled {
    title: Option<Spanned<String>>,
    clauses: Option<Spanned<Vec<Spanned<String>>>>,
    expect: Option<Spanned<String>>,
    reason: Option<Spanned<String>>,
    origin: Option<Spanned<String>>,
    reject: Option<Spanned<String>>,
    twin: Option<Spanned<String>>,
    control: Option<bool>,
    only: Option<Spanned<String>>,
    source: Option<Spanned<String>>,
    revision: Option<Spanned<String>>,
    redacted: Option<Spanned<String>>,
    #[serde(default)]
    formats: BTreeMap<String, Spanned<FormatNote>>,
    recorded: Option<Recorded>,
    judgement: Option<Spanned<Rules>>,
    #[serde(default)]
    dialects: BTreeMap<String, Spanned<DialectNote>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatNote {
    carries: Option<bool>,
    why: Option<String>,
}

/// What `check` must make of the transcripts: rule ids.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Written out where nothing is broken, so that nobody has forgotten it.
    breaks: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    keeps: Vec<Spanned<String>>,
    #[serde(default)]
    unsure: Vec<Spanned<String>>,
}

/// What `check` must make of the transcripts of a case: the ids of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The rules that are broken: these, and no others.
    pub breaks: Vec<String>,
    /// Rules that are kept.
    pub keeps: Vec<String>,
    /// Rules that apply, and of which the recording does not show enough.
    pub unsure: Vec<String>,
}

/// Where a recorded session comes from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    program: Spanned<String>,
    how: Spanned<String>,
    date: Spanned<String>,
}

/// The file as it is meant. All of it has been checked by itself.
#[derive(Debug)]
pub struct CaseFile {
    /// What it shows, in a line.
    pub title: String,
    /// The clauses that it shows.
    pub clauses: Vec<String>,
    /// What it expects.
    pub expect: Expect,
    /// For the person whose importer fails it.
    pub reason: String,
    /// The redaction marker in use, if any.
    pub redacted: Option<String>,
    /// The case that is the same without the fault, where a rejection is expected.
    pub twin: Option<String>,
    /// A positive control: it kills no seeded fault, and holds what faults do not touch.
    pub control: bool,
    /// Formats that cannot carry the session, each with the reason.
    pub uncarried: Vec<(&'static str, String)>,
    /// Why no other format than those it is spelled in can show what it shows.
    pub only: Option<String>,
    /// The case is for `check`, and no importer is asked.
    pub judgement: Option<Judgement>,
    /// The dialects in which it means something else.
    pub dialects: Vec<InDialect>,
}

/// What a case expects of every transcript in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// A meaning, which is in a file of its own.
    Meaning,
    /// A rejection of this kind.
    Rejection(Code),
    /// A reading or a rejection, the same in every format.
    Either,
    /// Nothing of an importer: the case is for `check`.
    Judgement,
    /// What `identify` says of it, which is in a file of its own.
    Identification,
    /// That `identify` refuses it.
    Unidentified,
}

/// Reads and checks the text of a `case.toml`, where `formats` are those that there are.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(text: &str, formats: &[&'static str]) -> Result<CaseFile, Vec<ConfigError>> {
    let mut reader = Reader { text, formats, slips: Vec::new() };
    let Some(spelled) = known_keys(text, &mut |at, message| reader.say(at, message)) else {
        return Err(reader.slips);
    };
    let file = reader.check(spelled);
    file.filter(|_| reader.slips.is_empty()).ok_or(reader.slips)
}

struct Reader<'t> {
    text: &'t str,
    formats: &'t [&'static str],
    slips: Vec<ConfigError>,
}

impl Reader<'_> {
    fn check(&mut self, spelled: Spelled) -> Option<CaseFile> {
        let title = self.sentence("title", spelled.title);
        let expect = self.expect(spelled.expect, spelled.reject);
        let clauses = match (expect, spelled.clauses) {
            // The contract is about reading, and docs/identify.md about these.
            (Some(Expect::Identification | Expect::Unidentified), None) => Some(Vec::new()),
            (_, clauses) => self.clauses(clauses),
        };
        let twin = self.twin(expect, spelled.twin);
        let reason = self.sentence("reason", spelled.reason);
        let origin = self.sentence("origin", spelled.origin);
        for (name, value) in [("source", spelled.source), ("revision", spelled.revision.clone())] {
            value.map(|value| self.filled(name, value));
        }
        if let Some(revision) = spelled.revision.filter(|revision| !is_date(revision.get_ref())) {
            self.say(Some(revision.span().start), "a revision is a date, such as revision = \"2025-11-25\"");
        }
        let redacted = spelled.redacted.map(|marker| self.filled("redacted", marker));
        let only = spelled.only.map(|why| self.filled("only", why));
        if let Some(Recorded { program, how, date }) = spelled.recorded {
            for (name, value) in [("program", program), ("how", how), ("date", date)] {
                self.filled(name, value);
            }
        }
        let uncarried =
            spelled.formats.into_iter().filter_map(|(name, note)| self.format(&name, note)).collect();
        let (title, clauses, expect, reason) = (title?, clauses?, expect?, reason?);
        origin?;
        let control = spelled.control.unwrap_or_default();
        let judgement = self.judgement(expect, spelled.judgement);
        let mut dialects = Vec::new();
        for (name, note) in spelled.dialects {
            let at = Some(note.span().start);
            match note.into_inner().check(&name) {
                Ok(dialect) => dialects.push(dialect),
                Err(slips) => slips.into_iter().for_each(|slip| self.say(at, slip)),
            }
        }
        let file = CaseFile {
            title,
            clauses,
            expect,
            reason,
            redacted,
            twin,
            control,
            uncarried,
            only,
            judgement,
            dialects,
        };
        Some(file)
    }

    /// A text that must be there and say something.
    fn sentence(&mut self, name: &str, value: Option<Spanned<String>>) -> Option<String> {
        let value = self.required(name, value)?;
        Some(self.filled(name, value))
    }

    fn required<T>(&mut self, name: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.say(None, format!("`{name}` is missing{}", example(name)));
        }
        value
    }

    fn filled(&mut self, name: &str, value: Spanned<String>) -> String {
        if value.get_ref().trim().is_empty() {
            self.say(Some(value.span().start), format!("`{name}` is empty{}", example(name)));
        }
        value.into_inner()
    }

    fn clauses(&mut self, list: Option<Spanned<Vec<Spanned<String>>>>) -> Option<Vec<String>> {
        let list = self.required("clauses", list)?;
        if list.get_ref().is_empty() {
            self.say(
                Some(list.span().start),
                format!("a case needs at least one clause{}", example("clauses")),
            );
        }
        let mut ids: Vec<String> = Vec::new();
        for id in list.into_inner() {
            let at = Some(id.span().start);
            let id = id.into_inner();
            if clauses::find(&id).is_none() && !looks_like_a_rule(&id) {
                self.say(at, unknown_clause(&id));
            } else if ids.contains(&id) {
                self.say(at, format!("{id} is listed twice"));
            }
            ids.push(id);
        }
        Some(ids)
    }

    fn expect(&mut self, expect: Option<Spanned<String>>, reject: Option<Spanned<String>>) -> Option<Expect> {
        let expect = self.required("expect", expect)?;
        let at = Some(expect.span().start);
        match (expect.get_ref().as_str(), reject) {
            ("meaning", None) => Some(Expect::Meaning),
            ("either", None) => Some(Expect::Either),
            ("judgement", None) => Some(Expect::Judgement),
            ("identification", None) => Some(Expect::Identification),
            ("unidentified", None) => Some(Expect::Unidentified),
            ("meaning" | "either" | "judgement" | "identification" | "unidentified", Some(reject)) => {
                self.say(Some(reject.span().start), "`reject` is only for expect = \"rejection\"");
                None
            }
            ("rejection", None) => {
                self.say(at, "a rejection needs a code; write reject = \"invalid-id\" or another one");
                None
            }
            ("rejection", Some(reject)) => {
                let code = code(reject.get_ref());
                code.map(Expect::Rejection).map_err(|why| self.say(Some(reject.span().start), why)).ok()
            }
            (other, _) => {
                let write = r#"expect = "meaning", "rejection" or "either""#;
                self.say(at, format!("`expect` cannot be `{other}`; write {write}"));
                None
            }
        }
    }

    /// A rejection proves something only beside a session that is read: a reader that rejects everything fails the
    /// twin.
    fn twin(&mut self, expect: Option<Expect>, twin: Option<Spanned<String>>) -> Option<String> {
        match (expect, twin) {
            (Some(Expect::Rejection(_)), None) => {
                let message = "a rejection needs a twin, the same session without the fault; write \
                    twin = \"topic/name\" with the name of a case that expects a meaning";
                self.say(None, message);
                None
            }
            (Some(expect), Some(twin)) if !matches!(expect, Expect::Rejection(_)) => {
                self.say(Some(twin.span().start), "`twin` is only for expect = \"rejection\"");
                None
            }
            (_, twin) => twin.map(|twin| self.filled("twin", twin)),
        }
    }

    /// A case for `check` says what must be found, and no other case does.
    fn judgement(&mut self, expect: Expect, rules: Option<Spanned<Rules>>) -> Option<Judgement> {
        match (expect, rules) {
            (Expect::Judgement, Some(rules)) => {
                let at = rules.span().start;
                let Rules { breaks, keeps, unsure } = rules.into_inner();
                if breaks.is_none() && keeps.is_empty() && unsure.is_empty() {
                    let message = "names no rule; write breaks, keeps or unsure = [\"jsonrpc.id.null\"], or \
                        breaks = [] where nothing is broken";
                    self.say(Some(at), message);
                }
                let lists = [breaks.unwrap_or_default(), keeps, unsure];
                let [breaks, keeps, unsure] = lists.map(|ids| self.rules(ids));
                Some(Judgement { breaks, keeps, unsure })
            }
            (Expect::Judgement, None) => {
                self.say(None, "a judgement needs a [judgement] with breaks, keeps or unsure");
                None
            }
            (_, Some(rules)) => {
                self.say(Some(rules.span().start), "[judgement] is only for expect = \"judgement\"");
                None
            }
            (_, None) => None,
        }
    }

    /// Ids of rules by their form: which rules there are is for the crate that has them.
    fn rules(&mut self, ids: Vec<Spanned<String>>) -> Vec<String> {
        let mut known = Vec::new();
        for id in ids {
            if !looks_like_a_rule(id.get_ref()) {
                let message = format!("`{}` is not the id of a rule, such as jsonrpc.id.null", id.get_ref());
                self.say(Some(id.span().start), message);
            }
            known.push(id.into_inner());
        }
        known
    }

    fn format(&mut self, name: &str, note: Spanned<FormatNote>) -> Option<(&'static str, String)> {
        let at = Some(note.span().start);
        let note = note.into_inner();
        let format = self.formats.iter().copied().find(|format| *format == name);
        if format.is_none() {
            let hint = hint(name, self.formats.iter().copied());
            self.say(at, format!("[formats.{name}]: there is no such format{hint}"));
        }
        if note.carries != Some(false) {
            let message =
                "needs `carries = false`; a format that does carry the session has its transcript here";
            self.say(at, format!("[formats.{name}] {message}"));
        }
        let why = note.why.filter(|why| !why.trim().is_empty());
        match &why {
            None => self.say(at, format!("[formats.{name}] needs a `why`: a clause, or a sentence")),
            Some(why) => {
                let first = why.split([':', ' ']).next().unwrap_or_default();
                if looks_like_a_clause(first) && clauses::find(first).is_none() {
                    self.say(at, format!("[formats.{name}] {}", unknown_clause(first)));
                }
            }
        }
        Some((format?, why?))
    }

    fn say(&mut self, at: Option<usize>, message: impl Into<String>) {
        self.slips.push(ConfigError::at(self.text, at, message));
    }
}

fn unknown_clause(id: &str) -> String {
    let hint = hint(id, clauses::all().map(|clause| clause.id));
    format!("there is no clause `{id}`{hint}")
}

#[cfg(test)]
mod tests;
