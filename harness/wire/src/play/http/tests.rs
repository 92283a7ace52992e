//! Both sides of every session of the suite, over a socket in one process.

use super::{Answers, Presence, Server, Transport, as_client};
use crate::http::{Limits, Target};
use crate::play::script::tests::of_bytes;
use crate::play::testing::{Both, agree, played, sessions, ways};
use crate::play::{Plan, Variants};
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;
use tokio::sync::watch;
use transcript::session::Side;

struct Peers<'b> {
    transport: Transport,
    answers: Answers,
    ways: [&'b Variants; 2],
    patience: Duration,
    /// How many clients come first, send half a head each, and stay.
    half_heads: usize,
}

impl Peers<'_> {
    fn new(transport: Transport) -> Self {
        static PLAIN: LazyLock<Variants> = LazyLock::new(Variants::default);
        let patience = Duration::from_secs(10);
        Self { transport, answers: Answers::AsRecorded, ways: [&PLAIN; 2], patience, half_heads: 0 }
    }

    /// What the client saw, and what the server saw.
    fn play(&self, session: &[u8], format: &str) -> Both {
        let mut server =
            Server::listen("127.0.0.1:0".parse().unwrap(), self.transport, self.answers).unwrap();
        if self.half_heads > 0 {
            // There is room only for them.
            server.limits = Limits { connections: self.half_heads, head_deadline: Duration::from_secs(1) };
        }
        let url = server.url().unwrap();
        let target = Target::parse(&url).unwrap();
        let address = url.split('/').nth(2).unwrap();
        let half = |_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: loc").unwrap();
            stream
        };
        let _half_heads: Vec<TcpStream> = (0..self.half_heads).map(half).collect();
        let script = |side| of_bytes(format, session, side).unwrap();
        let [asks, answers] = self.ways;
        thread::scope(|scope| {
            let serving = scope.spawn(|| {
                let play = |plan: &Plan<'_>| server.play(plan).unwrap();
                played(&script(Side::Server), self.patience, answers, play)
            });
            let play = |plan: &Plan<'_>| as_client(plan, &target, self.transport).unwrap();
            let client = played(&script(Side::Client), self.patience, asks, play);
            [client, serving.join().unwrap()]
        })
    }

    /// Neither side sees a mismatch, and each heard what the other said.
    fn is_well(&self, name: &str, session: &[u8], format: &str) {
        agree(&format!("{name} in {format}"), &self.play(session, format));
    }
}

#[test]
fn both_sides_of_every_session_find_nothing_in_each_other() {
    for (transport, formats, least) in [
        (Transport::StreamableHttp, &["streamable-http", "har", "mcp-replay"][..], 500),
        (Transport::HttpSse, &["http-sse", "jsonrpc"], 300),
    ] {
        let mut count = 0;
        sessions(&mut |name, format, bytes| {
            if formats.contains(&format) {
                Peers::new(transport).is_well(name, bytes, format);
                count += 1;
            }
        });
        assert!(count > least, "{count}");
    }
}

/// Nobody waits for what cannot come, however patient the server is.
#[test]
fn a_server_ends_when_nobody_comes_any_more() {
    let server =
        Server::listen("127.0.0.1:0".parse().unwrap(), Transport::StreamableHttp, Answers::AsRecorded);
    let session = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let script = of_bytes("jsonrpc", session, Side::Server).unwrap();
    let (tell, gone) = watch::channel(Presence::Over);
    let serving = thread::spawn(move || {
        let play = |plan: &Plan<'_>| server.unwrap().play_until(plan, gone).unwrap();
        played(&script, Duration::from_secs(60), &Variants::default(), play)
    });
    tell.send(Presence::Gone).unwrap();
    let (played, reports) = serving.join().unwrap();
    assert_eq!(played.mismatches, 1);
    assert!(reports[0].contains("no client came back"), "{reports:?}");
}

/// Who plays may still ask for something, as for a stream of the server's own, when all was said.
#[test]
fn a_server_listens_as_long_as_its_client_plays() {
    let server =
        Server::listen("127.0.0.1:0".parse().unwrap(), Transport::StreamableHttp, Answers::AsRecorded)
            .unwrap();
    let target = Target::parse(&server.url().unwrap()).unwrap();
    let session = br#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
    let script = |side| of_bytes("jsonrpc", session, side).unwrap();
    let (patience, plain) = (Duration::from_secs(60), Variants::default());
    let (tell, presence) = watch::channel(Presence::Plays);
    thread::scope(|scope| {
        let play = |plan: &Plan<'_>| as_client(plan, &target, Transport::StreamableHttp).unwrap();
        let (script, plain) = (&script, &plain);
        let serving = scope.spawn(move || {
            let play = |plan: &Plan<'_>| server.play_until(plan, presence).unwrap();
            played(&script(Side::Server), patience, plain, play)
        });
        played(&script(Side::Client), patience, plain, play);
        thread::sleep(Duration::from_millis(200));
        let address = target.origin().rsplit('/').next().unwrap().to_owned();
        assert!(TcpStream::connect(address).is_ok());
        tell.send(Presence::Over).unwrap();
        assert_eq!(serving.join().unwrap().0.mismatches, 0);
    });
}

/// Without a deadline they would keep every place for as long as they like.
#[test]
fn half_a_head_keeps_no_place_from_others() {
    let session = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        "\n"
    );
    for transport in [Transport::StreamableHttp, Transport::HttpSse] {
        let peers = Peers { half_heads: 4, ..Peers::new(transport) };
        peers.is_well("half a head", session.as_bytes(), "jsonrpc");
    }
}

#[test]
fn no_form_of_answer_and_no_way_of_saying_changes_what_is_heard() {
    let [pieces, _, merged, slow, late] = ways();
    let ways = [pieces, Variants { redeliver: true, ..Variants::default() }, slow, late, merged];
    let (mut turn, plain) = (0, Variants::default());
    sessions(&mut |name, format, bytes| {
        let transport = match format {
            "streamable-http" => Transport::StreamableHttp,
            "http-sse" => Transport::HttpSse,
            _ => return,
        };
        // A session that delivers again by itself looks like a server that does.
        let script = of_bytes(format, bytes, Side::Client).unwrap();
        if bytes.len() > 50_000 || (0..script.steps.len()).any(|step| script.is_again(step)) {
            return;
        }
        let answers = [Answers::Json, Answers::Stream][turn % 2];
        let ways = [if ways[turn % 5].redeliver { &plain } else { &ways[turn % 5] }, &ways[turn % 5]];
        Peers { answers, ways, ..Peers::new(transport) }.is_well(name, bytes, format);
        turn += 1;
    });
    assert!(turn > 200, "{turn}");
}
