//! `surface`: what recordings show of an offer, what a change of it means, and calls that cannot be used.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn concord(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .arg("surface")
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), output.stderr.as_slice()].concat()).into_owned()
}

/// A session with a handshake and a page of each list, with `next` as the cursor of the last.
fn session(name: &str, lists: &[(&str, Value)]) -> String {
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": name, "version": "1"}}}),
    ];
    for (id, (method, result)) in (1..).zip(lists) {
        lines.push(json!({"jsonrpc": "2.0", "id": id, "method": method}));
        lines.push(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn tools(tools: Value) -> (&'static str, Value) {
    ("tools/list", json!({ "tools": tools }))
}

/// The changes of two sessions with these tools: class, kind, subject, pointer.
fn changes(old: Value, new: Value) -> (Option<i32>, Vec<[String; 4]>) {
    let folder = tempfile::tempdir().unwrap();
    for (file, offered) in [("old.jsonl", old), ("new.jsonl", new)] {
        fs::write(folder.path().join(file), session("s", &[tools(offered)])).unwrap();
    }
    let run = concord(folder.path(), &["old.jsonl", "new.jsonl", "--output", "json"]);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    let of = |change: &Value| {
        ["class", "kind", "subject", "pointer"].map(|name| change[name].as_str().unwrap().to_owned())
    };
    (run.status.code(), found["changes"].as_array().unwrap().iter().map(of).collect())
}

#[test]
fn each_change_of_a_tool_has_its_class() {
    let tool = |more: Value| {
        let mut tool = json!({"name": "add", "inputSchema": {"type": "object"}});
        tool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([tool])
    };
    let schema = |name: &str, schema: Value| tool(json!({ name: schema }));
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let (a, ab) =
        (json!({"a": {"type": "string"}}), json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    let (none, all) = (json!([]), json!(["a"]));
    #[rustfmt::skip]
    let table = [
        // A required argument more; one that may be left out; an enum that lost a value, and one that gained it.
        (schema("inputSchema", object(a.clone(), none.clone())), schema("inputSchema", object(a.clone(), all.clone())), "breaking input /inputSchema/required"),
        (schema("inputSchema", object(a.clone(), none.clone())), schema("inputSchema", object(ab.clone(), none.clone())), "additive input /inputSchema/properties/b"),
        (schema("inputSchema", json!({"enum": [1, 2]})), schema("inputSchema", json!({"enum": [1]})), "breaking input /inputSchema"),
        (schema("inputSchema", json!({"enum": [1]})), schema("inputSchema", json!({"enum": [1, 2]})), "additive input /inputSchema"),
        // Arguments are an object, whether the schema says so or not.
        (schema("inputSchema", json!({})), schema("inputSchema", json!({"type": "object"})), ""),
        (schema("inputSchema", json!({"type": "object", "title": "a"})), schema("inputSchema", json!({"title": "a"})), ""),
        (schema("inputSchema", json!({"properties": a.clone()})), schema("inputSchema", object(a.clone(), all.clone())), "breaking input /inputSchema/required"),
        // Results are the other way round.
        (schema("outputSchema", object(a.clone(), all.clone())), schema("outputSchema", object(a.clone(), none.clone())), "breaking output /outputSchema/required"),
        (schema("outputSchema", object(a.clone(), none)), schema("outputSchema", object(a.clone(), all)), "additive output /outputSchema/required"),
        (schema("outputSchema", json!({"type": "object"})), tool(json!({})), "breaking output /outputSchema"),
        (tool(json!({})), schema("outputSchema", json!({"type": "object"})), "additive output /outputSchema"),
        // What a model reads, and what hosts go by.
        (tool(json!({"description": "a"})), tool(json!({"description": "b"})), "review words /description"),
        (schema("inputSchema", json!({"default": 1})), schema("inputSchema", json!({"default": 2})), "review words /inputSchema/default"),
        (tool(json!({"annotations": {"readOnlyHint": true}})), tool(json!({})), "breaking annotation /annotations/readOnlyHint"),
        (tool(json!({"annotations": {"destructiveHint": false}})), tool(json!({"annotations": {"destructiveHint": true}})), "breaking annotation /annotations/destructiveHint"),
        (tool(json!({})), tool(json!({"annotations": {"destructiveHint": false}})), "review annotation /annotations/destructiveHint"),
        // Two hints have no meaning where a tool changes nothing, before or now.
        (tool(json!({})), tool(json!({"annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true}})), "review annotation /annotations/readOnlyHint"),
        (tool(json!({"annotations": {"readOnlyHint": true, "destructiveHint": false}})), tool(json!({})), "breaking annotation /annotations/readOnlyHint"),
        (tool(json!({})), tool(json!({"execution": {"taskSupport": "optional"}})), "additive definition /execution/taskSupport"),
        (tool(json!({"execution": {"taskSupport": "optional"}})), tool(json!({})), "breaking definition /execution/taskSupport"),
        (tool(json!({})), tool(json!({"execution": {"taskSupport": "forbidden"}, "annotations": {"readOnlyHint": false}})), ""),
        (tool(json!({})), json!([]), "breaking removed "),
        (json!([]), tool(json!({})), "additive added "),
        // Which values fit, nobody here can tell.
        (schema("inputSchema", json!({"not": {"type": "null"}})), schema("inputSchema", json!({"not": {"type": "array"}})), "review input /inputSchema/not"),
    ];
    for (old, new, expected) in table {
        let (code, found) = changes(old.clone(), new.clone());
        let found: Vec<String> =
            found.iter().map(|[class, kind, _, pointer]| format!("{class} {kind} {pointer}")).collect();
        assert_eq!(found.join("; "), expected, "{old} and {new}");
        assert_eq!(code, Some(i32::from(expected.starts_with("breaking"))), "{old} and {new}");
    }
}

/// Pages belong to one listing, a new listing replaces an old one, and one that was not read to its end proves nothing gone.
#[test]
fn listings_are_read_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = |tools: &[&str], next: Option<&str>| {
        let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name, "inputSchema": {}})).collect();
        let next = next.map_or(json!({}), |cursor| json!({ "nextCursor": cursor }));
        let mut result = json!({ "tools": tools });
        result.as_object_mut().unwrap().extend(next.as_object().unwrap().clone());
        result
    };
    let lines = |pages: &[(Option<&str>, Value)]| -> String {
        let ask = |(id, (cursor, result)): (usize, &(Option<&str>, Value))| {
            let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let asked = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params});
            format!("{asked}\n{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}))
        };
        pages.iter().enumerate().map(ask).collect()
    };
    let there = |name: &str| folder.path().join(name);
    let whole =
        [(None, page(&["x"], None)), (None, page(&["a"], Some("2"))), (Some("2"), page(&["b"], None))];
    fs::write(there("whole.jsonl"), lines(&whole)).unwrap();
    fs::write(there("part.jsonl"), lines(&whole[..2])).unwrap();
    let shown = concord(folder.path(), &["whole.jsonl"]);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), "2 tools\n  tool  a\n  tool  b\n");
    let run = concord(folder.path(), &["whole.jsonl", "part.jsonl"]);
    assert_eq!(run.status.code(), Some(0), "{}", told(&run));
    for words in [
        "no change",
        "the last page of tools/list is not there",
        "tool b is not on the pages that the new side lists",
    ] {
        assert!(told(&run).contains(words), "{words}: {}", told(&run));
    }
}

#[test]
fn a_lock_file_is_the_offer_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = repository().join("cases/recorded/everything-http/har.har");
    let recorded = recorded.to_str().unwrap();
    let written = concord(folder.path(), &[recorded, "--write", "mcp-surface.lock"]);
    assert!(written.status.success(), "{}", told(&written));
    let first = fs::read(folder.path().join("mcp-surface.lock")).unwrap();
    let same = concord(folder.path(), &["mcp-surface.lock", recorded, "--fail-on", "additive"]);
    assert!(same.status.success() && told(&same).contains("no change"), "{}", told(&same));
    let again =
        concord(folder.path(), &["mcp-surface.lock", "--write", "mcp-surface.lock", "--output", "json"]);
    assert_eq!((again.status.code(), &again.stdout), (Some(0), &first));
    assert_eq!(fs::read(folder.path().join("mcp-surface.lock")).unwrap(), first);
}

/// One session in each of its formats is one offer.
#[test]
fn the_format_of_a_recording_changes_nothing() {
    let case = repository().join("cases/recorded/everything-stdio");
    let files: Vec<String> = fs::read_dir(&case)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|path| !path.ends_with("case.toml") && !path.ends_with("meaning.json"))
        .collect();
    assert!(files.len() > 3, "{files:?}");
    let offers: Vec<Vec<u8>> =
        files.iter().map(|file| concord(&case, &[file, "--output", "json"]).stdout).collect();
    assert!(offers.iter().all(|offer| *offer == offers[0] && offer.len() > 1000), "{files:?}");
}

#[test]
fn what_a_scanner_and_a_reviewer_get_names_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let old = json!([{"name": "a|<b>", "inputSchema": {"enum": [1, 2]}}]);
    let new = json!([{"name": "a|<b>", "inputSchema": {"enum": [1]}}]);
    for (file, offered) in [("old.jsonl", old), ("a new.jsonl", new)] {
        fs::write(folder.path().join(file), session("s", &[tools(offered)])).unwrap();
    }
    let sarif = concord(folder.path(), &["old.jsonl", "a new.jsonl", "--output", "sarif"]);
    let log: Value = serde_json::from_slice(&sarif.stdout).unwrap();
    let result = &log["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("surface.input"), &json!("error")));
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&json!("a%20new.jsonl"), &json!(4))
    );
    let markdown = concord(folder.path(), &["old.jsonl", "a new.jsonl", "--output", "markdown"]);
    let page = String::from_utf8_lossy(&markdown.stdout).into_owned();
    assert!(page.contains("| **breaking** | tool a\\|\\<b\\> `/inputSchema` |"), "{page}");
}

#[test]
fn what_cannot_be_used_is_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str| folder.path().join(name);
    fs::create_dir_all(there("two")).unwrap();
    fs::create_dir_all(there("none")).unwrap();
    let offered = || tools(json!([{"name": "a"}]));
    fs::write(there("well.jsonl"), session("s", &[offered()])).unwrap();
    fs::write(there("two/1.jsonl"), session("s", &[offered()])).unwrap();
    fs::write(there("two/2.jsonl"), session("t", &[offered()])).unwrap();
    fs::write(there("silent.jsonl"), session("s", &[])).unwrap();
    fs::write(there("half.jsonl"), &session("s", &[offered()])[..200]).unwrap();
    fs::write(there("words.txt"), "nothing of the kind\n").unwrap();
    fs::write(there("later.lock"), r#"{"mcpSurface": 2}"#).unwrap();
    fs::write(there("torn.lock"), r#"{"mcpSurface": 1, "tools": ["#).unwrap();
    fs::write(there("wrong.lock"), r#"{"mcpSurface": 1, "tools": [{"name": 7}]}"#).unwrap();
    for (args, code, words) in [
        (&["missing.jsonl"][..], 2, "there is no file missing.jsonl"),
        (&["silent.jsonl"], 2, "silent.jsonl shows no listing, such as an answer to tools/list"),
        (&["none"], 2, "none shows no listing"),
        (&["two"], 2, "two shows several servers, `s` and `t`"),
        (&["words.txt"], 2, "the format of words.txt cannot be detected"),
        (&["half.jsonl"], 1, "half.jsonl"),
        (&["later.lock", "well.jsonl"], 2, "it is of version 2, and this program reads version 1"),
        (&["torn.lock", "well.jsonl"], 2, "it is not JSON from byte 28 on"),
        (&["wrong.lock", "well.jsonl"], 2, "/tools/0/name is missing"),
        (&["-", "-"], 2, "only one of the two can be the standard input"),
        (&["well.jsonl", "--output", "sarif"], 2, "this output needs two sides"),
        (&["well.jsonl", "--write", "words.txt"], 2, "words.txt exists and is not a lock file"),
        (&["well.jsonl", "--write", "no/such/folder"], 2, "cannot be written"),
        (&["well.jsonl", "--fail-on", "nothing"], 2, "invalid value 'nothing'"),
    ] {
        let run = concord(folder.path(), args);
        assert!(run.status.code() == Some(code) && told(&run).contains(words), "{args:?}: {}", told(&run));
    }
    assert_eq!(fs::read_to_string(there("words.txt")).unwrap(), "nothing of the kind\n");
}
