//! What other programs interpret: terminals, logs of workflows, spreadsheets, readers of XML and JSON. None of them obeys what a
//! recording says, whatever it says.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::concord;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Words that mean something to somebody who shows or reads what is printed.
const WORDS: [&str; 24] = [
    "\n::error::obeyed\n",
    "\r::stop-commands::x\r\n",
    "::warning file=a::",
    "##[error]obeyed",
    "##vso[task.complete]",
    "\u{1b}[2J",
    "\u{1b}]0;title\u{7}",
    "\u{9b}31m",
    "\u{202e}",
    "\u{2028}::error::",
    "\u{7f}\u{0}\u{8}",
    "=1+cmd|'/C calc'!A0",
    "@SUM(1)",
    "\"><script>alert(1)</script>",
    "]]></system-out><failure/>",
    "<!--",
    "&amp;&#10;",
    "|`x`|\n# heading\n",
    "](javascript:alert(1))",
    "```\n",
    "%0A::error::",
    "',;\t",
    "é\u{feff}\u{fffe}",
    "$(touch obeyed)",
];

/// What is printed, by who reads it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Text,
    Json,
    Xml,
    Csv,
    Github,
    Markdown,
    Page,
    /// The file itself in another shape: a format of recordings.
    Recording,
}
use Kind::{Csv, Github, Json, Markdown, Page, Recording, Text, Xml};

/// Every command that reads recordings and prints, by the words before the files.
const OUTPUTS: [(&str, Kind); 31] = [
    ("summary", Text),
    ("summary --output json", Json),
    ("summary two", Text),
    ("read", Json),
    ("read -v", Json),
    ("show", Text),
    ("show --all", Text),
    ("show --output svg --all", Xml),
    ("show --output html", Page),
    ("identify", Text),
    ("stats", Text),
    ("stats --output json", Json),
    ("stats --output csv", Csv),
    ("stats --output html", Page),
    ("diff two", Text),
    ("diff two --output json", Json),
    ("surface", Text),
    ("surface two", Text),
    ("surface two --output json", Json),
    ("surface two --output markdown", Markdown),
    ("surface two --output sarif", Json),
    ("redact --preset common", Recording),
    ("convert --to mcp-replay --lossy", Recording),
    ("check", Text),
    ("check --output json", Json),
    ("check --output junit", Xml),
    ("check --output sarif", Json),
    ("check --output github", Github),
    ("check --output ndjson", Recording),
    ("check --output html", Page),
    ("check -v", Text),
];

/// A session in which everything that a peer may choose is hostile, with faults for every rule that looks at names.
fn session(word: &dyn Fn(usize) -> String) -> String {
    let tool = |at: usize| {
        json!({"name": word(at), "description": word(at + 1), "title": word(at + 2),
               "inputSchema": {"type": word(at + 3), "properties": {word(at): {"enum": [word(at + 1)], "$ref": word(at + 2)}},
                               "required": [word(at + 3)], word(at + 4): word(at)}})
    };
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
               "capabilities": {word(0): {}}, "clientInfo": {"name": word(1), "version": word(2)}}}),
        json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, word(5): word(6)},
               "instructions": word(7), "serverInfo": {"name": word(3), "version": word(4), "title": word(5)}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": word(8), "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": word(8), "result": {"tools": [tool(9), tool(13), tool(9)], "nextCursor": ""}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": word(9), "arguments": {word(10): word(11)}}}),
        json!({"jsonrpc": "2.0", "id": 2, "error": {"code": 1.5, "message": word(12), "data": word(13)}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": word(14), "params": [word(15)]}),
        json!({"jsonrpc": "2.0", "id": word(16), "result": {word(17): word(18)}}),
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": word(19), "data": word(20)}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": word(21), "token": word(22)}}),
        json!({"jsonrpc": "2.0", "id": 4, "result": {"contents": [{"uri": word(23), "mimeType": word(24), "blob": word(25)}]}}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// Whether a terminal obeys a character.
fn is_obeyed(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}')
}

/// What is wrong with what was printed, for who reads it.
fn fault(kind: Kind, text: &str, error: &str) -> Option<String> {
    for line in error.lines().chain(text.lines()).flat_map(|line| line.split('\r')) {
        let ours = kind == Github
            && ["::error file=", "::warning file=", "::notice file="].iter().any(|it| line.starts_with(it));
        if line.trim_start().strip_prefix("::").is_some_and(|rest| rest.contains("::")) && !ours {
            return Some(format!("a runner obeys {line:?}"));
        }
        if line.contains("##[") && !matches!(kind, Json | Page | Recording) {
            return Some(format!("a runner obeys part of {line:?}"));
        }
    }
    if let Some(line) = error.lines().find(|line| line.contains(is_obeyed)) {
        return Some(format!("a terminal obeys the note {line:?}"));
    }
    let controls = |text: &str, but: &[char]| {
        let line =
            text.split('\n').find(|line| line.contains(|char| is_obeyed(char) && !but.contains(&char)))?;
        Some(format!("a terminal obeys {line:?}"))
    };
    match kind {
        Text | Github => controls(text, &[]),
        Xml => controls(text, &[])
            .or_else(|| roxmltree::Document::parse(text).err().map(|error| error.to_string())),
        Csv => {
            let text = text.replace("\r\n", "\n");
            let field = text
                .lines()
                .flat_map(|line| line.split(','))
                .find(|field| field.trim_start_matches('"').starts_with(['=', '@', '+', '-']));
            controls(&text, &[]).or_else(|| field.map(|field| format!("a spreadsheet calculates {field:?}")))
        }
        Json => serde_json::from_str::<Value>(text).err().map(|error| error.to_string()),
        Markdown => scripted(&text.lines().map(without_code).collect::<String>()),
        Page => scripted(text),
        Recording => text
            .lines()
            .find_map(|line| serde_json::from_str::<Value>(line).err())
            .map(|error| error.to_string()),
    }
}

fn scripted(text: &str) -> Option<String> {
    text.contains("<script>alert").then(|| "it holds a script".to_owned())
}

/// A line of Markdown without its spans of code, which are shown as they are.
fn without_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find('`') {
        let length = rest[start..].bytes().take_while(|byte| *byte == b'`').count();
        let (before, inside) = (&rest[..start], &rest[start + length..]);
        let ends = |at: &usize| {
            let run = inside[*at..].bytes().take_while(|byte| *byte == b'`').count();
            run == length && !inside[..*at].ends_with('`')
        };
        let end = inside.match_indices('`').map(|(at, _)| at).find(ends);
        out.push_str(before);
        rest = end.map_or(inside, |end| &inside[end + length..]);
    }
    out + rest
}

fn check(folder: &Path, words: &[String]) -> Result<(), TestCaseError> {
    for (name, shift) in [("old", 0), ("new", 7)] {
        let word = |at: usize| words[(at * 5 + shift) % words.len()].clone();
        fs::write(folder.join(name), session(&word)).unwrap();
    }
    let mut faults = Vec::new();
    for (command, kind) in OUTPUTS {
        let files = if command.contains(" two") { &["old", "new"][..] } else { &["new"] };
        let words = command.split(' ').filter(|word| *word != "two").chain(files.iter().copied());
        let output = concord(words).current_dir(folder).output().unwrap();
        prop_assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{command}: {}",
            crate::support::said(&output)
        );
        let [text, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        prop_assert!(text.len() + error.len() > 0, "{command} printed nothing");
        faults.extend(fault(kind, &text, &error).map(|fault| format!("{command}: {fault}")));
    }
    prop_assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

#[test]
fn nobody_obeys_what_a_recording_says() {
    let folder = tempfile::tempdir().unwrap();
    // Each word by itself, then some behind others.
    check(folder.path(), &WORDS.map(str::to_owned)).unwrap();
    let word = prop::collection::vec(prop::sample::select(&WORDS[..]), 1..4).prop_map(|parts| parts.concat());
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(3) });
    runner.run(&prop::collection::vec(word, 8..32), |words| check(folder.path(), &words)).unwrap();
}
