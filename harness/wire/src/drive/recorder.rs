//! The command line of a recorder under test, with its placeholders. It is split into words as a shell does it; no
//! shell is started, so nothing is expanded.

use std::path::Path;

/// A recorder's command line: words with `{server}`, `{out}`, `{port}`, `{upstream}` and `{origin}` in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorder {
    text: String,
    words: Vec<String>,
}

/// The values of the placeholders.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Placeholders<'h> {
    /// The words of the server's command line.
    pub(super) server: &'h [String],
    /// The recording.
    pub(super) out: &'h str,
    /// Where to listen.
    pub(super) port: u16,
    /// Where to forward to.
    pub(super) upstream: &'h str,
}

impl Recorder {
    /// Splits `text` into words as a shell does.
    ///
    /// # Errors
    /// A sentence where a quote is left open, or there is no word.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = shell_words::split(text)
            .map_err(|_| format!("`{text}` cannot be split into words: a quote is left open"))?;
        match words.first() {
            Some(program) if !program.is_empty() => Ok(Self { text: text.to_owned(), words }),
            _ => Err("the command is empty; name a recorder".to_owned()),
        }
    }

    /// The command as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program's own name, without its folder.
    pub fn name(&self) -> &str {
        let program = self.words.first().map_or("", String::as_str);
        Path::new(program).file_stem().and_then(|name| name.to_str()).unwrap_or(program)
    }

    /// The placeholders among these that it lacks.
    pub fn lacks<'h>(&self, placeholders: &[&'h str]) -> Vec<&'h str> {
        let has = |hole: &str| self.words.iter().any(|word| word.contains(hole));
        placeholders.iter().filter(|hole| !has(hole)).copied().collect()
    }

    /// The words with their placeholders filled. A server that is a word of its own becomes as many as it has; inside of a longer
    /// word it is quoted as a shell wants it.
    pub(super) fn filled(&self, placeholders: &Placeholders<'_>) -> Vec<String> {
        let Placeholders { server, out, port, upstream } = *placeholders;
        let origin = upstream.match_indices('/').nth(2).map_or(upstream, |(end, _)| &upstream[..end]);
        // The paths last: they may hold braces of their own.
        let holes = [
            ("{port}", &*port.to_string()),
            ("{upstream}", upstream),
            ("{origin}", origin),
            ("{server}", &shell_words::join(server)),
            ("{out}", out),
        ];
        let mut words = Vec::new();
        for word in &self.words {
            match &**word {
                "{server}" => words.extend_from_slice(server),
                _ => words
                    .push(holes.iter().fold(word.clone(), |word, (hole, value)| word.replace(hole, value))),
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::{Placeholders, Recorder};

    #[test]
    fn holes_are_filled_word_by_word() {
        let server = ["/a b/play".to_owned(), "--as".to_owned(), "server".to_owned()];
        let placeholders =
            Placeholders { server: &server, out: "/t/{port}", port: 80, upstream: "http://u:1/mcp" };
        let filled = |text: &str| Recorder::parse(text).unwrap().filled(&placeholders);
        assert_eq!(
            filled("rec -o {out} -- {server}"),
            ["rec", "-o", "/t/{port}", "--", "/a b/play", "--as", "server"]
        );
        assert_eq!(filled("sh -c 'exec {server} >{out}'")[2], "exec '/a b/play' --as server >/t/{port}");
        assert_eq!(filled("rec :{port} reverse:{upstream}"), ["rec", ":80", "reverse:http://u:1/mcp"]);
        assert_eq!(filled("rec reverse:{origin}"), ["rec", "reverse:http://u:1"]);
        let recorder = Recorder::parse("/x/mcp-rec.py {out}").unwrap();
        assert_eq!((recorder.name(), recorder.lacks(&["{out}", "{server}"])), ("mcp-rec", vec!["{server}"]));
        for (text, part) in [("", "empty"), ("a 'b", "quote")] {
            assert!(Recorder::parse(text).unwrap_err().contains(part), "{text}");
        }
    }
}
