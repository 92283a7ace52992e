//! `convert`: writes a session in another format.

use super::context::{CommandContext, Failure};
use super::input::{Source, format_of, named_format, open, reading};
use crate::exit;
use crate::terminal::data_out;
use formats::{Conversion, Format, Input, ReadError, ReadOptions, Session, salvage};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::PathBuf;

/// Writes a session in another capture format, to the standard output.
///
/// What the other format cannot carry is refused where it would change the session's meaning, and listed where it
/// is only context (times, headers, event ids).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord convert session.har --to mcp-replay > session.jsonl
  mcp-concord convert killed.har --to har --salvage > whole.har
  mcp-concord convert trace.jsonl --to jsonrpc --lossy      even where the meaning changes; what is lost is listed

Exit code 0: written; 1: the transcript was rejected, or the other format cannot carry it; 2: it cannot be opened.")]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The format to write.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    to: &'static Format,
    /// The format to read, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// Write even if the meaning changes.
    #[arg(long)]
    lossy: bool,
    /// Take what is whole of a file that was cut off, as a recorder leaves it that was killed, and say what is left out.
    #[arg(long)]
    salvage: bool,
}

/// Runs the command. Memory: the session, and what is written of it.
///
/// # Errors
/// Where the transcript cannot be opened or is rejected.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let read = |_: &str, format, input: &mut Input<'_>| Session::read(format, input, ReadOptions::default());
    let (_, format, session) = match args.salvage {
        true => salvaged(args, context, read)?,
        false => reading(&args.file, args.format, read)?,
    };

    let Conversion { refused, notes } = Conversion::of(&session, format, args.to);
    for text in &refused {
        if args.lossy { context.terminal.note(text) } else { context.terminal.error(text) }
    }
    if !args.lossy && !refused.is_empty() {
        context.terminal.note("nothing was written; --lossy writes a copy with another meaning");
        return Ok(exit::FAILED);
    }
    for text in &notes {
        context.terminal.note(text);
    }
    let mut out = BufWriter::new(data_out());
    (args.to.write)(&session, &mut out)?;
    out.flush()?;
    Ok(exit::WELL)
}

/// Reads what is whole of a file that was cut off. Memory: twice the file besides.
fn salvaged<T>(
    args: &Args,
    context: CommandContext,
    read: impl FnOnce(&str, &'static Format, &mut Input<'_>) -> Result<T, ReadError>,
) -> Result<(String, &'static Format, T), Failure> {
    let Source { name, mut reader } = open(&args.file)?;
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
    let rejected = |error| Failure::of_reading(&name, error);
    // A cut that parts a character leaves half of it, which is no text to look for a format in.
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let format = format_of(args.format, &mut Input::new(&mut text.as_bytes()).map_err(rejected)?, &name)?;
    let saved = salvage(format, &bytes).ok_or_else(|| {
        Failure::Unusable(format!("nothing in {name} is whole: it ends before its first item could begin"))
    })?;
    context.terminal.note(&saved.told(&name, format));
    let session =
        read(&name, format, &mut Input::new(&mut &saved.bytes[..]).map_err(rejected)?).map_err(rejected)?;
    Ok((name, format, session))
}
