//! The `mcp-concord` program: reads the command line, runs one command, and turns its outcome into an exit code.

mod adapter;
mod case_draft;
mod command;
mod exit;
mod fuzzing;
mod listed_paths;
mod recordings;
mod rules_page;
mod scale;
mod status_line;
mod terminal;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use command::{COMMANDS, Command, CommandContext, Failure, SUMMARY};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use terminal::{Terminal, Verbosity};
use wire::interrupt;

/// One session, any recording, one meaning.
///
/// Reads, compares and judges recordings of MCP sessions in any of their capture formats.
#[derive(Debug, Parser)]
#[command(name = "mcp-concord", version, propagate_version = true, max_term_width = 110)]
#[command(subcommand_required = true, arg_required_else_help = true, next_display_order = 1000)]
#[command(after_help = "\
Examples:
  mcp-concord session.har
  mcp-concord read session.har
  mcp-concord diff stdio.jsonl http.har --ignore '/result/content/*/text'
  mcp-concord convert session.har --to mcp-replay > session.jsonl
  mcp-concord check trace.jsonl
  mcp-concord show trace.jsonl
  mcp-concord run --filter 'ids/*'
  mcp-concord explain COR-FIRST

Exit codes: 0: success; 1: what was judged failed; 2: the call or its input cannot be used; 3: the implementation under
test cannot be run; 129, 130, 143: HUP, INT or TERM cut the command short, and what was judged until then is written; 141: the
reader of the output closed it before all was written, as SIGPIPE would tell.")]
struct Options {
    /// Print only findings and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print details.
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colours; `auto` also respects NO_COLOR.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    color: ColorChoice,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ColorChoice {
    Auto,
    Always,
    Never,
}

impl Options {
    fn terminal(&self) -> Terminal {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colour = |terminal: bool| match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !plain,
        };
        Terminal {
            verbosity: match (self.quiet, self.verbose) {
                (true, _) => Verbosity::Quiet,
                (_, true) => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
            colour_out: colour(std::io::stdout().is_terminal()),
            colour_err: colour(std::io::stderr().is_terminal()),
        }
    }
}

/// The command line with these commands.
fn program(commands: &[&dyn Command]) -> clap::Command {
    command::help::laid_out(described(commands))
}

/// The same without its help, which takes longer to lay out than most commands run.
fn described(commands: &[&dyn Command]) -> clap::Command {
    Options::command().subcommands(commands.iter().map(|command| command.describe()))
}

/// What these words mean to the commands among them: to describe the others, too, takes longer than most commands run. Where it
/// is an error, all of them have a say in it.
fn understood(words: &[OsString]) -> Result<clap::ArgMatches, clap::Error> {
    let is_named = |command: &&dyn Command| words.iter().any(|word| word == command.name());
    let named: Vec<&dyn Command> = COMMANDS.iter().copied().filter(is_named).collect();
    described(&named).try_get_matches_from(words).or_else(|_| program(COMMANDS).try_get_matches_from(words))
}

/// The command line with `summary` before the file that stands where a command was expected; none where nothing there is, or
/// looks like, a file.
fn with_summary(error: &clap::Error, mut words: Vec<OsString>) -> Option<Vec<OsString>> {
    let named = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(named))) => named,
        (ErrorKind::UnknownArgument, _) => "-",
        _ => return None,
    };
    let at = words.iter().skip(1).position(|word| word.to_string_lossy() == *named)? + 1;
    let is_file = named.contains(['.', '/', '\\']) || named == "-" || Path::new(&words[at]).exists();
    is_file.then(|| words.insert(at, SUMMARY.into()))?;
    Some(words)
}

fn main() -> ExitCode {
    let program: fn() -> clap::Command = || self::program(COMMANDS);
    let words: Vec<OsString> = std::env::args_os().collect();
    let matches = match understood(&words) {
        Ok(matches) => matches,
        Err(error) => match with_summary(&error, words) {
            Some(words) => program().get_matches_from(words),
            None => error.exit(),
        },
    };
    let options = Options::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let context = CommandContext { terminal: options.terminal(), program };
    let chosen = matches
        .subcommand()
        .and_then(|(name, matches)| Some((COMMANDS.iter().find(|command| command.name() == name)?, matches)));
    // The command line is refused without a command, so there is one.
    let outcome = match chosen {
        Some((command, matches)) => command.run(matches, context),
        None => Ok(exit::UNUSABLE),
    };
    ExitCode::from(match (outcome, interrupt::code()) {
        (Err(_), Some(code)) => {
            context.terminal.error("interrupted");
            code
        }
        (outcome, _) => told(outcome, context),
    })
}

/// The exit code of what came of a command. Where it is no verdict, the terminal is told why.
fn told(outcome: Result<u8, Failure>, context: CommandContext) -> u8 {
    match outcome {
        Ok(code) => code,
        Err(Failure::OutputClosed) => exit::CLOSED,
        Err(Failure::Rejected(name, rejection)) => {
            context.terminal.rejection(&name, &rejection);
            exit::FAILED
        }
        Err(Failure::NotRun(why)) => {
            context.terminal.error(&why);
            exit::NOT_RUN
        }
        Err(Failure::Unusable(why)) => {
            context.terminal.error(&why);
            exit::UNUSABLE
        }
    }
}
