//! Events of a stream, written and read.

use formats::sse::{SseBlockKind, SseParser};
use hyper::body::Bytes;

/// An event that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SseEvent {
    pub(crate) name: Option<String>,
    pub(crate) id: Option<String>,
    /// Empty where it has none.
    pub(crate) data: Vec<u8>,
    /// After how many milliseconds a client may come back.
    pub(crate) retry: Option<u64>,
}

impl SseEvent {
    /// Whether it is meant to be a message.
    pub(crate) fn is_message(&self) -> bool {
        matches!(self.name.as_deref(), None | Some("" | "message")) && !self.data.is_empty()
    }
}

/// Reads a stream part by part. Memory: one event, up to a bound.
pub(crate) struct EventReader {
    parser: SseParser,
    longest: usize,
    /// Bytes since the last event.
    unfinished: usize,
}

impl EventReader {
    pub(crate) fn new(longest: usize) -> Self {
        Self { parser: SseParser::default(), longest, unfinished: 0 }
    }

    /// The events that a part completes, and how many bytes an event has by then that is longer than the bound.
    pub(crate) fn take(&mut self, part: &[u8]) -> (Vec<SseEvent>, Option<usize>) {
        let mut events = Vec::new();
        let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        self.parser.feed(part, &mut |block| {
            if matches!(block.kind, SseBlockKind::Event | SseBlockKind::Dataless) {
                let (name, id) = (text(block.name), text(block.id));
                events.push(SseEvent { name, id, data: block.data.to_vec(), retry: block.retry });
            }
        });
        self.unfinished = if events.is_empty() { self.unfinished + part.len() } else { 0 };
        (events, Some(self.unfinished).filter(|bytes| *bytes > self.longest))
    }
}

/// An event as a stream has it. A message of several lines is the same when it is read.
pub(crate) fn spell(name: Option<&str>, id: Option<&str>, data: &str) -> Bytes {
    let mut out = String::with_capacity(data.len() + 64);
    for (field, value) in [("event", name), ("id", id)] {
        if let Some(value) = value {
            out.extend([field, ": ", value, "\n"]);
        }
    }
    for line in data.replace("\r\n", "\n").split(['\n', '\r']) {
        out.extend(["data: ", line, "\n"]);
    }
    out.push('\n');
    Bytes::from(out)
}

#[cfg(test)]
mod tests {
    use super::{EventReader, SseEvent, spell};

    #[test]
    fn an_event_is_read_as_it_was_meant() {
        let bytes = spell(Some("message"), Some("7"), "{\"a\":\n1,\r\n2}");
        let data = b"{\"a\":\n1,\n2}".to_vec();
        let event = SseEvent { name: Some("message".into()), id: Some("7".into()), data, retry: None };
        assert_eq!(EventReader::new(9).take(&bytes), (vec![event], None));
        assert_eq!(spell(None, None, ""), "data: \n\n");
    }

    #[test]
    fn an_event_has_a_bound() {
        let mut reader = EventReader::new(10);
        let mut take = |part: &str| {
            let (events, too_long) = reader.take(part.as_bytes());
            (events.len(), too_long)
        };
        assert_eq!(take("data: 1\n\ndata: 2"), (1, None));
        assert_eq!(take("3456789012"), (0, None));
        assert_eq!(take("3"), (0, Some(11)));
    }
}
