//! Who gets what a server says, and what it gets of several clients.

use super::{ClientStream, Conversation, NotTaken, OPEN};
use crate::bridge::streams::{LISTENING, NextEvent};
use crate::messages::messages;
use std::task::{Context, Poll, Waker};

const LIST: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":"p"}}}"#;

impl Conversation {
    fn say(&mut self, client: u64, text: &str) -> Result<(Option<u64>, Vec<String>), NotTaken> {
        self.ask(client, &messages(text).unwrap())
    }

    fn line(&mut self, client: u64, text: &str) -> Option<String> {
        self.say(client, text).unwrap().1.pop()
    }

    fn come(&mut self, text: &str) -> Option<Vec<ClientStream>> {
        self.receive(messages(text).unwrap()[0])
    }

    /// What is to be read on a stream.
    fn on(&mut self, client: u64, stream: u64) -> Vec<String> {
        let streams = self.streams(client).unwrap();
        let reader = streams.attach(stream, None).unwrap();
        let context = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| match streams.poll_next(stream, reader, &context) {
            Poll::Ready(NextEvent::Event(_, text)) => Some(text),
            _ => None,
        })
        .collect()
    }
}

#[test]
fn what_a_server_says_goes_to_whom_it_belongs() {
    let mut all = Conversation::new(false);
    let client = all.join();
    assert_eq!(all.line(client, LIST).as_deref(), Some(LIST), "one client's bytes pass as they are");
    let second = all.say(client, r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#).unwrap().0.unwrap();
    assert_eq!(all.say(client, LIST), Err(NotTaken::SameId), "a text is not a number");
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#;
    assert_eq!(all.come(progress), Some(vec![(client, 1)]), "where its token says");
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    assert_eq!(all.come(log), Some(vec![(client, second)]), "the last one that is open");
    let news = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(all.come(news), Some(vec![(client, LISTENING)]));
    let answer = r#"{"jsonrpc":"2.0","id":"1","result":{}}"#;
    assert_eq!(all.come(answer), Some(vec![(client, second)]), "by the text of the id");
    assert_eq!(all.come(&answer.replace("\"1\"", "7")), None);
    all.end("over");
    assert_eq!(all.open(), 0);
    assert_eq!(all.come(log), Some(vec![(client, LISTENING)]), "nothing is open");
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"mcp-concord record: over"}}"#;
    assert_eq!(all.on(client, 1), [progress, error]);
}

#[test]
fn several_clients_have_names_of_their_own() {
    let mut all = Conversation::new(true);
    let [first, second] = [all.join(), all.join()];
    let hello = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"2025-11-25"}}}}"#
        )
    };
    assert_eq!(all.line(first, &hello("0")), Some(hello("1")));
    assert_eq!(all.line(second, &hello("0")), None, "the server is initialized once");
    let answer = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-06-18"}}}}"#);
    all.come(&answer("1"));
    assert_eq!([all.on(first, 1), all.on(second, 1)], [[answer("0")], [answer("0")]]);
    assert_eq!(all.clients[&second].version.as_deref(), Some("2025-06-18"));
    let third = all.join();
    assert_eq!(all.line(third, &hello("\"x\"")), None);
    assert_eq!(all.on(third, 1), [answer("\"x\"")]);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(all.line(first, initialized).as_deref(), Some(initialized));
    assert_eq!(all.line(second, initialized), None);
    let renamed = |name: &str| LIST.replace("\"id\":1", &format!("\"id\":{name}")).replace("\"p\"", name);
    assert_eq!(all.line(first, LIST), Some(renamed("4")));
    assert_eq!(all.line(second, LIST), Some(renamed("5")));
    let cancelled = |id| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    assert_eq!(all.line(second, &cancelled("1")), Some(cancelled("5")));
    assert_eq!(all.line(third, &cancelled("1")), None, "it has asked nothing");
    let progress = |token| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token}}}}}"#
        )
    };
    all.come(&progress("4"));
    assert_eq!(all.on(first, 2), [progress("\"p\"")]);
    // Only the client that is asked may answer.
    let asked = r#"{"jsonrpc":"2.0","id":"s","method":"roots/list"}"#;
    assert_eq!(all.come(asked), Some(vec![(second, 2)]));
    let given = r#"{"jsonrpc":"2.0","id":"s","result":{"roots":[]}}"#;
    assert_eq!(all.line(second, given).as_deref(), Some(given));
    assert_eq!(all.line(second, given), None, "once");
    let news = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(all.come(news), Some([first, second, third].map(|it| (it, LISTENING)).into()));
    all.leave(second);
    assert_eq!(all.come(&answer("5")), Some(vec![(second, 2)]), "it was asked, and the client is gone");
}

#[test]
fn no_more_are_open_than_may_be() {
    let mut all = Conversation::new(false);
    let client = all.join();
    let ping = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    (0..OPEN).for_each(|id| assert!(all.say(client, &ping(id)).is_ok()));
    assert_eq!(all.say(client, &ping(OPEN)), Err(NotTaken::TooMany));
    let batch = format!("[{},{}]", ping(1), ping(1));
    all.end("over");
    assert_eq!(all.say(client, &batch), Err(NotTaken::SameId));
}
