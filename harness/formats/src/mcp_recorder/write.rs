//! Writing a cassette, an interaction a line.

use crate::writing::{Opening, Spoken, WriteLines};
use std::io;
use transcript::json::write_compact;
use transcript::message::{Id, Message};
use transcript::session::Side;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines::default())
}

#[derive(Default)]
struct Lines {
    messages: u64,
    /// The client's message before, which is written with the answer that follows it at once. Anything else would be bound to
    /// it by nobody but a replay.
    asked: Option<Asked>,
    begun: bool,
}

struct Asked {
    /// Which message it is.
    number: u64,
    text: Vec<u8>,
    sort: &'static str,
}

impl Lines {
    /// Writes what was asked with its answer, or one of them.
    fn interaction(&mut self, asked: Option<Asked>, answer: Option<&Message<'_>>, line: &mut Vec<u8>) {
        line.extend_from_slice(if self.begun { b",\n" } else { b"\n" });
        self.begun = true;
        let (sort, text) =
            asked.map_or(("jsonrpc_request", b"null".to_vec()), |asked| (asked.sort, asked.text));
        line.extend_from_slice(format!("    {{\"type\": \"{sort}\", \"request\": ").as_bytes());
        line.extend_from_slice(&text);
        line.extend_from_slice(b", \"response\": ");
        match answer {
            Some(message) => write_compact(message.json(), line),
            None => line.extend_from_slice(b"null"),
        }
        let status = if answer.is_some() { 200 } else { 202 };
        let rest = format!(
            ", \"response_is_sse\": false, \"response_status\": {status}, \"latency_ms\": 0, \"http_method\": null, \
             \"http_path\": null}}"
        );
        line.extend_from_slice(rest.as_bytes());
    }

    /// Writes what was asked and has no answer behind it.
    fn unanswered(&mut self, line: &mut Vec<u8>) {
        if let Some(asked) = self.asked.take() {
            self.interaction(Some(asked), None, line);
        }
    }
}

impl WriteLines for Lines {
    fn open(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(
            b"{\n  \"version\": \"1.0\",\n  \"metadata\": {\"recorded_at\": \"\", \"server_url\": \"\"},\n  \"interactions\": [",
        );
        Ok(())
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        let number = self.messages;
        self.messages += 1;
        if spoken.side == Side::Server {
            let of = |asked: &mut Asked| spoken.entry.answers == Some(asked.number);
            let asked = self.asked.take_if(of);
            self.unanswered(line);
            self.interaction(asked, Some(&spoken.message), line);
            return Ok(());
        }
        self.unanswered(line);
        let notifies = matches!(spoken.message.id(), Id::Missing);
        let mut asked = Asked {
            number,
            text: Vec::new(),
            sort: if notifies { "notification" } else { "jsonrpc_request" },
        };
        write_compact(spoken.message.json(), &mut asked.text);
        self.asked = Some(asked);
        Ok(())
    }

    fn close(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        self.unanswered(out);
        out.extend_from_slice(if self.begun { b"\n  ]\n}\n" } else { b"]\n}\n" });
        Ok(())
    }
}
