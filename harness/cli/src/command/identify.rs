//! `identify`: which transport and revision a capture shows, and how it was connected.

use super::carrier::carry;
use super::context::{CommandContext, Failure};
use super::input::{name_of, named_format, open};
use crate::terminal::data_out;
use app::IdentifyOptions;
use formats::Format;
use std::path::PathBuf;

/// Detects the transport and revision of MCP in a capture, with the evidence, and counts its connections.
///
/// Only a GET that is answered with an event stream counts as an SSE connection. What the capture's format does
/// not carry is reported as unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/identify.txt"))]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input.
    file: PathBuf,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_parser = ["text", "json"], default_value = "text", value_name = "HOW")]
    output: String,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let options = IdentifyOptions { format: name_of(args.format), text: args.output == "text" };
    carry(&options, &mut [open(&args.file, context.terminal)?], data_out(), context)
}
