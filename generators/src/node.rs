//! JSON as a tree that can be changed and is spelled as it was wherever nobody changed it.
//!
//! JSON inside JSON strings and event streams inside JSON strings, which is where a HAR and an envelope keep messages.
//! Leaves and names keep their spelling; only white space is lost.

use crate::rng::Rng;
use std::fmt::Write as _;
pub use transcript::json::quoted;
use transcript::json::{Json, JsonKind};

/// How deep a tree may be. What lies deeper stays one leaf, so that no walk over a tree can exhaust a stack.
const DEEPEST: usize = 256;

/// A value that can be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A value by its spelling.
    Leaf(String),
    /// An array.
    Array(Vec<Node>),
    /// An object: names by their spelling, with their quotes.
    Object(Vec<(String, Node)>),
    /// A string that holds JSON text.
    Inside(Box<Node>),
    /// A value with white space of its own.
    Laid(Box<Node>, Whitespace),
    /// A string that holds an event stream.
    Stream(Stream),
}

/// An event stream in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Its lines, an empty one at the end of each event.
    pub lines: Vec<Line>,
    /// What ends each line, in turn.
    pub ends: Vec<&'static str>,
    /// A space after each field's colon.
    pub spaced: bool,
}

/// A line of an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line without its end.
    Plain(String),
    /// The data of an event that carries a message. One line, or more where the white space in it ends lines.
    Data(Node),
}

/// How values are set apart when they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whitespace {
    /// What may come between tokens.
    pub between: &'static [&'static str],
    /// Which of them does.
    pub rng: Rng,
}

impl Node {
    /// The tree of a value.
    pub fn new(value: Json<'_>) -> Self {
        Self::down(value, DEEPEST)
    }

    /// The tree of a text; none where it is not JSON.
    pub fn parse(text: &str) -> Option<Self> {
        Json::parse(text).ok().map(Self::new)
    }

    /// A leaf of this spelling.
    pub fn leaf(spelled: impl Into<String>) -> Self {
        Self::Leaf(spelled.into())
    }

    /// A string leaf of this content.
    pub fn text(content: &str) -> Self {
        Self::Leaf(quoted(content))
    }

    fn down(value: Json<'_>, levels: usize) -> Self {
        match value.kind() {
            JsonKind::Array if levels > 0 => {
                Self::Array(value.items().map(|item| Self::down(item, levels - 1)).collect())
            }
            JsonKind::Object if levels > 0 => {
                let member = |(name, value): (transcript::json::JsonString<'_>, Json<'_>)| {
                    (format!("\"{}\"", name.raw()), Self::down(value, levels - 1))
                };
                Self::Object(value.members().map(member).collect())
            }
            _ => Self::leaf(value.text()),
        }
    }

    /// The spelling, with no white space or with some.
    pub fn spell(&self, space: Option<&Whitespace>) -> String {
        let mut out = String::new();
        let mut space = space.cloned();
        self.put(&mut space, &mut out);
        out
    }

    fn put(&self, space: &mut Option<Whitespace>, out: &mut String) {
        let gap = |out: &mut String, space: &mut Option<Whitespace>| {
            if let Some(space) = space {
                out.push_str(space.rng.pick(space.between).copied().unwrap_or_default());
            }
        };
        match self {
            Self::Leaf(spelled) => out.push_str(spelled),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    gap(out, space);
                    item.put(space, out);
                    gap(out, space);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    gap(out, space);
                    out.push_str(name);
                    gap(out, space);
                    out.push(':');
                    gap(out, space);
                    value.put(space, out);
                    gap(out, space);
                }
                out.push('}');
            }
            Self::Inside(node) => out.push_str(&quoted(&node.spell(space.as_ref()))),
            Self::Laid(node, own) => out.push_str(&node.spell(Some(own))),
            Self::Stream(stream) => out.push_str(&quoted(&stream.spell(space.as_ref()))),
        }
    }

    /// The value itself, however it is wrapped.
    pub fn bare(&self) -> &Self {
        match self {
            Self::Inside(node) | Self::Laid(node, _) => node.bare(),
            other => other,
        }
    }

    /// The same, to be changed.
    pub fn bare_mut(&mut self) -> &mut Self {
        match self {
            Self::Inside(node) | Self::Laid(node, _) => node.bare_mut(),
            other => other,
        }
    }

    /// The member of this name, the first of several.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self.bare() else { return None };
        members.iter().find(|(key, _)| names(key, name)).map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Self> {
        let Self::Object(members) = self.bare_mut() else { return None };
        members.iter_mut().find(|(key, _)| names(key, name)).map(|(_, value)| value)
    }

    /// Gives a member a value, in its old place or at the end.
    pub fn set(&mut self, name: &str, value: Self) {
        if let Some(old) = self.get_mut(name) {
            *old = value;
        } else if let Self::Object(members) = self.bare_mut() {
            members.push((quoted(name), value));
        }
    }

    /// Takes every member of this name away.
    pub fn remove(&mut self, name: &str) {
        if let Self::Object(members) = self.bare_mut() {
            members.retain(|(key, _)| !names(key, name));
        }
    }

    /// The spelling of a leaf.
    pub fn spelled(&self) -> Option<&str> {
        match self {
            Self::Leaf(spelled) => Some(spelled),
            _ => None,
        }
    }

    /// Whether it is this string.
    pub fn is(&self, content: &str) -> bool {
        self.spelled().is_some_and(|spelled| names(spelled, content))
    }

    /// The content of a string leaf, where it has no lone surrogate.
    pub fn content(&self) -> Option<String> {
        let value = Json::parse(self.spelled()?).ok()?;
        value.as_text()?.to_str().map(std::borrow::Cow::into_owned)
    }

    /// Every value in the tree, itself first, also those inside strings. `each` says whether to go on inside.
    pub fn walk(&mut self, each: &mut dyn FnMut(&mut Self) -> bool) {
        if !each(self) {
            return;
        }
        match self {
            Self::Leaf(_) => {}
            Self::Array(items) => items.iter_mut().for_each(|item| item.walk(each)),
            Self::Object(members) => members.iter_mut().for_each(|(_, value)| value.walk(each)),
            Self::Inside(node) | Self::Laid(node, _) => node.walk(each),
            Self::Stream(stream) => {
                for line in &mut stream.lines {
                    if let Line::Data(node) = line {
                        node.walk(each);
                    }
                }
            }
        }
    }
}

impl Stream {
    /// The stream of a text that our own writer wrote: lines end with LF, and a space follows each colon.
    pub fn new(text: &str) -> Self {
        let mut lines = Vec::new();
        for event in text.split_inclusive("\n\n") {
            let field =
                |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let carries = matches!(field("event"), None | Some("" | "message"))
                && event.lines().filter(|line| line.starts_with("data:")).count() == 1;
            for line in event.strip_suffix('\n').unwrap_or(event).split('\n') {
                let message = line.strip_prefix("data: ").filter(|_| carries).and_then(Node::parse);
                lines.push(match message.filter(is_message) {
                    Some(message) => Line::Data(message),
                    None => Line::Plain(line.to_owned()),
                });
            }
        }
        Self { lines, ends: vec!["\n"], spaced: true }
    }

    fn spell(&self, space: Option<&Whitespace>) -> String {
        let mut out = String::new();
        let mut ends = self.ends.iter().cycle();
        let mut line = |text: &str, out: &mut String| {
            out.push_str(text);
            out.push_str(ends.next().copied().unwrap_or("\n"));
        };
        let colon = if self.spaced { ": " } else { ":" };
        for one in &self.lines {
            match one {
                Line::Plain(text) if self.spaced => line(text, &mut out),
                // Only the one space that belongs to the colon goes; data that begins with one keeps it.
                Line::Plain(text) => line(&unspaced(text), &mut out),
                Line::Data(node) => {
                    // White space that ends lines ends data lines; so does a CR without LF.
                    for part in node.spell(space).replace("\r\n", "\n").split(['\r', '\n']) {
                        line(&format!("data{colon}{part}"), &mut out);
                    }
                }
            }
        }
        out
    }
}

fn unspaced(line: &str) -> String {
    match line.split_once(": ") {
        Some((name, value)) if !value.starts_with(' ') => format!("{name}:{value}"),
        _ => line.to_owned(),
    }
}

/// Whether a value has what makes an object a message rather than something else: an OAuth body has an error that is text.
pub fn is_message(node: &Node) -> bool {
    ["jsonrpc", "method", "result"].iter().any(|name| node.get(name).is_some())
        || node.get("error").is_some_and(|error| error.content().is_none())
}

/// Whether a spelled string has this content.
pub fn names(spelled: &str, content: &str) -> bool {
    match spelled.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(raw) if !raw.contains('\\') => raw == content,
        Some(_) => {
            Json::parse(spelled).is_ok_and(|value| value.as_text().is_some_and(|text| text.is(content)))
        }
        None => false,
    }
}

/// Code units as escapes: every character of a string, whatever it was.
pub fn escaped(content: &str) -> String {
    let mut out = String::new();
    for unit in content.encode_utf16() {
        let _ = write!(out, "\\u{unit:04x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Line, Node, Stream, escaped, names};

    #[test]
    fn a_stream_that_was_taken_apart_is_the_same_stream() {
        let text = "id: 1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n:\n\nevent: ping\ndata: {\"result\":1}\n\ndata:  a\ndata: b\n\n";
        let stream = Stream::new(text);
        assert_eq!(stream.spell(None), text);
        let messages = stream.lines.iter().filter(|line| matches!(line, Line::Data(_))).count();
        assert_eq!(messages, 1);
        let tight = Stream { spaced: false, ends: vec!["\r\n", "\r"], ..stream }.spell(None);
        assert!(tight.starts_with("id:1\r\nevent:message\rdata:{"), "{tight}");
        assert!(tight.contains("data:  a"), "{tight}");
        assert_eq!(Stream::new("").spell(None), "");
    }

    #[test]
    fn members_are_found_by_what_their_names_say() {
        let mut node = Node::parse(r#"{"\u0069d":1,"b":{}}"#).unwrap();
        assert_eq!(node.get("id").and_then(Node::spelled), Some("1"));
        node.set("id", Node::text("é\""));
        node.set("c", Node::leaf("null"));
        node.remove("b");
        assert_eq!(node.spell(None), r#"{"\u0069d":"é\"","c":null}"#);
        assert!(names(&format!("\"{}\"", escaped("a😀")), "a😀"));
    }
}
