//! What is derived from the command line: scripts that complete it in a shell (`completions`), and the tables of the pages in
//! docs/ (`options`).

use super::context::{CommandContext, Failure};
use crate::exit;
use clap::{Arg, ArgAction};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Says that `--help` is the manual.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct ManArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

pub(crate) fn man(args: &ManArgs, _: CommandContext) -> Result<u8, Failure> {
    let command = args.rest.first().filter(|word| !word.starts_with('-'));
    let command = command.map(|name| format!("{name} ")).unwrap_or_default();
    Err(format!("there are no manual pages; `mcp-concord {command}--help` says the same").into())
}

/// Prints a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/completions.txt"))]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: clap_complete::Shell,
}

pub(crate) fn completions(args: &CompletionsArgs, context: CommandContext) -> Result<u8, Failure> {
    io::stdout().lock().write_all(&script(args.shell, (context.program)()))?;
    Ok(exit::WELL)
}

/// The script, in memory: the generator panics where its output fails, and a closed output does.
pub(super) fn script(shell: clap_complete::Shell, mut program: clap::Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "mcp-concord", &mut script);
    script
}

/// Prints the options of a command as a Markdown table, with its examples and exit codes; without a command, the commands.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct OptionsArgs {
    /// The command.
    command: Option<String>,
}

pub(crate) fn options(args: &OptionsArgs, context: CommandContext) -> Result<u8, Failure> {
    let program = (context.program)();
    let text = match &args.command {
        Some(name) => page(&program, name).ok_or_else(|| format!("there is no command `{name}`"))?,
        None => commands(&program),
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(exit::WELL)
}

/// The commands that a person calls, as a table.
fn commands(program: &clap::Command) -> String {
    let mut out = "| command | what it does |\n| --- | --- |\n".to_owned();
    for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "| `{}` | {} |", command.get_name(), cell(&about));
    }
    out
}

/// The options of a command and its exit codes, as Markdown.
pub(super) fn page(program: &clap::Command, name: &str) -> Option<String> {
    let mut program = program.clone();
    program.build();
    let command = program.find_subcommand(name)?;
    let mut out = "\n## Options\n\n| option | default | meaning |\n| --- | --- | --- |\n".to_owned();
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !is_of_clap(arg));
    let (own, global): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|arg| !arg.is_global_set());
    for arg in own.into_iter().chain(global) {
        let _ = writeln!(out, "{}", row(arg));
    }
    let codes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    if let Some(at) = codes.find("Exit code") {
        let codes = codes[at..].split_whitespace().collect::<Vec<_>>().join(" ");
        let codes = codes.trim_start_matches("Exit code");
        out.push_str("\nExit codes:\n\n| code | meaning |\n| --- | --- |\n");
        for one in codes.trim_end_matches('.').split("; ") {
            let (code, meaning) = one.trim().split_once(": ").unwrap_or((one, ""));
            let _ = writeln!(out, "| {code} | {} |", cell(meaning));
        }
    }
    Some(out)
}

/// Whether clap adds it to every command.
fn is_of_clap(arg: &Arg) -> bool {
    matches!(
        arg.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

fn row(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string).collect();
    let takes = arg.get_action().takes_values();
    let mut name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (None, Some(long)) => format!("--{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, None) => String::new(),
    };
    if takes {
        name = format!("{name} {}", values.join(" ")).trim().to_owned();
    }
    let mut meaning = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut default = match arg.get_default_values() {
        [value] if takes => format!("`{}`", value.to_string_lossy()),
        _ => String::new(),
    };
    // A default that is not a value is part of the help text.
    if let Some((start, end)) =
        meaning.find(" [default: ").zip(meaning.find(']')).filter(|(start, end)| start < end)
    {
        default = cell(&meaning[start + " [default: ".len()..end]);
        meaning.replace_range(start..=end, "");
    }
    let choices: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| takes && !value.is_hide_set())
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !choices.is_empty() {
        let _ = write!(meaning, ": {}", choices.join(", "));
    }
    format!("| `{}` | {default} | {} |", name.replace('|', r"\|"), cell(&meaning))
}

/// A text as one cell of a table.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_end_matches('.').replace('|', r"\|")
}
