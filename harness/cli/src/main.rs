//! The `mcp-concord` program: reads the command line, runs one command, and turns its outcome into an exit code.

mod adapter;
mod case_draft;
mod client_config;
mod command;
mod exit;
mod fuzzing;
mod listed_paths;
mod recordings;
mod scale;
mod status_line;
mod terminal;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, ValueEnum};
use command::{COMMANDS, Command, CommandContext, Failure, SUMMARY};
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::panic;
use std::path::Path;
use std::process::{self, ExitCode};
use terminal::{Terminal, Verbosity};
use transcript::nearest::nearest;
use wire::interrupt;

/// One session, any recording, one meaning.
///
/// Reads, compares and judges recordings of MCP sessions in any of their capture formats.
#[derive(Debug, Parser)]
#[command(name = "mcp-concord", version, propagate_version = true, max_term_width = 110)]
#[command(subcommand_required = true, arg_required_else_help = true, next_display_order = 1000)]
#[command(after_help = include_str!("command/help/mcp-concord.txt"))]
#[command(override_usage = "mcp-concord [OPTIONS] <FILE>...\n       mcp-concord [OPTIONS] <COMMAND>")]
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
        let plain =
            std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || !terminal::obeys_escapes();
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
    command::help::laid_out(Options::command().subcommands(commands.iter().map(|command| command.describe())))
}

/// Where a command stands among these words, or what is in its place: behind the options of the program.
fn place(words: &[OsString]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        at += match word.strip_prefix("--") {
            Some("color") => 2,
            Some("quiet" | "verbose" | "help" | "version") => 1,
            Some(word) if word.starts_with("color=") => 1,
            None if word.len() > 1 && word.starts_with('-') => 1,
            _ => break,
        };
    }
    at
}

/// The command that may have been meant: few get its first letter wrong, and short words are all near each other.
fn near(word: &str) -> Option<&'static str> {
    let names = COMMANDS
        .iter()
        .map(|command| command.name())
        .filter(|name| name.chars().next() == word.chars().next());
    nearest(word, names).first().copied()
}

/// What these words mean. Only the command that they name is described: to describe all takes longer than most commands run. A
/// file in place of a command is one for `summary`.
fn understood(mut words: Vec<OsString>) -> clap::ArgMatches {
    let at = place(&words);
    let named = |words: &[OsString], at: usize| {
        let word = words.get(at)?;
        COMMANDS.iter().position(|command| word == command.name())
    };
    let is_file = |word: &OsString| {
        let name = word.to_string_lossy();
        name.contains(['.', '/', '\\']) || name == "-" || name != "help" && Path::new(word).exists()
    };
    match words.get(at).filter(|word| named(&words, at).is_none() && *word != "help") {
        Some(word) if is_file(word) => words.insert(at, SUMMARY.into()),
        Some(word) if !word.to_string_lossy().starts_with('-') => nameless("file or command", word),
        // Its options may come first, unless there is a command behind them.
        Some(_)
            if words[at..].iter().any(is_file) && (at..words.len()).all(|at| named(&words, at).is_none()) =>
        {
            words.insert(at, SUMMARY.into());
        }
        _ => {}
    }
    let commands = named(&words, at).map_or(COMMANDS, |at| &COMMANDS[at..=at]);
    // The help of `help` is the program's.
    if let [help, word] = words.get(at..).unwrap_or_default()
        && help == "help"
        && (word == "--help" || word == "-h")
    {
        words.remove(at);
    }
    if let [help, word] = words.get(at..).unwrap_or_default()
        && help == "help"
        && !word.to_string_lossy().starts_with('-')
        && *word != "help"
        && !COMMANDS.iter().any(|command| word == command.name())
    {
        nameless("command", word);
    }
    let starts = commands.len() == 1 && starts_a_program(&commands[0].describe());
    program(commands).try_get_matches_from(words).unwrap_or_else(|error| end(&advised(error, starts)))
}

/// Prints what a command line asks for, such as help, or what is wrong with it, and ends.
fn end(error: &clap::Error) -> ! {
    let printed = error.print().and_then(|()| io::stdout().flush());
    process::exit(match printed {
        Err(why) if !error.use_stderr() => exit_code(Err(why.into()), Terminal::default()).into(),
        _ => error.exit_code(),
    })
}

/// Says that nothing has this name, and which command may have been meant.
fn nameless(what: &str, word: &OsString) -> ! {
    let word = word.to_string_lossy();
    let hint = near(&word).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    let why = format!("there is no {what} `{}`{hint}", terminal::plain(&word));
    program(COMMANDS).error(ErrorKind::InvalidSubcommand, why).exit()
}

/// Whether what stands behind `--` is the command line of a program.
fn starts_a_program(command: &clap::Command) -> bool {
    let is_program = |arg: &&clap::Arg| arg.get_value_names().is_some_and(|names| names[0] == "CMD");
    command.get_positionals().filter(|arg| arg.is_last_set()).any(|arg| is_program(&arg))
}

/// What is wrong with a command line. Before a program's command line clap knows no better than to take a misspelt option for one.
fn advised(mut error: clap::Error, starts: bool) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument
        && starts
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
    {
        let word = terminal::plain(word);
        error.remove(ContextKind::Suggested);
        if !word.starts_with('-') {
            let tip = format!("the command of a program goes after `--`: -- {word}");
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
    }
    error
}

/// Where the system has no thread to give, the standard library and tokio panic, and what waits for that thread would wait for ever.
fn end_without_threads() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let why = panic.payload_as_str().unwrap_or_default();
        if why.contains("spawn thread") || why.contains("spawn worker thread") {
            Terminal::default()
                .error("the system starts no more threads: too many processes run, or a limit is low");
            process::exit(exit::UNUSABLE.into());
        }
        usual(panic);
    }));
}

fn main() -> ExitCode {
    end_without_threads();
    interrupt::outlive_size_limit();
    let program: fn() -> clap::Command = || self::program(COMMANDS);
    let matches = understood(std::env::args_os().collect());
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
        (outcome, _) => exit_code(outcome, context.terminal),
    })
}

/// The exit code of a command. Where it ended without a verdict, the terminal shows why.
fn exit_code(outcome: Result<u8, Failure>, terminal: Terminal) -> u8 {
    match outcome {
        Ok(code) => code,
        Err(Failure::OutputClosed) => exit::CLOSED,
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
    }
}
