//! `convert`: writes a session in another format.

use super::carrier::Carrier;
use super::context::{CommandContext, Failure};
use super::input::{format_values, name_of, named_format, open};
use super::values::new_file;
use crate::exit;
use crate::terminal::data_out;
use app::{Cause, ConvertOptions, Error, Outcome, Output as _};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use formats::Format;
use reports::otlp;
use reports::target::Target;
use std::io::BufWriter;
use std::path::PathBuf;
use wire::files::{Access, is_same, replace};

/// Writes a session in another capture format.
///
/// What the other format cannot carry is refused where it would change the session's meaning, and listed where it
/// is only context (times, headers, event ids).
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/convert.txt"))]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The format to write; otlp-json writes spans for OpenTelemetry, one for each request, which no command reads back.
    #[arg(long, value_name = "FORMAT", value_parser = named_target())]
    to: String,
    /// Write to this file instead of the standard output. A file of that name is replaced when all is written.
    #[arg(short, long, value_name = "FILE", value_parser = new_file())]
    output: Option<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// Write even if the meaning changes.
    #[arg(long)]
    lossy: bool,
    /// Take what is whole of a file that was cut off, as a recorder leaves it that was killed, and say what is left out.
    #[arg(long)]
    salvage: bool,
}

/// The formats that are written, and the names of what is only written.
fn named_target() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(format_values(true).chain([PossibleValue::new(otlp::NAME)]))
        .try_map(|name| Target::named(&name).map(|_| name))
}

/// Runs the command. Memory: the session, and what is written of it.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if let Some(path) = args.output.as_deref().filter(|path| is_same(path, &args.file)) {
        return Err(
            format!("{} is the recording itself: write the copy to another file", path.display()).into()
        );
    }
    let Args { lossy, salvage, .. } = *args;
    let options = ConvertOptions { to: args.to.clone(), format: name_of(args.format), lossy, salvage };
    let mut carrier = Carrier::new(BufWriter::new(data_out()), context);
    let converted = match options.convert(&mut open(&args.file, context.terminal)?, &mut carrier) {
        Ok(converted) => converted,
        Err(Error { cause: Cause::CannotCarry(reasons), .. }) => {
            reasons.iter().for_each(|reason| context.terminal.error(reason));
            context.terminal.note("nothing was written; --lossy writes a copy anyway");
            return Ok(exit::FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    match &args.output {
        Some(path) => replace(path, Access::of_copy(&args.file), |out| converted.write(out))
            .map_err(|error| Failure::unwritable(path, &error))?,
        None => converted.write(carrier.bytes())?,
    }
    carrier.finish(Outcome::Well)
}
