//! Whole sessions: what the limits of memory do to verdicts, and families that are not in the catalogue.

use super::FAMILIES;
use crate::engine::{
    CheckResult, Family, Judge, JudgeOptions, MessageKind, RecordingInfo, RecordingKind, RuleContext,
    RuleVerdict, RuleVisitor, SeenMessage, Trigger, Violation,
};
use crate::rule::{Need, Rule};
use transcript::json::Json;
use transcript::message::Message;
use transcript::session::{Content, Entry, Location, Side};

/// Judges messages as a trace would have them, each with who said it, behind its `meta` line where it has one.
fn judged(
    meta: Option<&str>,
    messages: impl Iterator<Item = (Side, String)>,
    families: &'static [Family],
) -> CheckResult {
    let recording = RecordingInfo {
        kind: RecordingKind { trace: true, ..RecordingKind::default() },
        carries: vec![Need::Direction, Need::Times, Need::Process],
        ..RecordingInfo::default()
    };
    let mut judging = Judge::new(&JudgeOptions { recording, families, ..JudgeOptions::default() });
    if let Some(meta) = meta {
        let start = Content::TraceStart(Json::parse(meta).unwrap());
        judging.take(&Entry::new(Location::default(), start));
    }
    for (line, (side, text)) in (1..).zip(messages) {
        let location = Location { line, ..Location::default() };
        let content = Content::Message(Message::parse(&text).unwrap());
        judging.take(&Entry { side: Some(side), ..Entry::new(location, content) });
    }
    judging.finish()
}

fn handshake() -> impl Iterator<Item = (Side, String)> {
    let about = r#""protocolVersion":"2025-11-25","capabilities":{}"#;
    [
        (Side::Client, format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{{about},"clientInfo":{{"name":"c","version":"1"}}}}}}"#)),
        (Side::Server, format!(r#"{{"jsonrpc":"2.0","id":"i","result":{{{about},"serverInfo":{{"name":"s","version":"1"}}}}}}"#)),
        (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()),
    ]
    .into_iter()
}

fn call(id: u64) -> (Side, String) {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a","_meta":{{"progressToken":"t{id}"}}}}}}"#
    );
    (Side::Client, message)
}

fn progress(token: u64) -> (Side, String) {
    let message = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t{token}","progress":1}}}}"#
    );
    (Side::Server, message)
}

fn answer(id: u64) -> (Side, String) {
    (Side::Server, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#))
}

fn outcome(judged: &CheckResult, rule: &str) -> (RuleVerdict, String) {
    let outcome = judged.outcomes.iter().find(|outcome| outcome.rule.id == rule).unwrap();
    (outcome.verdict, outcome.unsure.clone().unwrap_or_default())
}

#[test]
fn past_the_limits_nothing_is_held_against_anybody_and_the_limit_is_named() {
    let most = 50_000;
    let over = most + 5;
    let messages = handshake()
        .chain((1..=over).map(call))
        .chain([progress(over)])
        .chain((1..=over).map(answer))
        .chain([progress(over + 1)]);
    let judged = judged(None, messages, FAMILIES);
    assert!(
        judged.limit.is_some_and(|limit| limit.contains("50,000 requests are open")),
        "{:?}",
        judged.limit
    );
    for rule in ["jsonrpc.response.id-match", "jsonrpc.response.duplicate", "jsonrpc.request.answered"] {
        let (verdict, why) = outcome(&judged, rule);
        assert_eq!(verdict, RuleVerdict::Inconclusive, "{rule}");
        assert!(why.contains("50,000 requests are open"), "{rule}: {why}");
    }
    let (verdict, why) = outcome(&judged, "progress.token.known");
    assert_eq!(verdict, RuleVerdict::Inconclusive, "{why}");
    assert!(why.contains("more tokens than are remembered"), "{why}");
}

#[test]
fn short_of_the_limits_all_of_it_is_told() {
    let messages = handshake().chain((1..=100).map(call)).chain((1..=101).map(answer)).chain([progress(101)]);
    let judged = judged(None, messages, FAMILIES);
    assert_eq!(judged.limit, None);
    assert_eq!(outcome(&judged, "progress.token.known").0, RuleVerdict::Fail);
    assert_eq!(outcome(&judged, "jsonrpc.response.id-match").0, RuleVerdict::Fail);
    let other = answer(1).1.replace("[]", r#"[{"type":"text","text":""}]"#);
    let again = self::judged(None, handshake().chain([call(1), answer(1), (Side::Server, other)]), FAMILIES);
    assert_eq!(outcome(&again, "jsonrpc.response.duplicate").0, RuleVerdict::Fail);
}

/// What only HTTP has is not missing from a session over stdio, as the command of its trace shows it to be.
#[test]
fn rules_on_http_do_not_apply_where_the_transport_is_known_to_be_stdio() {
    let verdict = |meta: &str| {
        let judged = judged(Some(meta), handshake(), FAMILIES);
        // They need exchanges, headers and events.
        let rules = ["auth.header.bearer", "http.session.echo", "http.sse.event-name"];
        rules.map(|rule| outcome(&judged, rule).0)
    };
    let piped = r#"{"v":1,"type":"meta","command":["demo-server"]}"#;
    assert_eq!(verdict(piped), [RuleVerdict::NotApplicable; 3]);
    for unknown in [
        r#"{"v":1,"type":"meta"}"#,
        r#"{"v":1,"type":"meta","command":[]}"#,
        r#"{"v":1,"type":"meta","command":["bridge","https://a.test/mcp"]}"#,
        r#"{"v":1,"type":"meta","command":["demo-server"],"_made_up":"stdio"}"#,
    ] {
        assert_eq!(verdict(unknown), [RuleVerdict::Inconclusive; 3], "{unknown}");
    }
}

static NO_NUMBERS: Rule = Rule {
    id: "made-up.no-numbers",
    source: "nowhere",
    title: "No request has a number for its id",
    why: "A test asks for it.",
    fix: "Use strings.",
    ..Rule::BLANK.should()
};

struct NoNumbers;

impl RuleVisitor for NoNumbers {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let number = matches!(message.raw.id(), transcript::message::Id::Number(_));
        at.check(&NO_NUMBERS, !number, || Violation::new("the id is a number"));
    }
}

const MADE_UP: Family = Family {
    name: "made-up",
    title: "Made up",
    rules: &[&NO_NUMBERS],
    triggers: &[Trigger::Kinds(&[MessageKind::Request])],
    visitor: || Box::new(NoNumbers),
};

/// All that a new rule needs is the file of its family, and a family a line in the list of families.
#[test]
fn a_made_up_family_judges_a_session_by_its_rule() {
    let judged = judged(None, handshake().chain([call(1), answer(1), call(2)]), &[MADE_UP]);
    let [outcome] = judged.outcomes.as_slice() else { panic!("{:?}", judged.outcomes) };
    assert_eq!((outcome.rule.id, outcome.verdict), ("made-up.no-numbers", RuleVerdict::Warn));
    assert_eq!((outcome.held, outcome.broken), (1, 2));
    assert_eq!(outcome.findings[0].message, "the id is a number");
    assert_eq!((outcome.findings[0].location.line, outcome.findings[0].party), (4, "client"));
}

#[test]
fn there_may_be_more_families_than_a_word_has_bits() {
    const SILENT: Family = Family { rules: &[], triggers: &[], ..MADE_UP };
    static FAMILIES: [Family; 200] = {
        let mut families = [SILENT; 200];
        families[199] = MADE_UP;
        families
    };
    let judged = judged(None, handshake().chain([call(1)]), &FAMILIES);
    assert_eq!(outcome(&judged, "made-up.no-numbers").0, RuleVerdict::Warn);
}

#[test]
fn progress_under_a_token_of_both_sides_is_judged_only_where_a_recording_says_who_reports() {
    let asks = |method: &str, params: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"{method}","method":"{method}","params":{{{params},"_meta":{{"progressToken":1}}}}}}"#
        )
    };
    let reports = |progress: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":1,"progress":{progress}}}}}"#
        )
    };
    let sampling = r#""messages":[],"maxTokens":5"#;
    let mut judging = Judge::new(&JudgeOptions { families: FAMILIES, ..JudgeOptions::default() });
    for text in [
        asks("tools/call", r#""name":"a""#),
        asks("sampling/createMessage", sampling),
        reports(5),
        reports(1),
    ] {
        let content = Content::Message(Message::parse(&text).unwrap());
        judging.take(&Entry::new(Location::default(), content));
    }
    let outcomes = judging.finish().outcomes;
    let outcome = outcomes.iter().find(|outcome| outcome.rule.id == "progress.monotonic").unwrap();
    assert_eq!(outcome.verdict, RuleVerdict::Inconclusive);
}
