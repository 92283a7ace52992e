//! `redact`: writes a recording again without its secrets.

use super::context::{CommandContext, Failure};
use super::input::{Transcript, named_format};
use crate::exit;
use formats::{Format, OwnedContent, ReadOptions, Session, meaning};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use wire::files::{self, Access};
use wire::redaction::{PRESETS, Preset, Redaction, preset};

/// Writes a recording again without its secrets, in the same format.
///
/// Each value that is taken out leaves a marker with a number, `[REDACTED]-1`: the same for the same value, so that what
/// belonged together still does. Ids, methods, schemas, order and times stay, and so the session reads as before but for the
/// markers; a second time changes nothing more. What was taken out is listed by kind, and what looks like a secret and was
/// left. Lines and bodies that are not part of the session are not copied.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord redact session.har --preset common -o shared.har
  mcp-concord redact trace.jsonl --redact token --redact-text 'sk-[A-Za-z0-9]+' > shared.jsonl
  mcp-concord diff session.har shared.har --redacted '[REDACTED]'      the same session, but for what was taken out

Exit code 0: written; 1: the recording was rejected, or cannot be written without a change of its meaning; 2: it cannot be
opened, or the output cannot be written.")]
pub(crate) struct Args {
    /// The recording; `-` is the standard input.
    file: PathBuf,
    /// The file to write instead of the standard output, readable only for you. An existing file is refused.
    #[arg(short, long = "output", value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long, requires = "out")]
    force: bool,
    /// Redact what is under this name, as `record` does. Repeatable.
    #[arg(long, value_name = "NAME")]
    redact: Vec<String>,
    /// Redact the parts of texts that match this regular expression, wherever --redact looks. Repeatable.
    #[arg(long, value_name = "REGEX")]
    redact_text: Vec<String>,
    /// Redact what many sessions need, besides: `common` has the names and patterns of credentials, cookies, tokens, and the
    /// keys of well-known makers. Repeatable.
    #[arg(long, value_name = "PRESET", value_parser = preset)]
    preset: Vec<&'static Preset>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
}

/// Runs the command. Memory: the recording, its session, and what is written of it.
///
/// # Errors
/// Where the recording cannot be opened or is rejected, where nothing is asked for, or where the output cannot be written.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let redaction = Redaction::of(&args.redact, &args.redact_text).map_err(Failure::Unusable)?;
    let redaction = args.preset.iter().try_fold(redaction, |all, preset| all.with_preset(preset));
    let redaction = redaction.map_err(Failure::Unusable)?;
    if !redaction.is_asked() {
        return Err(Failure::Unusable(
            "there is nothing to redact: add --preset common, --redact or --redact-text".into(),
        ));
    }
    let Transcript { name, format, bytes, mut session, .. } = Transcript::open(&args.file, args.format)?;
    if let Some(loss) = session.losses(format).into_iter().find(|loss| loss.clause.is_some()) {
        let clause = loss.clause.unwrap_or_default();
        context
            .terminal
            .error(&format!("{} cannot carry {} ({clause}); nothing was written", format.name, loss.what));
        return Ok(exit::FAILED);
    }
    let redaction = redaction.numbered(&String::from_utf8_lossy(&bytes));
    if let Err(why) = redaction.session(&mut session) {
        context.terminal.error(&format!("{name}: {why}; nothing was written"));
        return Ok(exit::FAILED);
    }
    let mut out = Vec::new();
    (format.write)(&session, &mut out)?;
    if let Err(error) = meaning(format, &mut &out[..], ReadOptions::default()) {
        return Err(Failure::of_reading(&format!("{name} without what is redacted"), error));
    }
    match &args.out {
        Some(path) => write(path, args.force, &out)?,
        None => io::stdout().lock().write_all(&out)?,
    }
    tell(&redaction, session, &out, context)?;
    Ok(exit::WELL)
}

/// Writes the file at once, for its owner alone.
fn write(path: &Path, force: bool, bytes: &[u8]) -> Result<(), Failure> {
    if !force && fs::metadata(path).is_ok_and(|there| there.len() > 0) {
        return Err(Failure::Unusable(format!("{} exists already; --force overwrites it", path.display())));
    }
    let written = files::replace(path, Access::Private, |out| out.write_all(bytes));
    written.map_err(|error| Failure::unwritable(path, &error))
}

/// Says what was taken out, what looks like a secret and was left, and what is no part of the session.
fn tell(
    redaction: &Redaction,
    mut session: Session,
    out: &[u8],
    context: CommandContext,
) -> Result<(), Failure> {
    let listed = |kinds: Vec<(String, u64, u64)>, what: &str| {
        for (kind, times, values) in kinds {
            let values = if values == 1 { "1 value".to_owned() } else { format!("{values} values") };
            let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
            context.terminal.note(&format!("{what}: {kind}: {values}, {times}"));
        }
    };
    let taken = redaction.taken();
    if taken.is_empty() {
        context.terminal.note("nothing was taken out");
    }
    listed(taken, "taken out");
    for preset in PRESETS {
        let all = Redaction::default().with_preset(&Preset { texts: &[], ..*preset });
        let names = all.map_err(Failure::Unusable)?.numbered("");
        // Nobody writes this session any more.
        if names.session(&mut session).is_ok() {
            listed(names.taken(), "left, although it may be a secret");
        }
        let all = Redaction::default().with_preset(&Preset { names: &[], ..*preset });
        let texts = all.map_err(Failure::Unusable)?.numbered("");
        texts.count_in(&String::from_utf8_lossy(out));
        listed(texts.taken(), "left, although it looks like a secret");
    }
    let skipped =
        session.entries.iter().filter(|entry| matches!(entry.what, OwnedContent::Skipped(_))).count();
    if skipped > 0 {
        context
            .terminal
            .note(&format!("not copied, since they are not part of the session: {skipped} lines or bodies"));
    }
    Ok(())
}
