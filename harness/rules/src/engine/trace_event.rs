//! What recorders of traces write beside the messages, in lines of their own: what a program printed that is not a message, and
//! where lines were lost.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use transcript::json::{Json, JsonKind};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Noise, Side};

/// A line of a recorder's own that matters to rules.
#[derive(Debug)]
pub(super) enum TraceEvent<'a> {
    /// A program wrote this where messages belong. As the line `"raw": "text"` would have it.
    Noise(Box<Entry<'a>>),
    /// Lines are missing from here on.
    Gap,
}

impl<'a> TraceEvent<'a> {
    /// None for a line that is something else.
    pub(super) fn new(entry: &Entry<'a>) -> Option<Self> {
        let Content::Skipped(_) = entry.content else { return None };
        let line = Json::parse(entry.line?).ok()?;
        let is = |value: Option<Json<'_>>, text: &str| {
            value.and_then(|value| value.as_text()).is_some_and(|value| value.is(text))
        };
        if !is(line.member("dir"), "event") {
            return None;
        }
        if is(line.member("kind"), "recorder.gap") {
            return Some(Self::Gap);
        }
        let raw = line.member("raw").filter(|_| is(line.member("kind"), "stdio.noise"))?;
        let side = match () {
            () if is(raw.member("from"), "client") => Side::Client,
            () if is(raw.member("from"), "server") => Side::Server,
            () => return None,
        };
        // Bytes that are not text, and what a recorder withheld, are shown as the recorder has them.
        let text = raw.member("text").filter(|text| text.kind() == JsonKind::String).unwrap_or(raw).text();
        let why =
            Refusal::new(Code::NotAMessage, 0, "a program wrote this where messages belong").under("RPL-DIR");
        let location = Location { root: "/raw", ..entry.location };
        let content = Content::Noise(Noise { why, text: text.into() });
        Some(Self::Noise(Box::new(Entry { side: Some(side), content, location, ..entry.clone() })))
    }
}

/// What a program wrote that is not UTF-8, as well as text can show it. None for all else that is kept of a line.
pub(crate) fn bytes_of(noise: &Noise<'_>) -> Option<String> {
    let kept = Json::parse(&noise.text).ok()?;
    let bytes = kept.member("from").and(kept.member("base64"))?.as_text()?.to_str()?;
    Some(String::from_utf8_lossy(&STANDARD.decode(&*bytes).ok()?).into_owned())
}
