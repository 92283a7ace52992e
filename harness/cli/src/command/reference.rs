//! What is derived from the command line: manual pages (`man`), scripts that complete it in a shell (`completions`), and the tables
//! of the pages in docs/ (`options`).

use super::context::{CommandContext, Failure};
use crate::exit;
use clap::{Arg, ArgAction};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use transcript::nearest::hint;
use wire::files::{Access, replace};

/// Prints a manual page: that of the program, or of a command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord man | man -l -                                the program's page
  mcp-concord man check | man -l -                          the page of a command
  mcp-concord man --out ~/.local/share/man/man1             all pages, for `man mcp-concord-check`

Exit code 0: printed or written; 2: there is no such command, or a page cannot be written.")]
pub(crate) struct ManArgs {
    /// The command whose page to print.
    #[arg(conflicts_with = "out")]
    command: Option<String>,
    /// Write all pages into this folder; created if missing.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn man(args: &ManArgs, context: CommandContext) -> Result<u8, Failure> {
    let pages = pages((context.program)())?;
    let Some(out) = &args.out else {
        let name = args.command.as_ref().map_or("mcp-concord".to_owned(), |it| format!("mcp-concord-{it}"));
        let Some((_, page)) = pages.iter().find(|(known, _)| *known == name) else {
            let command = args.command.as_deref().unwrap_or_default();
            let known = pages.iter().filter_map(|(name, _)| name.strip_prefix("mcp-concord-"));
            return Err(Failure::Unusable(format!(
                "there is no command `{command}`{}",
                hint(command, known)
            )));
        };
        io::stdout().lock().write_all(page)?;
        return Ok(exit::WELL);
    };
    for (name, page) in pages {
        let path = out.join(format!("{name}.1"));
        fs::create_dir_all(out)
            .and_then(|()| replace(&path, Access::Usual, |file| file.write_all(&page)))
            .map_err(|error| Failure::unwritable(&path, &error))?;
    }
    Ok(exit::WELL)
}

/// Every page in roff, by its name: the program's first, then one for each command that is not hidden.
pub(super) fn pages(mut program: clap::Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    program.build();
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let named = shown.filter(|command| command.get_name() != "help").map(|command| {
        let name = format!("mcp-concord-{}", command.get_name());
        (name, command)
    });
    let first = ("mcp-concord".to_owned(), program.clone());
    let all = std::iter::once(first).chain(named).map(|(name, command)| {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).title(&name).render(&mut page)?;
        Ok((name, page))
    });
    all.collect()
}

/// Prints a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord completions bash > ~/.local/share/bash-completion/completions/mcp-concord
  mcp-concord completions zsh > ~/.zfunc/_mcp-concord

Exit code 0: printed.")]
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
        Some(name) => {
            page(&program, name).ok_or_else(|| Failure::Unusable(format!("there is no command `{name}`")))?
        }
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

#[cfg(test)]
mod tests {
    use super::pages;
    use crate::command::COMMANDS;

    #[test]
    fn every_command_has_a_page_with_its_options_and_examples() {
        let pages = pages(crate::program(COMMANDS)).unwrap();
        for command in crate::program(COMMANDS).get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = format!("mcp-concord-{}", command.get_name());
            let (_, page) =
                pages.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name}"));
            let page = String::from_utf8(page.clone()).unwrap();
            assert!(page.contains(&format!(".TH {name} 1")) && page.contains("Examples:"), "{page}");
            let shown = command.get_arguments().filter(|option| !option.is_hide_set());
            for option in shown.filter_map(clap::Arg::get_long) {
                assert!(page.contains(&option.replace('-', "\\-")), "{name} lacks --{option}");
            }
        }
        assert_eq!(pages[0].0, "mcp-concord");
    }
}
