//! Which format is this? Told from the first value of the file, never from its name.

use crate::excerpt::floor;
use crate::foreign::foreign;
use crate::format::Format;
use crate::head::{Head, LOOKED_AT, ends_a_line, is_log};
use crate::input::{Input, ReadError};
use crate::registry::{FORMATS, MCP_VCR};
use transcript::json::{Json, Scanner};

/// The format of what `input` begins with; nothing is consumed. Reads the first value, or 64 KiB of it.
///
/// # Errors
/// Where the input cannot be read or is not UTF-8 there, and what can be read shows no format.
pub fn detect(input: &mut Input<'_>) -> Result<Option<&'static Format>, ReadError> {
    detect_among(FORMATS, input)
}

/// A format whose files begin somewhat like this text, which none recognises, and why this is none of them.
#[must_use]
pub fn nearest(text: &str) -> Option<String> {
    let head = Head::new(&text[..floor(text, LOOKED_AT.min(text.len()))]);
    FORMATS
        .iter()
        .find_map(|format| Some(format!("{} is nearest, but {}", format.name, (format.why_not)(&head)?)))
}

/// Why no format is detected in a file that begins with this text, in words.
#[must_use]
pub fn why_undetected(text: &str) -> String {
    if let Some(what) = foreign(text) {
        return what.to_owned();
    }
    let is_json = text.trim_start().starts_with(['{', '[']) && !Head::new(text).is_odd_list();
    match nearest(text) {
        _ if text.trim().is_empty() => EMPTY.to_owned(),
        _ if is_mcp_vcr(text) => MCP_VCR.to_owned(),
        None if is_json && has_messages(text.lines()) => IN_A_DOCUMENT.to_owned(),
        None if is_json && text.contains("\\\"jsonrpc\\\":") => AS_STRINGS.to_owned(),
        None if has_messages(text.lines().take(MANY)) => among_text(text),
        None => "its beginning matches no format".to_owned(),
        Some(hint) => hint,
    }
}

/// What is said of a file without a text.
pub const EMPTY: &str = "it is empty";

/// A text without a message in this many lines is about something else.
const MANY: usize = 10;

fn has_messages<'t>(mut lines: impl Iterator<Item = &'t str>) -> bool {
    lines.any(|line| line.contains("\"jsonrpc\":"))
}

const IN_A_DOCUMENT: &str = "it has messages in a document that is none of the formats; take them out with \
                             `jq -c '.. | objects | select(.jsonrpc?)' FILE > NEW`";

const AS_STRINGS: &str = "its messages are JSON strings inside of other JSON; take them out with \
                          `jq -r '.. | strings | select(contains(\"\\\"jsonrpc\\\"\"))' FILE > NEW`";

/// What takes messages out of lines of other text. `grep` takes all from the first brace of a line to its last, which is none
/// where braces stand around a message, or two messages are on a line.
fn among_text(text: &str) -> String {
    let spoils = |line: &&str| {
        let (begin, end) =
            (line.find('{').unwrap_or_default(), line.rfind('}').map_or(line.len(), |at| at + 1));
        line.contains("\"jsonrpc\":") && line.get(begin..end).is_some_and(|part| Json::parse(part).is_err())
    };
    // The last line may be cut off.
    let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
    let how = match whole.lines().find(spoils) {
        None => "grep -o '{.*}' FILE > NEW",
        Some(_) => {
            r#"perl -nle 'print for grep /"jsonrpc"/, /(\{(?:[^{}"]|"(?:[^"\\]|\\.)*"|(?1))*\})/g' FILE > NEW"#
        }
    };
    format!("its messages are among other text; take them out with `{how}`")
}

/// Whether this is the YAML of mcp-vcr: a list of messages at the margin, beside `meta` or with directions.
fn is_mcp_vcr(text: &str) -> bool {
    let is_item = |line: &str| {
        let item = line.trim_start_matches([' ', '-']);
        ["dir: ", "{\"dir\""].iter().any(|begin| item.starts_with(begin))
    };
    let mut lines = text[..floor(text, LOOKED_AT.min(text.len()))].lines().map(str::trim_end);
    let has_list = lines.clone().any(|line| matches!(line, "messages:" | "messages: []"));
    has_list && lines.any(|line| line == "meta:" || is_item(line))
}

/// As [`detect`], among these formats: those later in the list are tried first.
///
/// # Errors
/// As [`detect`].
pub fn detect_among<'f>(
    formats: &[&'f Format],
    input: &mut Input<'_>,
) -> Result<Option<&'f Format>, ReadError> {
    let mut end = Ok(true);
    while !is_enough(input.text()) && matches!(end, Ok(true)) {
        end = input.grow();
    }
    let text = input.text();
    let head = Head::new(&text[..floor(text, LOOKED_AT.min(text.len()))]);
    match formats.iter().rev().copied().find(|format| (format.sniff)(&head)) {
        Some(format) => Ok(Some(format)),
        // What the file is matters more than a bad byte somewhere in it.
        None if foreign(text).is_some() => Ok(None),
        None => end.map(|_| None),
    }
}

impl Input<'_> {
    /// The rejection of a file whose format somebody named, with what the file looks like where that is another.
    pub(crate) fn other(&mut self, error: ReadError, format: &Format) -> ReadError {
        let ReadError::Rejected(mut rejection) = error else { return error };
        let Some(begun) = self.head.take() else { return ReadError::Rejected(rejection) };
        let looked_at = |text: &str| text[..floor(text, LOOKED_AT.min(text.len()))].to_owned();
        let head = loop {
            let text = looked_at(&(begun.clone() + &looked_at(self.text())));
            if is_enough(&text) || !matches!(self.grow(), Ok(true)) {
                break Head::new(&text);
            }
        };
        let found = FORMATS.iter().rev().find(|format| (format.sniff)(&head));
        if let Some(found) = found.filter(|found| found.name != format.name) {
            rejection.message += &format!("; the file looks like {}: name that format, or none", found.name);
        }
        ReadError::Rejected(rejection)
    }
}

/// Of a list the first item is enough. Of what is neither an object nor a list, as a log, all that is looked at is read: its
/// first lines may say little.
fn is_enough(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    match scanner.peek() {
        Some(b'{') => text.len() >= LOOKED_AT || scanner.value().is_ok(),
        Some(b'[') => {
            let begin = scanner.at();
            text.len() >= LOOKED_AT
                || is_item_there(&mut scanner, text) && ends_a_line(&text[begin..]).is_some()
        }
        _ => text.len() >= LOOKED_AT,
    }
}

/// Whether a list's first item is there wholly, or begins as no object does; of what may be a log, the line.
fn is_item_there(scanner: &mut Scanner<'_>, text: &str) -> bool {
    match scanner.open(b']') {
        Ok(true) => {
            scanner.space();
            match scanner.peek() {
                Some(b'{') => scanner.value().is_ok(),
                Some(b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z') => {
                    let rest = &text[scanner.at()..];
                    rest.contains('\n') && !is_log(rest)
                }
                first => first.is_some(),
            }
        }
        // An empty list; or nothing shows yet what comes.
        Ok(false) => true,
        Err(_) => false,
    }
}
