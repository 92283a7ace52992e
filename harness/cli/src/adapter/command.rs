//! The command line of a program under test: split into words as a shell splits them. No shell is started.

use super::program::NotRun;
use std::io;
use std::path::Path;
use std::process;

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    text: String,
    program: String,
    arguments: Vec<String>,
}

impl Command {
    /// Splits `text` into words as a shell does.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let words = shell_words::split(text)
            .map_err(|_| format!("`{text}` cannot be split into words: a quote is left open"))?;
        let mut words = words.into_iter();
        match words.next() {
            Some(program) if !program.is_empty() => {
                Ok(Self { text: text.to_owned(), program, arguments: words.collect() })
            }
            _ => Err("the command is empty; name a program".to_owned()),
        }
    }

    /// The same for a command that is started for each transcript, and so takes its path.
    pub(crate) fn parse_one_shot(text: &str) -> Result<Self, String> {
        let command = Self::parse(text)?;
        if command.has("{file}") {
            return Ok(command);
        }
        let message = "an --exec command needs {file} where the transcript's path belongs, such as";
        Err(format!("{message} --exec '{text} {{file}} {{format}}'"))
    }

    /// The command as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The program's own name, without its folder.
    pub(crate) fn name(&self) -> &str {
        Path::new(&self.program).file_stem().and_then(|name| name.to_str()).unwrap_or(&self.program)
    }

    /// Whether an argument contains `placeholder`.
    pub(crate) fn has(&self, placeholder: &str) -> bool {
        self.arguments.iter().any(|argument| argument.contains(placeholder))
    }

    /// What is started for a long-lived adapter.
    pub(super) fn bare(&self) -> process::Command {
        let mut command = process::Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    /// What is started for one transcript, with the placeholders filled in.
    pub(super) fn filled(&self, file: &Path, format: &str) -> process::Command {
        let file = file.to_string_lossy();
        let mut command = process::Command::new(&self.program);
        // The format first: its name holds no brace, while a path might.
        let fill = |argument: &String| argument.replace("{format}", format).replace("{file}", &file);
        command.args(self.arguments.iter().map(fill));
        command
    }

    /// Why it cannot be started.
    pub(super) fn refused(&self, error: &io::Error) -> NotRun {
        NotRun(wire::spawn_error(&self.program, error))
    }
}

#[cfg(test)]
mod tests {
    use super::Command;
    use std::path::Path;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        let command = Command::parse(r#"/opt/my\ reader.py "{file}" --as='{format} x' $HOME"#).unwrap();
        assert_eq!((command.name(), command.has("{file}"), command.has("{seq}")), ("my reader", true, false));
        let filled = command.filled(Path::new("/t/{format}.dat"), "har");
        let arguments: Vec<_> = filled.get_args().collect();
        assert_eq!(arguments, ["/t/{format}.dat", "--as=har x", "$HOME"]);
        for (text, part) in [("", "empty"), ("  ", "empty"), ("''", "empty"), ("a 'b", "quote")] {
            assert!(Command::parse(text).unwrap_err().contains(part), "{text}");
        }
    }
}
