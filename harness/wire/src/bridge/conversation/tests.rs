//! The plays of `tests.txt`, of three clients and behind `---` whether they share the server: `>1` what the first one says, `~` what
//! the server says, `x` why that ends, `-` who goes; then `?` what the server gets, `<1.2` what is to be read on the second stream
//! of the first client, where 0 is that of a GET, and `!` what becomes of nothing. `v` is the revision of a client.

use super::{Conversation, NotTaken, OPEN};
use crate::bridge::streams::NextEvent;
use crate::messages::messages;
use crate::play::plays;
use std::task::{Context, Poll, Waker};

impl Conversation {
    fn say(&mut self, client: u64, text: &str) -> Result<Vec<String>, NotTaken> {
        self.ask(client, &messages(text).unwrap()).map(|(_, lines)| lines)
    }

    /// What is to be read.
    fn unread(&mut self) -> Vec<String> {
        let mut log = Vec::new();
        for (client, stream) in (1..=3).flat_map(|client| (0..9).map(move |stream| (client, stream))) {
            let Some(streams) = self.streams(client) else { continue };
            let Some(reader) = streams.attach(stream, None) else { continue };
            let context = Context::from_waker(Waker::noop());
            while let Poll::Ready(NextEvent::Event(_, text)) = streams.poll_next(stream, reader, &context) {
                log.push(format!("<{client}.{stream} {text}"));
            }
        }
        log
    }
}

fn play(words: &str, lines: &[String]) -> Vec<String> {
    let mut all = Conversation::new(words == "shared");
    assert_eq!([all.join(), all.join(), all.join()], [1, 2, 3]);
    let mut log = Vec::new();
    for line in lines {
        let (sign, text) = line.split_once(' ').unwrap();
        let number = |text: &str| text.parse::<u64>().unwrap();
        let gets = match sign.split_at(1) {
            (">", client) => match all.say(number(client), text) {
                Ok(lines) => lines.iter().map(|line| format!("? {line}")).collect(),
                Err(why) => vec![format!("! {why:?}")],
            },
            ("~", _) => match all.receive(messages(text).unwrap()[0]) {
                Some(_) => Vec::new(),
                None => vec!["! nobody".to_owned()],
            },
            ("x", _) => {
                all.end(text);
                assert_eq!(all.open(), 0);
                Vec::new()
            }
            ("-", _) => {
                all.leave(number(text));
                Vec::new()
            }
            ("v", _) => {
                let client = number(text.split(' ').next().unwrap());
                log.push(format!("v {client} {}", all.clients[&client].version.as_deref().unwrap()));
                continue;
            }
            _ => continue,
        };
        log.push(line.clone());
        log.extend(gets);
        log.extend(all.unread());
    }
    log
}

#[test]
fn who_gets_what_is_as_written() {
    plays(include_str!("tests.txt"), |_, words, lines| play(words, lines));
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
