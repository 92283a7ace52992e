//! Reading a cassette, interaction by interaction.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use transcript::json::{Json, JsonKind, Scanner};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Entry, Location, Noise, Side, Sink};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match input.peek()? {
        None => return Err(input.truncated("a cassette")),
        Some(b'{') => {}
        Some(_) => {
            input.value()?;
            let said = "a cassette is a JSON object with `interactions`";
            return Err(input.refuse(wrong(Code::WrongDocument, said), 0, ""));
        }
    }
    let mut found = false;
    let mut more = input.enter(b'}')?;
    while more {
        let name = input.key()?;
        input.peek()?;
        match &*name {
            "interactions" if found => {
                return Err(input.refuse(Refusal::duplicate(0, &name), 0, ""));
            }
            "interactions" => {
                interactions(input, options, sink)?;
                found = true;
            }
            "version" => version(input)?,
            _ => {
                let length = input.value()?;
                input.consume(length);
            }
        }
        more = input.next(b'}')?;
    }
    // Whether it is one document at all comes before what the document lacks.
    input.finish()?;
    match found {
        true => Ok(()),
        false => Err(input.refuse(wrong(Code::MissingEntries, "the cassette has no `interactions`"), 0, "")),
    }
}

/// The recorder reads cassettes of its own major version alone.
fn version(input: &mut Input<'_>) -> Result<(), ReadError> {
    let length = input.value()?;
    let version = Json::parse(&input.text()[..length]).ok().and_then(Json::as_text);
    if !version.and_then(|text| Some(text.to_str()?.split('.').next() == Some("1"))).unwrap_or_default() {
        let found: String = input.text()[..length].chars().take(40).collect();
        let said = format!("a cassette of version {found}; only versions 1.x, as text, are read");
        return Err(input.refuse(wrong(Code::UnsupportedVersion, said), 0, "/version"));
    }
    input.consume(length);
    Ok(())
}

fn interactions(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    if input.peek()? != Some(b'[') {
        // A file that ends here, or goes on with what is not JSON, is not one whose interactions are not an array.
        input.value()?;
        let refusal = wrong(Code::MissingEntries, "`interactions` must be an array");
        return Err(input.refuse(refusal, 0, "/interactions"));
    }
    let mut more = input.enter(b']')?;
    for index in 0.. {
        if !more {
            break;
        }
        input.peek()?;
        let length = input.value()?;
        let location = Location {
            offset: input.offset(),
            line: input.line(),
            root: "/interactions/",
            index: Some(index),
            tail: "",
        };
        interaction(input, length, location, options, sink)?;
        input.consume(length);
        more = input.next(b']')?;
    }
    Ok(())
}

/// Hands on what the interaction at the beginning of the window holds.
fn interaction(
    input: &Input<'_>,
    length: usize,
    location: Location,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let parts = Parts::of(&input.text()[..length])
        .map_err(|refusal| input.refuse(refusal, 0, &location.pointer()))?;
    if parts.request.is_none() && parts.response.is_none() {
        let entry = Entry::new(location, Content::Skipped("an interaction without a message".into()));
        return sink(entry).map_err(|error| input.sink_error(error, 0, &location));
    }
    let halves = [
        (parts.request, Side::Client, Carrier::Request, "/request"),
        (parts.response, Side::Server, Carrier::Response, "/response"),
    ];
    for (held, side, carrier, tail) in halves {
        let Some((at, value)) = held else { continue };
        let place = input.position(at);
        let location = Location { offset: place.offset, line: place.line, tail, ..location };
        let failed = carrier == Carrier::Response && parts.status.is_some_and(|status| status >= 400);
        let content = match Message::parse(value.text()) {
            Ok(message) => Content::Message(message),
            Err(_) if failed && value.kind() == JsonKind::Object && value.member("jsonrpc").is_none() => {
                Content::Empty
            }
            Err(why) if options.hands_on(&why) => {
                let clause = if why.code == Code::Batch { "ENV-SINGLE" } else { why.clause };
                Content::Noise(Noise { why: why.under(clause), text: value.text().into() })
            }
            Err(why) => return Err(input.refuse(why, at, &location.pointer())),
        };
        let entry = Entry { side: Some(side), carrier, ..Entry::new(location, content) };
        sink(entry).map_err(|error| input.sink_error(error, at, &location))?;
    }
    Ok(())
}

/// An interaction, taken apart: its two messages, where they are more than null, and the HTTP status.
#[derive(Default)]
struct Parts<'a> {
    request: Option<(usize, Json<'a>)>,
    response: Option<(usize, Json<'a>)>,
    status: Option<u16>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let mut scanner = Scanner::new(text);
        if scanner.peek() != Some(b'{') {
            return Err(wrong(Code::InvalidEntry, "an interaction is an object"));
        }
        let mut found: [Option<(usize, Json<'a>)>; 3] = [None; 3];
        let mut more = scanner.open(b'}')?;
        while more {
            let key_at = scanner.at();
            let key = scanner.key()?;
            let at = scanner.at();
            let value = scanner.take()?;
            let which = ["request", "response", "response_status"].iter().position(|name| key.is(name));
            if which.and_then(|which| found[which].replace((at, value))).is_some() {
                let message =
                    "a member of an interaction appears twice, and readers differ on which one counts";
                return Err(Refusal {
                    at: key_at,
                    clause: "SRV-TWICE",
                    ..wrong(Code::AmbiguousMember, message)
                });
            }
            more = scanner.more(b'}')?;
        }
        let [request, response, status] =
            found.map(|held| held.filter(|(_, value)| value.kind() != JsonKind::Null));
        let status = status.and_then(|(_, status)| status.as_number()?.parse().ok());
        Ok(Self { request, response, status })
    }
}

fn wrong(code: Code, message: impl Into<String>) -> Refusal {
    Refusal { code, clause: "SRV-BYTES", at: 0, message: message.into() }
}
