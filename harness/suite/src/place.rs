//! Where in a transcript the message is that an answer got wrong.
//!
//! Which event or call a difference points at, and where the built-in reader found it.

use formats::{Format, Input, ReadError, ReadOptions, Step};
use transcript::meaning::EventKind;
use transcript::session::Content;
use verdict::record::Place;

/// The place of what `at` points at: the event of `/events/3/id`, the call of `/calls/0/outcome`, the first answer with a
/// challenge, the fault of a transcript that should have been rejected; and the first line of one that should not.
pub(crate) fn place_of(at: &str, format: &Format, transcript: &[u8]) -> Option<Place> {
    let mut parts = at.split('/').skip(1);
    let list = parts.next()?;
    let wanted: Option<usize> = parts.next().and_then(|wanted| wanted.parse().ok());
    let (mut found, mut count) = (None, 0);
    let mut reader = transcript;
    let mut input = Input::new(&mut reader).ok()?;
    let walked = formats::walk(format, &mut input, ReadOptions::default(), &mut |step| {
        let (Step::Event(entry, _) | Step::Context(entry)) = &step;
        let asked = entry.context.is_some_and(|it| it.status == Some(401))
            || matches!(&entry.content, Content::Exchange(exchange) if exchange.status == Some(401));
        if list == "authorization_discovery" && asked && found.is_none() {
            found = Some(Place { line: entry.location.line, pointer: entry.location.pointer() });
        }
        if let Step::Event(_, event) = step
            && (list == "events" || list == "calls" && event.kind == EventKind::ToolCall)
        {
            if Some(count) == wanted {
                found = Some(Place { line: event.location.line, pointer: event.location.pointer() });
            }
            count += 1;
        }
        Ok(())
    });
    match (list, walked) {
        ("events" | "calls" | "authorization_discovery", _) => found,
        ("rejection", Err(ReadError::Rejected(rejection))) => {
            Some(Place { line: rejection.position.line, pointer: rejection.position.pointer.clone() })
        }
        ("rejection", Ok(_)) => Some(Place { line: 1, pointer: String::new() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::place_of;

    const SESSION: &str = concat!(
        r#"{"jsonrpc":"2.0","method":"a"}"#,
        "\n\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}}"#,
        "\n"
    );

    fn place(at: &str, format: &str, transcript: &str) -> Option<(u64, String)> {
        let place = place_of(at, formats::find(format).unwrap(), transcript.as_bytes())?;
        Some((place.line, place.pointer))
    }

    #[test]
    fn an_event_a_call_and_a_fault_have_their_places() {
        assert_eq!(place("/events/0/method", "jsonrpc", SESSION), Some((1, String::new())));
        assert_eq!(place("/events/1", "jsonrpc", SESSION), Some((3, String::new())));
        assert_eq!(place("/calls/0/tool", "jsonrpc", SESSION), Some((3, String::new())));
        let document = format!("[\n{}]", SESSION.trim().replace("\n\n", ",\n"));
        assert_eq!(place("/events/1/id", "inspector", &document), Some((3, "/1".into())));
        let broken = SESSION.replace("\"id\":1", "\"id\":[]");
        assert_eq!(place("/rejection/code", "jsonrpc", &broken), Some((3, String::new())));
        assert_eq!(place("/rejection", "jsonrpc", SESSION), Some((1, String::new())));
        let challenge = "{\"transport\":\"http-sse\",\"entries\":[\n{\"transport_context\":{\"status\":401},\"response\":null}]}";
        let place_of_it = place("/authorization_discovery/visible", "http-sse", challenge);
        assert_eq!(place_of_it.map(|place| place.0), Some(2));
        for at in ["", "/authorization_discovery/visible", "/events/7"] {
            assert_eq!(place(at, "jsonrpc", SESSION), None, "{at}");
        }
    }
}
