//! Files and texts that nobody would write.

use super::{Folder, META, right, wrong};
use std::fmt::Write as _;

#[test]
fn hostile_text_has_no_power_over_a_terminal() {
    // A control character of one byte must be escaped in JSON; one of two bytes need not.
    let evil = "\u{9b}31m\u{202e}";
    let folder = Folder::with(&[("a", &wrong().replace("\"ping\"", &format!("\"{evil}\"")))]);
    let ran = folder.check(&["a", "--select", "jsonrpc.id.null"]).is(1);
    assert!(!ran.out.contains('\u{9b}') && !ran.out.contains('\u{202e}'), "{}", ran.out);
    ran.shows("\\u{9b}31m\\u{202e}");
}

#[test]
fn hostile_files_end_with_a_verdict() {
    let folder = Folder::new();
    let long = right().replace("\"ping\"", &format!("\"{}\"", "x".repeat(64 << 20)));
    folder.write("long", long.as_bytes());
    let ran = folder.check(&["long"]);
    assert!(ran.code.is_some() && ran.out.len() < 1 << 20, "{:?} {}", ran.code, ran.err);
    folder.write("long", b"");

    let mut open = format!("{META}\n");
    for id in 0..1_000_000 {
        let _ = writeln!(
            open,
            r#"{{"t":"2026-01-01T00:00:00.000Z","dir":"in","raw":{{"jsonrpc":"2.0","id":{id},"method":"ping"}}}}"#
        );
    }
    folder.write("open", open.as_bytes());
    drop(open);
    folder.check(&["open", "--select", "jsonrpc"]).is(0).shows("a limit was reached: more than");
    folder.write("open", b"");

    folder.write("bytes", &[right().as_bytes(), b"\xff\xfe\x00\n", right().as_bytes()].concat());
    let broken = folder.check(&["bytes"]).is(1).shows("error[enc.utf8]");
    broken.shows("reading stopped at line 8").shows("the rest is not judged");
    folder.write("nothing", b"");
    folder.check(&["nothing"]).is(2).says("it is empty");
    folder.check(&["nothing", "--format", "har"]).is(1).shows("error[rec.readable]");
}

/// A tool's schema with a pattern that goes back, and results that make it: all of them together would keep `check` busy.
#[test]
fn schemas_have_a_budget_and_what_it_left_out_is_said() {
    let mut lines = format!("{META}\n");
    let mut say = |dir: &str, raw: &str| {
        let _ = writeln!(lines, r#"{{"t":"2026-01-01T00:00:00.000Z","dir":"{dir}","raw":{raw}}}"#);
    };
    let schema = r#"{"type":"object","properties":{"x":{"items":{"pattern":"^(a?)(b?)(c?)\\3$"}}}}"#;
    let tool = format!(r#"{{"name":"a","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
    say("in", r#"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#);
    say("out", &format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"tools":[{tool}]}}}}"#));
    let values = vec![r#""aaaaaaaa""#; 200].join(",");
    for id in 1..=100 {
        say("in", &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a"}}}}"#));
        let result = format!(r#"{{"content":[],"structuredContent":{{"x":[{values}]}}}}"#);
        say("out", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }
    let folder = Folder::with(&[("a", &lines)]);
    let ran = folder.check(&["a", "--select", "tools.output.conforms", "--spec", "2025-11-25"]);
    ran.shows("a limit was reached: ").shows("200,000,000");
}
