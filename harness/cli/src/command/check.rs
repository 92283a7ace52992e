//! `check`: is this recording right, and did both sides keep to the specification?

use super::{Around, Failure, format_of, named_format, open};
use crate::exit;
use crate::recordings::{Recording, Recordings, left_out};
use crate::terminal::Volume;
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
/// The revision is the one that the session shows. What a recording does not carry is never held against it: such a
/// rule is inconclusive, and -v lists what would decide it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord check trace.jsonl                        what is wrong, whose fault it is, what to do
  mcp-concord check --profile recorder recordings/     are these files faithful recordings?
  mcp-concord check --select jsonrpc,lifecycle a.har   two families alone
  mcp-concord check --ignore tools.name.charset a.har  all rules but one
  mcp-concord check --output sarif a.har > a.sarif     for editors and code scanners
  mcp-concord check --require 2025-11-25.toml a.har    does it conform, by a frozen set of rules?
  mcp-concord check --write-require 2025-11-25         writes such a set from the rules of today

Several recordings are judged one by one; folders are walked. Exit code 0: no error was found; 1: an error was found, or
with --strict a warning, or a required rule was broken; 2: an input or the call could not be used.")]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required_unless_present = "write_require", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Their capture format, where the content should not decide.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// The revision to judge by, whatever the session shows.
    #[arg(long, value_name = "REVISION", value_parser = revision)]
    spec: Option<Revision>,
    /// For whom it is printed.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
    /// Judge by these rules alone: ids, beginnings of ids up to a dot, or families.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    select: Vec<String>,
    /// Leave these rules out.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Show and count what binds at least so much.
    #[arg(long, value_name = "LEVEL", value_parser = ["must", "should", "info"], default_value = "info")]
    level: String,
    /// Warnings count as errors do.
    #[arg(long)]
    strict: bool,
    /// Whose faults: the recorder's, those of client and server, or all.
    #[arg(long, value_enum, default_value = "all", value_name = "WHOSE")]
    profile: Whose,
    /// Hold the recordings against a frozen set of rules: a TOML file, which is the selection then.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["select", "ignore", "level", "profile"])]
    require: Option<PathBuf>,
    /// Print a frozen set of the rules of today for a revision, and judge nothing.
    #[arg(long, value_name = "REVISION", value_parser = revision, conflicts_with_all = ["files", "require"])]
    write_require: Option<Revision>,
    /// What a recorder wrote in place of what it took out, beside [REDACTED]; several add up.
    #[arg(long, value_name = "MARKER")]
    redacted: Vec<String>,
    /// Which text of version 1 an mcp-replay trace is held to.
    #[arg(long, value_enum, default_value = "later", value_name = "TEXT")]
    format_text: FormatText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people.
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
    /// Is the file a faithful, valid recording?
    Recorder,
    /// Did client and server conform?
    Session,
    /// Both.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FormatText {
    /// The first.
    First,
    /// The later, which allows more.
    Later,
}

/// Runs the command.
///
/// # Errors
/// Where the call cannot be used, or no input could be judged.
pub(crate) fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if let Some(revision) = args.write_require {
        io::stdout().lock().write_all(RuleSet::present(version, revision).spell().as_bytes())?;
        return Ok(exit::WELL);
    }
    let frozen = args.require.as_deref().map(|path| frozen(path, around)).transpose()?;
    let selection = selection(args, frozen.as_ref())?;
    let recordings = Recordings::find(&args.files);
    for note in &recordings.notes {
        around.voice.note(note);
    }
    let mut checking = Checking {
        args,
        around,
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
        let what = if names.len() == 1 { "no recording" } else { "no recordings" };
        if let Some(note) = left_out(folder, what, names) {
            around.voice.note(&note);
        }
    }
    for folder in args.files.iter().filter(|path| path.as_os_str() != "-" && path.is_dir()) {
        if judged_in.get(folder.as_path()).copied().unwrap_or_default() == 0 {
            checking.problem(&folder.display().to_string(), "there is no recording in it");
        }
    }
    checking.finish()
}

/// The set of rules in a file.
fn frozen(path: &Path, around: Around) -> Result<RuleSet, Failure> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
    let frozen = RuleSet::read(&text).map_err(|wrong| {
        for one in &wrong {
            around.voice.error(&format!("{name}: {one}"));
        }
        Failure::Unusable(format!("{name} is no set of rules that can be required"))
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
    around: Around,
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
                self.problem(&name, &format!("{name} is no recording: {}", rejection.message));
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
                    self.around.voice.note(&format!("{name}: a limit was reached: {limit}"));
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
            // Every format begins with a bracket, so that a large file of another kind is not read to its end.
            let begins = input.text().trim_start().starts_with(['{', '[']);
            let found = if begins { formats::detect(&mut input) } else { Ok(None) };
            match found {
                Ok(Some(format)) if self.args.format.is_none_or(|asked| asked.name == format.name) => format,
                Ok(_) | Err(ReadError::Rejected(_)) => return Ok(None),
                Err(error) => return Err(told(error)),
            }
        } else {
            format_of(self.args.format, &mut input, &name)?
        };
        self.around.voice.detail(&format!("{name} is read as {}", format.name));
        let how = CheckOptions {
            spec: self.args.spec,
            redacted: self.args.redacted.clone(),
            first_text: self.args.format_text == FormatText::First,
            ..CheckOptions::default()
        };
        let judged = rules::check(format, &mut input, &how)
            .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
        Ok(Some((name, format, judged)))
    }

    fn problem(&mut self, file: &str, why: &str) {
        let why = if why.contains(file) { why.to_owned() } else { format!("{file}: {why}") };
        self.around.voice.error(&why);
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
        let every = self.around.voice.volume >= Volume::Loud;
        let whole = if record.files.is_empty() {
            String::new()
        } else {
            match args.output {
                Output::Text if record.files.len() > 1 || self.around.voice.volume == Volume::Quiet => {
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
            (true, true) => exit::FELL_SHORT,
            (true, false) => exit::WELL,
        })
    }

    fn options(&self) -> text::Options {
        text::Options { colour: self.around.voice.colour_out, volume: self.around.voice.volume.into() }
    }
}

fn other_revision(name: &str, frozen: &RuleSet, shown: Option<Revision>) -> String {
    let wanted = frozen.revision;
    match shown {
        Some(other) => {
            format!("{name} is a session of {other}, and the required rules are those of {wanted}")
        }
        None => format!("nothing in {name} shows its revision; --spec {wanted} would tell"),
    }
}

fn revision(name: &str) -> Result<Revision, String> {
    Revision::named(name).ok_or_else(|| {
        let names: Vec<&str> = Revision::ALL.into_iter().map(Revision::name).collect();
        format!("there is no revision `{name}`; there are {}", names.join(", "))
    })
}
