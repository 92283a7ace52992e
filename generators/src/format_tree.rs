//! A written transcript taken apart, so that its spelling can be changed.
//!
//! Where each format keeps its messages, as our own writers put them. The messages of a tree come in the order of the
//! session, so that the same choice finds the same message in every format.

use crate::node::{Line, Node, Stream, Whitespace, is_message};
use crate::rng::Rng;
use formats::{Format, Items};

/// A transcript in parts.
#[derive(Debug, Clone)]
pub struct FormatTree {
    /// Its format.
    pub format: &'static Format,
    /// One value for a document, one a line for the line formats.
    pub values: Vec<Node>,
    /// White space between the tokens, where there is any.
    pub space: Option<Whitespace>,
    /// Values were replaced by [`MARKER`].
    pub redacted: bool,
    /// The numbers of the messages that were picked and changed.
    pub struck: Vec<usize>,
}

/// What a redacting recorder leaves in the place of a value.
pub const MARKER: &str = "[REDACTED]";

/// Where a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A line of its own, or an item of a list.
    Bare,
    /// The `message` of an export's entry.
    Exported,
    /// The `raw` of a trace's line.
    Raw,
    /// The `request` or `response` of an envelope's entry.
    Slot,
    /// The `data` of an envelope's event.
    Event,
    /// The body of a HAR's request or JSON answer.
    Body,
    /// The data of an event in a HAR's stream.
    Streamed,
}

impl FormatTree {
    /// The parts of what our own writer wrote; none where it wrote something else.
    pub fn new(format: &'static Format, bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut values = match format.is_lines() {
            true => text.lines().map(Node::parse).collect::<Option<Vec<_>>>()?,
            false => vec![Node::parse(text)?],
        };
        if is_archive(format) {
            exchanges(&mut values).for_each(open_bodies);
        }
        Some(Self { format, values, space: None, redacted: false, struck: Vec::new() })
    }

    /// The tree, if it finds this number of messages; it does not in a format that keeps them elsewhere.
    pub fn showing(mut self, messages: usize) -> Option<Self> {
        let mut found = 0;
        self.each(&mut |_, node| found += usize::from(is_message(node)));
        (found == messages).then_some(self)
    }

    /// The transcript.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = String::new();
        for value in &self.values {
            match &self.space {
                None if !self.format.is_lines() => lay(value, 0, &mut out),
                space => out.push_str(&value.spell(space.as_ref())),
            }
            out.push('\n');
        }
        out.into_bytes()
    }

    /// Shows every message, in the order of the session.
    pub fn each(&mut self, each: &mut dyn FnMut(Container, &mut Node)) {
        match self.format {
            format if format.carries.process => {
                for line in &mut self.values {
                    let says = line.get("dir").is_some_and(|dir| dir.is("in") || dir.is("out"));
                    if let Some(raw) = line.get_mut("raw").filter(|_| says) {
                        each(Container::Raw, raw);
                    }
                }
            }
            format if format.is_bare_list() => {
                for item in items(&mut self.values) {
                    match item.get_mut("message") {
                        Some(message) => each(Container::Exported, message),
                        None => each(Container::Bare, item),
                    }
                }
            }
            format if is_archive(format) => {
                for exchange in exchanges(&mut self.values) {
                    if let Some(Node::Inside(body)) = body(exchange, "request", "postData") {
                        each(Container::Body, body);
                    }
                    match body(exchange, "response", "content") {
                        Some(Node::Inside(body)) => each(Container::Body, body),
                        Some(Node::Stream(stream)) => {
                            for line in &mut stream.lines {
                                if let Line::Data(node) = line {
                                    each(Container::Streamed, node);
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
            format if format.is_lines() => {
                self.values.iter_mut().for_each(|line| each(Container::Bare, line))
            }
            _ => {
                for entry in self.entries() {
                    for slot in ["request", "response"] {
                        if let Some(message) = entry.get_mut(slot).filter(|node| is_message(node)) {
                            each(Container::Slot, message);
                        }
                    }
                    let event = entry.get_mut("sse").filter(|sse| carries(sse));
                    if let Some(data) =
                        event.and_then(|sse| sse.get_mut("data")).filter(|node| is_message(node))
                    {
                        each(Container::Event, data);
                    }
                }
            }
        }
    }

    /// How many messages there are.
    pub fn count(&mut self) -> usize {
        let mut count = 0;
        self.each(&mut |_, _| count += 1);
        count
    }

    /// Puts the messages with this id into arrays of their own that follow a result with another id, which agrees on the
    /// revision that has batches; false where it has none to put.
    pub fn batch_up(&mut self, batched: &str, agreed: &str) -> bool {
        let (mut asked, mut known, mut took) = (false, false, false);
        self.each(&mut |_, node| {
            let has = |id: &str| node.get("id").and_then(Node::spelled) == Some(id);
            let version = node.get("result").and_then(|result| result.get("protocolVersion"));
            known |= asked && has(agreed) && version.is_some_and(|version| version.is("2025-03-26"));
            asked |= has(agreed) && node.get("method").is_some_and(|method| method.is("initialize"));
            if known && has(batched) {
                // Inside a string or a layout of its own: an array of a string would not be a batch.
                let message = node.bare_mut();
                *message = Node::Array(vec![message.clone()]);
                took = true;
            }
        });
        took
    }

    /// Shows the message of this number; what `change` says of it, or false where there is none.
    pub fn at(&mut self, number: usize, change: &mut dyn FnMut(Container, &mut Node) -> bool) -> bool {
        let (mut next, mut took) = (0, false);
        self.each(&mut |held, node| {
            if next == number {
                took = change(held, node);
            }
            next += 1;
        });
        self.struck.extend(took.then_some(number));
        took
    }

    /// Changes one of the messages that are kept in a place of this sort; false where there is none.
    pub fn one_in(
        &mut self,
        rng: &mut Rng,
        sort: impl Fn(Container) -> bool,
        change: impl Fn(Container, &mut Node),
    ) -> bool {
        let mut places = Vec::new();
        let mut at = 0;
        self.each(&mut |held, _| {
            places.extend(sort(held).then_some(at));
            at += 1;
        });
        rng.pick(&places).is_some_and(|&number| {
            self.at(number, &mut |held, node| {
                change(held, node);
                true
            })
        })
    }

    /// Changes the first message, from a random one on, that `change` takes; false where it takes none.
    pub fn first_that(
        &mut self,
        rng: &mut Rng,
        mut change: impl FnMut(Container, &mut Node) -> bool,
    ) -> bool {
        let count = self.count();
        let first = rng.below(count);
        (first..count)
            .chain(0..first)
            .any(|number| self.at(number, &mut |held, message| change(held, message)))
    }

    /// The entries of an envelope; nothing in any other format.
    pub fn entries(&mut self) -> impl Iterator<Item = &mut Node> {
        let document = self.values.first_mut().filter(|_| self.format.is_envelope());
        document.and_then(|document| document.get_mut("entries")).into_iter().flat_map(array)
    }

    /// Changes the first entry of an envelope, from a random one on, that `change` takes.
    pub fn one_entry(&mut self, rng: &mut Rng, mut change: impl FnMut(&mut Node) -> bool) -> bool {
        let mut entries: Vec<&mut Node> = self.entries().collect();
        let (count, first) = (entries.len(), rng.below(entries.len()));
        let took = (first..count).chain(0..first).find(|&at| change(entries[at]));
        let number = took.map(|at| entries[..at].iter().filter(|entry| has_message(entry)).count());
        self.struck.extend(number);
        number.is_some()
    }

    /// The list whose items may be messages themselves: lines, or the items of an array. None in any other format.
    pub fn bare_items(&mut self) -> Option<&mut Vec<Node>> {
        if self.format.is_bare_lines() {
            return Some(&mut self.values);
        }
        match self.values.first_mut() {
            Some(Node::Array(items)) if self.format.is_bare_list() => Some(items),
            _ => None,
        }
    }

    /// Puts an entry into an envelope; false in any other format.
    pub fn insert_entry(&mut self, place: u64, entry: Node) -> bool {
        let is_envelope = self.entries().count() > 0;
        let entries = self.values.first_mut().and_then(|document| document.get_mut("entries"));
        let Some(Node::Array(entries)) = entries.filter(|_| is_envelope) else { return false };
        let place = place % (entries.len() as u64 + 1);
        entries.insert(usize::try_from(place).unwrap_or_default(), entry);
        true
    }

    /// The streams of a HAR; nothing in any other format.
    pub fn streams(&mut self) -> impl Iterator<Item = &mut Stream> {
        exchanges(&mut self.values).filter_map(|exchange| match body(exchange, "response", "content") {
            Some(Node::Stream(stream)) => Some(stream),
            _ => None,
        })
    }

    /// The objects that are not messages and may have members of their own: envelopes and entries, lines and exchanges.
    pub fn frames(&mut self) -> Vec<&mut Node> {
        match self.format {
            format if format.carries.process => self.values.iter_mut().collect(),
            format if is_archive(format) => exchanges(&mut self.values).collect(),
            format if format.is_bare_list() => {
                items(&mut self.values).filter(|item| item.get("message").is_some()).collect()
            }
            _ => self.entries().collect(),
        }
    }
}

/// Changes each of these; whether `change` took any.
pub(crate) fn change_each<T>(items: impl IntoIterator<Item = T>, mut change: impl FnMut(T) -> bool) -> bool {
    items.into_iter().fold(false, |took, item| change(item) | took)
}

/// Whether a format is one document that keeps whole HTTP exchanges in a list under its members.
pub fn is_archive(format: &Format) -> bool {
    format.carries.exchanges && matches!(format.items, Items::List([_, ..]))
}

/// Whether an envelope's entry carries a message.
pub(crate) fn has_message(entry: &Node) -> bool {
    let data = entry.get("sse").filter(|sse| carries(sse)).and_then(|sse| sse.get("data"));
    [entry.get("request"), entry.get("response"), data].into_iter().flatten().any(is_message)
}

/// Whether an envelope's event is one that carries a message.
fn carries(sse: &Node) -> bool {
    sse.get("event").is_none_or(|name| name.is("message") || name.is(""))
}

fn array(node: &mut Node) -> &mut [Node] {
    match node {
        Node::Array(items) => items,
        _ => &mut [],
    }
}

pub(super) fn items(values: &mut [Node]) -> impl Iterator<Item = &mut Node> {
    values.iter_mut().flat_map(array)
}

fn exchanges(values: &mut [Node]) -> impl Iterator<Item = &mut Node> {
    let log = values.first_mut().and_then(|document| document.get_mut("log"));
    log.and_then(|log| log.get_mut("entries")).into_iter().flat_map(array)
}

fn body<'n>(exchange: &'n mut Node, part: &str, holder: &str) -> Option<&'n mut Node> {
    exchange.get_mut(part)?.get_mut(holder)?.get_mut("text")
}

/// Takes the texts of an exchange for what they are, so that they can be changed inside.
fn open_bodies(exchange: &mut Node) {
    for (part, holder) in [("request", "postData"), ("response", "content")] {
        let holding = exchange.get(part).and_then(|part| part.get(holder));
        let streams = holding.and_then(|holder| holder.get("mimeType")).and_then(Node::content);
        let streams = streams.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let Some(text) = body(exchange, part, holder) else { continue };
        let Some(content) = text.content() else { continue };
        if streams {
            *text = Node::Stream(Stream::new(&content));
        } else if let Some(node) = Node::parse(&content).filter(|node| node.get("jsonrpc").is_some()) {
            *text = Node::Inside(Box::new(node));
        }
    }
}

/// A whole document that was taken apart once more after everything else, and put together again.
pub fn rewrite(bytes: &mut Vec<u8>, change: impl FnOnce(&mut Node) -> bool) -> bool {
    let Some(mut document) = std::str::from_utf8(bytes).ok().and_then(Node::parse) else { return false };
    let took = change(&mut document);
    if took {
        let mut out = String::new();
        lay(&document, 0, &mut out);
        out.push('\n');
        *bytes = out.into_bytes();
    }
    took
}

/// Writes a document as people like to read it: the items of its outer lists a line each.
fn lay(node: &Node, depth: usize, out: &mut String) {
    match node {
        Node::Array(items) if depth < 3 && !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "[\n" } else { ",\n" });
                lay(item, depth + 1, out);
            }
            out.push_str("\n]");
        }
        Node::Object(members) if depth < 2 && !members.is_empty() => {
            for (index, (name, value)) in members.iter().enumerate() {
                out.push_str(if index == 0 { "{" } else { ", " });
                out.push_str(name);
                out.push_str(": ");
                lay(value, depth + 1, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.spell(None)),
    }
}
