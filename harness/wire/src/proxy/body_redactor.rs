//! Removes secrets from a body before any of it is written.
//!
//! A body is one JSON text, or an event stream with a JSON text in each event. What is not JSON and could hold anything
//! is withheld, with a marker in its place. Events are handed on one by one; any other body is handed on at its end.
//! Memory: [`LONGEST`] for each open body; what is longer is withheld and counted.

use super::sse_blocks::{Byte, Scanner};
use crate::redaction::{MARKER, Redaction};
use std::sync::Arc;

/// The longest body, or event of a stream, that is looked into.
const LONGEST: usize = 16 << 20;

/// What is held of a body until it is known which of it may be kept.
#[derive(Debug)]
pub(super) struct BodyRedactor {
    redaction: Arc<Redaction>,
    sort: MediaKind,
    held: Vec<u8>,
    /// Bytes that were too many to be looked into.
    pub(super) lost: u64,
    /// What is at hand is too long: it goes on being withheld.
    over: bool,
}

#[derive(Debug)]
enum MediaKind {
    Stream(Scanner),
    /// Any other, of this type.
    Whole(String),
}

impl BodyRedactor {
    /// For a body of this media type.
    pub(super) fn new(redaction: &Arc<Redaction>, media_type: &str) -> Self {
        let stream = media_type.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        let sort = if stream {
            MediaKind::Stream(Scanner::default())
        } else {
            MediaKind::Whole(media_type.to_owned())
        };
        Self { redaction: Arc::clone(redaction), sort, held: Vec::new(), lost: 0, over: false }
    }

    /// Takes a part of the body, and gives what can be kept by now.
    pub(super) fn take(&mut self, part: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut begin = 0;
        if let MediaKind::Stream(scanner) = &mut self.sort {
            let ends: Vec<usize> = part
                .iter()
                .enumerate()
                .filter(|(_, byte)| scanner.next(**byte) == Byte::BlockEnd)
                .map(|(at, _)| at)
                .collect();
            for end in ends {
                self.hold(&part[begin..=end]);
                begin = end + 1;
                out.extend(self.release());
            }
        }
        self.hold(&part[begin..]);
        out
    }

    /// The body has ended: the rest of what can be kept.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        if self.held.is_empty() && !self.over { Vec::new() } else { self.release() }
    }

    fn hold(&mut self, part: &[u8]) {
        self.over |= self.held.len() + part.len() > LONGEST;
        if self.over {
            self.lost += (self.held.len() + part.len()) as u64;
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(part);
        }
    }

    fn release(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let stream = matches!(self.sort, MediaKind::Stream(_));
        if std::mem::take(&mut self.over) {
            // A comment keeps the place in a stream; a body that is not there is one that readers count as missing.
            return if stream { format!(": {MARKER}\n\n").into_bytes() } else { Vec::new() };
        }
        match &self.sort {
            MediaKind::Stream(_) => self.redaction.event(&held),
            MediaKind::Whole(media_type) => self.redaction.body(media_type, &held),
        }
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::{BodyRedactor, LONGEST};
    use crate::redaction::Redaction;
    use std::sync::Arc;

    fn redaction() -> Arc<Redaction> {
        Arc::new(Redaction::of(&["token".to_owned(), "id".to_owned()], &["sk-[0-9]+".to_owned()]).unwrap())
    }

    fn through(media_type: &str, text: &str, size: usize) -> String {
        let mut redactor = BodyRedactor::new(&redaction(), media_type);
        let mut out: Vec<u8> = text.as_bytes().chunks(size).flat_map(|part| redactor.take(part)).collect();
        out.extend(redactor.finish());
        assert_eq!(redactor.lost, 0);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_body_stays_json_and_keeps_its_ids_and_schemas() {
        let text = r#"[{"jsonrpc":"2.0","id":"sk-1","result":{"token":"a","t":"sk-2","inputSchema":{"token":"x"}}}]"#;
        let expected = text.replace("\"a\"", "\"[REDACTED]\"").replace("sk-2", "[REDACTED]");
        for size in [1, 7, text.len()] {
            assert_eq!(through("application/json; charset=utf-8", text, size), expected);
        }
        let form = "grant_type=refresh&token=abc&scope=sk-1";
        assert_eq!(
            through("application/x-www-form-urlencoded", form, 5),
            "grant_type=refresh&token=[REDACTED]&scope=[REDACTED]"
        );
    }

    #[test]
    fn what_is_no_json_is_withheld() {
        for text in ["{\"token\":\"a", "<p>token=a</p>", "Accepted", "{\"a\":1} {\"token\":2}"] {
            assert_eq!(through("text/html", text, 3), "[REDACTED]", "{text}");
        }
        assert_eq!(through("application/json", "", 3), "", "of nothing, nothing is withheld");
        let mut redactor = BodyRedactor::new(&redaction(), "application/octet-stream");
        assert!(redactor.take(b"\xff\x00").is_empty() && redactor.finish() == b"[REDACTED]");
    }

    #[test]
    fn an_event_is_handed_on_when_it_is_whole_and_keeps_its_lines() {
        for (text, expected) in [
            (
                "id: sk-1\nevent: message\ndata: {\"token\":\"a\"}\n\n",
                "id: sk-1\nevent: message\ndata: {\"token\":\"[REDACTED]\"}\n\n",
            ),
            (
                "data: {\ndata:\"token\":\r\ndata: 5}\r\n\r\n",
                "data: {\ndata: \"token\":\ndata: \"[REDACTED]\"}\n\r\n",
            ),
            ("data: {\"a\":\ndata:1}\n\n: sk-1\n\n", "data: {\"a\":\ndata:1}\n\n: [REDACTED]\n\n"),
            ("\u{feff}data:{\"token\":1}\r\r", "\u{feff}data: {\"token\":\"[REDACTED]\"}\r\r"),
            (
                "event: endpoint\ndata: /m?token=a&s=1\n\n",
                "event: endpoint\ndata: /m?token=[REDACTED]&s=1\n\n",
            ),
            ("data: {\"token\":\"a\n\nretry: 3\ndata\n\n", "data: [REDACTED]\n\nretry: 3\ndata\n\n"),
            ("data: token=a\n\n", "data: [REDACTED]\n\n"),
            ("data: {\"token\":\"a\"}", "data: [REDACTED]"),
        ] {
            // The last one is cut off in its data, and nobody can tell what is left of a secret in it.
            let text = if expected == "data: [REDACTED]" { &text[..text.len() - 2] } else { text };
            for size in [1, 2, 3, 5, text.len()] {
                assert_eq!(through("text/event-stream", text, size), expected, "{size}");
            }
        }
        let mut redactor = BodyRedactor::new(&redaction(), "Text/Event-Stream");
        assert!(redactor.take(b"data: {\"tok").is_empty());
        assert_eq!(
            redactor.take(b"en\":1}\n\ndata"),
            b"data: {\"token\":\"[REDACTED]\"}\n\n",
            "and not later"
        );
    }

    #[test]
    fn what_is_too_long_is_withheld_and_counted() {
        let long = vec![b'1'; LONGEST];
        let mut redactor = BodyRedactor::new(&redaction(), "application/json");
        assert!(
            redactor.take(&long).is_empty()
                && redactor.take(b"11").is_empty()
                && redactor.take(b"1").is_empty()
        );
        assert!(redactor.finish().is_empty() && redactor.lost == LONGEST as u64 + 3);
        let mut redactor = BodyRedactor::new(&redaction(), "text/event-stream");
        redactor.take(&long);
        assert_eq!(
            redactor.take(b"1\n\ndata: 1\n\n"),
            b": [REDACTED]\n\ndata: 1\n\n",
            "the next event is looked into"
        );
        assert_eq!(redactor.lost, LONGEST as u64 + 3);
    }
}
