//! The `mcp-concord` program: reads the command line, runs one verb, and turns what came of it into an exit code.

mod adapter;
mod command;
mod exit;
mod fuzzing;
mod interrupt;
mod recordings;
mod rules_page;
mod source;
mod terminal;

use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use command::{
    CommandContext, Failure, check, convert, diff, drive, explain, fuzz, generate, identify, new, play, read,
    record, report, run, show,
};
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use terminal::{Terminal, Verbosity};

/// One session, any recording, one meaning.
///
/// Reads, compares and judges recordings of MCP sessions, in whichever capture format they were made.
#[derive(Debug, Parser)]
#[command(name = "mcp-concord", version, propagate_version = true, max_term_width = 110)]
#[command(after_help = "\
Examples:
  mcp-concord read session.har
  mcp-concord diff stdio.jsonl http.har --ignore '/result/content/*/text'
  mcp-concord convert session.har --to mcp-replay > session.jsonl
  mcp-concord check trace.jsonl
  mcp-concord show trace.jsonl
  mcp-concord run --filter 'ids/*'
  mcp-concord explain COR-FIRST

Exit codes: 0 all well; 1 the judged thing fell short; 2 the call or its input could not be used;
3 the implementation under test could not be run.")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Say results and errors alone.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say everything that was noticed.
    #[arg(short, long, global = true)]
    verbose: bool,
    /// When to use colours; `auto` also heeds NO_COLOR.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    color: When,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Read(read::Args),
    Diff(diff::Args),
    Convert(convert::Args),
    Check(Box<check::Args>),
    Show(show::Args),
    Run(Box<run::Args>),
    Explain(explain::Args),
    Generate(generate::Args),
    Fuzz(Box<fuzz::Args>),
    New(new::Args),
    Identify(identify::Args),
    Report(report::Args),
    Record(record::Args),
    Drive(Box<drive::Args>),
    Play(Box<play::Args>),
    /// Prints a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the manual page.
    Man,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = |terminal: bool| match cli.color {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && !plain,
    };
    let verbosity = match (cli.quiet, cli.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let terminal = Terminal {
        verbosity,
        colour_out: colour(std::io::stdout().is_terminal()),
        colour_err: colour(std::io::stderr().is_terminal()),
    };
    let context = CommandContext { terminal };
    let done = match &cli.verb {
        Verb::Read(args) => read::run(args, context),
        Verb::Diff(args) => diff::run(args, context),
        Verb::Convert(args) => convert::run(args, context),
        Verb::Check(args) => check::run(args, context),
        Verb::Show(args) => show::run(args, context),
        Verb::Run(args) => run::run(args, context),
        Verb::Explain(args) => explain::run(args, context),
        Verb::Generate(args) => generate::run(args, context),
        Verb::Fuzz(args) => fuzz::run(args, context),
        Verb::New(args) => new::run(args, context),
        Verb::Identify(args) => identify::run(args, context),
        Verb::Report(args) => report::run(args, context),
        Verb::Record(args) => record::run(args, context),
        Verb::Drive(args) => drive::run(args, context),
        Verb::Play(args) => play::run(args, context),
        Verb::Completions { shell } => completions(*shell),
        Verb::Man => man(),
    };
    ExitCode::from(match done {
        Ok(code) => code,
        Err(Failure::Gone) => exit::WELL,
        Err(Failure::Rejected(name, rejection)) => {
            terminal.rejection(&name, &rejection);
            exit::FAILED
        }
        Err(Failure::NotRun(why)) => {
            terminal.error(&why);
            exit::NOT_RUN
        }
        Err(Failure::Unusable(why)) => {
            terminal.error(&why);
            exit::UNUSABLE
        }
    })
}

fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    // Into memory first: the generator panics where its output fails, and an output that was closed does.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcp-concord", &mut script);
    print(&script)
}

fn man() -> Result<u8, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page)?;
    print(&page)
}

fn print(text: &[u8]) -> Result<u8, Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(exit::WELL)
}
