//! Reading a cassette, interaction by interaction.

use crate::document::{self, Form, Item, Version};
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use transcript::json::{Json, JsonKind};
use transcript::message::Message;
use transcript::session::{Carrier, Content, Entry, Location, Side, Sink};

const FORM: Form = Form {
    name: "a cassette",
    list: "interactions",
    root: "/interactions/",
    // The recorder reads cassettes of its own major version alone.
    version: Version::first("/version", "a cassette of version"),
};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    document::each(input, &FORM, &mut |item| interaction(item, options, sink))
}

/// Hands on what an interaction holds.
fn interaction(item: &Item<'_, '_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    let &Item { input, location, .. } = item;
    let [request, response, status] =
        item.members("an interaction", ["request", "response", "response_status"])?;
    if request.is_none() && response.is_none() {
        let entry = Entry::new(location, Content::Skipped("an interaction without a message".into()));
        return sink(entry).map_err(|error| input.sink_error(error, 0, &location));
    }
    let status: Option<u16> = status.and_then(|(_, status)| status.as_number()?.parse().ok());
    let halves = [
        (request, Side::Client, Carrier::Request, "/request"),
        (response, Side::Server, Carrier::Response, "/response"),
    ];
    for (held, side, carrier, tail) in halves {
        let Some((at, value)) = held else { continue };
        let location = Location { tail, ..location };
        let entry = Entry { side: Some(side), carrier, ..Entry::new(location, Content::Empty) };
        let failed = carrier == Carrier::Response && status.is_some_and(|status| status >= 400);
        if failed && is_foreign(value) {
            let location = document::located(input, at, location);
            sink(Entry { location, ..entry }).map_err(|error| input.sink_error(error, at, &location))?;
        } else {
            document::give(input, (at, value), entry, options, sink)?;
        }
    }
    Ok(())
}

/// Whether an answer under an error status is not of JSON-RPC at all.
fn is_foreign(value: Json<'_>) -> bool {
    value.kind() == JsonKind::Object
        && value.member("jsonrpc").is_none()
        && Message::parse(value.text()).is_err()
}
