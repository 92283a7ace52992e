//! How help is laid out: commands by task, a short `-h`, and examples in `--help` that can be copied, since no line of theirs is
//! wrapped. What stands after the options of a command is a file of `help/`.

use clap::Command;
use std::fmt::Write as _;

/// No line of an example is longer, so that a terminal of 80 columns wraps none.
const WIDTH: usize = 78;

/// What commands are for, with the commands in the order of the help. Every command that is not hidden is in one.
const TASKS: &[(&str, &[&str])] = &[
    ("Look at recordings", &["summary", "read", "show", "identify", "stats"]),
    ("Compare, convert and clean them", &["diff", "surface", "convert", "redact", "bundle"]),
    ("Judge them, and live servers", &["check", "probe", "explain"]),
    ("Make recordings, and test recorders", &["record", "wrap", "unwrap", "play", "drive"]),
    ("Test an importer", &["run", "fuzz", "generate", "new", "report"]),
    ("This program", &["completions", "help"]),
];

/// The program with its commands listed by task, and with examples only in `--help`.
pub(crate) fn laid_out(program: Command) -> Command {
    let commands = by_task(&program);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}Options:\n{{options}}{{after-help}}"
    );
    let program = program.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        with_examples(command, &format!("mcp-concord {name} --help"))
    });
    with_examples(program, "mcp-concord --help").help_template(template)
}

/// Keeps what stands after the options for `--help`.
fn with_examples(command: Command, long: &str) -> Command {
    match command.get_after_help().map(ToString::to_string) {
        Some(text) => command
            .after_long_help(paragraphs(text.trim_end()))
            .after_help(format!("Examples and exit codes: {long}")),
        None => command,
    }
}

fn by_task(program: &Command) -> String {
    let mut out = String::new();
    let mut list = |task: &str, commands: Vec<(&str, String)>| {
        if commands.is_empty() {
            return;
        }
        let _ = writeln!(out, "{task}:");
        for (name, about) in commands {
            let mut name = name;
            for line in wrapped(&about, WIDTH - 14) {
                let _ = writeln!(out, "  {name:<12} {line}");
                name = "";
            }
        }
        out.push('\n');
    };
    let about =
        |name: &str| program.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
    for (task, names) in TASKS {
        let named = names.iter().filter_map(|name| match *name {
            "help" => Some((*name, "Prints the help of a command".to_owned())),
            name => Some((name, about(name)?)),
        });
        list(task, named.collect());
    }
    let known = |name: &str| TASKS.iter().any(|(_, names)| names.contains(&name));
    let others = program.get_subcommands().filter(|it| !it.is_hide_set() && !known(it.get_name()));
    list("Others", others.filter_map(|it| Some((it.get_name(), it.get_about()?.to_string()))).collect());
    out
}

/// Paragraphs as clap wraps them: examples a line each, below a comment; a paragraph of prose as one line.
fn paragraphs(text: &str) -> String {
    let paragraph = |paragraph: &str| {
        let indented = |line: &str| line.starts_with("  ");
        match paragraph.strip_prefix("Examples:\n") {
            Some(examples) => format!("Examples:\n{}", self::examples(examples)),
            None if paragraph.lines().all(indented) => examples(paragraph),
            None if paragraph.lines().any(indented) => paragraph.to_owned(),
            None => paragraph.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// Examples, each with what is said of it above it as a comment. In the file it stands behind the command, two spaces or more
/// away, or on lines of its own that are indented further.
fn examples(text: &str) -> String {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start();
        let (command, comment) = rest.split_once("  ").unwrap_or((rest, ""));
        match found.last_mut() {
            Some((_, said)) if line.len() - rest.len() > 12 => *said = format!("{said} {rest}"),
            _ => found.push((command.to_owned(), comment.trim().to_owned())),
        }
    }
    let mut out = Vec::new();
    for (command, comment) in found {
        out.extend(wrapped(&comment, WIDTH - 4).into_iter().map(|line| format!("  # {line}")));
        let lines = wrapped(&command, WIDTH - 8);
        let last = lines.len().saturating_sub(1);
        for (at, line) in lines.iter().enumerate() {
            let (indent, more) = (if at == 0 { "  " } else { "      " }, if at < last { " \\" } else { "" });
            out.push(format!("{indent}{line}{more}"));
        }
    }
    out.join("\n")
}

/// Lines of at most `width` characters; a longer word has one of its own.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::TASKS;
    use crate::command::COMMANDS;
    use clap::{Arg, Command};
    use std::collections::{BTreeMap, BTreeSet};

    fn program() -> Command {
        let mut program = crate::program(COMMANDS).term_width(80);
        program.build();
        program
    }

    fn shown(program: &Command) -> Vec<&Command> {
        program.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help").collect()
    }

    #[test]
    fn every_command_has_a_task_and_stands_in_the_help_once() {
        let program = program();
        let help = program.clone().render_help().to_string();
        for command in shown(&program) {
            let name = command.get_name();
            assert_eq!(TASKS.iter().filter(|(_, names)| names.contains(&name)).count(), 1, "{name}");
            assert_eq!(help.matches(&format!("\n  {name} ")).count(), 1, "{name}: {help}");
        }
        assert!(!help.contains("Others:"), "{help}");
    }

    #[test]
    fn every_command_has_examples_in_its_long_help_of_which_none_is_wrapped() {
        let program = program();
        for command in shown(&program) {
            let name = command.get_name();
            let (short, long) = (command.clone().render_help(), command.clone().render_long_help());
            let (short, long) = (short.to_string(), long.to_string());
            assert!(!short.contains("Examples:\n") && short.len() < long.len(), "{name}: {short}");
            let lines: BTreeSet<&str> = long.lines().collect();
            let written = command.get_after_long_help().unwrap_or_else(|| panic!("{name}")).to_string();
            let examples =
                written.split("\n\n").filter(|it| it.starts_with("Examples:") || it.starts_with("  "));
            let examples: Vec<&str> = examples.flat_map(str::lines).collect();
            assert!(
                examples.iter().any(|line| line.contains(&format!("mcp-concord {name}"))),
                "{name}: {written}"
            );
            for line in examples {
                assert!(lines.contains(line) && line.len() <= 80, "{name} wraps {line:?}:\n{long}");
            }
        }
    }

    /// Options that are called alike and are another thing in these commands.
    const OTHERWISE: &[(&str, &[&str])] = &[
        ("--baseline FILE", &["fuzz"]),
        ("--cases DIR", &["new"]),
        ("--filter GLOB", &["drive"]),
        ("--force", &["generate"]),
        ("--format FORMAT", &["run", "record", "play", "fuzz"]),
        ("--ignore POINTER", &["play"]),
        ("--listen ADDR", &["play"]),
        ("--list", &["drive", "probe"]),
        ("--out DIR", &["fuzz", "generate", "report"]),
        ("--files-from FILE", &["stats"]),
        ("--output KIND", &["check", "explain", "identify", "show", "stats", "summary"]),
        ("--redact NAME", &["redact", "bundle"]),
        ("--redacted MARKER", &["check"]),
        ("--results FILE", &["drive"]),
        ("--shard I/N", &["check"]),
        ("--timeout SECONDS", &["drive", "play", "probe"]),
        ("--to URL", &["play"]),
        ("--select IDS", &["probe"]),
        ("--transport TRANSPORT", &["play"]),
        ("--from FILE", &["new"]),
        ("--output FILE", &["convert", "redact", "bundle", "wrap"]),
    ];

    #[test]
    fn the_same_option_has_the_same_words_everywhere() {
        let program = program();
        let mut words: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
        for command in shown(&program) {
            for arg in command.get_arguments().filter(|arg| !arg.is_global_set()) {
                let Some(long) = arg.get_long() else { continue };
                let values = if arg.get_action().takes_values() { arg.get_value_names() } else { None };
                let values: String =
                    values.unwrap_or_default().iter().map(|value| format!(" {value}")).collect();
                let option = format!("--{long}{values}");
                let otherwise =
                    OTHERWISE.iter().find(|(name, _)| *name == option).map_or(&[][..], |(_, it)| it);
                if !otherwise.contains(&command.get_name()) {
                    let help = Arg::get_help(arg).map(ToString::to_string).unwrap_or_default();
                    // A default in brackets is a value of the command, not of the option.
                    let help = help.split(" [default: ").next().unwrap_or_default().to_owned();
                    words.entry(option).or_default().entry(help).or_default().push(command.get_name());
                }
            }
        }
        words.retain(|_, words| words.len() > 1);
        assert!(words.is_empty(), "{words:#?}");
    }

    #[test]
    fn formats_are_listed_and_a_typo_is_answered_with_the_name_that_was_meant() {
        let program = program();
        let convert = program.find_subcommand("convert").unwrap().clone().render_help().to_string();
        for format in formats::FORMATS {
            // By `--to` and by `--format`; the last of a list stands before a bracket.
            let listed = |end| convert.matches(&format!(" {}{end}", format.name)).count();
            let both = 1 + usize::from(format.is_written());
            assert_eq!(listed(',') + listed(']'), both, "{}: {convert}", format.name);
        }
        for (words, meant) in [
            (&["mcp-concord", "chekc", "a"][..], "'check'"),
            (&["mcp-concord", "convert", "a", "--to", "mcp-repaly"], "'mcp-replay'"),
            (&["mcp-concord", "check", "a", "--spec", "2025-11-26"], "'2025-11-25'"),
            (&["mcp-concord", "check", "a", "--requir", "x"], "'--require'"),
        ] {
            let error = crate::program(COMMANDS).try_get_matches_from(words).unwrap_err().to_string();
            assert!(error.contains(meant), "{words:?}: {error}");
        }
    }
}
