//! `man`: the manual page.

use super::context::{CommandContext, Failure};
use crate::exit;
use std::io::{self, Write as _};

/// Prints the manual page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Runs the command.
///
/// # Errors
/// Where the output cannot be written.
pub(crate) fn run(_: &Args, context: CommandContext) -> Result<u8, Failure> {
    io::stdout().lock().write_all(&page((context.program)())?)?;
    Ok(exit::WELL)
}

/// The page, in roff.
pub(super) fn page(program: clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(program).render(&mut page)?;
    Ok(page)
}
