//! `check`: is this recording right, and did both sides keep to the specification?

use super::context::{CommandContext, Failure};
use super::input::{format_of, named_format, open};
use crate::exit;
use crate::recordings::{Recording, Recordings, left_out};
use crate::terminal::Verbosity;
use formats::{Format, Input, ReadError};
use reports::check::{github, json, junit, sarif, text};
use rules::CheckOptions;
use rules::all;
use rules::record::{CheckRecord, CheckedFile, Problem, Profile, RuleSelection};
use rules::rule::Level;
use rules::rule_set::RuleSet;
use rules::selection::named;
use rules::{CheckResult, Revision};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Judges recordings: is each a valid recording, and did client and server keep to the specification?
///
/// The revision is the one that the session shows. Where evidence is missing a rule is inconclusive, and -v says what would
/// settle it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord check trace.jsonl                        what is wrong, whose fault it is, what to do
  mcp-concord check --profile recorder recordings/     are these files faithful recordings?
  mcp-concord check --select jsonrpc,lifecycle a.har   only two families
  mcp-concord check --ignore tools.name.charset a.har  all rules but one
  mcp-concord check --output sarif a.har > a.sarif     for editors and code scanners
  mcp-concord check --require 2025-11-25.toml a.har    does it conform, by a frozen set of rules?
  mcp-concord check --print-require 2025-11-25         prints such a set of the current rules

Several recordings are judged one by one; folders are searched.

Exit code 0: no error was found; 1: an error was found, or with --strict a warning, or a required rule was broken; 2: an
input or the call cannot be used.")]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required_unless_present = "print_require", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// Judge by this revision instead of the one that the session shows.
    #[arg(long, value_name = "REVISION", value_parser = revision)]
    spec: Option<Revision>,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
    /// Check only these rules: ids, prefixes of ids up to a dot, or families.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    select: Vec<String>,
    /// Skip these rules.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Minimum level to report.
    #[arg(long, value_name = "LEVEL", value_parser = ["must", "should", "info"], default_value = "info")]
    level: String,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Report only the recorder's violations, only those of client and server, or all.
    #[arg(long, value_enum, default_value = "all", value_name = "WHOSE")]
    profile: Whose,
    /// Check conformance to a frozen set of rules, a TOML file. It replaces the selection.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["select", "ignore", "level", "profile"])]
    require: Option<PathBuf>,
    /// Print the current rules of a revision as a frozen set, and judge nothing.
    #[arg(long, alias = "write-require", value_name = "REVISION", value_parser = revision)]
    #[arg(conflicts_with_all = ["files", "require"])]
    print_require: Option<Revision>,
    /// A marker that the recorder wrote in place of a redacted value, besides `[REDACTED]`. Repeatable.
    #[arg(long, value_name = "MARKER")]
    redacted: Vec<String>,
    /// Which text of version 1 of mcp-replay a trace must follow.
    #[arg(long, alias = "format-text", value_enum, default_value = "later", value_name = "TEXT")]
    mcp_replay_text: McpReplayText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people: rustc-style diagnostics.
    Text,
    /// For programs: an array of findings.
    Json,
    /// For editors and code scanners: SARIF 2.1.0.
    Sarif,
    /// For CI: a suite for each recording, a case for each rule.
    Junit,
    /// For a GitHub workflow: an annotation for each finding.
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    /// The recorder's: is the file a faithful, valid recording?
    Recorder,
    /// Those of client and server.
    Session,
    /// All.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum McpReplayText {
    /// The first one.
    First,
    /// The later one, which allows more.
    Later,
}

/// Runs the command.
///
/// # Errors
/// Where the call cannot be used, or no input could be judged.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if let Some(revision) = args.print_require {
        io::stdout().lock().write_all(RuleSet::present(version, revision).spell().as_bytes())?;
        return Ok(exit::WELL);
    }
    let frozen = args.require.as_deref().map(|path| frozen(path, context)).transpose()?;
    let selection = selection(args, frozen.as_ref())?;
    let recordings = Recordings::find(&args.files);
    for note in &recordings.notes {
        context.terminal.note(note);
    }
    let mut checking = Checking {
        args,
        context,
        frozen,
        selection,
        record: CheckRecord { version: version.to_owned(), strict: args.strict, ..CheckRecord::default() },
        passed_over: BTreeMap::new(),
        told: false,
    };
    let mut judged_in: BTreeMap<&Path, usize> = BTreeMap::new();
    for recording in &recordings.files {
        let judged = checking.take(recording)?;
        if let Some(folder) = &recording.folder {
            *judged_in.entry(folder).or_default() += usize::from(judged);
        }
    }
    for (folder, names) in &checking.passed_over {
        let what = if names.len() == 1 { "not a recording" } else { "not recordings" };
        if let Some(note) = left_out(folder, what, names) {
            context.terminal.note(&note);
        }
    }
    for folder in args.files.iter().filter(|path| path.as_os_str() != "-" && path.is_dir()) {
        if judged_in.get(folder.as_path()).copied().unwrap_or_default() == 0 {
            checking.problem(&folder.display().to_string(), "it holds no recording");
        }
    }
    checking.finish()
}

/// The set of rules in a file.
fn frozen(path: &Path, context: CommandContext) -> Result<RuleSet, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
    let frozen = RuleSet::read(&text).map_err(|wrong| {
        for one in &wrong {
            context.terminal.error(&format!("{name}: {one}"));
        }
        Failure::Unusable(format!("{name} is not a set of rules that --require can use"))
    })?;
    Ok(frozen)
}

fn selection(args: &Args, frozen: Option<&RuleSet>) -> Result<RuleSelection, Failure> {
    if let Some(frozen) = frozen {
        let rules = frozen.rules.iter().map(|rule| rule.id).collect();
        return Ok(RuleSelection { rules, level: Level::Info, profile: Profile::All });
    }
    let mut rules = match args.select.as_slice() {
        [] => all().map(|rule| rule.id).collect(),
        words => named(words).map_err(|why| Failure::Unusable(format!("--select: {why}")))?,
    };
    for id in named(&args.ignore).map_err(|why| Failure::Unusable(format!("--ignore: {why}")))? {
        rules.remove(id);
    }
    if rules.is_empty() {
        return Err(Failure::Unusable("--select and --ignore leave no rule to judge by".to_owned()));
    }
    let profile = match args.profile {
        Whose::Recorder => Profile::Recorder,
        Whose::Session => Profile::Session,
        Whose::All => Profile::All,
    };
    let level = Level::named(&args.level).unwrap_or(Level::Info);
    Ok(RuleSelection { rules, level, profile })
}

struct Checking<'a> {
    args: &'a Args,
    context: CommandContext,
    frozen: Option<RuleSet>,
    selection: RuleSelection,
    record: CheckRecord,
    /// Files that are no recordings, by the folder they were found in.
    passed_over: BTreeMap<PathBuf, Vec<String>>,
    /// Something was shown to a person.
    told: bool,
}

impl Checking<'_> {
    /// Judges a file; false where it could not be. What has a verdict is shown at once to a person.
    fn take(&mut self, recording: &Recording) -> Result<bool, Failure> {
        let (name, format, judged) = match (self.judge(recording), &recording.folder) {
            (Ok(Some(judged)), _) => judged,
            (Ok(None), folder) => {
                let folder = folder.clone().unwrap_or_default();
                let name = recording.path.display().to_string();
                self.passed_over.entry(folder).or_default().push(name);
                return Ok(false);
            }
            (Err(Failure::Unusable(why)), _) => {
                self.problem(&recording.path.display().to_string(), &why);
                return Ok(false);
            }
            (Err(Failure::Rejected(name, rejection)), _) => {
                self.problem(&name, &format!("{name} is not a recording: {}", rejection.message));
                return Ok(false);
            }
            (Err(other), _) => return Err(other),
        };
        let mut file = CheckedFile::of(&name, format.name, &judged, &self.selection);
        if let Some(frozen) = &self.frozen {
            if judged.revision != Some(frozen.revision) {
                let why = other_revision(&name, frozen, judged.revision);
                self.problem(&name, &why);
                return Ok(true);
            }
            file.require(frozen, &judged);
        }
        match self.args.output {
            Output::Text => self.show(&file)?,
            _ => {
                if let Some(limit) = judged.limit {
                    self.context.terminal.note(&format!("{name}: a limit was reached: {limit}"));
                }
            }
        }
        self.record.files.push(file);
        Ok(true)
    }

    /// What came of a file; none where it was found in a folder and is no recording.
    fn judge(
        &self,
        recording: &Recording,
    ) -> Result<Option<(String, &'static Format, CheckResult)>, Failure> {
        let mut source = open(&recording.path)?;
        let name = source.name.clone();
        let told = |error| Failure::of_reading(&name, error);
        let mut input = match Input::new(&mut *source.reader) {
            Err(ReadError::Rejected(_)) if recording.folder.is_some() => return Ok(None),
            input => input.map_err(told)?,
        };
        let format = if recording.folder.is_some() {
            match formats::detect(&mut input) {
                Ok(Some(format)) if self.args.format.is_none_or(|asked| asked.name == format.name) => format,
                Ok(_) | Err(ReadError::Rejected(_)) => return Ok(None),
                Err(error) => return Err(told(error)),
            }
        } else {
            format_of(self.args.format, &mut input, &name)?
        };
        self.context.terminal.detail(&format!("{name} is read as {}", format.name));
        let how = CheckOptions {
            spec: self.args.spec,
            redacted: self.args.redacted.clone(),
            first_text: self.args.mcp_replay_text == McpReplayText::First,
            ..CheckOptions::default()
        };
        let judged = rules::check(format, &mut input, &how)
            .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
        Ok(Some((name, format, judged)))
    }

    fn problem(&mut self, file: &str, why: &str) {
        let why = if why.contains(file) { why.to_owned() } else { format!("{file}: {why}") };
        self.context.terminal.error(&why);
        self.record.problems.push(Problem { file: file.to_owned(), message: why });
    }

    fn show(&mut self, file: &CheckedFile) -> io::Result<()> {
        let told = text::file(file, &self.record.version, self.options());
        if told.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        if std::mem::replace(&mut self.told, true) {
            out.write_all(b"\n")?;
        }
        out.write_all(told.as_bytes())
    }

    fn finish(self) -> Result<u8, Failure> {
        let Self { args, record, .. } = &self;
        let every = self.context.terminal.verbosity >= Verbosity::Verbose;
        let whole = if record.files.is_empty() {
            String::new()
        } else {
            match args.output {
                Output::Text
                    if record.files.len() > 1 || self.context.terminal.verbosity == Verbosity::Quiet =>
                {
                    let apart = if self.told { "\n" } else { "" };
                    format!("{apart}{}", text::total(record, self.options()))
                }
                Output::Text => String::new(),
                Output::Json => json::render(record, every).map_err(io::Error::from)?,
                Output::Sarif => sarif::render(record, every).map_err(io::Error::from)?,
                Output::Junit => junit::render(record).map_err(io::Error::other)?,
                Output::Github => github::render(record),
            }
        };
        let mut out = io::stdout().lock();
        out.write_all(whole.as_bytes())?;
        out.flush()?;
        Ok(match (record.problems.is_empty(), record.is_failure()) {
            (false, _) => exit::UNUSABLE,
            (true, true) => exit::FAILED,
            (true, false) => exit::WELL,
        })
    }

    fn options(&self) -> text::Options {
        text::Options {
            colour: self.context.terminal.colour_out,
            volume: self.context.terminal.verbosity.into(),
        }
    }
}

fn other_revision(name: &str, frozen: &RuleSet, shown: Option<Revision>) -> String {
    let wanted = frozen.revision;
    match shown {
        Some(other) => {
            format!("{name} is a session of {other}, but the required rules are those of {wanted}")
        }
        None => format!("{name} does not show its revision; name it with --spec {wanted}"),
    }
}

fn revision(name: &str) -> Result<Revision, String> {
    Revision::named(name).ok_or_else(|| {
        let names: Vec<&str> = Revision::ALL.into_iter().map(Revision::name).collect();
        format!("there is no revision `{name}`; there are {}", names.join(", "))
    })
}
