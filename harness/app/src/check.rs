//! Is a recording right, and did both sides keep to the specification: `check`.

use crate::error::Error;
use crate::recording::Recording;
use rules::record::{CheckedFile, Profile, RuleSelection};
use rules::rule::Level;
use rules::rule_set::RuleSet;
use rules::{Parallelism, Revision};
use serde::Deserialize;

/// The version of this library, and of the rules by which it judges.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How a recording is judged.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct CheckOptions {
    /// The capture format; none where the content shows it.
    pub format: Option<String>,
    /// The revision to judge by, instead of the one that the session shows.
    pub spec: Option<String>,
    /// Only these rules: ids, prefixes of ids up to a dot, or families. All where it is empty.
    pub select: Vec<String>,
    /// Not these rules.
    pub ignore: Vec<String>,
    /// The least that is reported: `must`, `should` or `info`.
    pub level: String,
    /// Whether warnings count as errors.
    pub strict: bool,
    /// Whose violations: `recorder`, `session` or `all`.
    pub profile: String,
    /// A frozen set of rules, in place of the selection: the name of a revision, whose rules in this version are meant, or the
    /// TOML of a set.
    pub require: Option<String>,
    /// Markers in place of redacted values, beside `[REDACTED]`.
    pub redacted: Vec<String>,
    /// The text of version 1 of mcp-replay that a trace must follow: `first` or `later`.
    pub mcp_replay_text: String,
    /// Rules that were kept, or that nothing called for, are listed too.
    pub every: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            format: None,
            spec: None,
            select: Vec::new(),
            ignore: Vec::new(),
            level: "info".to_owned(),
            strict: false,
            profile: "all".to_owned(),
            require: None,
            redacted: Vec::new(),
            mcp_replay_text: "later".to_owned(),
            every: false,
        }
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
    #[must_use]
    pub fn json(&self) -> String {
        // Writing to memory does not fail.
        reports::check::json::of_one(&self.file, self.every).unwrap_or_default()
    }

    /// Whether nothing was found that counts as a fault: what `check` tells by the exit code 0.
    #[must_use]
    pub fn is_well(&self) -> bool {
        !self.file.is_failure(self.strict)
    }
}

/// Judges a recording on the calling thread. What is wrong in it is a finding.
///
/// # Errors
/// Where the recording is no text or shows no format, where an option has no such value, and where the session is of another
/// revision than the required rules.
pub fn check(recording: &Recording<'_>, options: &CheckOptions) -> Result<Checked, Error> {
    let frozen = options.require.as_deref().map(required).transpose()?;
    let selection = selection(options, frozen.as_ref())?;
    let first_text = match options.mcp_replay_text.as_str() {
        "first" => true,
        "later" => false,
        other => {
            return Err(Error::option("mcp_replay_text", format!("`{other}` is neither first nor later")));
        }
    };
    let how = rules::CheckOptions {
        spec: options.spec.as_deref().map(|name| revision("spec", name)).transpose()?,
        redacted: options.redacted.clone(),
        first_text,
        parallelism: Some(Parallelism::NONE),
        ..rules::CheckOptions::default()
    };
    let (format, judged) = recording
        .reading(options.format.as_deref(), |format, input| Ok(rules::check(format, input, &how)?))?;
    let mut file = CheckedFile::of(recording.name, format.name, &judged, &selection);
    if let Some(frozen) = frozen {
        if let Some(why) = frozen.why_not(recording.name, judged.revision) {
            return Err(Error::new(Error::OTHER_REVISION, why));
        }
        file.require(&frozen, &judged);
    }
    Ok(Checked { file, strict: options.strict, every: options.every })
}

fn required(text: &str) -> Result<RuleSet, Error> {
    match Revision::named(text) {
        Some(revision) => Ok(RuleSet::present(VERSION, revision)),
        None if !text.contains('=') => {
            revision("require", text).map(|revision| RuleSet::present(VERSION, revision))
        }
        None => RuleSet::read(text).map_err(|wrong| Error::option("require", wrong.join("; "))),
    }
}

fn selection(options: &CheckOptions, frozen: Option<&RuleSet>) -> Result<RuleSelection, Error> {
    let level = Level::named(&options.level).ok_or_else(|| {
        Error::option("level", format!("`{}` is none of must, should and info", options.level))
    })?;
    let profile = Profile::of_name(&options.profile).ok_or_else(|| {
        Error::option("profile", format!("`{}` is none of recorder, session and all", options.profile))
    })?;
    let Some(frozen) = frozen else {
        return RuleSelection::of(&options.select, &options.ignore, level, profile)
            .map_err(|(list, why)| Error::option(list, why));
    };
    let narrowed = !options.select.is_empty() || !options.ignore.is_empty();
    if narrowed || level != Level::Info || profile != Profile::All {
        let why = "a frozen set replaces select, ignore, level and profile";
        return Err(Error::option("require", why));
    }
    Ok(RuleSelection::of_set(frozen))
}

fn revision(option: &str, name: &str) -> Result<Revision, Error> {
    let unknown = || format!("there is no revision `{name}`; there are {}", Revision::names());
    Revision::named(name).ok_or_else(|| Error::option(option, unknown()))
}
