//! Is a recording right, and did both sides keep to the specification: `check`.

use crate::answer::{Outcome, Output, Remark, options};
use crate::error::{Cause, Error};
use crate::recording::{Recording, Source, format};
use formats::{Format, Tolerance};
use reports::drawing::{self, DrawOptions, draw};
use reports::viewer::{MOST_TEXT, ROWS, page};
use rules::record::{CheckedFile, Profile, RuleResult, RuleSelection, listener};
use rules::rule::Level;
use rules::rule_set::RuleSet;
use rules::{CheckResult, Parallelism, Revision};
use std::sync::Arc;
use transcript::session::Entry;

/// The version of this library, and of the rules by which it judges.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

options! {
    /// How a recording is judged.
    CheckOptions {
        /// The capture format; none where the content shows it.
        format: Option<String> = None,
        /// The revision to judge by, instead of the one that the session shows.
        spec: Option<String> = None,
        /// Only these rules: ids, prefixes of ids up to a dot, or families. All where it is empty.
        select: Vec<String> = Vec::new(),
        /// Not these rules.
        ignore: Vec<String> = Vec::new(),
        /// The least that is reported: `must`, `should` or `info`.
        level: String = "info".to_owned(),
        /// Whether warnings count as errors.
        strict: bool = false,
        /// Whether a recording without messages is accepted, in which nothing can be judged.
        allow_empty: bool = false,
        /// Whose violations: `recorder`, `session`, `server`, `client` or `all`.
        profile: String = "all".to_owned(),
        /// A frozen set of rules, in place of the selection: the name of a revision, whose rules in this version are meant, or the
        /// TOML of a set.
        require: Option<String> = None,
        /// Markers in place of redacted values, beside `[REDACTED]`.
        redacted: Vec<String> = Vec::new(),
        /// The text of version 1 of mcp-replay that a trace must follow: `first` or `later`.
        mcp_replay_text: String = "later".to_owned(),
        /// Rules that were kept, or that nothing called for, are listed too.
        every: bool = false,
        /// How several judges share a recording; by the machine's cores where it is none.
        #[serde(skip)]
        parallelism: Option<Parallelism> = Some(Parallelism::NONE),
    }
}

/// A recording judged.
#[derive(Debug, Clone)]
pub struct Checked {
    /// What came of it, in full.
    pub file: CheckedFile,
    strict: bool,
    every: bool,
}

impl Checked {
    /// Its findings as `mcp-concord check --output json` prints them.
    pub fn json(&self) -> String {
        // Writing to memory does not fail.
        reports::check::json::of_one(&self.file, self.every).unwrap_or_default()
    }

    /// Whether nothing was found that counts as a fault: then `check` exits with 0.
    pub fn is_well(&self) -> bool {
        !self.file.is_failure(self.strict)
    }
}

/// Judges one recording. What is wrong in it is a finding.
///
/// # Errors
/// Where the recording is not text or shows no format, where an option has no such value, and where the session is of another
/// revision than the required rules.
pub fn check(recording: &mut Recording<'_>, options: &CheckOptions) -> Result<Checked, Error> {
    let file = Judge::new(options)?.judge(recording)?;
    Ok(Checked { file, strict: options.strict, every: options.every })
}

/// How recordings are judged.
pub struct Judge {
    format: Option<&'static Format>,
    options: rules::CheckOptions,
    selection: RuleSelection,
    /// The frozen set that they are held against.
    frozen: Option<RuleSet>,
    strict: bool,
    tell: Option<Arc<Tell>>,
}

/// Takes a finding.
type Tell = dyn Fn(&RuleResult) + Send + Sync;

impl Judge {
    /// As the options say.
    ///
    /// # Errors
    /// Where one has no such value.
    pub fn new(options: &CheckOptions) -> Result<Self, Error> {
        let frozen = options.require.as_deref().map(required).transpose()?;
        let selection = selection(options, frozen.as_ref())?;
        let first_text = match options.mcp_replay_text.as_str() {
            "first" => true,
            "later" => false,
            other => {
                return Err(Error::option("mcp_replay_text", format!("`{other}` must be first or later")));
            }
        };
        let spec = options.spec.as_deref().map(|name| revision("spec", name)).transpose()?;
        Ok(Self {
            format: format("format", options.format.as_deref())?,
            options: rules::CheckOptions {
                spec,
                redacted: options.redacted.clone(),
                first_text,
                parallelism: options.parallelism,
                ..rules::CheckOptions::default()
            },
            selection,
            frozen,
            strict: options.strict,
            tell: None,
        })
    }

    /// The same, and each finding is passed on as soon as it is found, on whichever thread judges.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&RuleResult) + Send + Sync + 'static) -> Self {
        Self { tell: Some(Arc::new(tell)), ..self }
    }

    fn options(&self, name: &str) -> rules::CheckOptions {
        let tell = |tell: &Arc<Tell>| listener(name, &self.selection, Arc::clone(tell));
        rules::CheckOptions { listener: self.tell.as_ref().map(tell), ..self.options.clone() }
    }

    /// Judges a recording.
    ///
    /// # Errors
    /// Where it cannot be read or shows no format, and where its session is of another revision than the required rules.
    pub fn judge(&self, recording: &mut Recording<'_>) -> Result<CheckedFile, Error> {
        self.judge_beside(recording, &mut |_| {})
    }

    /// The same, and shows every entry to somebody else as well.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    pub(crate) fn judge_beside(
        &self,
        recording: &mut Recording<'_>,
        beside: &mut dyn FnMut(&Entry<'_>),
    ) -> Result<CheckedFile, Error> {
        let options = self.options(&recording.name);
        let (format, judged) = recording.reading(self.format, |format, input| {
            Ok(rules::check_beside(format, input, &options, beside)?)
        })?;
        let mut file = CheckedFile::new(&recording.name, format.name, &judged, &self.selection);
        self.require(&mut file, &judged)?;
        Ok(file)
    }

    /// Judges a recording, and writes it as a page with its findings. It is read twice.
    ///
    /// # Errors
    /// As [`Judge::judge`], and where the page cannot be made or written.
    pub fn page(&self, recording: Recording<'_>, output: &mut dyn Output) -> Result<Outcome, Error> {
        let options = DrawOptions {
            rows: ROWS,
            // Like the rules, the page goes on behind a message with a fault.
            read: formats::ReadOptions { tolerance: Tolerance::Faults, ..formats::ReadOptions::BY_SESSION },
            whole: Some(MOST_TEXT),
        };
        let checked = self.options(&recording.name);
        let (recording, result) = judged(recording, self.format, Some(&checked), output)?;
        let results: Vec<CheckResult> = result.into_iter().collect();
        let mut recordings = [recording];
        let drawing = draw(&mut recordings, &results, &options)
            .map_err(|(name, error)| Error::reading(&name, error))?;
        let mut files = Vec::new();
        for (recording, result) in recordings.iter().zip(&results) {
            let mut file = CheckedFile::new(&recording.name, recording.format.name, result, &self.selection);
            self.require(&mut file, result)?;
            files.push(file);
        }
        let page = page(&drawing.diagram, &files).map_err(Error::failed)?;
        output.bytes().write_all(page.as_bytes()).map_err(Cause::Output)?;
        drawing.notes.iter().for_each(|note| output.remark(Remark::Note(note)));
        let failed = files.iter().any(|file| file.is_failure(self.strict));
        Ok(Outcome::well_if(!failed))
    }

    /// Holds a file against the frozen set, where there is one.
    fn require(&self, file: &mut CheckedFile, judged: &CheckResult) -> Result<(), Error> {
        let Some(frozen) = &self.frozen else { return Ok(()) };
        if let Some(why) = frozen.why_not(&file.name, judged.revision) {
            let required = judged.revision.is_none().then_some(frozen.revision);
            return Err(Error::from(Cause::OtherRevision(why, required)).about(&file.name));
        }
        file.require(frozen, judged);
        Ok(())
    }
}

/// A recording as a view reads it.
pub(crate) type Drawable<'a> = drawing::Recording<Box<dyn Source + 'a>>;

/// A recording to be drawn, of a format that is asked for or that it shows; and what comes of judging it, where that is wanted.
pub(crate) fn judged<'a>(
    mut recording: Recording<'a>,
    asked: Option<&'static Format>,
    check: Option<&rules::CheckOptions>,
    output: &mut dyn Output,
) -> Result<(Drawable<'a>, Option<CheckResult>), Error> {
    let (format, result) = recording.reading(asked, |format, input| {
        Ok(check.map(|options| rules::check(format, input, options)).transpose()?)
    })?;
    let Recording { name, source, .. } = recording;
    output.remark(Remark::Detail(&format!("{name} is read as {}", format.name)));
    Ok((Drawable { name, format, source }, result))
}

fn required(text: &str) -> Result<RuleSet, Error> {
    let text = match text.contains('=') {
        true => text,
        false => RuleSet::shipped(revision("require", text)?),
    };
    RuleSet::read(text).map_err(|wrong| Error::option("require", wrong.join("; ")))
}

fn selection(options: &CheckOptions, frozen: Option<&RuleSet>) -> Result<RuleSelection, Error> {
    let level = Level::named(&options.level).ok_or_else(|| {
        Error::option("level", format!("`{}` must be one of must, should, info", options.level))
    })?;
    let profile = Profile::of_name(&options.profile).ok_or_else(|| {
        Error::option(
            "profile",
            format!("`{}` must be one of recorder, session, server, client, all", options.profile),
        )
    })?;
    let Some(frozen) = frozen else {
        let mut selection = RuleSelection::new(&options.select, &options.ignore, level, profile)
            .map_err(|(list, why)| Error::option(list, why))?;
        selection.allow_empty |= options.allow_empty;
        return Ok(selection);
    };
    let narrowed = !options.select.is_empty() || !options.ignore.is_empty() || options.allow_empty;
    if narrowed || level != Level::Info || profile != Profile::All {
        let why = "a frozen set replaces select, ignore, level, profile and allow_empty";
        return Err(Error::option("require", why));
    }
    Ok(RuleSelection::of_set(frozen))
}

fn revision(option: &str, name: &str) -> Result<Revision, Error> {
    let unknown = || format!("there is no revision `{name}`; the revisions are {}", Revision::names());
    Revision::named(name).ok_or_else(|| Error::option(option, unknown()))
}
