//! Both roles over stdio.

use super::{Folder, client, concord, tells};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use wire::play::journal::{self, Direction, Event};

const ASK: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"sum":3}}"#;
const LAST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
const SESSION: &[&str] = &[ASK, DONE, LAST, PONG];

/// A server for each mode.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/peer.sh");

/// A client that starts a server of `play`.
fn both(session: &Path, client_flags: &[&str], server_flags: &[&str]) -> Output {
    let mut command = client(session, client_flags);
    command.args(["--", env!("CARGO_BIN_EXE_mcp-concord"), "play", "--as", "server"]).arg(session);
    command.args(server_flags).output().unwrap()
}

/// What a server says to a client that says `input` and closes.
fn serve_input(session: &Path, flags: &[&str], input: &str) -> Output {
    let mut command = concord();
    command.args(["play", "--as", "server"]).arg(session).args(flags);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let saying = thread::spawn(move || {
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    saying.join().unwrap();
    output
}

#[test]
fn a_client_and_a_server_play_a_case() {
    for case in
        ["correlation/forty-open-calls", "recorded/everything-stdio", "direction/sampling-inside-a-call"]
    {
        let output = both(Path::new(case), &[], &["--chunk", "3"]);
        tells(&output, 0, &[case, "0 mismatches"]);
        // The server's words come through the client's standard error.
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(text.matches("0 mismatches").count(), 2, "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_server_that_goes_on_talking_is_left_and_told_in_few_words() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    for (talk, why) in [
        // Messages and lines without an end, each of which comes well within the time.
        (format!("while :; do echo '{note}'; done"), "what came for 1 second is not in the session"),
        ("while :; do echo no message; done".to_owned(), "what came for 1 second is not in the session"),
    ] {
        let mut command = client(&session, &["--timeout", "1"]);
        let output = command.args(["--", "sh", "-c", &talk]).output().unwrap();
        tells(&output, 1, &[why, "1 later message is no longer awaited"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let told = text.matches("mismatch: ").count();
        assert_eq!(told, usize::try_from(wire::play::TOLD).unwrap() + 1, "the first ones, and why it ended");
        assert!(text.contains("more mismatches are counted and not shown"), "{text}");
    }
}

#[test]
fn a_client_that_goes_on_talking_is_left_and_told_in_few_words() {
    let folder = Folder::new();
    let session = folder.session(SESSION).display().to_string();
    for talk in [r#"{"jsonrpc":"2.0","method":"notifications/message"}"#, "no message"] {
        let serve = [env!("CARGO_BIN_EXE_mcp-concord"), "play", "--as", "server", &session, "--timeout", "1"];
        let serve = shell_words::join(serve);
        let script = format!("{{ while echo '{talk}'; do :; done; }} 2>/dev/null | {serve}");
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        tells(&output, 1, &["what came for 1 second is not in the session"]);
        let text = String::from_utf8_lossy(&output.stderr);
        let told = text.matches("mismatch: ").count();
        assert_eq!(told, usize::try_from(wire::play::TOLD).unwrap() + 1, "the first ones, and why it ended");
    }
}

#[test]
fn journals_hold_what_passed() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let [one, other] = ["client", "server"].map(|name| folder.path(name));
    let [one_text, other_text] = [&one, &other].map(|path| path.display().to_string());
    let flags = ["--journal", &other_text, "--noise", "é"];
    let output = both(&session, &["--journal", &one_text], &flags);
    tells(&output, 1, &["not a message", "é"]);
    let [one, other] = [one, other].map(|path| journal::read(&path).unwrap());
    let bytes = |notes: &[journal::Entry], which: Direction| {
        let mut all = Vec::new();
        for note in notes {
            if let Event::Bytes { way, bytes, .. } = &note.event
                && *way == which
            {
                all.extend_from_slice(&bytes.0);
            }
        }
        String::from_utf8(all).unwrap()
    };
    assert_eq!(bytes(&one, Direction::Sent), format!("{ASK}\n{LAST}\n"));
    assert_eq!(bytes(&other, Direction::Sent), format!("é\n{DONE}\né\n{PONG}\n"));
    assert_eq!(bytes(&one, Direction::Received), bytes(&other, Direction::Sent));
    assert_eq!(bytes(&other, Direction::Received), bytes(&one, Direction::Sent));
    let has = |notes: &[journal::Entry], event: &Event| notes.iter().any(|note| note.event == *event);
    assert!(has(&one, &Event::Exited { code: Some(0), signal: None }), "{one:?}");
    assert!(has(&one, &Event::Over { sent: 2, received: 2, mismatches: 2 }), "{one:?}");
    assert!(has(&other, &Event::Over { sent: 2, received: 2, mismatches: 0 }), "{other:?}");
    for notes in [&one, &other] {
        for way in [Direction::Sent, Direction::Received] {
            assert!(has(notes, &Event::Ended { way, exchange: None, broken: None }), "{notes:?}");
        }
        assert!(matches!(notes[0].event, Event::Began { .. }));
    }
}

#[test]
fn a_server_plays_for_anybody() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let output = serve_input(&session, &[], &format!("{ASK}\n{LAST}\n"));
    tells(&output, 0, &["2 messages sent, 2 received, 0 mismatches"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{DONE}\n{PONG}\n"));
}

#[test]
fn departures_have_a_place() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let name = session.display().to_string();
    let at = |line: u64| format!("{name}:{line} ");
    for (input, parts) in [
        (
            format!("{}\n{LAST}\n", ASK.replace("\"a\":1", "\"a\":2")),
            vec!["the message differs at /arguments/a: expected 1, got 2".to_owned(), at(1)],
        ),
        (format!("{LAST}\n{ASK}\n"), vec!["a message came early".into(), at(3)]),
        (
            format!("{ASK}\n{}\n{LAST}\n", LAST.replace("ping", "x/y")),
            vec!["the session does not have it here".into(), "x/y".into()],
        ),
        (format!("{ASK}\nhello\n{LAST}\n"), vec!["not a message".into(), "hello".into()]),
        (format!("[{ASK},{LAST}]\n"), vec!["several messages in one array".into()]),
        (
            format!("{ASK}\n"),
            vec!["a message is missing: the other side has ended".into(), at(3), LAST.into()],
        ),
    ] {
        let output = serve_input(&session, &[], &input);
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        tells(&output, 1, &parts);
        tells(&output, 1, &["1 mismatch\n"]);
    }
    let output = serve_input(
        &session,
        &["--ignore", "/arguments/a"],
        &format!("{}\n{LAST}\n", ASK.replace(":1}", ":2}")),
    );
    tells(&output, 0, &["0 mismatches"]);
}

#[test]
fn other_ids_are_answered() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let input =
        format!("{}\n{}\n", ASK.replace("\"id\":1", "\"id\":\"é\""), LAST.replace("\"id\":2", "\"id\":1"));
    let output = serve_input(&session, &[], &input);
    tells(&output, 0, &["0 mismatches"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        said,
        format!("{}\n{}\n", DONE.replace("\"id\":1", "\"id\":\"é\""), PONG.replace("\"id\":2", "\"id\":1"))
    );
}

#[test]
fn silence_has_an_end() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let run =
        |mode: &str| client(&session, &["--timeout", "0.2"]).args(["--", "sh", PEER, mode]).output().unwrap();
    tells(
        &run("silent"),
        1,
        &["a message is missing: nothing arrived for 0.2 seconds; 1 later message is no longer awaited"],
    );
    tells(&run("half-answer"), 1, &["nothing arrived for 0.2 seconds after 20 bytes of a line"]);
    let long = format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"x":"{}"}}}}"#, "x".repeat(1 << 20));
    let session = folder.session(&[&long, ASK, DONE]);
    let deaf = client(&session, &["--timeout", "0.2"]).args(["--", "sh", PEER, "deaf"]).output().unwrap();
    tells(&deaf, 1, &["the other side has not read for 0.2 seconds"]);
}

#[test]
fn a_client_that_vanishes_is_told() {
    let folder = Folder::new();
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "x".repeat(1 << 20));
    let session = folder.session(&[ASK, &long, LAST, PONG]);
    let mut command = concord();
    command.args(["play", "--as", "server"]).arg(&session).args(["--timeout", "5"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{ASK}\n").as_bytes()).unwrap();
    let mut begun = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut begun).unwrap();
    let output = child.wait_with_output().unwrap();
    tells(&output, 1, &["a message is missing: the other side has ended", "session.jsonl:3 "]);
}

#[test]
fn a_server_that_stays_is_killed() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let output = client(&session, &["--timeout", "0.3"]).args(["--", "sh", PEER, "stays"]).output().unwrap();
    tells(&output, 1, &["the server had not ended 0.3 seconds after its input was closed", "2 received"]);
}

#[test]
fn a_hundred_megabytes_are_not_held() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let output = client(&session, &[]).args(["--", "sh", PEER, "long-line"]).output().unwrap();
    tells(
        &output,
        1,
        &["skipped a message of 104857602 bytes, which is too large to hold", "2 received, 1 mismatch"],
    );
}

#[test]
fn what_cannot_be_played_is_said() {
    let folder = Folder::new();
    let session = folder.session(SESSION);
    let empty = folder.path("empty.json");
    std::fs::write(&empty, r#"{"transport":"http-sse","entries":[]}"#).unwrap();
    let broken = folder.path("broken.jsonl");
    std::fs::write(&broken, format!("{ASK}\n{{\"jsonrpc\":\"2.0\",\"id\":[]}}\n")).unwrap();
    let folder = folder.path("no/folder");
    let [session, empty, broken, folder] =
        [session, empty, broken, folder].map(|path| path.display().to_string());
    let run = |words: &[&str]| {
        let mut command: Command = concord();
        command.arg("play").args(words).stdin(Stdio::null()).output().unwrap()
    };
    for (words, code, part) in [
        (&["--as", "client", &session, "--", "no-such-program-here"][..], 3, "there is no program"),
        (&["--as", "client", &session, "--", &session], 3, "may not be executed"),
        (&["--as", "client", &session], 2, "name its command"),
        (&["--as", "server", &session, "--", "true"], 2, "leave the command out"),
        (&["--as", "server", "-"], 2, "the standard input is the client's"),
        (&["--as", "server", "no/such/case"], 2, "there is no file"),
        (&["--as", "server", &empty], 2, "it holds no message"),
        (&["--as", "server", &broken], 2, "broken.jsonl:2:"),
        (&["--as", "server", "survival/not-utf8"], 2, "survival/not-utf8"),
        (&["--as", "server", &session, "--journal", &folder], 2, "its folder is not there"),
        (&["--as", "server", &session, "--timeout", "0"], 2, "is not a time"),
        (&["--as", "server", &session, "--chunk", "0"], 2, "--chunk"),
        (&["--as", "server", "ids/zero", "--format", "nothing"], 2, "possible values"),
        (&["--as", "nobody", &session], 2, "--as"),
    ] {
        let output = run(words);
        tells(&output, code, &[part]);
        assert!(output.stdout.is_empty(), "{words:?}");
    }
}
