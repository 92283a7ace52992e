//! Reading a cassette, message by message.

use crate::document::{self, Form, Part, wrong};
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use transcript::json::Json;
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Side, Sink};

const FORM: Form =
    Form { name: "a cassette", list: "messages", root: "/messages/", members: &["/format_version"] };

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    document::each(input, &FORM, &mut |input, part| match part.location.index {
        Some(_) => message(input, part, options, sink),
        None => version(input, part),
    })
}

fn version(input: &Input<'_>, part: Part) -> Result<(), ReadError> {
    let text = &input.text()[..part.length];
    if ["1", "2", "3"].contains(&text) {
        return Ok(());
    }
    let found: String = text.chars().take(40).collect();
    let said = format!("a cassette of the format {found}; only 1 to 3, as numbers, are read");
    Err(input.refuse(wrong(Code::UnsupportedVersion, said), 0, &part.location.pointer()))
}

fn message(
    input: &Input<'_>,
    Part { location, length }: Part,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let refuse = |refusal| input.refuse(refusal, 0, &location.pointer());
    let names = ["sender", "payload", "t_offset_ms"];
    let [sender, payload, time] =
        document::members(&input.text()[..length], "a message of a cassette", names).map_err(refuse)?;
    let Some(side) = sender.and_then(|(_, sender)| side(sender)) else {
        let at = sender.map_or(0, |(at, _)| at);
        let said = "a message says in `sender` who sent it: \"client\" or \"server\"";
        return Err(refuse(Refusal { at, ..wrong(Code::MissingDir, said) }));
    };
    let Some(payload) = payload else {
        let said = "what was sent stands in `payload`, which is not there";
        return Err(refuse(wrong(Code::InvalidEntry, said)));
    };
    let entry = Entry {
        time: time.and_then(|(_, time)| time.as_number()?.parse().ok()),
        side: Some(side),
        ..Entry::new(Location { tail: "/payload", ..location }, Content::Empty)
    };
    document::give(input, payload, entry, options, sink)
}

fn side(sender: Json<'_>) -> Option<Side> {
    let sender = sender.as_text()?;
    match () {
        () if sender.is("client") => Some(Side::Client),
        () if sender.is("server") => Some(Side::Server),
        () => None,
    }
}
