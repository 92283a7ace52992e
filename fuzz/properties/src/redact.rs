//! What redaction promises: no secret is left wherever it was planted and however it was encoded, and the session is still the
//! same but for the markers.

use crate::diff::{counts, events};
use arbitrary::{Arbitrary, Unstructured};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use formats::{FORMATS, Format, OwnedContent, OwnedEntry, ReadOptions, Session};
use generators::fuzzing::{carriers, written};
use generators::node::quoted;
use generators::session::{KnownSession, Plan};
use transcript::align::AlignOptions;
use transcript::diff::DiffOptions;
use transcript::message::Message;
use transcript::session::{Carrier, Side};
use wire::redaction::{MARKER, Redaction};

/// What is planted; it goes by pattern.
const SECRET: &str = "sk-831094572260134879";
/// The part of it that is searched for.
const DIGITS: &str = "831094572260134879";
/// What is planted under a name; it goes by that name.
const NAME: &str = "x-token";

/// A way to write a text in another.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Wrap {
    Json,
    Items,
    Words,
    Query,
    Percent,
    Base64,
    Base64Url,
    Hex,
    Header,
}

/// A secret in a message of a session.
#[derive(Debug, Arbitrary)]
struct Plant {
    /// Before which entry the message comes.
    at: u8,
    client: bool,
    /// It is not recognizable by itself, only by its name.
    named: bool,
    /// From the inside out; the first three count.
    wraps: Vec<Wrap>,
}

/// A session that is made, with secrets in messages of their own.
#[derive(Debug, Arbitrary)]
struct Leaky {
    plan: Plan,
    plants: Vec<Plant>,
}

/// A transcript of the format that the first byte chooses, with the secret in every place that its session has.
///
/// # Panics
/// Where redaction does not keep its promises.
pub(crate) fn any(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let format = FORMATS[usize::from(choice) % FORMATS.len()];
    let Ok(mut session) = Session::of(format, bytes, ReadOptions::default()) else { return };
    session.entries.iter_mut().for_each(plant_everywhere);
    // No message follows the end of a trace.
    let end = session.entries.iter().position(|entry| matches!(entry.what, OwnedContent::TraceEnd(_)));
    let end = end.unwrap_or(session.entries.len());
    session.entries.insert(end, message(Side::Server, &format!("\"{SECRET}\"")));
    if format.is_written() && session.losses(format).iter().all(|loss| loss.clause.is_none()) {
        holds(format, &session);
    }
}

/// A session that is made from the bytes, with secrets in its messages, in every format that can carry it.
///
/// # Panics
/// Where redaction does not keep its promises.
pub(crate) fn made(bytes: &[u8]) {
    let Ok(Leaky { plan, plants }) = Leaky::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let Ok(mut session) = KnownSession::new(plan).session() else { return };
    for Plant { at, client, named, wraps } in plants {
        let text = wraps.iter().take(3).fold(SECRET.to_owned(), |text, wrap| wrap.around(&text));
        let value = match named {
            true => format!("{{\"{NAME}\":[{}]}}", quoted(&text.replace("sk-", ""))),
            false => quoted(&text),
        };
        let side = if client { Side::Client } else { Side::Server };
        session.entries.insert(usize::from(at) % (session.entries.len() + 1), message(side, &value));
    }
    // `answers` counts messages, and they have moved.
    session.entries.iter_mut().for_each(|entry| entry.answers = None);
    let formats: Vec<_> = carriers(&session).collect();
    formats.into_iter().for_each(|format| holds(format, &session));
}

fn holds(format: &Format, session: &Session) {
    let own = |text: &str| vec![text.to_owned()];
    let Ok(redaction) = Redaction::new(&own(NAME), &own("sk-[0-9]{12,}")) else {
        panic!("the pattern is none")
    };
    let mut kept = session.clone();
    let plain = written(session, format);
    // Which messages would be none without the secret is for redaction to say, and it writes nothing then.
    if redaction.clone().counting().session(&mut kept).is_err() {
        return;
    }
    let once = written(&kept, format);
    let text = String::from_utf8_lossy(&once);
    for spelling in spellings() {
        assert!(!text.contains(&spelling), "{spelling} is left as {}:\n{text}", format.name);
    }
    let options = AlignOptions {
        values: DiffOptions { redacted: Some(MARKER.to_owned()), ..DiffOptions::default() },
        ..AlignOptions::default()
    };
    let [before, after] = [&plain, &once].map(|bytes| events(format, bytes));
    let found = counts(&before, &after, &options);
    assert!(found.same(), "another session as {}: {found:?}\n{text}", format.name);
    let Some(mut again) = read(format, &once) else { panic!("as {}:\n{text}", format.name) };
    let rewritten = written(&again, format);
    let numbered = redaction.numbered(&mut text.as_bytes());
    assert!(numbered.is_ok_and(|redaction| redaction.session(&mut again).is_ok()), "{text}");
    assert_eq!(String::from_utf8_lossy(&written(&again, format)), String::from_utf8_lossy(&rewritten));
}

fn read(format: &Format, bytes: &[u8]) -> Option<Session> {
    Session::of(format, bytes, ReadOptions::default()).ok()
}

/// Puts the secret wherever an entry has room for what somebody else chose.
fn plant_everywhere(entry: &mut OwnedEntry) {
    let header = || ("x-note".into(), format!("a {SECRET}").into());
    let named = || (NAME.into(), DIGITS.into());
    match &mut entry.what {
        OwnedContent::Exchange(exchange) => {
            exchange.url = format!("{}?a={SECRET}&{NAME}={DIGITS}", exchange.url).into();
            for headers in [&mut exchange.request_headers, &mut exchange.response_headers] {
                headers.extend([header(), named()]);
            }
            let form = exchange.form.as_mut();
            form.into_iter().for_each(|form| *form = format!("{form}&a={SECRET}&{NAME}={DIGITS}").into());
            exchange.fate = Some(format!("no answer: {SECRET}").into());
        }
        OwnedContent::Message(..) => {
            entry.added = Some(format!(",\"note\":\"{SECRET}\",\"{NAME}\":\"{DIGITS}\""));
        }
        // A line of a trace that is passed over is copied.
        OwnedContent::Skipped(_) if entry.added.is_some() => {
            entry.added = Some(format!("{{\"type\":\"x\",\"note\":\"{SECRET}\",\"{NAME}\":[\"{DIGITS}\"]}}"));
        }
        _ => {}
    }
    if let Some(context) = &mut entry.context {
        context.headers.extend([header(), named()]);
    }
}

/// A notification with this value.
fn message(side: Side, value: &str) -> OwnedEntry {
    let text = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":{value}}}}}"
    );
    let Ok(message) = Message::parse(&text) else { panic!("{text}") };
    let (shape, carrier) = match side {
        Side::Client => (message.shape(), Carrier::Request),
        Side::Server => (message.shape(), Carrier::Sse),
    };
    let sse = (side == Side::Server).then(Default::default);
    OwnedEntry { side: Some(side), carrier, sse, ..OwnedEntry::new(OwnedContent::Message(text, shape)) }
}

impl Wrap {
    fn around(self, text: &str) -> String {
        match self {
            Self::Json => format!("{{\"a\": {}, \"b\": 1}}", quoted(text)),
            Self::Items => format!("[null, {}]", quoted(text)),
            Self::Words => format!("see {text} and \"that\""),
            Self::Query => format!("http://h.example/p?a=1&c={text}"),
            Self::Percent => text.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            Self::Base64 => STANDARD.encode(text),
            Self::Base64Url => URL_SAFE_NO_PAD.encode(text),
            Self::Hex => hex(text),
            Self::Header => format!("X-Note: a\r\nX-Other: {text}\r\nHost: h"),
        }
    }
}

/// The ways in which the digits of the secret may have stayed: at each of the three places of Base64, its inner letters.
fn spellings() -> impl Iterator<Item = String> {
    let percent: String = DIGITS.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let coded = (0..3).map(|shift| {
        let text = STANDARD_NO_PAD.encode(format!("{}{DIGITS}", "x".repeat(shift)));
        text[4..text.len() - 3].to_owned()
    });
    [DIGITS.to_owned(), hex(DIGITS), percent].into_iter().chain(coded)
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
