//! One case: what `case.toml` says, and which files are beside it.

use super::folder::{Blob, Folder};
use super::problem::Problem;
use formats::Format;
use hmac_sha256::Hash as Sha256;
use std::io;
use transcript::dialect::{self, Dialect};
use transcript::json::JsonKind;
use verdict::answer::{Answer, Level};
use verdict::case_file::{self, CaseFile, Expect, InDialect, Judgement, OtherReading};
use verdict::config_error::ConfigError;
use verdict::expectation::Expectation;
use verdict::identified::{self, Identified};
use verdict::meaning::{Identification, Meaning};
use verdict::normal;
use verdict::record::{BothSides, CaseNote};
use verdict::side_by_side;
use verdict::verdict::{Judgement as Judged, Question};

/// A case that can be run.
#[derive(Debug)]
pub struct Case {
    /// Its path from the root of the suite, with `/`.
    pub name: String,
    /// The folder as a person finds it.
    pub place: String,
    /// What it shows, in a line.
    pub title: String,
    /// The clauses that it shows.
    pub clauses: Vec<String>,
    /// For the person whose importer fails it.
    pub reason: String,
    /// What every transcript must be read as.
    pub expectation: Expectation,
    /// The redaction marker in use, if any.
    pub redacted: Option<String>,
    /// The case that is the same without the fault, where a rejection is expected.
    pub twin: Option<String>,
    /// A positive control: it kills no seeded fault, and covers what faults do not touch.
    pub control: bool,
    /// Why no importer is asked, where nobody knows what it means in the dialect that is spoken.
    pub unjudged: Option<String>,
    /// The dialects in which it means something else.
    dialects: Vec<(InDialect, Option<Expectation>)>,
    /// What `check` must make of it, where the case is for `check` and no importer is asked.
    pub judgement: Option<Judgement>,
    /// What `identify` must make of it, where that is what importers are asked.
    pub identified: Option<Identified>,
    /// The transcripts, in the order of the formats.
    pub transcripts: Vec<Transcript>,
    /// Formats that cannot carry the session.
    pub uncarried: Vec<Uncarried>,
    /// Why no other format than those it is spelled in can show what it shows.
    pub only: Option<String>,
    files: Vec<(String, Blob)>,
}

/// One transcript of a case.
#[derive(Debug)]
pub struct Transcript {
    /// Its format.
    pub format: &'static Format,
    /// Its bytes.
    pub blob: Blob,
}

/// A format that cannot carry the session of a case.
#[derive(Debug)]
pub struct Uncarried {
    /// The format.
    pub format: &'static Format,
    /// The clause that says so, or a sentence.
    pub why: String,
}

impl Case {
    /// Holds a case directory together.
    pub(super) fn check(folder: Folder) -> Result<Self, Vec<Problem>> {
        let mut checked = Check { folder: &folder, problems: Vec::new() };
        let file = checked.case_file();
        let meaning = checked.meaning(MEANING);
        let transcripts = checked.transcripts();
        checked.strays();
        let identified = file.as_ref().and_then(|file| checked.identified(file.expect, &transcripts));
        let file = file.filter(|_| checked.problems.is_empty());
        let expectation = file.as_ref().and_then(|file| checked.expectation(file, meaning, &transcripts));
        let others: Vec<_> =
            file.iter().flat_map(|file| &file.dialects).map(|it| checked.other(it)).collect();
        let problems = checked.problems;
        let (Some(file), Some(expectation), true) = (file, expectation, problems.is_empty()) else {
            return Err(problems);
        };
        let uncarried = file.uncarried.into_iter();
        let uncarried =
            uncarried.filter_map(|(name, why)| Some(Uncarried { format: formats::find(name)?, why }));
        Ok(Self {
            name: folder.name,
            place: folder.place,
            files: folder.files,
            title: file.title,
            clauses: file.clauses,
            reason: file.reason,
            redacted: file.redacted,
            twin: file.twin,
            control: file.control,
            only: file.only,
            judgement: file.judgement,
            dialects: file.dialects.into_iter().zip(others).collect(),
            uncarried: uncarried.collect(),
            unjudged: None,
            expectation,
            identified,
            transcripts,
        })
    }

    /// The case as it is meant in a dialect.
    #[must_use]
    pub fn in_dialect(mut self, dialect: &Dialect) -> Self {
        let other = self.dialects.iter().position(|(other, _)| other.dialect == dialect);
        if let Some((InDialect { expect, reason, .. }, expectation)) =
            other.map(|at| self.dialects.remove(at))
        {
            match expectation.filter(|_| expect != OtherReading::Unjudged) {
                Some(expectation) => (self.expectation, self.reason) = (expectation, reason),
                None => self.unjudged = Some(reason),
            }
        }
        self
    }

    /// The dialects in which it means something else, each with the reason.
    pub fn dialects(&self) -> impl Iterator<Item = (&'static Dialect, &str)> {
        self.dialects.iter().map(|(other, _)| (other.dialect, other.reason.as_str()))
    }

    /// What becomes of an answer.
    #[must_use]
    pub fn judge(&self, question: &Question<'_>, answer: &Answer) -> Judged {
        match &self.identified {
            Some(expected) => identified::judge(expected, answer),
            None => verdict::verdict::judge(&self.expectation, question, answer),
        }
    }

    /// What was expected and what was answered, side by side.
    #[must_use]
    pub fn sides(&self, level: Level, answer: &Answer) -> BothSides {
        match &self.identified {
            Some(expected) => side_by_side::identified(expected, answer),
            None => side_by_side::sides(&self.expectation, level, answer),
        }
    }

    /// What a record says of the case.
    #[must_use]
    pub fn note(&self) -> CaseNote {
        CaseNote::new(&self.title, &self.reason)
    }

    /// A digest over the name and over every file's name and bytes.
    pub(super) fn digest(&self) -> io::Result<[u8; 32]> {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // The length first, so that no two lists of parts run together into the same bytes.
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(self.name.as_bytes());
        for (name, blob) in &self.files {
            part(name.as_bytes());
            part(&blob.bytes()?);
        }
        Ok(hash.finalize())
    }
}

struct Check<'f> {
    folder: &'f Folder,
    problems: Vec<Problem>,
}

const CASE: &str = "case.toml";
const MEANING: &str = "meaning.json";
const IDENTIFY: &str = "identify.json";

/// The file with the meaning in a dialect.
fn meaning_in(dialect: &Dialect) -> String {
    format!("meaning.{}.json", dialect.name)
}

/// The names that transcripts have, in a sentence.
fn transcript_files() -> String {
    let files: Vec<&str> = formats::FORMATS.iter().map(|format| format.file).collect();
    files.join(", ")
}

/// The dialect whose meaning is in a file of this name.
fn dialect_of(file: &str) -> Option<&'static Dialect> {
    dialect::ALL.iter().find(|dialect| !dialect.is_default() && meaning_in(dialect) == file)
}

impl Check<'_> {
    fn case_file(&mut self) -> Option<CaseFile> {
        let text = self.text(CASE)?;
        let known: Vec<&str> = formats::FORMATS.iter().map(|format| format.name).collect();
        match case_file::read(&text, &known) {
            Ok(file) => Some(file),
            Err(slips) => {
                let place = self.place(CASE);
                let problem = |ConfigError { line, message }| Problem { place: place.clone(), line, message };
                self.problems.extend(slips.into_iter().map(problem));
                None
            }
        }
    }

    /// The expected meaning in this file, where there is one that is well formed.
    fn meaning(&mut self, file: &str) -> Option<Meaning> {
        let text = self.text(file)?;
        match normal::parse(&text) {
            Ok(meaning) => {
                let slips = normal::check(meaning);
                for slip in &slips {
                    let at = if slip.at.is_empty() { "the meaning" } else { &slip.at };
                    self.say(file, format!("{at}: {}", slip.message));
                }
                slips.is_empty().then(|| Meaning::from_json(meaning).ok()).flatten()
            }
            Err(why) => {
                self.say(file, format!("is not JSON: {why}"));
                None
            }
        }
    }

    fn transcripts(&mut self) -> Vec<Transcript> {
        let of_format = |format: &'static Format| {
            let (_, blob) = self.folder.files.iter().find(|(name, _)| name == format.file)?;
            Some(Transcript { format, blob: blob.clone() })
        };
        let found: Vec<Transcript> = formats::FORMATS.iter().copied().filter_map(of_format).collect();
        if found.is_empty() {
            let message =
                format!("has no transcript, so it judges nothing; add one of {}", transcript_files());
            self.problems.push(Problem::new(&self.folder.place, message));
        }
        found
    }

    fn strays(&mut self) {
        let belongs = |name: &str| {
            [CASE, MEANING, IDENTIFY].contains(&name)
                || dialect_of(name).is_some()
                || formats::FORMATS.iter().any(|format| name == format.file)
        };
        let folder = self.folder;
        for (stray, _) in folder.files.iter().filter(|(name, _)| !belongs(name)) {
            let message =
                "does not belong in a case directory, which holds case.toml, meaning.json and transcripts";
            self.say(stray, format!("{message} ({})", transcript_files()));
        }
    }

    fn expectation(
        &mut self,
        file: &CaseFile,
        meaning: Option<Meaning>,
        transcripts: &[Transcript],
    ) -> Option<Expectation> {
        let said = |dialect: &Dialect| file.dialects.iter().any(|other| other.dialect == dialect);
        let lost: Vec<String> = dialect::ALL
            .iter()
            .filter(|dialect| !dialect.is_default() && !said(dialect))
            .map(meaning_in)
            .collect();
        for name in self.folder.files.iter().map(|(name, _)| name).filter(|name| lost.contains(name)) {
            let message = "has no reason: [dialects] in case.toml must say why the dialect reads the case so";
            self.problems.push(Problem::new(format!("{}/{name}", self.folder.place), message));
        }
        for (name, _) in &file.uncarried {
            if let Some(transcript) = transcripts.iter().find(|transcript| transcript.format.name == *name) {
                let message = format!("is here, but [formats.{name}] says `carries = false`");
                self.say(transcript.format.file, message);
            }
        }
        let summary = meaning.as_ref().and_then(|it| it.json().member("authorization_discovery"));
        if summary.is_some_and(|summary| summary.kind() != JsonKind::Null)
            && !transcripts.iter().any(|transcript| transcript.format.carries.challenge)
        {
            let message = "expects an authorization_discovery that no format of the case can carry";
            self.say(MEANING, message);
        }
        match (file.expect, meaning) {
            (Expect::Meaning, Some(meaning)) => Some(Expectation::Meaning(meaning)),
            (Expect::Meaning, None) => {
                self.say(MEANING, "is missing, but the case expects a meaning");
                None
            }
            (Expect::Rejection(_), Some(_)) => {
                self.say(MEANING, "does not belong in a case that expects a rejection");
                None
            }
            (Expect::Rejection(code), None) => Some(Expectation::Rejection(code)),
            (Expect::Either, meaning) => Some(Expectation::Either(meaning)),
            // No importer is asked to read it, so that no reading is expected of one.
            (Expect::Judgement | Expect::Identification | Expect::Unidentified, None) => {
                Some(Expectation::Either(None))
            }
            (Expect::Judgement | Expect::Identification | Expect::Unidentified, Some(_)) => {
                self.say(MEANING, "does not belong in a case for `check` or `identify`");
                None
            }
        }
    }

    /// What `identify` must say of the one recording of a case.
    fn identified(&mut self, expect: Expect, transcripts: &[Transcript]) -> Option<Identified> {
        let found = self.text(IDENTIFY).map(|text| Identification::parse(&text));
        if matches!(expect, Expect::Identification | Expect::Unidentified) && transcripts.len() > 1 {
            self.say(CASE, "expects what `identify` says of one recording, but there are several");
        }
        match (expect, found) {
            (Expect::Identification, Some(Ok(found))) => return Some(Identified::As(found)),
            (Expect::Unidentified, None) => return Some(Identified::Refused),
            (Expect::Identification, Some(Err(why))) => self.say(IDENTIFY, why),
            (Expect::Identification, None) => {
                self.say(IDENTIFY, "is missing, but the case expects an identification");
            }
            (_, Some(_)) => self.say(IDENTIFY, "does not belong in a case that expects no identification"),
            (_, None) => {}
        }
        None
    }

    /// What is expected in a dialect; none where nothing is known, or the case is wrong.
    fn other(&mut self, other: &InDialect) -> Option<Expectation> {
        let file = meaning_in(other.dialect);
        let meaning = self.meaning(&file);
        let is_there = self.folder.files.iter().any(|(name, _)| *name == file);
        match other.expect {
            OtherReading::Meaning if !is_there => {
                let name = other.dialect.name;
                self.say(&file, format!("is missing, but [dialects.{name}] of case.toml names no rejection"));
                None
            }
            OtherReading::Meaning => meaning.map(Expectation::Meaning),
            _ if is_there => {
                self.say(&file, "does not belong where case.toml says that the dialect gives it no meaning");
                None
            }
            OtherReading::Rejection(code) => Some(Expectation::Rejection(code)),
            OtherReading::Unjudged => None,
        }
    }

    /// The text of a file of the case; none where there is no such file.
    fn text(&mut self, name: &str) -> Option<String> {
        let (_, blob) = self.folder.files.iter().find(|(file, _)| file == name)?;
        let text = blob.bytes().map_err(|error| format!("cannot be read: {error}"));
        let text = text.and_then(|bytes| {
            String::from_utf8(bytes.into_owned()).map_err(|error| format!("is not UTF-8: {error}"))
        });
        text.map_err(|why| self.say(name, why)).ok()
    }

    fn place(&self, file: &str) -> String {
        format!("{}/{file}", self.folder.place)
    }

    fn say(&mut self, file: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(self.place(file), message));
    }
}
