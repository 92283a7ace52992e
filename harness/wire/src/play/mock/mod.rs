//! A server that answers each request with what the recording has for one that says the same, in any order and as often as
//! it is asked.
//!
//! What the recording has is found by method and parameters (`catalogue`). What one client is sent is pure (`client`, and
//! `forwarding` for what a live server is asked instead); a transport carries it (`stdio`, and `http::server::mock`). What
//! was new is put into the recording when all is over (`additions`).
//!
//! Memory: the session and an entry for each of its messages, and for each client how often it asked for what, the requests
//! that wait for an answer, and what was new.

mod additions;
mod catalogue;
mod client;
mod forwarding;
mod stdio;

pub use additions::{New, can_grow, grown};
pub(super) use catalogue::Catalogue;
pub(super) use client::MockClient;
pub use stdio::as_server;

use super::plan::{Mismatch, Played};
use crate::messages::internal_error;

/// How requests are answered.
#[derive(Debug, Clone, Default)]
pub struct Matching {
    /// Each recorded answer is given once to a client. Without it the last one of several is given again.
    pub once: bool,
    /// The command of a live server, and what it is asked.
    pub live: Option<(Vec<String>, AskLive)>,
}

/// What a live server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskLive {
    /// What the recording does not have.
    New,
    /// Everything: the recording is renewed.
    All,
}

/// The outcome of a mock.
#[derive(Debug, Default)]
pub struct Served {
    /// What was sent and received. A mismatch is a request without an answer.
    pub played: Played,
    /// What a live server was asked, with what it answered: by client, in the order of the answers.
    pub new: Vec<New>,
    /// Why a live server could not be started.
    pub not_started: Option<String>,
}

/// Something to be done for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Send it this.
    Send {
        /// The message, on one line.
        text: String,
        /// The tag of the request that it belongs to, until that is answered.
        about: Option<u64>,
        /// It is the answer.
        last: bool,
    },
    /// Send this to the live server.
    Ask(String),
    /// Report this.
    Report(Mismatch),
}

/// An error for a request that cannot be answered.
fn refusal(id: &str, why: &str, tag: u64) -> Action {
    let text = internal_error(id, &format!("mcp-concord play: {why}"));
    Action::Send { text, about: Some(tag), last: true }
}

#[cfg(test)]
mod tests {
    use super::{Action, AskLive, Catalogue, Matching, MockClient, can_grow, grown};
    use crate::play::http::Answers;
    use crate::play::read_session;
    use crate::play::script::tests::script;
    use crate::play::testing::{plays, sessions};
    use formats::find;
    use std::time::Duration;
    use transcript::diff::{DiffOptions, PointerPattern};
    use transcript::message::Message;
    use transcript::session::Side;

    fn shown(action: Action) -> String {
        match action {
            Action::Send { text, last: true, .. } => format!("<< {text}"),
            Action::Send { text, .. } => format!("< {text}"),
            Action::Ask(text) => format!("? {text}"),
            Action::Report(mismatch) => {
                let step = mismatch.step.map_or(String::new(), |step| format!(" [{step}]"));
                format!("! {}{step}", mismatch.headline())
            }
        }
    }

    fn rules(words: &str) -> DiffOptions {
        let ignore = words.split(' ').filter(|word| word.starts_with('/'));
        let ignore = ignore.map(|text| PointerPattern::parse(text).unwrap()).collect();
        DiffOptions { ignore, redacted: Some("[REDACTED]".to_owned()) }
    }

    /// A play of `tests.txt`. Each has a recording and, behind `---` with how it is answered from, what happens: `>` a message
    /// of the client, `~` one of a live server, `x` why that is gone, and `.` seconds in which something may have come; then `<` a
    /// message to the client, `<<` the last one for its request, `?` what the live server is asked, `!` a mismatch and the step that is
    /// nearest. At the end, `+` is a message of the recording with what was new.
    fn play(session: &[&str], words: &str, lines: &[String]) -> Vec<String> {
        let script = script(session, Side::Server).unwrap();
        let rules = rules(words);
        let ask = match words {
            "live" => Some(AskLive::New),
            "renewed" => Some(AskLive::All),
            _ => None,
        };
        let matching =
            Matching { once: words == "once", live: ask.map(|ask| (vec!["live".to_owned()], ask)) };
        let catalogue = Catalogue::new(&script, &rules, Answers::AsRecorded).unwrap();
        let mut client = MockClient::new(&catalogue, &matching);
        let mut log = Vec::new();
        for line in lines {
            let actions = match line.split_once(' ').unwrap() {
                (">", text) => client.receive(Message::parse(text).unwrap(), 7).0,
                ("~", text) => client.live.receive(text, &mut client.ids),
                ("x", why) => client.live.ended(why),
                (".", seconds) => client.expire(Duration::from_secs(seconds.parse().unwrap())),
                _ => continue,
            };
            log.push(line.clone());
            log.extend(actions.into_iter().map(shown));
        }
        let new = std::mem::take(&mut client.live.new);
        if !new.is_empty() {
            let format = find("mcp-replay").unwrap();
            assert_eq!(can_grow(&script.session, format), Ok(()));
            let bytes = grown(&script, &rules, new, ask == Some(AskLive::All), format).unwrap();
            let session = read_session(format, &bytes).unwrap();
            log.extend(session.messages().map(|message| format!("+ {}", message.text())));
        }
        log
    }

    #[test]
    fn every_play_goes_as_written() {
        plays(include_str!("tests.txt"), play);
    }

    /// Every request of every session of the suite, asked in the opposite order, has its recorded answer.
    #[test]
    fn every_answer_of_the_suite_is_given_in_the_opposite_order() {
        let mut count = 0;
        sessions(&mut |name, format, bytes| {
            let script = crate::play::script::tests::of_bytes(format, bytes, Side::Server).unwrap();
            let rules = DiffOptions::default();
            let Ok(catalogue) = Catalogue::new(&script, &rules, Answers::AsRecorded) else { return };
            let matching = Matching { once: true, live: None };
            let mut client = MockClient::new(&catalogue, &matching);
            for (answer, step) in script.steps.iter().enumerate().rev() {
                let Some(asked) = step.answers.filter(|_| step.side == Side::Server) else { continue };
                let (asked, recorded) = (script.message(asked).unwrap(), script.message(answer).unwrap());
                if recorded.id().key().is_none() || asked.method().is_none() || script.is_again(answer) {
                    continue;
                }
                let (mut actions, _) = client.receive(asked, 1);
                while !client.is_idle() {
                    actions.extend(client.expire(Duration::ZERO));
                }
                let answered = actions.iter().any(|action| matches!(action, Action::Send { last: true, .. }));
                assert!(answered, "{name} {format}: {}", asked.text());
                count += 1;
            }
        });
        assert!(count > 500, "{count}");
    }
}
