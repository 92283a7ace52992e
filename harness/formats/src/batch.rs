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
    use std::fmt::Write as _;
    use transcript::rejection::Code;

    const ASKED: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    const AGREED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26"}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    /// One session in each format, its last two lines as they are or as what is given for them.
    fn session(last: [&str; 2]) -> Vec<(&'static str, String)> {
        let said = [("client", ASKED), ("server", AGREED), ("client", last[0]), ("server", last[1])];
        let each = |line: &dyn Fn(usize, bool, &str) -> String, with: &str| {
            let line = |(at, (side, text)): (usize, &(&str, &str))| line(at, *side == "client", text);
            said.iter().enumerate().map(line).collect::<Vec<_>>().join(with)
        };
        let envelope = |label: &str| {
            let slot = |_: usize, client: bool, text: &str| match (client, label) {
                (true, _) => format!(r#"{{"request":{text}}}"#),
                (false, "http-sse") => format!(r#"{{"sse":{{"data":{}}}}}"#, serde_json::json!(text)),
                (false, _) => format!(r#"{{"response":{text}}}"#),
            };
            format!(r#"{{"transport":"{label}","entries":[{}]}}"#, each(&slot, ",\n"))
        };
        let exchanges = |of: &dyn Fn(usize, &str, &str) -> String| {
            [of(1, ASKED, AGREED), of(2, last[0], last[1])].join(",")
        };
        let har = |start: usize, post: &str, answer: &str| {
            serde_json::json!({
                "startedDateTime": format!("2026-11-02T10:00:0{start}Z"),
                "request": {"method": "POST", "url": "http://a/", "postData": {"text": post}},
                "response": {"status": 200, "content": {"mimeType": "application/json", "text": answer}},
            })
            .to_string()
        };
        let cassette = |_: usize, post: &str, answer: &str| {
            format!(
                r#"{{"type":"jsonrpc_request","request":{post},"response":{answer},"response_status":200}}"#
            )
        };
        // An export, in which what was said last stands first.
        let exported = |at: usize, client: bool, text: &str| {
            let origin = if client { "client" } else { "server" };
            format!(r#"{{"timestamp":{at},"origin":"{origin}","message":{text}}}"#)
        };
        let mut backwards: Vec<_> = each(&exported, "\n").lines().map(str::to_owned).collect();
        backwards.reverse();
        vec![
            ("jsonrpc", each(&|_, _, text| text.to_owned(), "\n")),
            ("inspector", format!("[{}]", each(&|_, _, text| text.to_owned(), ","))),
            ("inspector", format!("[{}]", backwards.join(","))),
            ("streamable-http", envelope("streamable-http")),
            ("http-sse", envelope("http-sse")),
            ("mcp-replay", {
                let meta =
                    r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00Z","label":"l","command":["c"]}"#;
                let line = |_: usize, client: bool, text: &str| {
                    format!(r#"{{"dir":"{}","raw":{text}}}"#, if client { "in" } else { "out" })
                };
                format!("{meta}\n{}", each(&line, "\n"))
            }),
            ("har", format!(r#"{{"log":{{"entries":[{}]}}}}"#, exchanges(&har))),
            ("mcp-rec", {
                let line = |_: usize, client: bool, text: &str| {
                    let dir = if client { "client->server" } else { "server->client" };
                    format!(r#"{{"ts":"2026-01-01T00:00:00Z","dir":"{dir}","msg":{text}}}"#)
                };
                each(&line, "\n")
            }),
            ("mcp-recorder", format!(r#"{{"version":"1.0","interactions":[{}]}}"#, exchanges(&cassette))),
        ]
    }

    #[test]
    fn a_batch_is_its_messages_in_every_format() {
        let [asked, answers] = [format!("[{PING}, {PING}]"), format!(" [ {PONG} ,{PONG}]")];
        let expected = means("jsonrpc", &[ASKED, AGREED, PING, PING, PONG, PONG].join("\n"));
        for (format, text) in session([&asked, &answers]) {
            assert_eq!(means(format, &text), expected, "{format}: {text}");
        }
        let other = |(format, text): (_, String)| (format, text.replace("2025-03-26", "2025-06-18"));
        for (format, text) in session([&asked, &answers]).into_iter().map(other) {
            assert_eq!(rejects(format, &text).0, Code::Batch, "{format}: {text}");
        }
    }

    #[test]
    fn what_is_no_message_in_a_batch_rejects_at_its_place() {
        for (format, text) in session([&format!("[{PING},[{PING}]]"), PONG]) {
            let (code, clause, ..) = rejects(format, &text);
            assert_eq!((code, clause), (Code::Batch, "EQ-BATCH"), "{format}: {text}");
        }
        let before = format!("{ASKED}\n{AGREED}\n");
        let old = PING.replace("2.0", "1.0");
        for (batch, code, clause, column) in [
            ("[]".to_owned(), Code::Batch, "JRP-LINE", 1),
            (format!("[{PING}, 7]"), Code::NotAMessage, "EQ-BATCH", 44),
            (format!("[{PING},{{}}]"), Code::NotAMessage, "EQ-BATCH", 43),
            (format!(" [{old}]"), Code::InvalidVersion, "JRP-VERSION", 14),
        ] {
            let (found, under, line, at, _) = rejects("jsonrpc", &format!("{before}{batch}"));
            assert_eq!((found, under, line, at), (code, clause, 3, column), "{batch}");
        }
        let text = session([&format!("[{PING}, 7]"), PONG]).into_iter().find(|(format, _)| *format == "har");
        let (code, _, _, column, pointer) = rejects("har", &text.unwrap().1);
        assert_eq!((code, &*pointer), (Code::NotAMessage, "/log/entries/1/request/postData/text"));
        assert!(column > 40, "{column}");
    }

    #[test]
    fn a_lenient_reader_passes_over_what_is_no_message_in_a_batch() {
        let text = format!("{ASKED}\n{AGREED}\n[{PING},7,{PING}]");
        let meaning = read("jsonrpc", &text, true).unwrap();
        assert_eq!((meaning.totals.events, meaning.totals.noise), (4, 1));
        // A batch is not noise where it is not allowed.
        assert!(read("jsonrpc", &format!("[{PING}]"), true).is_err());
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
