//! `man`: the manual pages, one for the program and one for each command.

use super::context::{CommandContext, Failure};
use crate::exit;
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
pub(crate) struct Args {
    /// The command whose page to print.
    #[arg(conflicts_with = "out")]
    command: Option<String>,
    /// Write all pages into this folder; created if missing.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Where there is no such command, or the output cannot be written.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
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
            for option in command.get_arguments().filter_map(clap::Arg::get_long) {
                assert!(page.contains(&option.replace('-', "\\-")), "{name} lacks --{option}");
            }
        }
        assert_eq!(pages[0].0, "mcp-concord");
    }
}
