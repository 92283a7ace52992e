//! `completions`: a script that completes the program's command line in a shell.

use super::context::{CommandContext, Failure};
use crate::exit;
use std::io::{self, Write as _};

/// Prints a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord completions bash > ~/.local/share/bash-completion/completions/mcp-concord
  mcp-concord completions zsh > ~/.zfunc/_mcp-concord

Exit code 0: printed.")]
pub(crate) struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Runs the command.
///
/// # Errors
/// Where the output cannot be written.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    io::stdout().lock().write_all(&script(args.shell, (context.program)()))?;
    Ok(exit::WELL)
}

/// The script, in memory: the generator panics where its output fails, and a closed output does.
pub(super) fn script(shell: clap_complete::Shell, mut program: clap::Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "mcp-concord", &mut script);
    script
}
