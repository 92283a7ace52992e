//! One session at growing sizes, along each dimension of growth, with its meaning known at every size.
//!
//! Where a reader's time or memory grows faster than the session does, a quadratic search hides: in the list of open
//! requests, in the text that is copied for each piece, in the stack. The contract lets a reader refuse what is too large
//! for it (clause SRV-DEPTH); to hang, to crash or to read it wrongly is a fault.

use formats::{Format, OwnedContent, OwnedEntry, Session, Totals};
use std::fmt::Write as _;
use transcript::message::{Message, Refusal};
use transcript::session::{Carrier, Side, Sse};
use verdict::expectation::Expectation;
use verdict::meaning::Meaning;

/// A dimension of growth.
#[derive(Debug)]
pub struct Dimension {
    /// Its name.
    pub name: &'static str,
    /// What a size counts.
    pub unit: &'static str,
    /// What grows, in a sentence.
    pub about: &'static str,
    /// Only formats that carry SSE events have it.
    sse: bool,
    build: fn(&mut Scale, usize) -> Result<(), Refusal>,
}

/// The dimensions.
pub const DIMENSIONS: &[Dimension] = &[
    Dimension {
        name: "messages",
        unit: "calls",
        about: "tool calls, each answered before the next",
        sse: false,
        build: |scale, size| {
            (0..size).try_for_each(|number| {
                let call = scale.call(&number.to_string(), "{}")?;
                scale.answer(&number.to_string(), call, "{\"content\":[]}")
            })
        },
    },
    Dimension {
        name: "text",
        unit: "KiB",
        about: "one text, in a call's arguments and in its result",
        sse: false,
        build: |scale, size| {
            // Escapes and two-byte characters, so that nothing can be copied without a look.
            let text = "0123456789 \\\"é\\n".repeat(size * 64);
            let call = scale.call("1", &format!("{{\"text\":\"{text}\"}}"))?;
            let result = format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}");
            scale.answer("1", call, &result)
        },
    },
    Dimension {
        name: "depth",
        unit: "levels",
        about: "arrays within arrays, in a call's arguments",
        sse: false,
        build: |scale, size| {
            let deep = format!("{}{}", "[".repeat(size), "]".repeat(size));
            let call = scale.call("1", &format!("{{\"deep\":{deep}}}"))?;
            scale.answer("1", call, "{\"content\":[]}")
        },
    },
    Dimension {
        name: "open",
        unit: "requests",
        about: "requests that are open at once, answered from the last to the first",
        sse: false,
        build: |scale, size| {
            let calls: Vec<u64> =
                (0..size).map(|number| scale.call(&number.to_string(), "{}")).collect::<Result<_, _>>()?;
            let mut last_first = calls.into_iter().enumerate().rev();
            last_first.try_for_each(|(number, call)| scale.answer(&number.to_string(), call, "{}"))
        },
    },
    Dimension {
        name: "ids",
        unit: "ids",
        about: "open requests whose ids differ in their last characters, answered from the first to the last",
        sse: false,
        build: |scale, size| {
            let id = |number: usize| format!("\"{}{number:08}\"", "0123456789abcdef".repeat(8));
            let calls: Vec<u64> =
                (0..size).map(|number| scale.call(&id(number), "{}")).collect::<Result<_, _>>()?;
            let mut first_first = calls.into_iter().enumerate();
            first_first.try_for_each(|(number, call)| scale.answer(&id(number), call, "{}"))
        },
    },
    Dimension {
        name: "events",
        unit: "events",
        about: "SSE events without a message, between a call and its answer",
        sse: true,
        build: |scale, size| {
            let call = scale.call("1", "{}")?;
            (0..size).for_each(|_| scale.aside());
            scale.answer("1", call, "{\"content\":[]}")
        },
    },
];

impl Dimension {
    /// Whether sessions of this format can grow in it.
    pub fn is_carried(&self, format: &Format) -> bool {
        format.is_written() && (!self.sse || format.carries.sse)
    }

    /// The session of this size, with what must come of reading it.
    ///
    /// # Errors
    /// Where a message that was made is none, which would be a mistake of this module.
    pub fn session(&self, size: usize) -> Result<(Session, Expectation), Refusal> {
        let mut scale = Scale::default();
        (self.build)(&mut scale, size)?;
        let totals = Totals { events: scale.count, ..Totals::default() };
        let meaning = format!("{{\"events\": [{}],\n\"authorization_discovery\": null}}\n", scale.events);
        Ok((
            Session { entries: scale.entries, totals, ..Session::default() },
            Expectation::Either(Some(Meaning::written(meaning))),
        ))
    }
}

/// A session that grows, with its meaning.
#[derive(Default)]
struct Scale {
    entries: Vec<OwnedEntry>,
    events: String,
    count: u64,
}

impl Scale {
    /// A tool call; its number among the messages.
    fn call(&mut self, id: &str, arguments: &str) -> Result<u64, Refusal> {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        );
        let event =
            format!(r#"{{"kind":"tool_call","id":{},"tool":"t","arguments":{arguments}}}"#, as_text(id));
        self.message(Side::Client, None, text, &event)
    }

    /// The result that answers the call of that number.
    fn answer(&mut self, id: &str, call: u64, result: &str) -> Result<(), Refusal> {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        let event = format!(r#"{{"kind":"result","id":{},"answers":{call},"result":{result}}}"#, as_text(id));
        self.message(Side::Server, Some(call), text, &event).map(|_| ())
    }

    fn message(
        &mut self,
        side: Side,
        answers: Option<u64>,
        text: String,
        event: &str,
    ) -> Result<u64, Refusal> {
        let shape = Message::parse(&text)?.shape();
        let what = OwnedContent::Message(text, shape);
        self.entries.push(OwnedEntry { side: Some(side), answers, ..OwnedEntry::new(what) });
        let comma = if self.count == 0 { "\n" } else { ",\n" };
        let _ = write!(self.events, "{comma}{event}");
        self.count += 1;
        Ok(self.count - 1)
    }

    fn aside(&mut self) {
        let sse = Sse { name: Some("ping".into()), data: Some("{}".into()), ..Sse::default() };
        let entry = OwnedEntry::new(OwnedContent::Event);
        self.entries.push(OwnedEntry {
            carrier: Carrier::Sse,
            side: Some(Side::Server),
            sse: Some(sse),
            ..entry
        });
    }
}

/// An id in the normal form (clauses ID-STRING, ID-NUMBER).
fn as_text(id: &str) -> String {
    if id.starts_with('"') { id.to_owned() } else { format!("\"{id}\"") }
}

#[cfg(test)]
mod tests {
    use super::DIMENSIONS;
    use formats::{FORMATS, ReadOptions, Session};

    #[test]
    fn every_dimension_is_what_it_says_in_every_format() {
        for dimension in DIMENSIONS {
            let (session, expectation) = dimension.session(33).unwrap();
            let events = expectation.meaning().unwrap().count();
            for format in FORMATS.iter().filter(|format| dimension.is_carried(format)) {
                let mut bytes = Vec::new();
                format.write(&session, &mut bytes).unwrap();
                let read = Session::of(format, &bytes, ReadOptions::default()).unwrap();
                let name = format!("{} in {}", dimension.name, format.name);
                assert_eq!((read.totals.events as usize, read.totals.unanswered), (events, 0), "{name}");
            }
        }
        assert!(FORMATS.iter().any(|format| !DIMENSIONS.iter().all(|it| it.is_carried(format))));
    }

    #[test]
    fn sizes_grow_what_they_count() {
        for dimension in DIMENSIONS {
            let bytes = |size| {
                let mut bytes = Vec::new();
                let format = FORMATS.iter().find(|format| dimension.is_carried(format)).unwrap();
                format.write(&dimension.session(size).unwrap().0, &mut bytes).unwrap();
                bytes.len()
            };
            let (one, two, four) = (bytes(1), bytes(512), bytes(1024));
            assert!(one < two && two < four && four < 3 * two, "{}: {one} {two} {four}", dimension.name);
        }
    }
}
