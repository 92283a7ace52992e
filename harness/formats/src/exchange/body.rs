//! The parts of an exchange in a document: members, headers, and bodies as the bytes that they were.

use crate::data::{Carried, Places, carried, content, holds_messages};
use crate::sse::{SseBlock, SseBlockKind};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;
use transcript::json::{Json, JsonKind, JsonString, SyntaxError};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Headers, Sse, header};

/// A refusal whose place counts from the beginning of the document.
pub(crate) type Checked<T> = Result<T, Refusal>;

/// How many headers of a request or an answer are read; servers take about a hundred.
pub(crate) const MOST_HEADERS: usize = 10_000;

/// The document, to find places in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a>(pub(crate) &'a str);

impl<'a> Document<'a> {
    /// Where a part of the document begins.
    pub(crate) fn at(self, part: &str) -> usize {
        offset_in(self.0.as_bytes(), part)
    }

    /// The members of these names; null counts as absent.
    pub(crate) fn fields<const N: usize>(
        self,
        object: Option<Json<'a>>,
        names: [&str; N],
    ) -> Checked<[Option<Json<'a>>; N]> {
        let mut found = [None; N];
        let Some(object) = object else { return Ok(found) };
        if object.kind() != JsonKind::Object {
            return Err(self.wrong_type(object, "an object"));
        }
        for (key, value) in object.members() {
            let Some(slot) = names.iter().position(|name| key.is(name)) else { continue };
            if found[slot].replace(value).is_some() {
                return Err(Refusal::duplicate(self.at(key.raw()), names[slot]));
            }
        }
        Ok(found.map(|value| value.filter(|value| value.kind() != JsonKind::Null)))
    }

    /// A member that is a string, as text.
    pub(crate) fn text(self, value: Option<Json<'a>>) -> Checked<Option<Cow<'a, str>>> {
        Ok(self.string(value)?.map(content))
    }

    /// Header names and values, one more than are read where there are more; an item that lacks either is not a header.
    pub(crate) fn headers(self, value: Option<Json<'a>>) -> Checked<Headers<'a>> {
        let Some(list) = value else { return Ok(Vec::new()) };
        if list.kind() != JsonKind::Array {
            return Err(self.wrong_type(list, "an array of headers"));
        }
        let text = |item: Json<'a>, name: &str| item.member(name)?.as_text().map(content);
        let headers = list.items().filter_map(|item| Some((text(item, "name")?, text(item, "value")?)));
        Ok(headers.take(MOST_HEADERS + 1).collect())
    }

    /// A body with its bytes; `encoding` is the member of that name beside it.
    pub(crate) fn body(self, text: Json<'a>, encoding: Option<Json<'a>>) -> Checked<Body<'a>> {
        let Some(string) = self.string(Some(text))? else { return Err(self.wrong_type(text, "a string")) };
        let start = self.at(string.raw());
        if !self.text(encoding)?.is_some_and(|encoding| encoding.eq_ignore_ascii_case("base64")) {
            let bytes = match content(string) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            return Ok(Body { bytes, start, places: Some(Places::new(string)), size: None, is_left: false });
        }
        // Line breaks in it, and padding left out, are the encoder's habits.
        let config = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true);
        let packed: Vec<u8> = content(string).bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        match GeneralPurpose::new(&alphabet::STANDARD, config).decode(packed) {
            Ok(bytes) => {
                Ok(Body { bytes: Cow::Owned(bytes), start, places: None, size: None, is_left: false })
            }
            Err(error) => {
                let message = format!("the body is marked as base64, but is not: {error}");
                Err(Refusal::new(Code::WrongType, start, message))
            }
        }
    }

    /// The body of a stream whose events are a list: each as it came, but for what it was spelled with.
    pub(crate) fn events(self, list: Json<'a>) -> Body<'a> {
        let mut stream = String::new();
        let text =
            |item: Json<'a>, name| item.member(name).and_then(Json::as_text).map(content).unwrap_or_default();
        for item in list.items() {
            let fields = [("event", "eventName"), ("id", "eventId"), ("data", "data")]
                .map(|(field, name)| (field, text(item, name)));
            for (field, value) in fields.iter().filter(|(field, value)| *field == "data" || !value.is_empty())
            {
                value.lines().for_each(|line| stream.extend([*field, ": ", line, "\n"]));
            }
            stream.push('\n');
        }
        Body {
            bytes: Cow::Owned(stream.into_bytes()),
            start: self.at(list.text()),
            places: None,
            size: None,
            is_left: false,
        }
    }

    fn string(self, value: Option<Json<'a>>) -> Checked<Option<JsonString<'a>>> {
        match value {
            None => Ok(None),
            Some(value) => value.as_text().map(Some).ok_or_else(|| self.wrong_type(value, "a string")),
        }
    }

    /// Whether a body is kept as it was compressed: it begins as gzip and Zstandard do, or is not text where the headers name a
    /// content coding.
    pub(crate) fn is_coded(self, text: Json<'a>, encoding: Option<Json<'a>>, headers: &Headers<'_>) -> bool {
        let Some(raw) = text.as_text().map(JsonString::raw) else { return false };
        let coding = header(headers, "content-encoding").map(str::trim).unwrap_or_default();
        let coding = !coding.is_empty() && !coding.eq_ignore_ascii_case("identity");
        let base64 =
            self.text(encoding).ok().flatten().is_some_and(|name| name.eq_ignore_ascii_case("base64"));
        if !base64 {
            // No text that is a message begins with a control character.
            let begin = raw.get(..5).unwrap_or_default();
            return begin == "\\u001"
                || coding && (begin == "\\u000" || raw.starts_with(['\u{fffd}', '\u{8b}']));
        }
        // Enough of it, in whole groups of four.
        let begin = raw.get(..raw.len().min(64) / 4 * 4).unwrap_or_default().trim_end_matches('=');
        let bytes = STANDARD_NO_PAD.decode(begin).unwrap_or_default();
        let is_text = || {
            let mut chunks = bytes.utf8_chunks();
            let known = chunks.all(|chunk| bytes.ends_with(chunk.invalid()));
            known && !bytes.iter().any(|byte| *byte < b' ' && !b"\t\n\r".contains(byte))
        };
        bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x28\xb5\x2f\xfd") || coding && !is_text()
    }

    fn wrong_type(self, value: Json<'_>, wanted: &str) -> Refusal {
        let message = format!("{wanted} belongs here; this is {}", value.kind().name());
        Refusal::new(Code::WrongType, self.at(value.text()), message)
    }
}

/// A body.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    /// Its bytes.
    pub(crate) bytes: Cow<'a, [u8]>,
    /// How many there were, as far as the file says that beside them.
    pub(crate) size: Option<u64>,
    /// Its reader left before it was whole.
    pub(crate) is_left: bool,
    /// Where in the document the text between the quotes begins.
    start: usize,
    /// The way back to the document; none where the body is in base64.
    places: Option<Places<'a>>,
}

impl Body<'_> {
    /// Whether the file says that there was more of it than `text`, all that it holds, which ends amid a value, or that nobody read on.
    pub(crate) fn is_cut(&self, text: &[u8]) -> bool {
        (self.is_left || self.size.is_some_and(|size| size > text.len() as u64))
            && Json::parse(&String::from_utf8_lossy(text)).is_err_and(|fault| fault.ended)
    }

    /// Whether the file says that there was more of a stream than it holds, which ends amid an event, or without the answer that
    /// was `asked` for. It may have written each end of a line anew, and left out a byte order mark.
    pub(crate) fn is_cut_stream(&self, asked: bool) -> bool {
        let (text, held) = (&*self.bytes, self.bytes.len() as u64);
        let is_whole = [&b"\n\n"[..], b"\r\r", b"\n\r\n"].iter().any(|end| text.ends_with(end));
        let answers = |name: &&[u8]| memchr::memmem::find(text, name).is_some();
        let may_lack = 3 + memchr::memchr_iter(b'\n', text).count() as u64;
        let is_answered = || [&b"\"result\""[..], b"\"error\""].iter().any(answers);
        match self.size {
            Some(size) if is_whole => size > held + may_lack && asked && !is_answered(),
            Some(size) => size > held,
            None => false,
        }
    }

    /// Where in the document byte `at` of the body stands; where the body begins, if it is in base64.
    pub(crate) fn place(&mut self, at: usize) -> usize {
        self.start + self.places.as_mut().map_or(0, |places| places.raw(at))
    }
}

/// A body without the byte order mark that it may begin with.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The message that the whole of a body is, if it is one. `wanted`: a message belongs here, so that text which
/// begins like an object and is not JSON is an answer lost.
pub(crate) fn message(bytes: &[u8], wanted: bool) -> Checked<Option<Message<'_>>> {
    let Some((start, first)) = first(bytes) else { return Ok(None) };
    if !matches!(first, b'{' | b'[') {
        return Ok(None);
    }
    // Broken text is the business of other sites, unless it plainly was to be a message.
    let lost = wanted && first == b'{' || memchr::memmem::find(bytes, b"\"jsonrpc\"").is_some();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if lost => return Err(not_utf8(bytes, error.valid_up_to())),
        Err(_) => return Ok(None),
    };
    match Json::parse(text) {
        Err(fault) if lost => Err(broken(fault)),
        Err(_) => Ok(None),
        Ok(value) if value.kind() == JsonKind::Object && value.member("jsonrpc").is_some() => {
            Message::parse(text).map(Some)
        }
        // Of an array, only `jsonrpc` shows that it is not another site's.
        Ok(value) if holds_messages(value) && value.items().any(|item| item.member("jsonrpc").is_some()) => {
            let message = "the body is an array of messages, not one message".to_owned();
            Err(Refusal { clause: "HAR-MESSAGE", ..Refusal::new(Code::Batch, start, message) })
        }
        Ok(_) => Ok(None),
    }
}

fn first(bytes: &[u8]) -> Option<(usize, u8)> {
    let at = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))?;
    Some((at, bytes[at]))
}

/// A body ends where it ends; that is not a file cut off.
fn broken(fault: SyntaxError) -> Refusal {
    let cause = Refusal::from(fault);
    Refusal::new(
        Code::InvalidJson,
        cause.at,
        format!("the body begins like a message, but {}", cause.message),
    )
}

/// Bytes that are not UTF-8 where a message was to be.
pub(crate) fn not_utf8(bytes: &[u8], at: usize) -> Refusal {
    let byte = bytes.get(at).copied().unwrap_or_default();
    Refusal::new(Code::InvalidUtf8, at, format!("byte 0x{byte:02x} of the decoded body is not UTF-8 here"))
}

/// A field of an event as text.
pub(crate) fn text(bytes: Option<&[u8]>) -> Checked<Option<&str>> {
    bytes
        .map(|bytes| std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to())))
        .transpose()
}

/// What a block of a stream carries: a message, or an event without one.
pub(crate) fn event<'e>(block: &SseBlock<'e>) -> Checked<(Content<'e>, Sse<'e>)> {
    let (name, id, data) = (text(block.name)?, text(block.id)?, text(Some(block.data))?);
    let data = data.filter(|_| block.kind == SseBlockKind::Event);
    let found = match data {
        Some(data) if name.is_none_or(|name| matches!(name, "" | "message")) => carried(data)?,
        _ => Carried::Nothing,
    };
    let (content, data) = match found {
        Carried::Message(message) => (Content::Message(message), None),
        Carried::Nothing => (Content::Event, data),
    };
    let (name, id, data) = (name.map(Cow::from), id.map(Cow::from), data.map(Cow::from));
    Ok((content, Sse { name, id, data, retry: block.retry, comments: block.comments }))
}

/// Where in `whole` a part of it begins.
pub(crate) fn offset_in(whole: &[u8], part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// A content type without its parameters, in lower case.
pub(crate) fn bare(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
