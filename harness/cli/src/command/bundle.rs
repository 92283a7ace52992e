//! `bundle`: one file to attach to an issue.

use super::carrier::carry;
use super::context::{CommandContext, Failure};
use super::redact;
use crate::terminal::plain;
use app::{Recording, ShowOptions, SummaryOptions};
use formats::Format;
use std::fs::File;
use std::io::{Seek as _, Write};
use std::path::Path;

/// Writes one page to attach to an issue: the session without its secrets, to look into, and its recording inside.
///
/// The recording is redacted as by `redact`, which lists what it removed, and what looks like a secret but was kept. The
/// page has an overview, every message, and the findings of `check`. Every command that reads a recording reads the page, too.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(after_help = include_str!("help/bundle.txt"))]
pub(crate) struct Args {
    #[command(flatten)]
    redact: redact::Args,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    redact::redacted(
        &args.redact,
        Some(&|name, format, file, out| bundle(name, format, file, out, context)),
        context,
    )
}

/// Memory: the page.
fn bundle(
    name: &str,
    format: &'static Format,
    file: &mut File,
    out: &mut dyn Write,
    context: CommandContext,
) -> Result<(), Failure> {
    // A folder's name is not a part of the session, and may be somebody's.
    let name = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    let (mut page, mut overview) = (Vec::new(), Vec::new());
    let format = Some(format.name.to_owned());
    let show = ShowOptions { format: format.clone(), output: "html".to_owned(), ..ShowOptions::default() };
    let summary = SummaryOptions { format, output: "page".to_owned(), ..SummaryOptions::default() };
    let mut of_file = |command: &dyn app::Command, out: &mut Vec<u8>| {
        file.rewind()?;
        let source = Box::new(&mut *file);
        let recording = Recording { name: name.to_string(), source, found: false, exact: true };
        carry(command, &mut [recording], out, context)
    };
    of_file(&show, &mut page)?;
    of_file(&summary, &mut overview)?;
    file.rewind()?;
    let (page, overview) = (String::from_utf8_lossy(&page), String::from_utf8_lossy(&overview));
    let overview: Vec<_> = overview.lines().map(plain).collect();
    Ok(app::bundle(&page, &overview.join("\n"), file, out)?)
}
