//! Both sides of every session of the suite, over a socket in one process.

use super::{Answers, Server, Transport, as_client};
use crate::play::journal::Journal;
use crate::play::script::tests::of_bytes;
use crate::play::testing::{Told, sessions};
use crate::play::{Plan, Played, Variants};
use crate::proxy::Target;
use std::thread;
use std::time::Duration;
use transcript::diff::DiffOptions;
use transcript::session::Side;

type Seen = (Played, Vec<String>);

struct Both<'b> {
    transport: Transport,
    answers: Answers,
    ways: [&'b Variants; 2],
    patience: Duration,
}

impl Both<'_> {
    fn of(transport: Transport) -> Self {
        const PLAIN: &Variants = &Variants {
            delay: Duration::ZERO,
            chunk: None,
            merge: false,
            close_after: None,
            redeliver: false,
            noise: None,
            slow_read: Duration::ZERO,
            half_line_at_end: false,
        };
        let patience = Duration::from_secs(10);
        Self { transport, answers: Answers::AsRecorded, ways: [PLAIN; 2], patience }
    }

    /// What the client saw, and what the server saw.
    fn play(&self, session: &[u8], format: &str) -> [Seen; 2] {
        let server = Server::listen("127.0.0.1:0".parse().unwrap(), self.transport, self.answers).unwrap();
        let target = Target::parse(&server.url().unwrap()).unwrap();
        let side = |side: Side, variants: &Variants, play: &dyn Fn(&Plan<'_>) -> Played| {
            let script = of_bytes(format, session, side).unwrap();
            let (rules, journal, tell) = (DiffOptions::default(), Journal::default(), Told::default());
            let patience = self.patience;
            let played = play(&Plan {
                script: &script,
                rules: &rules,
                patience,
                variants,
                journal: &journal,
                name: "session",
                notify: &tell,
            });
            (played, tell.all())
        };
        thread::scope(|scope| {
            let serving = scope.spawn(move || {
                let server = std::cell::Cell::new(Some(server));
                side(Side::Server, self.ways[1], &|plan| server.take().unwrap().play(plan).unwrap())
            });
            let client =
                side(Side::Client, self.ways[0], &|plan| as_client(plan, &target, self.transport).unwrap());
            [client, serving.join().unwrap()]
        })
    }

    /// Neither side sees a mismatch, and each heard what the other said.
    fn is_well(&self, name: &str, session: &[u8], format: &str) {
        let [client, server] = self.play(session, format);
        let found = |seen: &Seen| seen.0.mismatches > 0;
        assert!(
            !found(&client) && !found(&server),
            "{name} in {format}:\nclient {client:?}\nserver {server:?}"
        );
        assert_eq!(
            (client.0.sent, client.0.received),
            (server.0.received, server.0.sent),
            "{name} in {format}"
        );
    }
}

#[test]
fn both_sides_of_every_session_find_nothing_over_streamable_http() {
    let mut count = 0;
    sessions(&mut |name, format, bytes| {
        if ["streamable-http", "har", "mcp-replay"].contains(&format) {
            Both::of(Transport::StreamableHttp).is_well(name, bytes, format);
            count += 1;
        }
    });
    assert!(count > 500, "{count}");
}

#[test]
fn both_sides_of_every_session_find_nothing_over_http_sse() {
    let mut count = 0;
    sessions(&mut |name, format, bytes| {
        if ["http-sse", "jsonrpc"].contains(&format) {
            Both::of(Transport::HttpSse).is_well(name, bytes, format);
            count += 1;
        }
    });
    assert!(count > 300, "{count}");
}

#[test]
fn no_form_of_answer_and_no_way_of_saying_changes_what_is_heard() {
    let ways = [
        Variants { chunk: Some(1), ..Variants::default() },
        Variants { redeliver: true, ..Variants::default() },
        Variants { slow_read: Duration::from_micros(50), ..Variants::default() },
        Variants { delay: Duration::from_micros(50), ..Variants::default() },
        Variants { merge: true, ..Variants::default() },
    ];
    let (mut turn, plain) = (0, Variants::default());
    sessions(&mut |name, format, bytes| {
        let transport = match format {
            "streamable-http" => Transport::StreamableHttp,
            "http-sse" => Transport::HttpSse,
            _ => return,
        };
        // A session that delivers again by itself cannot be told from a server that does.
        let script = of_bytes(format, bytes, Side::Client).unwrap();
        if bytes.len() > 50_000 || (0..script.steps().len()).any(|step| script.is_again(step)) {
            return;
        }
        let answers = [Answers::Json, Answers::Stream][turn % 2];
        let ways = [if ways[turn % 5].redeliver { &plain } else { &ways[turn % 5] }, &ways[turn % 5]];
        Both { answers, ways, ..Both::of(transport) }.is_well(name, bytes, format);
        turn += 1;
    });
    assert!(turn > 200, "{turn}");
}
