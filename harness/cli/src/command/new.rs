//! `new`: a case directory to start with, from one session.
//!
//! The meaning that it writes is what the built-in reader reads, so the suite is refused until somebody has checked it and said
//! what the case shows.

use super::context::{CommandContext, Failure};
use super::input::{Transcript, named_format};
use super::values::{case_name, quoted};
use crate::case_draft::{CaseDraft, CaseHeader, save};
use crate::exit;
use crate::terminal::plain;
use formats::Format;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use verdict::expectation::Expectation;

/// Starts a case: a folder with one session in every capture format that carries it.
///
/// The session's meaning is written as a proposal, and what the case shows is left empty: the suite is refused until you
/// have filled it in.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/new.txt"))]
pub(crate) struct Args {
    /// The case's name: its folder below the folder of cases, such as ids/null-id.
    #[arg(value_name = "CASE", value_parser = name)]
    case: String,
    /// Take the session from this transcript; `-` is the standard input [default: a session of one call].
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format(), requires = "from")]
    format: Option<&'static Format>,
    /// The folder of cases.
    #[arg(long, value_name = "DIR", default_value = "cases")]
    cases: PathBuf,
}

/// What a case begins with that is given no transcript.
const ONE_CALL: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"client","version":"1"}}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}
{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"3"}]}}
"#;

/// The text above the keys of a new `case.toml`.
const HEAD: &str = "\
# Not a case yet: the suite is refused until each of these says something.
#   title     what the case shows, in a line
#   clauses   the ids of what it shows (mcp-concord explain lists them)
#   reason    one or two sentences for the person whose importer fails here
#   origin    where the expectation is from, and it must be true: meaning.json holds what the built-in reader reads,
#             which is a proposal until somebody has read it against the clauses
";

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    vacant(&args.cases, &args.case)?;
    let given = match &args.from {
        Some(path) => Transcript::open(path, args.format, context.terminal)?,
        None => Transcript::new(ONE_CALL.to_vec(), None, "the session of one call".to_owned())?,
    };
    for note in given.meaning.totals.notes() {
        context.terminal.note(&note);
    }
    let draft = draft(&given)?;
    let about = CaseHeader { name: &args.case, title: "", reason: "", origin: "" };
    let mut case = draft.case(&about);
    for (file, bytes) in &mut case.1 {
        if file == "case.toml" {
            bytes.splice(..0, HEAD.bytes());
        }
    }
    let folder = save(&args.cases, &case).map_err(|error| {
        let place = args.cases.join(&args.case);
        Failure::Unusable(format!("{} cannot be written: {error}", place.display()))
    })?;
    let mut out = std::io::stdout().lock();
    out.write_all(summary(args, &folder, &draft, given.format).as_bytes())?;
    out.flush()?;
    Ok(exit::WELL)
}

/// The name of a case, which leads nowhere but into the folder of cases.
fn name(text: &str) -> Result<String, String> {
    if text.starts_with(['/', '\\']) || text.split(['/', '\\']).any(|part| part == "..") {
        return Err(
            "it leads out of the folder of cases; name a folder inside it, such as ids/null-id".into()
        );
    }
    case_name(text)
}

/// That a case may be here: the place is free, and not inside another case.
fn vacant(cases: &Path, case: &str) -> Result<(), Failure> {
    let folder = cases.join(case);
    if folder.symlink_metadata().is_ok() {
        return Err(format!("{} exists already; name another case", folder.display()).into());
    }
    let mut above = folder.ancestors().skip(1).take(case.split('/').count());
    match above.find(|above| above.join("case.toml").is_file()) {
        Some(parent) => Err(format!("{} is a case, so it cannot hold another", parent.display()).into()),
        None => Ok(()),
    }
}

/// The session in every format: as it was given in its own, written in those that carry it, and why not in the others.
fn draft(given: &Transcript) -> Result<CaseDraft, Failure> {
    let mut files = Vec::new();
    for format in formats::written() {
        let refused = given.session.losses(format).into_iter().find_map(|loss| loss.clause);
        let file = match refused {
            _ if format.name == given.format.name => Ok(given.bytes.clone()),
            Some(clause) => Err(clause.to_owned()),
            None => {
                let mut bytes = Vec::new();
                format.write(&given.session, &mut bytes)?;
                Ok(bytes)
            }
        };
        files.push((format, file));
    }
    let expectation = Expectation::Meaning(verdict::meaning::Meaning::written(given.meaning.text.clone()));
    Ok(CaseDraft {
        clauses: Vec::new(),
        expectation,
        dialects: Vec::new(),
        redacted: None,
        trail: Vec::new(),
        files,
    })
}

/// What was written, and what to do next.
fn summary(args: &Args, folder: &Path, draft: &CaseDraft, given: &Format) -> String {
    let mut out = format!("{}\n", plain(&folder.display().to_string()));
    let mut row = |file: &str, what: &str| {
        let _ = writeln!(out, "  {}", format!("{file:<24}{what}").trim_end());
    };
    row("case.toml", "to be filled in: title, clauses, reason, origin");
    for (format, file) in &draft.files {
        match file {
            Ok(_) if args.from.is_some() && format.name == given.name => row(format.file, "as it was given"),
            Ok(_) => row(format.file, ""),
            Err(clause) => {
                row(&format!("no {}", format.file), &format!("{clause}: it cannot carry the session"))
            }
        }
    }
    row("meaning.json", "a proposal: what the built-in reader reads");
    let (cases, case) = (quoted(&args.cases.display().to_string()), quoted(&args.case));
    let _ = write!(
        out,
        "
next
  1. Remove from the transcripts what the case does not need, and from the folder the formats that it is not about.
  2. Read meaning.json line by line against the clauses, and correct it where they disagree.
  3. Fill in case.toml; until then the loader refuses the suite.
  4. Run only this case:
     mcp-concord run --cases {cases} --filter {case}
"
    );
    out
}
