//! A walk over the values of a JSON text, which writes others in their places and copies everything between them.
//!
//! The envelope (`jsonrpc`, `id`, `method`) of a message, ids by which messages refer to each other, and JSON Schemas are
//! never touched. What is left is valid JSON, and an object or an array stays one.

use super::assignments;
use super::encodings::decodings;
use super::ledger::Rule;
use super::rules::Redaction;
use transcript::json::{Json, string_at, write_string};
use transcript::message::resembles_message;

/// Messages are rarely deeper.
const DEPTH: usize = 16;

/// Whether a member at the top of a message belongs to the envelope.
fn is_envelope(name: &[u8]) -> bool {
    matches!(name, b"jsonrpc" | b"id" | b"method")
}

/// Whether a member holds an id which other messages repeat, wherever it is.
fn is_id(name: &[u8]) -> bool {
    matches!(name, b"requestId" | b"progressToken" | b"taskId")
}

/// Whether a member holds a schema, wherever it is.
fn is_schema(name: &[u8]) -> bool {
    matches!(name, b"inputSchema" | b"outputSchema" | b"requestedSchema")
}

/// `text`, which is JSON, with other values; none where it stays as it is. What `redaction` names goes, and any other string
/// becomes what `string` makes of it. What is `known` to be a message is not looked at for that.
pub(super) fn rewrite(
    (text, known): (&str, bool),
    redaction: &Redaction,
    string: impl Fn(&[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let resembles = |value| resembles_message(value) || value.items().any(resembles_message);
    let message = known || resembles(Json::parse(text).ok()?);
    Walk { redaction, string, message, text, follows: None, at: 0, copied: 0, out: Vec::new() }.run()
}

/// Whether this is user and password in Base64, as Docker has them under `auth`.
fn is_coded_password(value: &[u8]) -> bool {
    let digits = value.strip_suffix(b"==").or(value.strip_suffix(b"=")).unwrap_or(value);
    decodings(digits).any(|text| text.contains(&b':') && text.iter().all(u8::is_ascii_graphic))
}

/// A walk over the tokens of valid JSON.
struct Walk<'w, S> {
    redaction: &'w Redaction,
    string: S,
    /// Whether the text is a message or a batch, and so has an envelope.
    message: bool,
    text: &'w str,
    at: usize,
    /// Why the next word of a list goes, which an option before it names.
    follows: Option<Rule>,
    /// Up to here everything is in `out`, which is empty as long as nothing has changed.
    copied: usize,
    out: Vec<u8>,
}

/// What holds for the values of an object or a list that is open, or for the next value.
#[derive(Clone, Copy, Default)]
struct Frame {
    object: bool,
    /// Has a name whose values are to be taken out.
    taken: Option<Rule>,
    /// That name may be one of counts, and numbers are not touched.
    counts: bool,
    /// Is in a schema, and is not touched.
    kept: bool,
    /// Is not touched unless it is an object or a list.
    id: bool,
    /// Is not touched if it is an object.
    schema: bool,
    /// Says what `value` beside it is, as in a list of headers.
    names: bool,
    /// A text under this name goes, and nothing else; the second is of user and password in Base64.
    text: Option<(Rule, bool)>,
    /// What `value` has to be taken out for: a name that came before it.
    pair: Option<Rule>,
}

impl<S: Fn(&[u8]) -> Option<Vec<u8>>> Walk<'_, S> {
    /// The text with other values; none where nothing changed.
    fn run(mut self) -> Option<Vec<u8>> {
        let bytes = self.text.as_bytes();
        let mut open: Vec<Frame> = Vec::with_capacity(DEPTH);
        let mut next = Frame::default();
        let mut key_expected = false;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'{' | b'[' => {
                    self.follows = None;
                    let object = byte == b'{';
                    let kept = next.kept || next.schema && object;
                    next = Frame { object, taken: next.taken, counts: next.counts, kept, ..Frame::default() };
                    key_expected = object;
                    open.push(next);
                    self.at += 1;
                }
                b'}' | b']' => {
                    open.pop();
                    key_expected = false;
                    self.at += 1;
                }
                b',' => {
                    next = open.last().copied().unwrap_or(next);
                    key_expected = next.object;
                    self.at += 1;
                }
                b'"' if key_expected => {
                    let above = open.last().copied().unwrap_or(next);
                    let key = string_at(self.text, self.at);
                    let name = key.decode();
                    // At the top of a message, or of one in a batch.
                    let top =
                        self.message && matches!(*open.as_slice(), [_] | [Frame { object: false, .. }, _]);
                    self.at += key.raw().len() + 2;
                    let id = is_id(&name) || top && is_envelope(&name);
                    let stays = above.kept || id && !self.opens();
                    let own = || if stays { None } else { self.redaction.names(&name) };
                    let pair = above.pair.filter(|_| *name == *b"value");
                    next = Frame {
                        taken: above.taken.or(pair).or_else(own),
                        counts: if above.taken.is_some() { above.counts } else { assignments::counts(&name) },
                        id,
                        schema: is_schema(&name),
                        names: matches!(&*name, b"name" | b"key"),
                        text: if stays { None } else { self.of_text(&name) },
                        ..above
                    };
                    key_expected = false;
                }
                b'"' => {
                    let token = string_at(self.text, self.at);
                    let length = token.raw().len() + 2;
                    let named = self.follows.take().filter(|_| !next.object);
                    if let Some(above) = open.last_mut().filter(|_| next.names) {
                        above.pair = self.redaction.names(&token.decode());
                    }
                    let new = match next {
                        Frame { kept: true, .. } | Frame { id: true, .. } => None,
                        Frame { taken: Some(rule), .. } => Some(self.redaction.mark(rule, &token.decode())),
                        Frame { text: Some((rule, coded)), .. }
                            if !token.raw().is_empty() && (!coded || is_coded_password(&token.decode())) =>
                        {
                            Some(self.redaction.mark(rule, &token.decode()))
                        }
                        _ if named
                            .is_some_and(|rule| rule != Rule::Password || token.raw().contains(':')) =>
                        {
                            named.map(|rule| self.redaction.mark(rule, &token.decode()))
                        }
                        Frame { object: false, .. } if token.raw().starts_with('-') => {
                            self.follows = self.redaction.option(token.raw());
                            (self.string)(&token.decode())
                        }
                        Frame { object: false, .. } => {
                            self.follows = self.pair(&token.decode(), length);
                            (self.string)(&token.decode())
                        }
                        _ => (self.string)(&token.decode()),
                    };
                    match new.filter(|new| **new != *token.decode()) {
                        Some(new) => self.replace(length, &new),
                        None => self.at += length,
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let rest = &bytes[self.at..];
                    let ends = |byte: &u8| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                    let length = rest.iter().position(ends).unwrap_or(rest.len());
                    match next.taken.filter(|_| !next.kept && !next.id && !next.counts) {
                        Some(rule) => self.replace(length, &self.redaction.mark(rule, &rest[..length])),
                        None => self.at += length,
                    }
                }
                _ => self.at += 1,
            }
        }
        (self.copied > 0).then(|| {
            self.out.extend_from_slice(&bytes[self.copied..]);
            self.out
        })
    }

    /// Why the second text of a list of two goes, the first of which begins here: it is a name, as in a list of headers.
    fn pair(&self, name: &[u8], length: usize) -> Option<Rule> {
        let (before, rest) = (self.text.get(..self.at)?, self.text.get(self.at + length..)?);
        let rest = rest.trim_start().strip_prefix(',')?.trim_start();
        if !before.trim_end().ends_with('[') || !rest.starts_with('"') {
            return None;
        }
        let second = string_at(rest, 0);
        let last = rest[second.raw().len() + 2..].trim_start().starts_with(']');
        // Two names are a list of names.
        self.redaction.names(name).filter(|_| last && self.redaction.names(&second.decode()).is_none())
    }

    /// Why a text under this name goes. Such names are short words, which mean something else before numbers and in other texts: a
    /// preset has them in quotes.
    fn of_text(&self, name: &[u8]) -> Option<(Rule, bool)> {
        let rule = (name.len() <= 4).then(|| self.redaction.names(&[b"\"", name, b"\""].concat()))?;
        Some((rule?, name.eq_ignore_ascii_case(b"auth")))
    }

    /// Whether an object or a list comes next, behind the colon of a member.
    fn opens(&self) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let first = rest.iter().find(|byte| !matches!(byte, b':' | b' ' | b'\t' | b'\n' | b'\r'));
        matches!(first, Some(b'{' | b'['))
    }

    /// Puts a string in the place of the value that begins here and is so long.
    fn replace(&mut self, length: usize, new: &[u8]) {
        self.out.extend_from_slice(&self.text.as_bytes()[self.copied..self.at]);
        write_string(new, &mut self.out);
        self.at += length;
        self.copied = self.at;
    }
}
