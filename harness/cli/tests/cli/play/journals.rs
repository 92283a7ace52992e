//! What the journals of both sides hold.

use super::{Folder, client};
use crate::support::{PROGRAM, ended};
use wire::play::journal::{self, Direction, JournalEvent};

const ASK: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"sum":3}}"#;
const LAST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;

#[test]
fn journals_hold_what_passed() {
    let folder = Folder::new();
    let session = folder.session(&[ASK, DONE, LAST, PONG]);
    let [one, other] = ["client", "server"].map(|name| folder.path(name));
    let [one_text, other_text] = [&one, &other].map(|path| path.display().to_string());
    let flags = ["--journal", &other_text, "--noise", "é"];
    let mut command = client(&session, &["--journal", &one_text, "--", PROGRAM, "play", "--as", "server"]);
    let output = command.arg(&session).args(flags).output().unwrap();
    ended(&output, 1, &["not a message", "é"]);
    let [one, other] = [one, other].map(|path| journal::read(&path).unwrap());
    let bytes = |notes: &[journal::Entry], which: Direction| {
        let mut all = Vec::new();
        for note in notes {
            if let JournalEvent::Bytes { way, bytes, .. } = &note.event
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
    let has = |notes: &[journal::Entry], event: &JournalEvent| notes.iter().any(|note| note.event == *event);
    assert!(has(&one, &JournalEvent::Exited { code: Some(0), signal: None }), "{one:?}");
    assert!(has(&one, &JournalEvent::Over { sent: 2, received: 2, mismatches: 2 }), "{one:?}");
    assert!(has(&other, &JournalEvent::Over { sent: 2, received: 2, mismatches: 0 }), "{other:?}");
    for notes in [&one, &other] {
        for way in [Direction::Sent, Direction::Received] {
            assert!(has(notes, &JournalEvent::Ended { way, exchange: None, broken: None }), "{notes:?}");
        }
        assert!(matches!(notes[0].event, JournalEvent::Began { .. }));
    }
}
