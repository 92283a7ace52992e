//! Numbers over sessions whose calls are known.

use super::{Collected, Stats, StatsRow, csv, json, text};
use crate::html::HtmlRenderer;
use crate::overview::Numbers;
use formats::{Input, find};

/// A row: its name, its recordings, calls, failed and unanswered, and the times.
type Shown = (String, u64, [u64; 3], [Option<u64>; 3]);

/// A session of a server, in mcp-rec, with calls of tools that take so many milliseconds; none where they are not answered, and
/// that fail where the tool is called `bad`.
fn session(server: Option<(&str, &str)>, calls: &[(&str, Option<u64>)]) -> String {
    let mut lines = Vec::new();
    let mut line = |at: u64, dir: &str, message: String| {
        lines.push(format!(
            "{{\"ts\": {}.{:03}, \"dir\": \"{dir}\", \"msg\": {message}}}\n",
            at / 1000,
            at % 1000
        ));
    };
    if let Some((name, version)) = server {
        line(
            0,
            "client->server",
            r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#.to_owned(),
        );
        line(
            1,
            "server->client",
            format!(
                r#"{{"jsonrpc":"2.0","id":"i","result":{{"serverInfo":{{"name":"{name}","version":"{version}"}}}}}}"#
            ),
        );
    }
    for (id, (tool, took)) in calls.iter().enumerate() {
        let at = 1000 * (id as u64 + 1);
        line(
            at,
            "client->server",
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#),
        );
        if let Some(took) = took {
            let result =
                if *tool == "bad" { r#"{"content":[],"isError":true}"# } else { r#"{"content":[]}"# };
            line(at + took, "server->client", format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
    }
    lines.concat()
}

fn collected(sessions: &[String]) -> Stats {
    let mut all = Collected::default();
    for session in sessions {
        let mut reader = session.as_bytes();
        let mut input = Input::new(&mut reader).unwrap();
        all.add(find("mcp-rec").unwrap(), &mut input).unwrap();
    }
    all.finish()
}

fn usual() -> Stats {
    collected(&[
        session(Some(("s", "1")), &[("add", Some(10)), ("add", Some(30)), ("bad", Some(5))]),
        session(Some(("s", "2")), &[("add", Some(20)), ("add", None)]),
        session(None, &[("<b>", Some(1))]),
    ])
}

#[test]
fn calls_are_counted_by_tool_server_and_version() {
    let stats = usual();
    assert_eq!((stats.recordings, stats.rejected), (3, 0));
    let rows = |rows: &[StatsRow]| -> Vec<Shown> {
        let of = |row: &StatsRow| {
            let Numbers { calls, failed, unanswered, p50_ms, p95_ms, max_ms } = row.numbers;
            (row.name(), row.recordings, [calls, failed, unanswered], [p50_ms, p95_ms, max_ms])
        };
        rows.iter().map(of).collect()
    };
    let times = |p50, p95, max| [Some(p50), Some(p95), Some(max)];
    assert_eq!(
        rows(&stats.tools),
        [
            ("add".to_owned(), 2, [4, 0, 1], times(20, 30, 30)),
            ("<b>".to_owned(), 1, [1, 0, 0], times(1, 1, 1)),
            ("bad".to_owned(), 1, [1, 1, 0], times(5, 5, 5)),
        ]
    );
    assert_eq!(
        rows(&stats.servers),
        [
            ("s".to_owned(), 2, [5, 1, 1], times(10, 30, 30)),
            ("unknown".to_owned(), 1, [1, 0, 0], times(1, 1, 1)),
        ]
    );
    let names = |rows: &[StatsRow]| rows.iter().map(StatsRow::name).collect::<Vec<_>>();
    assert_eq!(names(&stats.versions), ["s 1", "s 2", "unknown"]);
    assert_eq!(names(&stats.calls), ["add s 1", "add s 2", "<b> unknown", "bad s 1"]);
    assert_eq!(names(&stats.methods), ["tools/call", "initialize"]);
    assert_eq!((stats.total.calls, stats.total.failed, stats.total.unanswered), (6, 1, 1));
}

#[test]
fn a_recording_that_breaks_off_counts_as_far_as_it_goes() {
    let mut broken = session(Some(("s", "1")), &[("add", Some(10))]);
    broken.push_str("{\"ts\": 9.0, \"dir\": \"cl");
    let stats = collected(&[broken]);
    assert_eq!((stats.recordings, stats.rejected, stats.total.calls), (1, 1, 1));
}

#[test]
fn the_json_is_as_the_schema_says() {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../stats.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for stats in [usual(), collected(&[])] {
        let mut value: serde_json::Value = serde_json::from_str(&json(&stats).unwrap()).unwrap();
        schema.validate(&value).unwrap();
        value["unknown"] = 1.into();
        assert!(!schema.is_valid(&value));
    }
}

#[test]
fn people_and_spreadsheets_get_the_same_numbers() {
    let stats = usual();
    let text = text(&stats, false);
    assert!(text.starts_with("3 recordings: 6 tool calls, 1 failed, 1 unanswered\n"), "{text}");
    let row = text.lines().find(|line| line.starts_with("add ")).unwrap();
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells, ["add", "2", "4", "0", "1", "20 ms", "30 ms", "30 ms"]);
    let csv = csv(&stats);
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines[0], "tool,server,version,recordings,calls,failed,unanswered,p50_ms,p95_ms,max_ms");
    assert_eq!(lines[1..4], ["add,s,1,1,2,0,0,10,30,30", "add,s,2,1,2,0,1,20,20,20", "<b>,,,1,1,0,0,1,1,1"]);
}

#[test]
fn the_page_shows_a_strangers_name_as_text_and_needs_nothing_from_elsewhere() {
    let page = HtmlRenderer::new("1").unwrap().stats(&usual()).unwrap();
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "{page}");
    assert!(page.contains("default-src 'none'") && !page.contains("src=\"http"));
    // The row with most calls fills the width: three of four answered, one not.
    let good = r#"<rect class="good" x="0" y="0" width="750""#;
    assert!(
        page.contains(good) && page.contains(r#"<rect class="known" x="750" y="0" width="250""#),
        "{page}"
    );
}
