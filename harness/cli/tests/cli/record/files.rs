//! Whose the file of a recording is, and what stands in it when it could not be written.

use super::{ASK, Session, first_line, talk, until, words};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

/// Runs the program with these words where no file can grow beyond so many blocks of 512 bytes.
fn on_a_small_disk(blocks: u32, words: &[&str], input: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_mcp-concord")]).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    talk(command.spawn().unwrap(), input.as_bytes())
}

#[test]
fn two_recorders_do_not_share_a_file() {
    let session = Session::new();
    let mut first = session.start(&[], "answers");
    let mut stdin = first.stdin.take().unwrap();
    until("the file is there", || session.trace().exists());
    for flags in [&[][..], &["--force"]] {
        let second = session.run(flags, "answers", ASK.as_bytes());
        assert_eq!(second.status.code(), Some(2), "{}", words(&second));
        assert!(second.stdout.is_empty(), "no server was started");
        // An empty file that is taken, or one that holds the first lines already.
        let said = words(&second);
        assert!(said.contains("by another program") || said.contains("is there already"), "{said}");
    }
    stdin.write_all(ASK.as_bytes()).unwrap();
    assert!(first_line(&mut first).contains("result"));
    drop(stdin);
    assert!(first.wait().unwrap().success());
    assert_eq!(session.is_right().matches("\"kind\"").count(), 2);
}

#[test]
fn a_recording_is_for_its_owner_alone() {
    let session = Session::new();
    let har = session.folder.path().join("session.har");
    assert!(session.run(&[], "answers", ASK.as_bytes()).status.success());
    assert!(talk(session.record(&har, &[], "answers").spawn().unwrap(), ASK.as_bytes()).status.success());
    for path in [session.trace(), har] {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn a_pipe_that_nobody_reads_is_refused() {
    let session = Session::new();
    let pipe = session.folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = talk(session.record(&pipe, &[], "answers").spawn().unwrap(), ASK.as_bytes());
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).contains("a pipe that nobody reads"), "{}", words(&output));
}

#[test]
fn what_is_converted_is_there_wholly_or_not_at_all() {
    let session = Session::new();
    let har = session.folder.path().join("session.har");
    let out = har.display().to_string();
    // The trace of one call has about 500 bytes and fits; its archive has more.
    let output = on_a_small_disk(
        2,
        &["record", "-o", &out, "--", "sh", super::PEER, "answers"],
        &ASK.replace("ping", &"p".repeat(200)),
    );
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(words(&output).contains("session.har was not written"), "{}", words(&output));
    assert!(!har.exists());
    let left: Vec<_> =
        fs::read_dir(session.folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["session.har.mcp-replay.jsonl"]);
}
