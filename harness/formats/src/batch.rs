//! Batches, as a reading takes them.

use crate::format::ReadOptions;
use transcript::batch::items;
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::revision::Revision;
use transcript::session::{Content, Entry, SinkError};

/// Hands an entry on: a batch item by item, where the revision that the session has shown so far has them (clause EQ-BATCH),
/// and everything else as it is.
///
/// # Errors
/// Of a batch elsewhere, of an item that is not a message and is not tolerated, and whatever `each` returns.
pub fn apart(
    entry: &Entry<'_>,
    revision: Option<Revision>,
    options: ReadOptions,
    each: &mut dyn FnMut(&Entry<'_>) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let Content::Noise(noise) = &entry.content else { return each(entry) };
    if noise.why.code != Code::Batch {
        return each(entry);
    }
    let Some(mut items) = items(entry).filter(|_| revision.is_some_and(Revision::has_batches)) else {
        return match options.tolerates(&noise.why) {
            true => each(entry),
            false => Err(SinkError::Rejected(noise.why.clone())),
        };
    };
    items.try_for_each(|(at, item)| {
        let taken = match &item.content {
            Content::Noise(noise) if !options.tolerates(&noise.why) => {
                Err(SinkError::Rejected(noise.why.clone()))
            }
            _ => each(&item),
        };
        taken.map_err(|error| match error {
            SinkError::Rejected(why) => SinkError::Rejected(Refusal { at: at + why.at, ..why }),
            SinkError::Stop => SinkError::Stop,
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::small::{means, read, rejects};
    use crate::tests::blocks;
    use std::fmt::Write as _;
    use transcript::rejection::Code;

    const ASKED: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const AGREED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    /// One session in each format, with these texts in the places of its last two messages; quoted where they are text there.
    fn sessions(last: [&str; 2]) -> impl Iterator<Item = (&'static str, String)> {
        blocks(include_str!("tests/batches.txt")).map(move |(format, mut text)| {
            for (place, said) in ["FIRST", "LAST"].into_iter().zip(last) {
                let quoted = serde_json::json!(said).to_string();
                text = text.replace(&format!("\"{place}\""), &quoted).replace(place, said);
            }
            (format, text)
        })
    }

    #[test]
    fn a_batch_is_its_messages_in_every_format() {
        let [asked, answers] = [format!("[{PING}, {PING}]"), format!(" [ {PONG} ,{PONG}]")];
        let expected = means("jsonrpc", &[ASKED, AGREED, PING, PING, PONG, PONG].join("\n"));
        for (format, text) in sessions([&asked, &answers]) {
            assert_eq!(means(format, &text), expected, "{format}: {text}");
            let other = text.replace("2025-03-26", "2025-06-18");
            assert_eq!(rejects(format, &other).0, Code::Batch, "{format}: {other}");
        }
    }

    #[test]
    fn a_batch_in_a_batch_rejects() {
        for (format, text) in sessions([&format!("[{PING},[{PING}]]"), PONG]) {
            let (code, clause, ..) = rejects(format, &text);
            assert_eq!((code, clause), (Code::Batch, "EQ-BATCH"), "{format}: {text}");
        }
    }

    #[test]
    fn a_lenient_reader_passes_over_what_is_no_message_in_a_batch() {
        let totals = read("jsonrpc", &format!("{ASKED}\n{AGREED}\n[{PING},7,{PING}]"), true).unwrap().totals;
        assert_eq!((totals.events, totals.noise), (4, 1));
    }

    #[test]
    fn a_batch_may_be_long() {
        let mut text = format!("{ASKED}\n{AGREED}\n[{PING}");
        (2..100_000).for_each(|id| {
            let _ = write!(text, r#",{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        });
        text.push(']');
        let totals = read("jsonrpc", &text, false).unwrap().totals;
        assert_eq!((totals.events, totals.unanswered), (100_001, 99_999));
    }
}
