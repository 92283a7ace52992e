//! `--output ndjson`, and going on where an earlier one ended.

use super::{Folder, META, PING, PONG, Ran, right, wrong};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

fn parsed(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Folder {
    fn ndjson(&self, arguments: &[&str]) -> (Ran, Vec<Value>) {
        let ran = self.check(&[&["--output", "ndjson"], arguments].concat());
        let lines = parsed(&ran.out);
        (ran, lines)
    }
}

fn files(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["file"].as_str().unwrap()).collect()
}

#[test]
fn a_line_tells_all_of_a_recording() {
    let folder = Folder::with(&[("in/a.jsonl", &right()), ("in/b.jsonl", &wrong()), ("in/c.md", "# None")]);
    folder.write("in/d.jsonl", &[META.as_bytes(), b"\n\xff\n"].concat());
    let (ran, lines) = folder.ndjson(&["in", "gone"]);
    ran.is(2).says("in/c.md").says("there is no file gone");
    assert_eq!(files(&lines), ["in/a.jsonl", "in/b.jsonl", "in/d.jsonl", "gone"]);
    let digest: [u8; 32] = Sha256::digest(right()).into();
    let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(lines[0]["digest"], format!("sha256:{hexadecimal}"));
    assert_eq!((&lines[0]["format"], &lines[0]["revision"]), (&"mcp-replay".into(), &"2025-11-25".into()));
    assert_eq!((&lines[0]["messages"], &lines[0]["failed"]), (&5.into(), &false.into()));
    assert_eq!((&lines[1]["totals"]["errors"], &lines[1]["failed"]), (&1.into(), &true.into()));
    let limit = lines[2]["limits"][0].as_str().unwrap();
    assert!(limit.starts_with("reading stopped at line 2"), "{limit}");
    assert!(lines[2]["digest"].is_string());
    assert!(lines[3]["digest"].is_null() && lines[3]["problem"].as_str().unwrap().contains("no file gone"));
    // The findings are those of --output json.
    let found: Vec<&Value> = lines.iter().flat_map(|line| line["findings"].as_array().unwrap()).collect();
    let json = folder.lines(&["in"]);
    assert_eq!(found, json.iter().filter(|line| line["verdict"] != "inconclusive").collect::<Vec<_>>());
    let (_, lines) = folder.ndjson(&["in", "-v"]);
    let found: Vec<&Value> = lines.iter().flat_map(|line| line["findings"].as_array().unwrap()).collect();
    assert_eq!(found, json.iter().collect::<Vec<_>>());
}

#[test]
fn the_page_names_every_member() {
    let folder = Folder::with(&[("a", &right())]);
    let (_, lines) = folder.ndjson(&["a"]);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/check.md");
    let page = fs::read_to_string(page).unwrap();
    let table = page.split("| member | meaning |").nth(1).unwrap().split("\n\n").next().unwrap();
    let told: BTreeSet<&str> =
        table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    let members: BTreeSet<&str> = lines[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(told, members);
}

#[test]
fn a_line_comes_as_soon_as_it_is_judged() {
    let folder = Folder::with(&[("a", &right()), ("b", &wrong())]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["check", "--output", "ndjson", "--files-from", "-"])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut list, mut out) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for name in ["a", "b"] {
        // The list goes on, and so the program may not wait for its end.
        writeln!(list, "{name}").unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(files(&parsed(&line)), [name]);
    }
    drop(list);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn what_was_judged_before_is_skipped_and_counts() {
    let other = format!("{}\n{}\n", PING.1, PONG.1);
    let folder = Folder::with(&[("in/a", &right()), ("in/b", &wrong()), ("in/c", &other)]);
    let (ran, lines) = folder.ndjson(&["in"]);
    let whole = ran.is(1).out;
    folder.write("earlier", whole.as_bytes());
    let (ran, nothing) = folder.ndjson(&["in", "--resume", "earlier"]);
    ran.is(1).says("0 recordings were judged, and 3 skipped");
    assert!(nothing.is_empty(), "{nothing:#?}");
    // By content, not by name; what could not be judged is tried again.
    fs::rename(folder.path("in/a"), folder.path("in/z")).unwrap();
    folder.write("in/new", PING.1.as_bytes());
    let (ran, rest) = folder.ndjson(&["in", "gone", "--resume", "earlier"]);
    ran.is(2);
    assert_eq!(files(&rest), ["in/new", "gone"]);
    folder.write("failed", format!("{}\n", rest[1]).as_bytes());
    let (ran, again) = folder.ndjson(&["gone", "--resume", "failed"]);
    ran.is(2);
    assert_eq!(files(&again), ["gone"]);
    // Cut short, with lines that are there twice, and one of another run.
    let (first, second) = (lines[0].to_string(), lines[1].to_string());
    folder.write("cut", format!("{first}\n{first}\n{}", &second[..second.len() / 2]).as_bytes());
    let (ran, rest) = folder.ndjson(&["in", "--resume", "cut"]);
    ran.is(1).says("line 3, the last one of cut, is cut short and ignored");
    assert_eq!(files(&rest), ["in/b", "in/c", "in/new"]);
    let (ran, rest) = folder.ndjson(&["in", "--resume", "earlier", "--select", "jsonrpc"]);
    ran.is(1).says("3 of 3 lines of earlier were judged by another version or with other options");
    assert_eq!(rest.len(), 4);
}

#[test]
fn an_earlier_output_that_is_none_is_refused() {
    let folder = Folder::with(&[("a", &right()), ("text", "a b\nc\n"), ("array", "[]\n")]);
    for (arguments, words) in [
        (&["--resume", "gone"][..], "gone cannot be read"),
        (&["--resume", "text"], "line 1 of text is not what `check --output ndjson` prints"),
        (&["--resume", "array"], "line 1 of array is not what"),
        (&["--resume", "a"], "line 1 of a is not what"),
    ] {
        let (ran, _) = folder.ndjson(&[&["a"], arguments].concat());
        assert!(ran.is(2).says(words).out.is_empty());
    }
    folder.check(&["a", "--resume", "text"]).is(2).says("--resume continues a run with --output ndjson");
}

/// A shell's `>>` goes on where the file ends, and would spoil the line after a line that was cut.
#[test]
#[cfg(unix)]
fn an_output_that_goes_on_in_the_same_file_is_not_spoilt() {
    let folder = Folder::with(&[("in/a", &right()), ("in/b", &wrong())]);
    let (_, lines) = folder.ndjson(&["in"]);
    let append = |text: &str| {
        folder.write("out", text.as_bytes());
        let out = File::options().append(true).open(folder.path("out")).unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        program.args(["check", "--output", "ndjson", "in", "--resume", "out"]).current_dir(folder.path(""));
        let ran = Ran::new(program.stdout(out).output().unwrap());
        (ran, fs::read_to_string(folder.path("out")).unwrap())
    };
    let (ran, out) = append(&format!("{}\n", lines[0]));
    ran.is(1);
    assert_eq!(parsed(&out), lines);
    let cut = format!("{}\n{}", lines[0], &lines[1].to_string()[..20]);
    let (ran, out) = append(&cut);
    ran.is(2).says("out ends in the middle of line 2");
    assert_eq!(out, cut);
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_with_what_was_done() {
    let folder = Folder::with(&[("a", &right())]);
    // Both wait for a standard input that stays open: for another name, and for another line of a recording.
    let (listed, named) = (&["--files-from", "-"][..], &["a", "-"][..]);
    for (arguments, signal, code) in
        [(listed, "-INT", 130), (named, "-INT", 130), (listed, "-TERM", 143), (listed, "-HUP", 129)]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
            .args(["check", "--output", "ndjson"])
            .args(arguments)
            .current_dir(folder.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        writeln!(input, "{}", if arguments[0] == "a" { PING.1 } else { "a" }).unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert_eq!(files(&parsed(&line)), ["a"]);
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{err}");
        assert!(err.contains("interrupted after 1 recording;"), "{err}");
        line.clear();
        out.read_line(&mut line).unwrap();
        assert!(parsed(&line)[0]["problem"].as_str().unwrap().contains("the rest was not judged"), "{line}");
        drop(input);
    }
}
