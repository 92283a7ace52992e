//! A format that this crate has never heard of goes through recognition, reading and writing by its own data only.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use formats::{
    FORMATS, Format, Head, Input, ReadError, ReadOptions, Session, Spelling, Spoken, WriteLines,
    detect_among, meaning,
};
use std::io::Write;
use transcript::json::write_compact;
use transcript::message::Message;
use transcript::session::{Content, Entry, Location, Side, Sink};

/// Lines of `{"from": "client", "say": {…}}`.
static FORMAT: Format = Format {
    aliases: &["makeup"],
    messages: &[&["say"]],
    ..Format::new(
        ["made-up", "made-up.jsonl", "lines that nobody writes"],
        sniff,
        read,
        Spelling::Lines(|_| Box::new(Lines)),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("say")
}

fn read(input: &mut Input<'_>, _: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    while input.peek()?.is_some() {
        let length = input.value()?;
        let line = transcript::json::Json::parse(&input.text()[..length])
            .map_err(|error| input.refuse(error.into(), 0, ""))?;
        let side = match line.member("from").and_then(|from| from.as_text()) {
            Some(from) if from.is("server") => Side::Server,
            _ => Side::Client,
        };
        let location =
            Location { offset: input.offset(), line: input.line(), root: "/say", ..Location::default() };
        let said = line.member("say").map_or("", |said| said.text());
        let message = Message::parse(said).map_err(|refusal| input.refuse(refusal, 0, "/say"))?;
        let entry = Entry { side: Some(side), ..Entry::new(location, Content::Message(message)) };
        sink(entry).map_err(|error| input.sink_error(error, 0, &location))?;
        input.consume(length);
    }
    Ok(())
}

struct Lines;

impl WriteLines for Lines {
    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> std::io::Result<()> {
        write!(line, r#"{{"from": "{}", "say": "#, spoken.side.name())?;
        write_compact(spoken.message.json(), line);
        line.extend_from_slice(b"}\n");
        Ok(())
    }
}

const TEXT: &str = r#"{"from": "client", "say": {"jsonrpc":"2.0","id":1,"method":"ping"}}
{"from": "server", "say": {"jsonrpc":"2.0","id":1,"method":"roots/list"}}
{"from": "client", "say": {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}}
{"from": "server", "say": {"jsonrpc":"2.0","id":1,"result":{}}}
"#;

fn session(format: &Format, text: &str) -> Session {
    Session::of(format, text.as_bytes(), ReadOptions::default()).unwrap()
}

fn written(format: &Format, session: &Session) -> String {
    let mut out = Vec::new();
    format.write(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn it_is_recognised_beside_the_others() {
    let formats: Vec<&Format> = FORMATS.iter().copied().chain([&FORMAT]).collect();
    let name = |text: &str| {
        let mut bytes = text.as_bytes();
        detect_among(&formats, &mut Input::new(&mut bytes).unwrap()).unwrap().map(|format| format.name)
    };
    assert_eq!(name(TEXT), Some(FORMAT.name));
    for format in FORMATS.iter().filter(|format| format.is_written()) {
        let theirs = written(format, &session(&FORMAT, TEXT));
        assert_eq!(name(&theirs), Some(format.name), "{theirs}");
    }
}

#[test]
fn it_is_read_written_and_converted() {
    let mine = session(&FORMAT, TEXT);
    assert_eq!(written(&FORMAT, &mine), TEXT);
    let means = |format: &Format, text: &str| {
        meaning(format, &mut text.as_bytes(), ReadOptions::default()).unwrap().text
    };
    assert!(mine.losses(&FORMAT).is_empty());
    for format in FORMATS.iter().filter(|format| format.is_written()) {
        let theirs = written(format, &mine);
        let rebound = mine.losses(format).iter().any(|loss| loss.clause == Some("COR-DIRECTION-FLAT"));
        assert_eq!(rebound, !format.carries.direction, "{}", format.name);
        if !rebound {
            assert_eq!(means(format, &theirs), means(&FORMAT, TEXT), "{theirs}");
            assert_eq!(written(&FORMAT, &session(format, &theirs)), TEXT, "{theirs}");
        }
    }
    let broken = TEXT.replace("\"2.0\",\"id\":1,\"result\":{}", "\"1.0\"");
    assert!(meaning(&FORMAT, &mut broken.as_bytes(), ReadOptions::default()).is_err());
}
