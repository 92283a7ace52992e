//! `redact`: writes a recording again without its secrets.

mod rewrite;

use super::context::{CommandContext, Failure};
use super::input::{Source, is_coded, named_format, opened};
use super::kept::{Aside, Keeper, aside_failed};
use super::values::new_file;
use crate::exit;
use crate::terminal::{Terminal, data_out};
use app::Recording;
use formats::Format;
use rewrite::{Rewriting, Unwritten};
use std::fs::{self, File};
use std::io::{self, Seek as _, Write};
use std::path::{Path, PathBuf};
use verdict::plain::counted;
use wire::files::{self, Access};
use wire::redaction::{PRESETS, Preset, Redaction, preset};

/// Writes a recording again without its secrets, in the same format.
///
/// Each value that is taken out leaves a marker with a number, `[REDACTED]-1`: the same for the same value, so that what
/// belonged together still does. Ids, methods, schemas, order and times stay, and so the session reads as before but for the
/// markers; a second time changes nothing more. It lists what it removed, by kind, and what looks like a secret but was
/// kept. A value that goes by its name goes wherever else it is repeated, if it has eight characters or more and is not a plain word. Lines and bodies that are not part of the session are not copied.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/redact.txt"))]
pub(crate) struct Args {
    /// The recording; `-` is the standard input.
    file: PathBuf,
    /// The file to write instead of the standard output, readable only for you. An existing file is refused.
    #[arg(short, long = "output", value_name = "FILE", value_parser = new_file())]
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
    /// Also redact what many sessions need: `common` has the names and patterns of credentials, cookies, tokens, and the
    /// keys of well-known makers, and `none` has none. Repeatable [default: common, where no --redact or --redact-text is given either].
    #[arg(long, value_name = "PRESET", value_parser = preset)]
    preset: Vec<&'static Preset>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
}

/// The preset where no option says what to redact.
const DEFAULT: &str = "common";

/// Runs the command. Memory: see [`rewrite`].
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    redacted(args, None, context)
}

/// What is written of a recording that is redacted: its name, its format, and itself.
pub(super) type Wrapping<'w> =
    &'w dyn Fn(&str, &'static Format, &mut File, &mut dyn Write) -> Result<(), Failure>;

/// Writes what `wrapping` makes of the recording without its secrets, or that recording itself. Where it is rejected, its line is
/// not shown, since nothing was taken out of it.
pub(super) fn redacted(
    args: &Args,
    wrapping: Option<Wrapping<'_>>,
    context: CommandContext,
) -> Result<u8, Failure> {
    rewritten(args, wrapping, context).map_err(|failure| match failure {
        Failure::Rejected(name, mut rejection) => {
            rejection.excerpt = None;
            Failure::Rejected(name, rejection)
        }
        other => other,
    })
}

fn rewritten(args: &Args, wrapping: Option<Wrapping<'_>>, context: CommandContext) -> Result<u8, Failure> {
    let redaction = Redaction::new(&args.redact, &args.redact_text)?;
    let unsaid = !redaction.is_asked() && args.preset.is_empty();
    let presets = if unsaid { vec![preset(DEFAULT)?] } else { args.preset.clone() };
    let redaction = presets.iter().try_fold(redaction, |all, preset| all.with_preset(preset))?;
    let (name, mut file) = seekable(&args.file, args.format, context.terminal)?;
    let unreadable = |error: io::Error| Failure::Unusable(format!("{name} cannot be read: {error}"));
    let redaction = redaction.numbered(&mut file).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let (format, ()) = Recording::once(&name, &mut file).reading(args.format, |_, _| Ok(()))?;
    file.rewind().map_err(unreadable)?;
    let redaction = rewrite::learned(redaction, format, &mut file).map_err(unreadable)??;
    file.rewind().map_err(unreadable)?;
    let left = left(&presets)?;
    let mut rewriting =
        Rewriting { name: &name, format, redaction: &redaction, left: &left, skipped: 0, random: 0 };
    let mut write = |out: &mut dyn Write| {
        let Some(wrapping) = wrapping else { return rewriting.write(&mut file, out) };
        let mut aside = aside()?;
        rewriting.write(&mut file, &mut Aside(&mut aside))?;
        aside.rewind()?;
        Ok(wrapping(rewriting.name, format, &mut aside, out)?)
    };
    match written(args, &mut write) {
        Ok(()) => {}
        Err(Unwritten::Failure(failure)) => return Err(failure),
        Err(Unwritten::Refused(why)) => {
            context.terminal.error(&format!("{name}: {why}; nothing was written"));
            return Ok(exit::FAILED);
        }
    }
    let (skipped, random) = (rewriting.skipped, rewriting.random);
    if unsaid {
        context.terminal.note(&format!("redacted with --preset {DEFAULT}, as no option says what to redact"));
    }
    tell(&redaction, &left, skipped, context);
    let more = redaction.not_looked_for();
    if more > 0 {
        let values = counted(more, "value");
        context.terminal.note(&format!("taken out only where they go by their names, and not looked for elsewhere, as they are too many: {values}"));
    }
    if random > 0 {
        let words = counted(random, "word");
        let what = "left, although it may be a secret: text that looks drawn at random";
        context.terminal.note(&format!("{what}: {words}"));
    }
    Ok(exit::WELL)
}

/// The recording as a file that can be read twice, with the name to call it by. What is not a plain file is kept when it is
/// known to be a recording, since it may have no end.
fn seekable(
    path: &Path,
    asked: Option<&'static Format>,
    terminal: Terminal,
) -> Result<(String, File), Failure> {
    let Source { name, reader } = opened(path, terminal)?;
    // A pipe is not opened a second time: its writer may have done so.
    if path.as_os_str() != "-"
        && fs::metadata(path).is_ok_and(|there| there.is_file())
        && !is_coded(path)
        && let Ok(file) = File::open(path)
    {
        return Ok((name, file));
    }
    let mut keeper = Keeper::new(reader);
    Recording::once(&name, &mut keeper).reading(asked, |_, _| Ok(()))?;
    let kept = keeper.finish().map_err(|error| format!("{name} cannot be read: {error}"))?;
    let mut file = kept.into_file().map_err(|error| Failure::Unusable(aside_failed(error).to_string()))?;
    file.rewind().map_err(|error| format!("{name} cannot be read: {error}"))?;
    Ok((name, file))
}

fn aside() -> Result<File, Failure> {
    tempfile::tempfile().map_err(|error| Failure::Unusable(aside_failed(error).to_string()))
}

/// What looks like a secret where it is left: the names of presets that were not asked for, and the patterns of all, which may
/// fit names of members.
fn left(asked: &[&Preset]) -> Result<Vec<[Redaction; 2]>, Failure> {
    let is_asked = |preset: &Preset| asked.iter().any(|asked| asked.name == preset.name);
    let counting = |preset: &Preset| Redaction::default().with_preset(preset).map(Redaction::counting);
    let halves = |preset: &Preset| {
        let names: &[_] = if is_asked(preset) { &[] } else { preset.names };
        Ok([
            counting(&Preset { names, texts: &[], ..*preset })?,
            counting(&Preset { names: &[], ..*preset })?,
        ])
    };
    PRESETS.iter().map(halves).collect::<Result<_, String>>().map_err(Failure::Unusable)
}

/// Writes the output at once, so that half of a recording is never taken for the whole: a file that only its owner reads.
fn written(
    args: &Args,
    write: &mut dyn FnMut(&mut dyn Write) -> Result<(), Unwritten>,
) -> Result<(), Unwritten> {
    let Some(path) = &args.out else {
        let mut aside = aside()?;
        write(&mut Aside(&mut aside))?;
        aside.rewind()?;
        io::copy(&mut aside, &mut data_out())?;
        return Ok(());
    };
    let mut done = Ok(());
    let fill = |out: &mut dyn Write| {
        done = write(out);
        done.as_ref().map_or_else(|_| Err(io::Error::other("nothing was written")), |()| Ok(()))
    };
    let saved = match args.force {
        true => files::replace(path, Access::Private, fill),
        false => files::create(path, Access::Private, fill),
    };
    done?;
    Ok(saved.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Unusable(format!("{} exists already; --force overwrites it", path.display()))
        }
        _ => Failure::unwritable(path, &error),
    })?)
}

/// Says what was taken out, what looks like a secret and was left, and what is not part of the session.
fn tell(redaction: &Redaction, left: &[[Redaction; 2]], skipped: usize, context: CommandContext) {
    let listed = |kinds: Vec<(String, u64, u64)>, what: &str| {
        for (kind, times, values) in kinds {
            let values = counted(values, "value");
            let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
            context.terminal.note(&format!("{what}: {kind}: {values}, {times}"));
        }
    };
    let taken = redaction.taken();
    if taken.is_empty() {
        context.terminal.note("nothing was taken out");
    }
    listed(taken, "taken out");
    for [names, texts] in left {
        listed(names.taken(), "left, although it may be a secret");
        listed(texts.taken(), "left, although it looks like a secret");
    }
    if skipped > 0 {
        let what =
            if skipped == 1 { "1 line or body".to_owned() } else { format!("{skipped} lines or bodies") };
        context.terminal.note(&format!("not copied, as they are not part of the session: {what}"));
    }
}
