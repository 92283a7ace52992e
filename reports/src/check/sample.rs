//! A recording with a bit of everything, for the tests of the renderers.

use super::Renderer;
use rules::RuleVerdict;
use rules::record::{CheckedFile, Problem, RelatedLocation, RuleResult};
use rules::rule::Level;

/// All that a renderer writes of something that cannot be judged and then of a recording.
pub(super) fn rendered(renderer: &mut dyn Renderer) -> String {
    let problem = Problem { file: "gone.jsonl".into(), message: "there is no file gone.jsonl".into() };
    let mut out = Vec::new();
    renderer.problem(&problem, &mut out).unwrap();
    renderer.file(&file(), &mut out).unwrap();
    renderer.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn file() -> CheckedFile {
    let name = "a, b: 100%.jsonl";
    let line = |rule, verdict, level, party, message: &str| RuleResult {
        rule,
        verdict,
        level,
        party,
        file: name.to_owned(),
        line: None,
        pointer: None,
        offset: None,
        within: None,
        message: message.to_owned(),
        link: None,
        snippet: None,
        other: None,
        rerun: None,
        more: 0,
    };
    let at = |number: u64, pointer: &str, snippet: &str, line: RuleResult| RuleResult {
        link: rules::find(line.rule).and_then(|rule| rule.link(rules::Revision::named("2025-11-25"))),
        line: Some(number),
        pointer: Some(pointer.to_owned()),
        snippet: Some(snippet.to_owned()),
        ..line
    };
    let hostile = line("jsonrpc.id.null", RuleVerdict::Fail, Level::Must, "client", "one\n::error::two");
    let null = line("jsonrpc.id.null", RuleVerdict::Fail, Level::Must, "client", "the id is null");
    let left_out = line("rec.bodies", RuleVerdict::Warn, Level::Should, "recorder", "the body was left out");
    let other = RelatedLocation {
        what: "the request",
        line: 2,
        pointer: "/raw".to_owned(),
        offset: 0,
        snippet: "ping with the id 1".to_owned(),
    };
    let lines = vec![
        line("jsonrpc.version", RuleVerdict::Pass, Level::Must, "sender", "kept 4 times"),
        line("jsonrpc.kind", RuleVerdict::NotApplicable, Level::Must, "sender", "nothing called for it"),
        RuleResult { other: Some(other), ..at(3, "/raw/id", "\u{1b}[31m{\"id\": null}", hostile) },
        RuleResult { more: 12, ..at(4, "/raw/id", "{}", null) },
        RuleResult { within: Some("/params".to_owned()), ..at(5, "/entries/0/sse/data", "<&>", left_out) },
        at(0, "", "1.0", line("jsonrpc.id.form", RuleVerdict::Info, Level::Info, "server", "the id is 1.0")),
        line("enc.utf8", RuleVerdict::Inconclusive, Level::Must, "recorder", "nothing tells"),
    ];
    CheckedFile {
        name: name.to_owned(),
        digest: None,
        format: "mcp-replay".to_owned(),
        revision: Some("2025-11-25"),
        messages: 4,
        limit: None,
        gave_up: None,
        lines,
        required: None,
    }
}
