use super::super::sample;
use super::{Options, Text, file, required};
use rules::rule_set::RuleSetResult;
use verdict::text::Verbosity;

fn shown(volume: Verbosity) -> String {
    file(&sample::file(), "0.1.0", Options { colour: false, volume })
}

#[test]
fn a_finding_tells_where_what_whose_and_what_to_do() {
    let text = shown(Verbosity::Normal);
    let rule = rules::find("jsonrpc.id.null").unwrap();
    let expected = format!(
        "\
error[jsonrpc.id.null]: one ::error::two
 --> a, b: 100%.jsonl:3 /raw/id
  |
3 | \\u{{1b}}[31m{{\"id\": null}}
  |
  = the request: a, b: 100%.jsonl:2 /raw (ping with the id 1)
 --> a, b: 100%.jsonl:4 /raw/id: the id is null
  |
4 | {{}}
  = note: and 12 more like this
  = rule: {} (must, client)
  = source: {}
  = document: https://modelcontextprotocol.io/specification/2025-11-25/basic#requests
  = fix: {}
  = help: mcp-concord explain jsonrpc.id.null
",
        rule.title, rule.source, rule.fix
    );
    assert!(text.starts_with(&expected), "{text}\nand not\n{expected}");
    let summary = "\
a, b: 100%.jsonl: mcp-replay, 2025-11-25, 4 messages
  party     errors warnings notes
  client        14        0     0
  recorder       0        1     0
  server         0        0     1
  rules: 1 kept, 3 with findings, 1 not applicable, 1 inconclusive (-v lists them, and what would decide each)
";
    assert!(text.ends_with(summary), "{text}\nand not\n{summary}");
    assert!(text.contains(" --> a, b: 100%.jsonl:5 /entries/0/sse/data (in the text: /params)"), "{text}");
}

#[test]
fn a_recording_without_a_fault_is_not_said_to_conform() {
    let mut recording = sample::file();
    recording.lines.retain(|line| !line.is_finding());
    let options = Options { colour: false, volume: Verbosity::Normal };
    let expected = "\
a, b: 100%.jsonl: mcp-replay, 2025-11-25, 4 messages
  no violations found
  rules: 1 kept, 0 with findings, 1 not applicable, 1 inconclusive (-v lists them, and what would decide each)
";
    assert_eq!(file(&recording, "0.1.0", options), expected);
}

#[test]
fn volume_and_colour_are_the_callers_choice() {
    assert!(shown(Verbosity::Loud).contains("inconclusive:\n  enc.utf8  nothing tells\n"));
    let quiet = shown(Verbosity::Quiet);
    assert!(quiet.contains("error[jsonrpc.id.null]") && !quiet.contains("party"), "{quiet}");
    let colours = file(&sample::file(), "1", Options { colour: true, volume: Verbosity::Normal });
    assert!(colours.contains("\u{1b}[1m\u{1b}[91merror[jsonrpc.id.null]"), "{colours:?}");
    let mut quiet = Text::new("1", Options { colour: false, volume: Verbosity::Quiet });
    let whole = sample::rendered(&mut quiet);
    assert!(whole.ends_with("\n\n1 recording: 14 errors, 1 warning, 1 note\n"), "{whole}");
}

#[test]
fn conforming_is_said_of_what_was_told_alone() {
    let kept = RuleSetResult {
        suite: "0.1.0".into(),
        revision: "2025-11-25",
        kept: 61,
        uncalled: 7,
        inconclusive: 0,
        broken: 0,
        whole: true,
    };
    assert_eq!(
        required(&kept, "0.1.0"),
        "conforms to 2025-11-25 as judged by mcp-concord 0.1.0: 61 rules kept, 7 not applicable, 0 inconclusive"
    );
    let unsure = required(&RuleSetResult { inconclusive: 3, ..kept.clone() }, "0.2.0");
    assert!(
        unsure.starts_with("no violations found (3 rules inconclusive) of 2025-11-25 (the set of 0.1.0) as"),
        "{unsure}"
    );
    let broken = required(&RuleSetResult { broken: 1, ..kept.clone() }, "0.1.0");
    assert!(broken.starts_with("does not conform") && broken.contains("1 broken"), "{broken}");
    assert!(
        required(&RuleSetResult { whole: false, ..kept }, "0.1.0")
            .starts_with("could not be read to its end")
    );
}
