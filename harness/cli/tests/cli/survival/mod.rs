//! The program on inputs that nobody would write and that somebody will send (clauses SRV-BYTES, SRV-DEPTH).
//!
//! Each test runs the built program as a person would, and asks the same of every run: it ends by itself with a
//! documented code, it does not panic, what is refused has a place, and of what is refused nothing is printed.
//! Depth runs on a stack of half a megabyte and length in a bounded memory, so that neither can be had by luck.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

mod many;
mod program;

use formats::{FORMATS, Format, ReadOptions};
use program::{Folder, ORDINARY, PROGRAM, finish, piped, run, shell, spelled};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn ten_thousand_and_a_million_levels_need_no_stack() {
    let folder = Folder::new();
    let small_stack = "ulimit -s 512;";
    for levels in [10_000, 1_000_000] {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"n\",\"arguments\":{{\"a\":{open}{close}}}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}0{}}}\n",
            "{\"d\":".repeat(levels),
            "}".repeat(levels)
        );
        let meant = shell(small_stack, &["read", &folder.file("lines", line.as_bytes())], "");
        meant.is_well("lines");
        assert!(meant.out.len() > 8 * levels, "the depth is in the meaning");
        for format in FORMATS {
            let text = spelled(format, &line);
            let path = folder.file(format.file, &text);
            let ended = shell(small_stack, &["read", &path], "");
            ended.is_well(format.name);
            assert!(ended.out == meant.out, "{} reads {levels} levels otherwise", format.name);

            let cut = folder.file("cut", &text[..text.len() / 2]);
            shell(small_stack, &["read", "--format", format.name, &cut], "").is_rejected(format.name);
        }
        // One value at the very bottom differs, and white space everywhere.
        let other = line.replace(&close, &format!(" 7{close}")).replace("\"d\":", "\"d\": ");
        let (left, right) = (folder.path("jsonrpc.jsonl"), folder.file("other", other.as_bytes()));
        let ended = shell(small_stack, &["diff", &left.display().to_string(), &right], "");
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        assert!(String::from_utf8_lossy(&ended.out).contains("event 0 differs at /arguments/a/0/0/0"));
        shell(small_stack, &["convert", "--to", "mcp-replay", &right], "").is_well("convert");
    }
}

#[test]
fn nothing_but_brackets_is_a_rejection() {
    let folder = Folder::new();
    for (name, text) in [("open", "[".repeat(1_000_000)), ("keys", "{\"a\":".repeat(1_000_000))] {
        let path = folder.file(name, text.as_bytes());
        for format in FORMATS {
            shell("ulimit -s 512;", &["read", "--format", format.name, &path], "").is_rejected(format.name);
        }
        let told = shell("ulimit -s 512;", &["read", &path], "");
        assert!(matches!(told.code, Some(1 | 2)), "{}", told.err);
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
        let ended = shell("ulimit -v 1000000;", &["read", &path], "");
        ended.is_well(format.name);
        assert!(ended.out.len() > SIZE);
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn bytes_that_are_no_text_are_rejected_at_their_place() {
    let folder = Folder::new();
    for format in FORMATS {
        let text = spelled(format, ORDINARY);
        let inside = text.windows(3).position(|window| window == "日".as_bytes()).unwrap();
        let places = [0, text.len() / 2, text.len(), inside, inside + 1, inside + 2];
        for at in places {
            for bad in [&b"\xff"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"] {
                let bytes = [&text[..at], bad, &text[at..]].concat();
                let ended = run(&["read", "--format", format.name, &folder.file("bad", &bytes)]);
                ended.is_rejected(format.name);
                assert!(ended.err.contains("[invalid-utf8]"), "{} at {at}: {}", format.name, ended.err);
                let line = 1 + text[..at].iter().filter(|&&byte| byte == b'\n').count();
                // A character that is cut in two is at fault where it begins, which is on the same line.
                assert!(ended.err.contains(&format!(":{line}:")), "{} at {at}: {}", format.name, ended.err);
            }
        }
        // The end of the file inside a character.
        let cut = folder.file("cut", &text[..inside + 2]);
        let ended = run(&["read", "--format", format.name, &cut]);
        ended.is_rejected(format.name);
        // A NUL is a character, but no JSON has it outside of an escape.
        for at in [0, text.len() / 2, text.len()] {
            let bytes = [&text[..at], b"\0", &text[at..]].concat();
            run(&["read", "--format", format.name, &folder.file("nul", &bytes)]).is_rejected(format.name);
        }
        let marked = [b"\xef\xbb\xbf", &text[..]].concat();
        run(&["read", &folder.file("marked", &marked)]).is_well(format.name);
    }
}

#[test]
fn a_file_that_is_cut_is_never_given_out_as_whole() {
    let folder = Folder::new();
    for format in FORMATS {
        let text = spelled(format, ORDINARY);
        let whole = read(format, &text).unwrap();
        for cut in 0..text.trim_ascii_end().len() {
            match read(format, &text[..cut]) {
                // Between two lines, a line format ends as it may, with what stood there till then.
                Ok(part) => {
                    let between = cut == 0 || text[cut - 1] == b'\n' || text[cut] == b'\n';
                    assert!(format.is_lines() && between, "{} cut at {cut}", format.name);
                    let events = part.trim_end_matches(|letter| letter != ']').trim_end_matches(['\n', ']']);
                    assert!(whole.starts_with(events), "{} cut at {cut}: {part}", format.name);
                }
                Err(offset) => assert!(offset <= cut as u64, "{} cut at {cut}: {offset}", format.name),
            }
        }
        let path = folder.file("cut", &text[..text.len() * 2 / 3 + 1]);
        run(&["read", "--format", format.name, &path]).is_rejected(format.name);
        run(&["convert", "--to", "jsonrpc", "--format", format.name, &path]).is_rejected(format.name);
        let ended = run(&["diff", "--left-format", format.name, "--right-format", format.name, &path, &path]);
        assert_eq!(ended.code, Some(2), "{}", ended.err);
    }
}

/// The meaning, or where the rejection is.
fn read(format: &Format, bytes: &[u8]) -> Result<String, u64> {
    match formats::meaning(format, &mut { bytes }, ReadOptions::default()) {
        Ok(meaning) => Ok(meaning.text),
        Err(formats::ReadError::Rejected(rejection)) => Err(rejection.position.offset),
        Err(other) => panic!("{other}"),
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
                true => ended.is_well(format.name),
                false => ended.is_rejected(format.name),
            }
        }
        run(&["read", &path]).is_unusable("empty");
    }
}

#[test]
fn what_is_no_file_is_named() {
    let folder = Folder::new();
    let (here, missing) = (folder.0.path().display().to_string(), folder.path("no\u{1b}[31mfile"));
    for verb in [&["read"][..], &["convert", "--to", "har"]] {
        let with = |path: &str| run(&[verb, &[path]].concat());
        with(&here).is_unusable("is a directory");
        let ended = with(&missing.display().to_string());
        ended.is_unusable("there is no file");
        assert!(!ended.err.contains('\u{1b}'), "a name may not paint the terminal: {:?}", ended.err);
    }
    let ended = run(&["diff", &here, &missing.display().to_string()]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("is a directory") && ended.err.contains("there is no file"), "{}", ended.err);
}

#[test]
fn a_standard_input_may_be_cut_or_closed() {
    let mut child = Command::new(PROGRAM)
        .args(["read", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for byte in ORDINARY[..ORDINARY.len() - 5].bytes() {
        stdin.write_all(&[byte]).unwrap();
    }
    drop(stdin);
    let ended = finish(child);
    ended.is_rejected("cut");
    assert!(ended.err.contains("<stdin>:4:") && ended.err.contains("[truncated]"), "{}", ended.err);
    shell("", &["read", "-"], "<&-").is_unusable("empty");
    shell("", &["read", "--format", "har", "-"], "<&-").is_rejected("closed");
}

/// A session whose meaning is longer than any pipe.
fn long(folder: &Folder) -> String {
    let line =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"a line of some length"}}"#;
    folder.file("long", format!("{line}\n").repeat(20_000).as_bytes())
}

#[test]
fn whoever_stops_reading_ends_the_program_in_peace_and_without_a_verdict() {
    let folder = Folder::new();
    let long = long(&folder);
    for verb in [&["read", &long][..], &["convert", "--to", "har", &long]] {
        for taken in [0, 10] {
            let mut child = piped(Command::new(PROGRAM).args(verb));
            let mut out = child.stdout.take().unwrap();
            out.read_exact(&mut vec![0; taken]).unwrap();
            drop(out);
            finish(child).is_closed(verb[0]);
        }
    }
    let one = folder.file("one", ORDINARY.as_bytes());
    let other = folder.file("other", ORDINARY.replace("no", "yes").as_bytes());
    for verb in [
        &["diff", &one, &one][..],
        &["diff", &one, &other],
        &["read", &one],
        &["read", "--calls", &one],
        &["check", &one],
        &["check", "--output", "json", &one],
        &["identify", &one],
        &["show", &one],
        &["run", "--filter", "ids/beyond-double"],
        &["run", "--list"],
        &["explain"],
        &["explain", "COR-FIRST"],
        &["completions", "bash"],
        &["man"],
        &["options"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(PROGRAM);
        let child = command.args(verb).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn();
        finish(child.unwrap()).is_closed(&verb.join(" "));
    }
    for verb in [&["explain"][..], &["completions", "bash"], &["man"], &["run", "--list"], &["--help"]] {
        // With no output at all there is nothing to write to, and nobody to complain to.
        shell("", verb, ">&-").is_well(verb[0]);
        shell("", verb, ">&- 2>&-").is_well(verb[0]);
    }
}

#[test]
fn a_disk_that_is_full_is_said() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::new();
    let (long, short) = (long(&folder), folder.file("short", ORDINARY.as_bytes()));
    for path in [&long, &short] {
        for verb in [&["read", path][..], &["convert", "--to", "har", path], &["diff", path, path]] {
            shell("", verb, ">/dev/full").is_unusable("cannot be written");
        }
    }
    for verb in
        [&["explain"][..], &["explain", "COR-FIRST"], &["completions", "bash"], &["man"], &["run", "--list"]]
    {
        shell("", verb, ">/dev/full").is_unusable("cannot be written");
    }
    // The talk has nowhere to go either: the code still tells.
    let ended = shell("", &["read", "nothing-here"], "2>/dev/full");
    assert_eq!(ended.code, Some(2));
}

#[test]
fn the_same_transcript_is_the_same_in_every_process() {
    let folder = Folder::new();
    for format in FORMATS {
        let path = folder.file(format.file, &spelled(format, ORDINARY));
        let first = run(&["read", &path]);
        first.is_well(format.name);
        for _ in 0..3 {
            assert!(run(&["read", &path]).out == first.out, "{}", format.name);
        }
    }
}
