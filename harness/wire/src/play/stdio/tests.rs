//! Both sides of every session of the suite, over two pipes in one process.

use super::{Conversation, Played};
use crate::play::Variants;
use crate::play::script::tests::of_bytes;
use crate::play::testing::{Both, agree, played, sessions, ways};
use crate::stdio::pipe;
use std::fs::File;
use std::thread;
use std::time::Duration;
use transcript::session::Side;

fn play(
    session: &[u8],
    format: &str,
    side: Side,
    variants: &Variants,
    pipes: (File, File),
) -> (Played, Vec<String>) {
    let script = of_bytes(format, session, side).unwrap();
    played(&script, Duration::from_secs(20), variants, |plan| {
        let mut conversation = Conversation::new(plan, pipes.0, pipes.1);
        conversation.play();
        assert!(conversation.rest(), "the other side did not end");
        conversation.game.played()
    })
}

/// Both sides of a session at once; what each of them saw.
fn both(session: &[u8], format: &str, variants: &Variants) -> Both {
    let [(to_server, from_client), (to_client, from_server)] = [pipe().unwrap(), pipe().unwrap()];
    thread::scope(|scope| {
        let server = scope.spawn(|| play(session, format, Side::Server, variants, (to_server, from_server)));
        let client = play(session, format, Side::Client, variants, (to_client, from_client));
        [client, server.join().unwrap()]
    })
}

fn is_well(name: &str, session: &[u8], format: &str, variants: &Variants) {
    let both = both(session, format, variants);
    assert!(both.iter().all(|seen| seen.1.is_empty()), "{name} in {format}, {variants:?}: {both:?}");
    agree(name, &both);
}

#[test]
fn both_sides_of_every_session_find_nothing_in_each_other() {
    let mut count = 0;
    sessions(&mut |name, format, bytes| {
        is_well(name, bytes, format, &Variants::default());
        count += 1;
    });
    assert!(count > 1000, "{count}");
}

#[test]
fn no_way_of_saying_changes_what_is_heard() {
    let ways = ways();
    let mut turn = 0;
    sessions(&mut |name, format, bytes| {
        if format != "mcp-replay" || bytes.len() > 100_000 {
            return;
        }
        is_well(name, bytes, format, &ways[turn % ways.len()]);
        turn += 1;
    });
    assert!(turn > 100, "{turn}");
}

const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
    "\n",
);

#[test]
fn noise_and_half_lines_are_reported_and_cost_no_message() {
    let noise = Variants { noise: Some("listening".into()), ..Variants::default() };
    for (played, reports) in both(CALL.as_bytes(), "jsonrpc", &noise) {
        assert_eq!((played.sent, played.received, played.mismatches), (2, 2, 2));
        assert!(reports.iter().all(|report| report.starts_with("mismatch: not a message")), "{reports:?}");
    }
    let half = Variants { half_line_at_end: true, ..Variants::default() };
    for (played, reports) in both(CALL.as_bytes(), "jsonrpc", &half) {
        assert_eq!((played.sent, played.received, reports.len()), (2, 2, 1), "{reports:?}");
        assert!(reports[0].contains("the text ends where"), "{reports:?}");
    }
}

#[test]
fn who_closes_early_is_missed_and_misses_nobody() {
    for (after, said) in [(0, 0), (1, 1), (5, 2)] {
        let early = Variants { close_after: Some(after), ..Variants::default() };
        let [(to_server, from_client), (to_client, from_server)] = [pipe().unwrap(), pipe().unwrap()];
        let (client, server) = thread::scope(|scope| {
            let server = scope
                .spawn(|| play(CALL.as_bytes(), "jsonrpc", Side::Server, &early, (to_server, from_server)));
            let pipes = (to_client, from_client);
            (
                play(CALL.as_bytes(), "jsonrpc", Side::Client, &Variants::default(), pipes),
                server.join().unwrap(),
            )
        });
        assert_eq!((server.0.sent, server.0.mismatches), (said, 0), "{server:?}");
        assert_eq!(client.0.mismatches, u64::from(after < 2), "{client:?}");
        assert!(client.1.iter().all(|report| report.contains("the other side has ended")), "{client:?}");
    }
}
