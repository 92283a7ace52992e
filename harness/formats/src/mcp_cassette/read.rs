//! Reading a cassette, message by message.

use crate::document::{self, Form, Item, Version, wrong};
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use transcript::json::Json;
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Side, Sink};

const FORM: Form = Form {
    name: "a cassette",
    list: "messages",
    root: "/messages/",
    version: Version {
        pointer: "/format_version",
        is_read: |version| ["1", "2", "3"].contains(&version),
        of: "a cassette of the format",
        read: "1 to 3, as numbers,",
    },
};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    document::each(input, &FORM, &mut |item| message(item, options, sink))
}

fn message(item: &Item<'_, '_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    let [sender, payload, time] =
        item.members("a message of a cassette", ["sender", "payload", "t_offset_ms"])?;
    let Some(side) = sender.and_then(|(_, sender)| side(sender)) else {
        let at = sender.map_or(0, |(at, _)| at);
        let said = "a message says in `sender` who sent it: \"client\" or \"server\"";
        return Err(item.refuse(Refusal { at, ..wrong(Code::MissingDir, said) }));
    };
    let Some(payload) = payload else {
        let said = "what was sent stands in `payload`, which is not there";
        return Err(item.refuse(wrong(Code::InvalidEntry, said)));
    };
    let entry = Entry {
        time: time.and_then(|(_, time)| time.as_number()?.parse().ok()),
        side: Some(side),
        ..Entry::new(Location { tail: "/payload", ..item.location }, Content::Empty)
    };
    document::give(item.input, payload, entry, options, sink)
}

fn side(sender: Json<'_>) -> Option<Side> {
    let sender = sender.as_text()?;
    match () {
        () if sender.is("client") => Some(Side::Client),
        () if sender.is("server") => Some(Side::Server),
        () => None,
    }
}
