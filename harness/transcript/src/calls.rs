//! The calls projection of a meaning, for those who only look at tool calls.
//!
//! Memory: the calls from the oldest that is still unanswered on, since each must be written in its turn.

use crate::json::write_compact;
use crate::meaning::{Event, EventKind};
use std::collections::VecDeque;

/// Takes events, gives back the calls among them in order.
#[derive(Debug, Default)]
pub struct Calls {
    waiting: VecDeque<Call>,
    written: bool,
}

#[derive(Debug)]
struct Call {
    event: u64,
    /// `{"tool": …, "arguments": …` without what follows.
    text: Vec<u8>,
    outcome: Option<Vec<u8>>,
}

impl Calls {
    /// Takes the next event and appends the calls that are now complete and in turn.
    pub fn take(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event.kind {
            EventKind::ToolCall => {
                let mut text = b"{".to_vec();
                for (name, value) in event.values() {
                    text.extend_from_slice(if text.len() > 1 { b", \"" } else { b"\"" });
                    text.extend_from_slice(name.as_bytes());
                    text.extend_from_slice(b"\": ");
                    write_compact(value, &mut text);
                }
                self.waiting.push_back(Call { event: event.index, text, outcome: None });
            }
            EventKind::Result | EventKind::Error => {
                let Some(asked) = event.answers else { return };
                // The queue is in event order, so the call is found without a map.
                let Ok(at) = self.waiting.binary_search_by_key(&asked, |call| call.event) else { return };
                let mut outcome = Vec::new();
                for (name, value) in event.values() {
                    outcome.extend_from_slice(format!("{{\"{name}\": ").as_bytes());
                    write_compact(value, &mut outcome);
                    outcome.push(b'}');
                }
                self.waiting[at].outcome = Some(outcome);
            }
            EventKind::Request | EventKind::Notification => return,
        }
        while let Some(call) = self.waiting.pop_front_if(|call| call.outcome.is_some()) {
            self.write(&call, out);
        }
    }

    /// Appends the calls that were not answered, and those behind them.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        while let Some(call) = self.waiting.pop_front() {
            self.write(&call, out);
        }
    }

    fn write(&mut self, call: &Call, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.written { b",\n" } else { b"\n" });
        self.written = true;
        out.extend_from_slice(&call.text);
        out.extend_from_slice(if call.text.len() > 1 { b", \"outcome\": " } else { b"\"outcome\": " });
        out.extend_from_slice(call.outcome.as_deref().unwrap_or(b"null"));
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::Calls;
    use crate::contract::Contract;
    use crate::message::Message;
    use crate::session::{Content, Entry, Location};

    #[test]
    fn calls_stand_in_their_order_with_their_outcomes() {
        let (mut contract, mut calls, mut out) = (Contract::default(), Calls::default(), Vec::new());
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a": 1.0},"name":"first"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"second"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":1}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":"late"}"#,
        ] {
            let entry = Entry::new(Location::default(), Content::Message(Message::parse(line).unwrap()));
            calls.take(&contract.take(&entry).unwrap().unwrap(), &mut out);
        }
        calls.finish(&mut out);
        let expected = "\n{\"tool\": \"first\", \"arguments\": {\"a\":1.0}, \"outcome\": {\"result\": []}},\n\
            {\"tool\": \"second\", \"outcome\": {\"error\": {\"code\":1}}},\n{\"outcome\": null}";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
