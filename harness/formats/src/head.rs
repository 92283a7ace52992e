//! How a file begins: all that a format may look at to recognise its files.

use transcript::json::{Json, JsonKind, Scanner};

/// How much of a file is looked at, in bytes, where its first value is longer. How the bytes arrive must not matter.
pub(crate) const LOOKED_AT: usize = 64 << 10;

/// How a file begins.
#[derive(Debug, Default)]
pub struct Head {
    kind: Option<JsonKind>,
    members: Vec<(String, Option<String>)>,
    first: Vec<(String, Option<String>)>,
    /// The text, where it is none of JSON.
    log: String,
    /// The first value is a list whose first item is none that a message could be in.
    odd: bool,
    /// The first value is a list of messages on one line, with an object on the next.
    batch: bool,
    /// The first item of the list under `events`.
    event: Vec<(String, Option<String>)>,
}

impl Head {
    /// The head of a file that begins with `text`.
    pub(crate) fn new(text: &str) -> Self {
        let mut head = Self::default();
        let mut scanner = Scanner::new(text);
        scanner.space();
        head.kind = match scanner.peek() {
            Some(b'{') => Some(JsonKind::Object),
            Some(b'[') => Some(JsonKind::Array),
            _ => None,
        };
        let begin = scanner.at();
        match head.kind {
            Some(JsonKind::Object) => {
                head.members = members(&mut scanner);
                head.event = first_event(text).unwrap_or_default();
            }
            Some(JsonKind::Array) if scanner.open(b']') == Ok(true) => {
                scanner.space();
                if scanner.peek() == Some(b'{') {
                    head.first = members(&mut scanner);
                }
                head.batch = head.first_has("jsonrpc") && ends_a_line(&text[begin..]) == Some(true);
                let rest = &text[scanner.at()..];
                // `[[known]]` begins a table of TOML.
                let table = rest.strip_prefix('[').is_some_and(is_log);
                head.odd = head.first.is_empty() && (table || is_log(rest));
            }
            _ => {}
        }
        if head.odd || head.kind.is_none() {
            text[begin..].clone_into(&mut head.log);
        }
        head
    }

    /// What the first value is; none in an empty file.
    #[must_use]
    pub fn kind(&self) -> Option<JsonKind> {
        self.kind
    }

    /// Whether the first value looks like a list, and its first item like a number or a word, as lines of logs do.
    #[must_use]
    pub fn is_odd_list(&self) -> bool {
        self.odd
    }

    /// Whether the file begins with a line that is a batch: a list of messages, behind which an object follows.
    #[must_use]
    pub fn begins_with_batch(&self) -> bool {
        self.batch
    }

    /// The lines of what begins as neither an object nor a list of messages, as far as they are looked at.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.log.lines()
    }

    /// Whether the first value is an object with this member.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(key, _)| key == name)
    }

    /// Whether the first value is a list whose first item is an object with this member.
    #[must_use]
    pub fn first_has(&self, name: &str) -> bool {
        self.first.iter().any(|(key, _)| key == name)
    }

    /// Whether the first value is a list whose first item is an object with members, and none of these.
    pub(crate) fn first_has_none(&self, names: &[&str]) -> bool {
        !self.first.is_empty() && !names.iter().any(|name| self.first_has(name))
    }

    /// Whether the first value has `events`, the first of which has this member, and a text of that name.
    pub(crate) fn has_event(&self, name: &str, text: &str) -> bool {
        let mut event = self.event.iter();
        event.clone().any(|it| it.0 == name) && event.any(|it| it.0 == text && it.1.is_some())
    }

    /// The member's value, where it is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.iter().find(|(key, _)| key == name)?.1.as_deref()
    }
}

/// Whether the list that begins here stands on one line, and an object follows on another; none where nothing shows it yet.
pub(crate) fn ends_a_line(text: &str) -> Option<bool> {
    let mut scanner = Scanner::new(text);
    let ends = scanner.value().map(|()| scanner.at());
    let line = text.find('\n').unwrap_or(text.len());
    match ends {
        Ok(end) if end <= line => text[end..].trim_start().chars().next().map(|next| next == '{'),
        Err(fault) if fault.ended && line == text.len() => None,
        _ => Some(false),
    }
}

fn first_event(text: &str) -> Option<Vec<(String, Option<String>)>> {
    let mut scanner = Scanner::new(&text[text.find("\"events\"")?..]);
    scanner.key().ok()?;
    let has_items = scanner.open(b']') == Ok(true);
    scanner.space();
    (has_items && scanner.peek() == Some(b'{')).then(|| members(&mut scanner))
}

/// The members of the object that begins here, as far as they are there; those of its `_meta` as `_meta/` and their names.
fn members(scanner: &mut Scanner<'_>) -> Vec<(String, Option<String>)> {
    let mut members = Vec::new();
    let mut more = scanner.open(b'}').unwrap_or(false);
    while more {
        let Ok(key) = scanner.key() else { break };
        let value = scanner.take().ok();
        let text = value.and_then(|value| value.as_text()?.to_str().map(Into::into));
        let inner = value.filter(|_| key.is("_meta")).into_iter().flat_map(Json::members);
        members.extend(inner.filter_map(|(name, value)| {
            Some((format!("_meta/{}", name.to_str()?), Some(value.as_text()?.to_str()?.into_owned())))
        }));
        members.push((key.to_str().unwrap_or_default().into_owned(), text));
        more = value.is_some() && scanner.more(b'}').unwrap_or(false);
    }
    members
}

/// Whether what follows a `[` goes on as lines of logs do: `[2025-`, `[26682] `, `[INFO]`, `[server]`.
pub(crate) fn is_log(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.chars().next() {
        Some('A'..='Z') => true,
        Some('a'..='z') => !["true", "false", "null"].iter().any(|word| rest.starts_with(word)),
        Some('-' | ':' | '/') => rest.len() < line.len(),
        Some(']') => rest.len() < line.len() && !rest[1..].trim().is_empty(),
        _ => false,
    }
}
