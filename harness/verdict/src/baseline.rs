//! A baseline: the failures of an importer that are known, each with the reason why it is let pass.
//!
//! Which readings an entry names, which kind of failure it excuses, and when it has gone stale. An entry that excuses
//! nothing fails the run, so that a baseline never rots.

use crate::config_error::ConfigError;
use crate::record::{CaseResult, Reason, Record};
use crate::verdict::Verdict;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toml::Spanned;
use transcript::dialect::{self, Dialect};
use transcript::diff::PointerPattern;
use transcript::nearest::hint;

/// What stands for a reason until a person gives one. It is none.
pub const PLACEHOLDER: &str = "TODO: say in a sentence why this is known and let pass";

/// The known failures of one importer.
#[derive(Debug, Default)]
pub struct Baseline {
    entries: Vec<Known>,
    dialect: Option<&'static Dialect>,
}

/// One entry.
#[derive(Debug)]
struct Known {
    /// Its line in the file.
    line: usize,
    case: GlobMatcher,
    format: Option<GlobMatcher>,
    kind: Verdict,
    at: Option<PointerPattern>,
    silent_loss: bool,
    reason: Reason,
    /// How many readings it names, of all that could be judged.
    readings: usize,
}

/// The file as it is spelled. What is required is optional here, so that all that is missing can be listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    dialect: Option<Spanned<String>>,
    #[serde(default)]
    known: Vec<Spanned<Spelled>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Spelled {
    case: Option<String>,
    format: Option<String>,
    kind: Option<String>,
    at: Option<String>,
    #[serde(default)]
    silent_loss: bool,
    reason: Option<String>,
    issue: Option<String>,
}

/// The failures that can be known.
const KINDS: [Verdict; 5] =
    [Verdict::Fail, Verdict::Crash, Verdict::Timeout, Verdict::Garbled, Verdict::Unstable];

impl Baseline {
    /// Reads the text of a baseline. Where it is to be added to, entries may still wait for their reasons.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(text: &str, reasons_may_wait: bool) -> Result<Self, Vec<ConfigError>> {
        let line = |at: usize| text.get(..at).map(|before| before.matches('\n').count() + 1);
        let file: File = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            vec![ConfigError { line: error.span().and_then(|span| line(span.start)), message }]
        })?;
        let (mut entries, mut slips) = (Vec::new(), Vec::new());
        for entry in file.known {
            let line = line(entry.span().start);
            match Known::new(entry.into_inner(), line.unwrap_or_default(), reasons_may_wait) {
                Ok(known) => entries.push(known),
                Err(messages) => {
                    slips.extend(messages.into_iter().map(|message| ConfigError { line, message }));
                }
            }
        }
        let dialect = file.dialect.and_then(|name| match dialect::find(name.get_ref()) {
            Ok(dialect) => Some(dialect),
            Err(message) => {
                slips.push(ConfigError { line: line(name.span().start), message });
                None
            }
        });
        if slips.is_empty() { Ok(Self { entries, dialect }) } else { Err(slips) }
    }

    /// That it is of this dialect. One that names none is of the contract itself, or of nothing yet.
    ///
    /// # Errors
    /// A sentence that says what to change: what fails in one dialect says nothing of another.
    pub fn is_of(&self, dialect: &Dialect) -> Result<(), ConfigError> {
        let own = self.dialect.map_or(dialect::DEFAULT, |own| own.name);
        if own == dialect.name || self.dialect.is_none() && self.entries.is_empty() {
            return Ok(());
        }
        let message = format!(
            "it lists what fails in the dialect {own}, but this run judges by {}: use --dialect {own}, or a \
             baseline that begins with dialect = \"{}\"",
            dialect.name, dialect.name
        );
        Err(ConfigError { line: None, message })
    }

    /// Counts what each entry names among all readings that could be judged, each a case and a format. Gives the entries that
    /// name none.
    pub fn hold_against<'r>(
        &mut self,
        readings: impl Iterator<Item = (&'r str, &'r str)> + Clone,
    ) -> Vec<ConfigError> {
        for known in &mut self.entries {
            known.readings = readings.clone().filter(|(case, format)| known.names(case, format)).count();
        }
        let slip = |known: &Known| {
            let (case, format) = (known.case(), known.within("format"));
            known.slip(format!("no case of the suite matches `{case}`{format}"))
        };
        self.entries.iter().filter(|known| known.readings == 0).map(slip).collect()
    }

    /// The entries that name none of these rules, where rules stand in place of cases.
    pub fn without_rule(&self, rules: &[&str]) -> Vec<ConfigError> {
        let slip = |known: &Known| {
            let rule = known.case();
            known.slip(format!("there is no rule `{rule}`{}", hint(rule, rules.iter().copied())))
        };
        let none = |known: &&Known| !rules.iter().any(|rule| known.case.is_match(rule));
        self.entries.iter().filter(none).map(slip).collect()
    }

    /// The wrong answers that it excuses: each a glob over `case/format`, with the reason.
    pub fn excused(&self) -> impl Iterator<Item = (String, &str)> {
        self.entries.iter().filter(|known| known.kind == Verdict::Fail).map(|known| {
            let format = known.format.as_ref().map_or("*", |format| format.glob().glob());
            (format!("{}/{format}", known.case()), known.reason.reason.as_str())
        })
    }

    /// Whether an entry names this reading.
    pub fn names(&self, case: &str, format: &str) -> bool {
        self.entries.iter().any(|known| known.names(case, format))
    }

    /// Turns known failures into expected ones, and passes that are listed as failures into unexpected ones. Gives
    /// the entries that excused nothing although all that they name was judged, and that no unexpected pass tells of.
    pub fn apply(&self, record: &mut Record) -> Vec<ConfigError> {
        // What became of each entry: it excused something, it was reported, or nothing yet.
        let mut reported = vec![false; self.entries.len()];
        let mut judged = vec![0; self.entries.len()];
        for line in &mut record.results {
            let naming: Vec<usize> = (0..self.entries.len())
                .filter(|index| self.entries[*index].names(&line.case, &line.format))
                .collect();
            naming.iter().for_each(|index| judged[*index] += 1);
            match line.verdict {
                Verdict::Pass => {
                    if let Some(first) = naming.first() {
                        naming.iter().for_each(|index| reported[*index] = true);
                        line.verdict = Verdict::UnexpectedPass;
                        line.message = Some(self.entries[*first].outlived());
                    }
                }
                verdict if KINDS.contains(&verdict) => {
                    match naming.iter().find(|index| self.entries[**index].excuses(line)) {
                        Some(index) => {
                            reported[*index] = true;
                            line.verdict = Verdict::ExpectedFail;
                            line.known = Some(self.entries[*index].reason.clone());
                        }
                        None => self.say_other_kind(&naming, line),
                    }
                }
                _ => {}
            }
        }
        record.recount();
        let is_stale =
            |(index, known): &(usize, &Known)| !reported[*index] && judged[*index] >= known.readings;
        self.entries.iter().enumerate().filter(is_stale).map(|(_, known)| known.stale()).collect()
    }

    /// The findings that it lets pass, by their rules and sessions in place of cases and formats; and the entries that let none
    /// pass, where `whole` says that everything was judged.
    pub fn excuses(
        &self,
        findings: &[(&str, &str)],
        whole: bool,
    ) -> (Vec<Option<&Reason>>, Vec<ConfigError>) {
        let naming = |(rule, session): &(&str, &str)| {
            self.entries.iter().find(|known| known.names(rule, session)).map(|known| &known.reason)
        };
        let names = |known: &&Known| findings.iter().any(|(rule, session)| known.names(rule, session));
        let stale = self.entries.iter().filter(|known| whole && !names(known));
        let stale = stale.map(|known| {
            let (rule, session) = (known.case(), known.within("session"));
            known.slip(format!(
                "nothing was found against `{rule}`{session}, so the entry is stale: remove it"
            ))
        });
        (findings.iter().map(naming).collect(), stale.collect())
    }

    /// What a result is in the light of it: known failures are expected, and passes that are listed as failures are not.
    pub fn verdict(&self, line: &CaseResult) -> Verdict {
        let mut naming = self.entries.iter().filter(|known| known.names(&line.case, &line.format));
        match line.verdict {
            Verdict::Pass if naming.next().is_some() => Verdict::UnexpectedPass,
            verdict if KINDS.contains(&verdict) && naming.any(|known| known.excuses(line)) => {
                Verdict::ExpectedFail
            }
            verdict => verdict,
        }
    }

    /// A failure of another kind is a new failure, and says so.
    fn say_other_kind(&self, naming: &[usize], line: &mut CaseResult) {
        let Some(known) = naming.first().map(|index| &self.entries[*index]) else { return };
        let note = format!("the baseline expects {} (line {})", known.kind_in_words(), known.line);
        line.message = Some(match line.message.take() {
            Some(message) => format!("{message}; {note}"),
            None => note,
        });
    }
}

impl Known {
    fn new(spelled: Spelled, line: usize, reason_may_wait: bool) -> Result<Self, Vec<String>> {
        let Spelled { case, format, kind, at, silent_loss, reason, issue } = spelled;
        let mut slips = Vec::new();
        let mut fault = |message: String| slips.push(message);
        let case = match case.as_deref().map(glob) {
            Some(Ok(glob)) => Some(glob),
            Some(Err(why)) => {
                fault(format!("`case`: {why}"));
                None
            }
            None => {
                fault(
                    "`case` is missing: name a case, or several by a glob, such as case = \"ids/*\"".into(),
                );
                None
            }
        };
        let format = format.as_deref().map(glob).transpose().map_err(|why| fault(format!("`format`: {why}")));
        let kinds = || KINDS.map(Verdict::name).join(", ");
        let found = KINDS.into_iter().find(|verdict| Some(verdict.name()) == kind.as_deref());
        match &kind {
            Some(kind) if found.is_none() => {
                fault(format!("`kind` is `{kind}`; it must be one of {}", kinds()))
            }
            None => fault(format!("`kind` is missing: say how it fails ({})", kinds())),
            Some(_) => {}
        }
        let at =
            at.as_deref().map(PointerPattern::parse).transpose().map_err(|why| fault(format!("`at`: {why}")));
        let reason = reason.unwrap_or_default();
        if !reason_may_wait && (reason.trim().is_empty() || reason == PLACEHOLDER) {
            let yet = if reason == PLACEHOLDER { " yet" } else { "" };
            fault(format!("the entry has no `reason`{yet}: say in a sentence why this failure is accepted"));
        }
        if issue
            .as_deref()
            .is_some_and(|issue| !issue.starts_with("https://") && !issue.starts_with("http://"))
        {
            fault("`issue` is not a link: it must begin with https://".into());
        }
        if let (Some(kind), true) =
            (found.filter(|kind| *kind != Verdict::Fail), silent_loss || at != Ok(None))
        {
            fault(format!(
                "`at` and `silent-loss` say how an answer is wrong, and a {} has no answer",
                kind.name()
            ));
        }
        match (case, format, found, at) {
            (Some(case), Ok(format), Some(kind), Ok(at)) if slips.is_empty() => {
                let reason = Reason { reason, issue };
                Ok(Self { line, case, format, kind, at, silent_loss, reason, readings: 0 })
            }
            _ => Err(slips),
        }
    }

    fn names(&self, case: &str, format: &str) -> bool {
        self.case.is_match(case) && self.format.as_ref().is_none_or(|glob| glob.is_match(format))
    }

    /// Whether the failure is of the kind that is known. A silent loss is excused only by name.
    fn excuses(&self, line: &CaseResult) -> bool {
        let at = line.difference.as_ref().map(|difference| difference.at.as_str());
        self.kind == line.verdict
            && self.silent_loss == line.silent_loss
            && self.at.as_ref().is_none_or(|pattern| at.is_some_and(|at| pattern.is_match(at)))
    }

    fn kind_in_words(&self) -> String {
        let mut words = format!("a `{}`", self.kind.name());
        if self.silent_loss {
            words.push_str(" with a silent loss");
        }
        if self.at.is_some() {
            words.push_str(" elsewhere");
        }
        words
    }

    fn outlived(&self) -> String {
        format!("the baseline lists it as {} (line {}): remove that entry", self.kind_in_words(), self.line)
    }

    fn stale(&self) -> ConfigError {
        let case = self.case();
        self.slip(format!(
            "nothing that matches `{case}` failed in this way, so the entry is stale: remove it"
        ))
    }

    fn slip(&self, message: String) -> ConfigError {
        ConfigError { line: Some(self.line), message }
    }

    /// The glob over cases, as the file has it.
    fn case(&self) -> &str {
        self.case.glob().glob()
    }

    /// The format that it is confined to, in words, where there is one.
    fn within(&self, what: &str) -> String {
        self.format.as_ref().map(|it| format!(" in the {what} `{}`", it.glob().glob())).unwrap_or_default()
    }
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(false).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// Entries for the failures of `record` that no entry excuses, as text to be appended to a baseline; empty where
/// there are none. Each waits for a person's reason. Where the text is the first of its file, it names the dialect.
pub fn entries(record: &Record, first: bool) -> String {
    let kind = |line: &CaseResult| KINDS.contains(&line.verdict).then_some((line.verdict, line.silent_loss));
    let mut cases: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for line in record.results.iter().filter(|line| line.verdict != Verdict::Skip) {
        cases.entry(&line.case).or_default().push(line);
    }
    let mut out = match &record.implementation.dialect {
        Some(name) if first => format!("dialect = {}\n", quoted(name)),
        _ => String::new(),
    };
    for (case, lines) in cases {
        let first = kind(lines[0]);
        let together = lines.len() > 1 && first.is_some() && lines.iter().all(|line| kind(line) == first);
        let named = if together { &lines[..1] } else { &lines[..] };
        for line in named {
            let Some((verdict, silent_loss)) = kind(line) else { continue };
            out.push_str(&entry(case, (!together).then_some(&*line.format), verdict, silent_loss));
        }
    }
    out
}

/// An entry as text, which waits for a person's reason.
#[must_use]
pub fn entry(case: &str, format: Option<&str>, kind: Verdict, silent_loss: bool) -> String {
    let mut out = format!("\n[[known]]\ncase = {}\n", quoted(&globset::escape(case)));
    if let Some(format) = format {
        let _ = writeln!(out, "format = {}", quoted(format));
    }
    let _ = writeln!(out, "kind = {}", quoted(kind.name()));
    if silent_loss {
        out.push_str("silent-loss = true\n");
    }
    let _ = writeln!(out, "reason = {}", quoted(PLACEHOLDER));
    out
}

/// As JSON writes it, which is a basic string of TOML, too, but for the one control character that JSON lets stand.
fn quoted(text: &str) -> String {
    transcript::json::quoted(text).replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests;
