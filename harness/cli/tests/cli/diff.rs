//! `diff` on sessions that differ in nothing but the summary of a challenge: that is context, and no difference.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use std::path::Path;
use std::process::{Command, Output};

fn diff(flags: &[&str], left: &str, right: &str) -> Output {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    command.arg("diff").args(flags).args([cases.join(left), cases.join(right)]).output().unwrap()
}

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const SEEN: &str = "k2a/scope-alone/streamable-http.json";
const UNSEEN: &str = "k2a/neither/streamable-http.json";

#[test]
fn another_summary_is_noted_and_is_no_difference() {
    for (left, right) in [
        (SEEN, UNSEEN),
        (UNSEEN, SEEN),
        (SEEN, "k2a/metadata-alone/http-sse.json"),
        ("k2a/both-parameters/har.har", SEEN),
    ] {
        let (code, out, err) = told(&diff(&[], left, right));
        assert_eq!(code, Some(0), "{left} {right}: {out}{err}");
        assert!(out.starts_with("the same session: 2 events equal"), "{out}");
        assert!(err.contains("note: the summaries of a challenge differ (K2A-SUMMARY)"), "{err}");
    }
    let (_, _, err) = told(&diff(&[], SEEN, UNSEEN));
    assert!(err.contains("\"scope_challenge_visible\": true}") && err.contains("B null"), "{err}");
}

#[test]
fn nothing_is_noted_of_equal_summaries_nor_where_a_format_carries_none_nor_to_the_quiet() {
    for (flags, left, right) in [
        (&[][..], SEEN, SEEN),
        (&[], SEEN, "k2a/scope-alone/har.har"),
        (&[], "k2a/both-parameters/har.har", "k2a/both-parameters/jsonrpc.jsonl"),
        (&["-q"], SEEN, UNSEEN),
    ] {
        let (code, out, err) = told(&diff(flags, left, right));
        assert_eq!(code, Some(0), "{left} {right}: {out}{err}");
        assert!(!err.contains("K2A-SUMMARY") && !out.contains("K2A-SUMMARY"), "{out}{err}");
    }
}

#[test]
fn other_events_differ_whatever_the_summaries_say() {
    let (code, out, err) = told(&diff(&[], SEEN, "k2a/two-answers/streamable-http.json"));
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("different sessions") && err.contains("K2A-SUMMARY"), "{out}{err}");
}

#[test]
fn the_order_of_answers_is_left_out_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"quick"}}
"#;
    let answer = |id: u64, text: &str| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"said\":\"{text}\"}}}}\n")
    };
    let file = |name: &str, answers: [String; 2]| {
        let path = folder.path().join(name);
        std::fs::write(&path, [asked.to_owned(), answers.concat()].concat()).unwrap();
        path.display().to_string()
    };
    let one = file("one", [answer(1, "a"), answer(2, "b")]);
    let other = file("other", [answer(2, "b"), answer(1, "a")]);
    let swapped = file("swapped", [answer(2, "a"), answer(1, "b")]);
    assert_eq!(told(&diff(&[], &one, &other)).0, Some(1));
    let (code, out, err) = told(&diff(&["--unordered-answers"], &one, &other));
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.starts_with("the same session: 4 events equal"), "{out}");
    let (code, out, _) = told(&diff(&["--unordered-answers"], &one, &swapped));
    assert_eq!(code, Some(1), "which answer belongs to which request still counts");
    assert!(
        out.contains("event 2 differs at /result/said") && out.contains("2 events equal, 2 differ"),
        "{out}"
    );
}

#[test]
fn what_http_refused_is_said_and_left_out_where_that_is_asked_for() {
    let (stdio, http) =
        ("recorded/everything-stdio-discover/mcp-replay.jsonl", "recorded/everything-http-discover/har.har");
    let time = ["--ignore", "/result/contents/*/text"];
    let (code, out, err) = told(&diff(&time, stdio, http));
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("everything-http-discover/har.har: HTTP refused 1 request (1 with 400)"), "{err}");
    assert!(out.contains("\n  error: 1 differ\n"), "{out}");
    // The probe is answered with an error over stdio and refused over HTTP; what a server says of its own still differs.
    for http in [http, "recorded/everything-http-discover/streamable-http.json"] {
        let (code, out, err) = told(&diff(&[&time[..], &["--ignore-refusals"]].concat(), stdio, http));
        assert_eq!(code, Some(1), "{out}{err}");
        let said = "23 events equal, 0 differ, 1 only in A, 0 only in B";
        assert!(
            out.contains(said)
                && out.contains("\n  notification notifications/tools/list_changed: 1 only in A\n"),
            "{out}"
        );
        assert_eq!(err.matches("1 request turned away left out").count(), 2, "{err}");
    }
    // A request that is sent again with a token is answered the second time.
    let refused = "recorded/python1-http-refused/har.har";
    let (code, out, err) = told(&diff(&["--ignore-refusals"], refused, refused));
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.starts_with("the same session: 5 events equal"), "of six: {out}");
}

#[test]
fn for_programs_the_differences_are_an_object() {
    let (code, out, err) =
        told(&diff(&["--output", "json", "--show", "1"], SEEN, "k2a/two-answers/streamable-http.json"));
    assert_eq!(code, Some(1), "{err}");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../reports/diff.schema.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    let members = schema["required"].as_array().unwrap();
    assert!(members.iter().all(|member| found.get(member.as_str().unwrap()).is_some()), "{out}");
    assert_eq!((&found["same"], found["differences"].as_array().unwrap().len()), (&false.into(), 1), "{out}");
    let counted = |name: &str| found[name].as_u64().unwrap();
    assert_eq!(counted("differ") + counted("only_a") + counted("only_b"), 1 + counted("hidden"), "{out}");
    let (code, out, _) = told(&diff(&["--output", "json"], SEEN, SEEN));
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &found["same"], &found["differences"]),
        (Some(0), &true.into(), &serde_json::json!([]))
    );
    // What cannot be read prints no object.
    assert_eq!(told(&diff(&["--output", "json"], SEEN, "no such file")).1, "");
}
