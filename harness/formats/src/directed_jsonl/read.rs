//! Reading JSON lines with directions.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Faulty, Line};
use crate::time;
use transcript::json::{Json, JsonString, MemberIndex, Scanner};
use transcript::message::{Message, Refusal, resembles_message};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, Sink};

/// The members that say which way a message went, and what they say where the client sent it and where the server did.
/// `client->server` under `dir` is another format's.
pub(super) const DIRECTIONS: [(&str, &[(&str, &str)]); 2] =
    [("dir", &WAYS), ("direction", &[WAYS[0], WAYS[1], WAYS[2], ("client->server", "server->client")])];
const WAYS: [(&str, &str); 3] =
    [("c2s", "s2c"), ("client_to_server", "server_to_client"), ("client-to-server", "server-to-client")];

/// The members that hold a message, with their pointers.
pub(super) const MESSAGES: [(&str, &str); 6] = [
    ("msg", "/msg"),
    ("message", "/message"),
    ("frame", "/frame"),
    ("raw", "/raw"),
    ("payload", "/payload"),
    ("body", "/body"),
];

/// The members that say when.
const TIMES: [&str; 4] = ["ts", "t", "timestamp", "time"];
/// The members of a header that say from when on times are counted.
const STARTS: [&str; 3] = ["startedAt", "started_at", "recorded_at"];
/// The members that name a session.
const SESSIONS: [&str; 3] = ["session_id", "sessionId", "session"];

/// Who sent a message, by the name and the value of a member.
pub(super) fn side(member: &str, value: &str) -> Option<Side> {
    let (_, ways) = DIRECTIONS.iter().find(|(name, _)| *name == member)?;
    ways.iter().find_map(|(client, server)| match value {
        _ if value == *client => Some(Side::Client),
        _ if value == *server => Some(Side::Server),
        _ => None,
    })
}

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut session: Option<String> = None;
    let mut started = 0;
    lines::each::<Lines>(input, |line, parts, _| {
        let empty = || line.entry(0, "", Content::Empty);
        let (said, parts) = match parts.and_then(|parts| Ok((parts.said()?, parts))) {
            Ok(said) => said,
            Err((refusal, pointer)) => {
                let refusal = refusal.on_a_line(line.open_ended);
                return line.fault((refusal, pointer), line.text, empty(), options, sink);
            }
        };
        started = parts.started.unwrap_or(started);
        let time = parts.time.and_then(|time| milliseconds(time, started));
        let Said::Message(side) = said else {
            let content = Content::Skipped(said.told().into());
            return line.give(Entry { time, line: Some(line.text), ..line.entry(0, "", content) }, sink);
        };
        if let Some((at, name, found)) = parts.session {
            match &session {
                None => session = Some(found.text().to_owned()),
                Some(first) if *first == found.text() => {}
                Some(first) => return Err(line.refuse(several(name, (first, found.text()), at), "")),
            }
        }
        let Some((pointer, at, message)) = parts.message else { return Ok(()) };
        let entry = |content| Entry {
            time,
            side: Some(side),
            line: Some(line.text),
            ..line.entry(at, pointer, content)
        };
        match message {
            Ok(message) => line.give(entry(Content::Message(message)), sink),
            Err((refusal, value)) => {
                line.fault((refusal, pointer), value.text(), entry(Content::Empty), options, sink)
            }
        }
    })
}

/// Ids of two sessions would be bound to each other.
fn several(member: &str, (first, other): (&str, &str), at: usize) -> Refusal {
    let short = |text: &str| text.chars().take(40).collect::<String>();
    let (first, other) = (short(first), short(other));
    let message = format!(
        "lines of two sessions, {first} and {other}, are in this file, and a transcript is one: keep the lines of one \
         with jq -c 'select(.{member} == {first})'"
    );
    Refusal { code: Code::WrongDocument, clause: "EQ-COUNT", at, message }
}

/// What is wrong with a line, and where in its value.
type Wrong = (Refusal, &'static str);

struct Lines;

impl lines::Parse for Lines {
    type Parsed<'a> = Result<Parts<'a>, Wrong>;

    fn parse<'a>(line: Line<'a>, _index: &mut Vec<MemberIndex>) -> Self::Parsed<'a> {
        Parts::of(line.text).map_err(|refusal| (refusal, ""))
    }
}

/// A line, taken apart.
#[derive(Default)]
struct Parts<'a> {
    direction: Option<(usize, &'static str, Json<'a>)>,
    message: Option<(&'static str, usize, Result<Message<'a>, Faulty<'a>>)>,
    session: Option<(usize, &'static str, Json<'a>)>,
    time: Option<Json<'a>>,
    started: Option<i64>,
}

/// What a line is.
enum Said {
    Message(Side),
    /// Of another direction: which.
    Aside(String),
    /// Neither a direction nor a message.
    Header,
}

impl Said {
    fn told(&self) -> String {
        match self {
            Self::Aside(way) => format!("a line of the direction \"{way}\""),
            _ => "a line without a direction and a message".to_owned(),
        }
    }
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let mut parts = Self::default();
        let mut twice = None;
        lines::members(text, "a recording", |key_at, key, scanner| {
            if parts.member(text, key, scanner)? {
                twice.get_or_insert(key_at);
            }
            Ok(())
        })?;
        let said = "a second member says which way the message went, or holds one, and readers differ on which counts";
        match twice {
            Some(at) => Err(Refusal::new(Code::AmbiguousMember, at, said).under("SRV-TWICE")),
            None => Ok(parts),
        }
    }

    /// Takes a member; true where one that decides the same was there before.
    fn member(
        &mut self,
        text: &'a str,
        key: JsonString<'a>,
        scanner: &mut Scanner<'a>,
    ) -> Result<bool, Refusal> {
        let at = scanner.at();
        if let Some((_, pointer)) = MESSAGES.iter().find(|(name, _)| key.is(name)) {
            return Ok(self.message.replace((pointer, at, lines::held(text, scanner)?)).is_some());
        }
        let value = scanner.take()?;
        if let Some((name, _)) = DIRECTIONS.iter().find(|(name, _)| key.is(name)) {
            return Ok(self.direction.replace((at, name, value)).is_some());
        }
        if let Some(name) = SESSIONS.iter().find(|name| key.is(name)) {
            self.session = Some((at, name, value));
        } else if TIMES.iter().any(|name| key.is(name)) {
            self.time = Some(value);
        } else if STARTS.iter().any(|name| key.is(name)) {
            self.started = milliseconds(value, 0);
        }
        Ok(false)
    }

    fn said(&self) -> Result<Said, Wrong> {
        let wrong = |code, at, said: &str| Err((Refusal::new(code, at, said).under("SRV-BYTES"), ""));
        let is_message = match &self.message {
            Some((.., Ok(_))) => true,
            Some((.., Err((_, value)))) => resembles_message(*value),
            None => false,
        };
        let Some((at, name, value)) = self.direction else {
            let said = "a line with a message says in `dir` or `direction` which way it went";
            return if is_message { wrong(Code::MissingDir, 0, said) } else { Ok(Said::Header) };
        };
        let Some(way) = value.as_text().and_then(JsonString::to_str) else {
            return wrong(Code::MissingDir, at, "the direction of a line is text");
        };
        match side(name, &way) {
            Some(side) if self.message.is_some() => Ok(Said::Message(side)),
            Some(_) => {
                let said = "no member of the line holds exactly one message";
                let refusal = Refusal::new(Code::NotAMessage, 0, said).under("RPL-NOISE");
                Err((refusal, ""))
            }
            None => Ok(Said::Aside(way.chars().take(40).collect())),
        }
    }
}

/// A time, in milliseconds since the Unix epoch, or since `started`.
fn milliseconds(value: Json<'_>, started: i64) -> Option<i64> {
    /// From here on a number counts from the epoch, in seconds: September 2001.
    const SECONDS: f64 = 1e9;
    /// From here on in milliseconds: March 1973, or the year 5138 in seconds.
    const MILLISECONDS: f64 = 1e11;
    if let Some(text) = value.as_text() {
        return time::parse(&text.to_str()?);
    }
    let number: f64 = value.as_number()?.parse().ok()?;
    let whole = |number: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a time beyond all years becomes the last there is"
        )]
        let whole = number.round() as i64;
        whole
    };
    Some(match number.abs() {
        size if size >= MILLISECONDS => whole(number),
        size if size >= SECONDS => whole(number * 1e3),
        _ => started.saturating_add(whole(number)),
    })
}
