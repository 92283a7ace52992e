//! `read`: prints the meaning of a transcript.

use super::carrier::Carrier;
use super::context::{CommandContext, Failure};
use super::input::{Source, name_of, named_format, open, opened_as_it_is};
use crate::exit;
use crate::terminal::data_out;
use app::{Cause, Command as _, Error, ReadOptions, Recording};
use formats::Format;
use std::io::{self, Seek as _, Write as _};
use std::path::PathBuf;
use tempfile::SpooledTempFile;
use transcript::dialect::{self, Dialect};
use transcript::rejection::Rejection;

/// Up to this size a meaning waits in memory until the transcript is known to be whole, then in a temporary file.
const IN_MEMORY: usize = 8 << 20;

/// Prints the meaning of a transcript as JSON: what happened, in order, who answered what.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/read.txt"))]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// Print only tool calls and their outcomes.
    #[arg(long)]
    calls: bool,
    /// Read and judge by this dialect of the contract: default, or typed-ids.
    #[arg(long, value_name = "NAME", value_parser = dialect::find, default_value = "default")]
    dialect: &'static Dialect,
    /// Skip what is not a message where one belongs, and show where it was.
    #[arg(long)]
    lenient: bool,
    /// Answer as a program under test does: an answer object, or a rejection and exit code 65.
    #[arg(long, hide = true, conflicts_with = "calls")]
    answer: bool,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    // A meaning is given out whole or not at all, so it waits until the last byte has been read.
    let mut spool = SpooledTempFile::new(IN_MEMORY);
    let options = ReadOptions {
        format: name_of(args.format),
        calls: args.calls,
        dialect: args.dialect.name.to_owned(),
        lenient: args.lenient,
    };
    let recording = match args.answer {
        true => {
            let Source { name, reader } = opened_as_it_is(&args.file)?;
            Recording { exact: true, ..Recording::once(&name, reader) }
        }
        false => open(&args.file, context.terminal)?,
    };
    match options.answer(&mut [recording], &mut Carrier::new(&mut spool, context)) {
        Ok(_) => {}
        Err(Error { cause: Cause::Rejected(rejection), .. }) if args.answer => return reject(&rejection),
        Err(Error { cause: Cause::Output(error), .. }) => {
            return Err(format!("the meaning cannot be kept in a temporary file: {error}").into());
        }
        Err(error) => return Err(error.into()),
    }
    spool.rewind()?;
    let mut out = data_out();
    if args.answer {
        write!(out, "{{\"meaning\":")?;
    }
    io::copy(&mut spool, &mut out)?;
    if args.answer {
        writeln!(out, "}}")?;
    }
    out.flush()?;
    Ok(exit::WELL)
}

/// A rejection as a one-shot command answers it.
fn reject(rejection: &Rejection) -> Result<u8, Failure> {
    let words = serde_json::json!({ "code": rejection.code.name(), "message": rejection.to_string() });
    writeln!(io::stdout(), "{}", serde_json::json!({ "rejection": words }))?;
    Ok(exit::REJECTED)
}
