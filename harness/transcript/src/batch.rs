//! Batches, arrays of messages, taken apart (clause EQ-BATCH).

use crate::json::{Json, JsonKind};
use crate::message::{Message, Refusal};
use crate::rejection::Code;
use crate::session::{Content, Entry, Noise, Sse};

/// Under which clause an item is refused that is not a message.
pub const CLAUSE: &str = "EQ-BATCH";

/// The items of a batch, each as an entry of its own and with the place of its text in that of the batch: a message, or noise
/// where it is none. Nothing where the entry is not a batch with anything in it.
#[must_use]
pub fn items<'e>(entry: &'e Entry<'_>) -> Option<impl Iterator<Item = (usize, Entry<'e>)>> {
    let Content::Noise(Noise { why, text }) = &entry.content else { return None };
    if why.code != Code::Batch || why.clause == CLAUSE {
        return None;
    }
    let list = Json::parse(text).ok().filter(|list| list.kind() == JsonKind::Array)?;
    let mut items = list.items().enumerate().peekable();
    items.peek()?;
    let start = text.as_ptr().addr();
    Some(items.map(move |(index, item)| {
        let text = item.text();
        let content = match Message::parse(text) {
            Ok(message) => Content::Message(message),
            Err(why) => Content::Noise(Noise { why: refused(why), text: text.into() }),
        };
        let at = text.as_ptr().addr() - start;
        let mut item = Entry { content, item: Some(index), ..entry.clone() };
        // One event has one id and one set of fields, which stand with the first item.
        if let Some(sse) = item.sse.as_mut().filter(|_| index > 0) {
            *sse = Sse { name: sse.name.take(), ..Sse::default() };
        }
        (at, item)
    }))
}

fn refused(why: Refusal) -> Refusal {
    match why.code {
        Code::Batch | Code::NotAMessage => why.under(CLAUSE),
        _ => why,
    }
}

#[cfg(test)]
mod tests {
    use super::items;
    use crate::message::Refusal;
    use crate::rejection::Code;
    use crate::session::{Content, Entry, Location, Noise, Side, Sse};

    fn taken(text: &str, why: Refusal) -> Option<Vec<(usize, Result<String, Code>)>> {
        let content = Content::Noise(Noise { why, text: text.into() });
        let entry = Entry { side: Some(Side::Server), ..Entry::new(Location::default(), content) };
        let show = |(at, item): (usize, Entry<'_>)| {
            assert_eq!(item.side, Some(Side::Server));
            match item.content {
                Content::Message(message) => (at, Ok(message.text().to_owned())),
                Content::Noise(noise) => (at, Err(noise.why.code)),
                other => panic!("{other:?}"),
            }
        };
        items(&entry).map(|items| items.map(show).collect())
    }

    #[test]
    fn a_batch_is_its_items_with_their_places() {
        let why = || Refusal::new(Code::Batch, 0, "an array");
        let ping = r#"{"jsonrpc":"2.0","method":"ping"}"#;
        let text = format!(" [{ping}, 42,[{ping}],{{}}]");
        let expected = vec![
            (2, Ok(ping.to_owned())),
            (37, Err(Code::NotAMessage)),
            (40, Err(Code::Batch)),
            (76, Err(Code::NotAMessage)),
        ];
        assert_eq!(taken(&text, why()), Some(expected));
        for (text, why) in [
            ("[]", why()),
            ("{}", why()),
            ("[", why()),
            (&text, Refusal::new(Code::NotAMessage, 0, "another")),
            // What stands in a batch is none itself.
            (&text, why().under(super::CLAUSE)),
        ] {
            assert_eq!(taken(text, why), None, "{text}");
        }
    }

    #[test]
    fn the_fields_of_an_event_stand_with_the_first_item() {
        let content = Content::Noise(Noise {
            why: Refusal::new(Code::Batch, 0, "an array"),
            text: r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#.into(),
        });
        let sse =
            Sse { name: Some("message".into()), id: Some("7-1".into()), retry: Some(5), ..Sse::default() };
        let entry = Entry { sse: Some(sse.clone()), ..Entry::new(Location::default(), content) };
        let fields: Vec<_> = items(&entry).into_iter().flatten().map(|(_, item)| item.sse).collect();
        assert_eq!(fields, [Some(sse.clone()), Some(Sse { id: None, retry: None, ..sse })]);
    }
}
