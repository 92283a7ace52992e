//! Inputs that nobody would write and that somebody will send (clauses SRV-BYTES, SRV-DEPTH); pipes and disks that cannot be used
//! are in `tests/cmd/survival.md`.
//!
//! Each run ends by itself with a documented code; what is refused has a place, and nothing is printed of it. Depth runs on a
//! stack of half a megabyte and length in a bounded memory, so that neither can be had by luck.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::{PROGRAM, concord, peak};
use formats::{FORMATS, Format, Input, ReadOptions, Session, find};
use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use transcript::session::Side;

const ORDINARY: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"é"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"naïve"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"add","arguments":{"text":"日本"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"c","error":{"code":-1,"message":"no"}}"#,
    "\n",
);

/// What came of a run.
struct Ended {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Ended {
    fn new(output: Output) -> Self {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!err.contains("panicked") && !err.contains("overflow"), "{err}");
        // None would be a signal: a stack that ran out, memory that was refused.
        assert!(output.status.code().is_some(), "{}: {err}", output.status);
        Self { code: output.status.code(), out: output.stdout, err }
    }

    /// Exit 1 and a place, and nothing printed.
    #[track_caller]
    fn rejected(self, what: &str) -> String {
        assert_eq!(self.code, Some(1), "{what}: {}", self.err);
        assert!(self.err.contains("error[") && self.err.contains("--> "), "{what}: {}", self.err);
        assert!(self.out.is_empty(), "{what}: something was printed of what was rejected");
        self.err
    }

    #[track_caller]
    fn well(self, what: &str) -> Vec<u8> {
        assert_eq!(self.code, Some(0), "{what}: {}", self.err);
        self.out
    }
}

fn run(words: &[&str]) -> Ended {
    Ended::new(concord(words).output().unwrap())
}

/// The program from a shell, under a limit.
fn limited(limit: &str, words: &[&str]) -> Ended {
    let script = format!("ulimit {limit}; exec \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh", PROGRAM]).args(words).stdin(Stdio::null());
    Ended::new(shell.output().unwrap())
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name).display().to_string()
    }
}

/// Lines in another format.
fn spelled(format: &Format, lines: &str) -> Vec<u8> {
    let mut lines = lines.as_bytes();
    let mut input = Input::new(&mut lines).unwrap();
    let session = Session::read(find("jsonrpc").unwrap(), &mut input, ReadOptions::default()).unwrap();
    if !format.is_written() {
        return logged(format, &session);
    }
    let mut out = Vec::new();
    format.write(&session, &mut out).unwrap();
    out
}

/// The logs that only their own programs write: a name, the first line, and what stands before a message of the client's or the
/// server's.
const LOGS: [(&str, &str, [&str; 2]); 3] = [
    (
        "claude-desktop-log",
        "2026-03-01T09:39:03.203Z [s] [info] Server started and connected successfully\n",
        [
            "2026-03-01T09:39:03.203Z [s] [info] Message from client: ",
            "2026-03-01T09:39:03.203Z [s] [info] Message from server: ",
        ],
    ),
    (
        "vscode-log",
        "2026-10-05 09:49:21.338 [info] Connection state: Running\n",
        [
            "2026-10-05 09:49:21.377 [debug] [editor -> server] ",
            "2026-10-05 09:49:21.377 [debug] [server -> editor] ",
        ],
    ),
    ("marked-text", "", ["STDIN: ", "STDOUT: "]),
];

fn logged(format: &Format, session: &Session) -> Vec<u8> {
    let (_, head, [client, server]) = LOGS.into_iter().find(|(name, ..)| *name == format.name).unwrap();
    let line = |entry: &formats::OwnedEntry| {
        let mark = if entry.side == Some(Side::Client) { client } else { server };
        entry.message().map(|message| format!("{mark}{}\n", message.text()))
    };
    (head.to_owned() + &session.entries.iter().filter_map(line).collect::<String>()).into_bytes()
}

#[test]
fn ten_thousand_and_a_million_levels_need_no_stack() {
    let (folder, stack) = (Folder::new(), "-s 512");
    for levels in [10_000, 1_000_000] {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"n\",\"arguments\":{{\"a\":{open}{close}}}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}0{}}}\n",
            "{\"d\":".repeat(levels),
            "}".repeat(levels)
        );
        let meant = limited(stack, &["read", &folder.file("lines", line.as_bytes())]).well("lines");
        assert!(meant.len() > 8 * levels, "the depth is in the meaning");
        for format in FORMATS {
            let text = spelled(format, &line);
            let read = limited(stack, &["read", &folder.file(format.file, &text)]).well(format.name);
            assert!(read == meant, "{} reads {levels} levels otherwise", format.name);
            let cut = folder.file("cut", &text[..text.len() / 2]);
            limited(stack, &["read", "--format", format.name, &cut]).rejected(format.name);
        }
        // One value at the very bottom differs, and white space everywhere.
        let other = line.replace(&close, &format!(" 7{close}")).replace("\"d\":", "\"d\": ");
        let (left, right) =
            (folder.path("jsonrpc.jsonl").display().to_string(), folder.file("other", other.as_bytes()));
        let ended = limited(stack, &["diff", &left, &right]);
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        assert!(String::from_utf8_lossy(&ended.out).contains("event 0 differs at /arguments/a/0/0/0"));
        limited(stack, &["convert", "--to", "mcp-replay", &right]).well("convert");
    }
}

#[test]
fn nothing_but_brackets_is_a_rejection() {
    let folder = Folder::new();
    for (name, text) in [("open", "[".repeat(1_000_000)), ("keys", "{\"a\":".repeat(1_000_000))] {
        let path = folder.file(name, text.as_bytes());
        for format in FORMATS {
            limited("-s 512", &["read", "--format", format.name, &path]).rejected(format.name);
        }
        assert!(matches!(limited("-s 512", &["read", &path]).code, Some(1 | 2)));
    }
}

#[test]
fn a_string_of_64_mebibytes_is_read_in_bounded_memory() {
    const SIZE: usize = 64 << 20;
    let folder = Folder::new();
    let long = "x".repeat(SIZE);
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{long}\"}}]}}}}\n"
    );
    for format in FORMATS {
        let path = folder.file(format.file, &spelled(format, &line));
        // Windows, copies and the meaning together: a dozen times the string.
        assert!(limited("-v 1000000", &["read", &path]).well(format.name).len() > SIZE);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn bytes_that_are_no_text_are_rejected_at_their_place() {
    let folder = Folder::new();
    for format in FORMATS {
        let text = spelled(format, ORDINARY);
        let with = |at: usize, bytes: &[u8]| [&text[..at], bytes, &text[at..]].concat();
        let rejected = |name: &str, bytes: &[u8]| {
            let path = folder.file(name, bytes);
            run(&["read", "--format", format.name, &path]).rejected(format.name)
        };
        let inside = text.windows(3).position(|window| window == "日".as_bytes()).unwrap();
        for at in [0, text.len() / 2, text.len(), inside, inside + 1, inside + 2] {
            for bad in [&b"\xff"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"] {
                let said = rejected("bad", &with(at, bad));
                // A character that is cut in two is at fault where it begins, which is on the same line.
                let line = 1 + text[..at].iter().filter(|&&byte| byte == b'\n').count();
                let is_placed = said.contains("[invalid-utf8]") && said.contains(&format!(":{line}:"));
                assert!(is_placed, "{} at {at}: {said}", format.name);
            }
        }
        // The end of the file inside a character.
        rejected("cut", &text[..inside + 2]);
        // A NUL is a character, but no JSON has it outside of an escape.
        for at in [0, text.len() / 2, text.len()] {
            rejected("nul", &with(at, b"\0"));
        }
        run(&["read", &folder.file("marked", &with(0, b"\xef\xbb\xbf"))]).well(format.name);
    }
}

#[test]
fn a_file_that_is_cut_is_never_given_out_as_whole() {
    let folder = Folder::new();
    // The meaning, or where the rejection is.
    let read = |format: &Format, bytes: &[u8]| match formats::meaning(
        format,
        &mut { bytes },
        ReadOptions::default(),
    ) {
        Ok(meaning) => Ok(meaning.text),
        Err(formats::ReadError::Rejected(rejection)) => Err(rejection.position.offset),
        Err(other) => panic!("{other}"),
    };
    for format in FORMATS {
        let text = spelled(format, ORDINARY);
        let whole = read(format, &text).unwrap();
        for cut in 0..text.trim_ascii_end().len() {
            match read(format, &text[..cut]) {
                // Between two lines, a line format ends as it may, with what was there till then.
                Ok(part) => {
                    let between = cut == 0 || text[cut - 1] == b'\n' || text[cut] == b'\n';
                    assert!(format.is_lines() && between, "{} cut at {cut}", format.name);
                    let events = part.trim_end_matches(|letter| letter != ']').trim_end_matches(['\n', ']']);
                    assert!(whole.starts_with(events), "{} cut at {cut}: {part}", format.name);
                }
                Err(offset) => assert!(offset <= cut as u64, "{} cut at {cut}: {offset}", format.name),
            }
        }
        let (path, name) = (folder.file("cut", &text[..text.len() * 2 / 3 + 1]), format.name);
        run(&["read", "--format", name, &path]).rejected(name);
        run(&["convert", "--to", "jsonrpc", "--format", name, &path]).rejected(name);
        let ended = run(&["diff", "--left-format", name, "--right-format", name, &path, &path]);
        assert_eq!(ended.code, Some(2), "{}", ended.err);
    }
}

#[test]
fn an_empty_file_is_an_empty_session_where_a_format_has_no_head_and_nothing_else() {
    let folder = Folder::new();
    for text in ["", "\n", " \r\n\t\n"] {
        let path = folder.file("empty", text.as_bytes());
        for format in FORMATS {
            let ended = run(&["read", "--format", format.name, &path]);
            match spelled(format, "").is_empty() {
                true => drop(ended.well(format.name)),
                false => drop(ended.rejected(format.name)),
            }
        }
        let ended = run(&["read", &path]);
        assert!(ended.code == Some(2) && ended.err.contains("it is empty"), "{}", ended.err);
    }
}

#[test]
fn the_same_transcript_is_the_same_in_every_process() {
    let folder = Folder::new();
    for format in FORMATS {
        let path = folder.file(format.file, &spelled(format, ORDINARY));
        let first = run(&["read", &path]).well(format.name);
        assert!((0..3).all(|_| run(&["read", &path]).out == first), "{}", format.name);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn half_a_million_messages_cost_the_line_formats_no_memory() {
    const CALLS: usize = 250_000;
    let folder = Folder::new();
    let once = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":{}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        "\n"
    );
    let mut judged = 0;
    for format in FORMATS.iter().filter(|format| format.is_lines()) {
        let text = String::from_utf8(spelled(format, once)).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = lines.iter().position(|line| line.contains("tools/call")).unwrap();
        // An archive says who speaks between two lines.
        if !lines[first + 1].contains("result") {
            continue;
        }
        judged += 1;
        let (pair, path) = (lines[first..first + 2].concat(), folder.path(format.file));
        let mut file = BufWriter::new(File::create(&path).unwrap());
        file.write_all(lines[..first].concat().as_bytes()).unwrap();
        for id in 0..CALLS {
            file.write_all(pair.replace("\"id\":1,", &format!("\"id\":{id},")).as_bytes()).unwrap();
        }
        file.write_all(lines[first + 2..].concat().as_bytes()).unwrap();
        file.into_inner().unwrap();
        let mut child = concord(["read"]).arg(&path).spawn().unwrap();
        // The meaning is taken slowly enough to look on: the program's memory only ever grows in this number.
        let mut out = child.stdout.take().unwrap();
        let (mut most, mut last, mut block) = (0, Vec::new(), vec![0; 1 << 20]);
        loop {
            most = peak(&child).unwrap_or_default().max(most);
            match out.read(&mut block).unwrap() {
                0 => break,
                read => {
                    last = [last.split_off(last.len().saturating_sub(200)), block[..read].to_vec()].concat()
                }
            }
        }
        Ended::new(child.wait_with_output().unwrap()).well(format.name);
        let end = String::from_utf8_lossy(&last).into_owned();
        assert!(end.contains(&format!("\"answers\": {}", 2 * CALLS - 2)), "{}: {end:.300}", format.name);
        assert!(most > 1000 && most < 44 << 10, "{}: {most} KiB", format.name);
        fs::remove_file(path).unwrap();
    }
    assert_eq!(judged, 8, "every line format but the archive");
}

/// A reader that looked through all that is open, or all that was said, for each message would need hours.
#[test]
fn one_id_that_is_open_again_and_again_and_answers_to_nothing_cost_no_more_than_others() {
    const COUNT: usize = 100_000;
    let folder = Folder::new();
    let mut text = ORDINARY.to_owned();
    text += &"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(COUNT);
    text += &"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".repeat(COUNT);
    text.extend((0..COUNT).map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"result\":{{}}}}\n")));
    let path = folder.file("session", text.as_bytes());
    let limited = |words: &[&str]| limited("-t 20", words);
    let meaning = limited(&["read", &path]).well("read");
    assert_eq!(String::from_utf8_lossy(&meaning).matches("\"answers\": null").count(), COUNT);
    assert_eq!(limited(&["check", &path]).code, Some(1));
    for format in ["har", "inspector-network"] {
        let written = folder.path(format).display().to_string();
        limited(&["convert", "--to", format, "--lossy", "-o", &written, &path]).well(format);
        assert!(limited(&["read", &written]).well(format) == meaning, "{format}");
    }
}
