//! Sampling: the messages that a server has a client's model complete.

use crate::engine::{
    Family, MessageKind, Report, Revision, RuleContext, RuleVisitor, Span, Trigger, Violation, quoted,
    server_requests, string_of,
};
use crate::rule::{Party, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "sampling",
    title: "Sampling",
    rules: &[&ONLY, &BALANCE, &CHOICE],
    triggers: &[
        Trigger::Methods(&[MessageKind::Request], &["sampling/createMessage"]),
        Trigger::Methods(&[MessageKind::Result], &["sampling/createMessage"]),
        Trigger::InputRequests,
    ],
    visitor: || Box::new(SamplingState),
};

const TOOLS: Span = Span::from(Revision::V2025_11_25);

static ONLY: Rule = Rule {
    id: "sampling.tool-result-only",
    party: Party::Server,
    span: TOOLS,
    source: "client/sampling#tool-result-messages",
    title: "A user's message with a tool's result holds nothing but results of tools",
    why: "Models have such messages in a role of their own, and refuse what is mixed.",
    fix: "Put text, images and audio into a message behind the results.",
    ..Rule::BLANK
};

static BALANCE: Rule = Rule {
    id: "sampling.tool-balance",
    party: Party::Server,
    span: TOOLS,
    source: "client/sampling#tool-use-and-result-balance",
    title: "Each use of a tool has its result in the next message, and each result its use",
    why: "Models refuse a conversation in which a use of a tool stays open.",
    fix: "Send one `tool_result` for each `tool_use`, with its id, right behind the message that has it.",
    ..Rule::BLANK
};

static CHOICE: Rule = Rule {
    id: "sampling.tool-choice",
    party: Party::Client,
    span: TOOLS,
    source: "client/sampling#tool-choice-modes",
    title: "An answer uses a tool where `toolChoice` requires it, and none where it says none",
    why: "The server goes on by what it asked for: it has no tool to run, or waits for a use that does not come.",
    fix: "Hand `toolChoice` on to the model, and check what it answers.",
    ..Rule::BLANK
};

struct SamplingState;

impl RuleVisitor for SamplingState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        for server_request in server_requests(at)
            .iter()
            .filter(|server_request| server_request.method == "sampling/createMessage")
        {
            if let Some(messages) = server_request.params.and_then(|params| params.member("messages")) {
                judge(messages, at, report);
            }
        }
        let result =
            at.message.and_then(|message| Some((message, message.result_of("sampling/createMessage")?)));
        if let Some((message, result)) = result
            && let Some(choice) = message.request().and_then(|request| request.param("toolChoice"))
            && let Some(content) = result.member("content")
        {
            let mode = choice.member("mode").and_then(string_of);
            let mut blocks = match content.kind() {
                JsonKind::Array => content.items().collect::<Vec<_>>(),
                _ => vec![content],
            }
            .into_iter();
            let uses = blocks.any(|block| sort(block) == "tool_use");
            let (kept, wrong) = match mode.as_deref() {
                Some("none") => (!uses, "the answer uses a tool, and `toolChoice` says none"),
                Some("required") => (uses, "the answer uses no tool, and `toolChoice` requires one"),
                _ => return,
            };
            report.check(&CHOICE, at, kept, || Violation::new(wrong).inside(content));
        }
    }
}

fn judge(messages: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let mut open: Option<(Json<'_>, BTreeSet<String>)> = None;
    let (mut tools, mut wrong) = (false, None);
    // What is not there cannot be balanced.
    if messages.items().any(|turn| turn.member("content").is_none()) {
        return;
    }
    for turn in messages.items() {
        let role = turn.member("role").and_then(string_of).unwrap_or_default();
        let blocks: Vec<Json<'_>> = match turn.member("content") {
            Some(list) if list.kind() == JsonKind::Array => list.items().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        };
        let results = ids(&blocks, "tool_result", "toolUseId");
        let uses = ids(&blocks, "tool_use", "id");
        tools |= !results.is_empty() || !uses.is_empty();
        if role == "user" && !results.is_empty() {
            let other = blocks.iter().find(|block| !matches!(&*sort(**block), "" | "tool_result"));
            report.check(&ONLY, at, other.is_none(), || {
                let kind = other.map(|block| sort(*block)).unwrap_or_default();
                let wrong = Violation::new(format!(
                    "a message with results of tools has a block of the type `{kind}`"
                ));
                wrong.inside(*other.unwrap_or(&turn))
            });
        }
        let request = open.take().map(|(_, uses)| uses).unwrap_or_default();
        let unmet = request.difference(&results).next();
        let unasked = results.difference(&request).next();
        if let Some(id) = unmet {
            wrong.get_or_insert((turn, format!("the use {} of a tool has no result here", quoted(id))));
        } else if let Some(id) = unasked {
            let message = format!("there is a result for {}, and no use of a tool before it", quoted(id));
            wrong.get_or_insert((turn, message));
        }
        if !uses.is_empty() {
            open = Some((turn, uses));
        }
    }
    if let Some((turn, _)) = open {
        wrong.get_or_insert((turn, "the last message uses a tool, and no result follows".to_owned()));
    }
    match wrong {
        Some((turn, why)) => report.fail(&BALANCE, at, Violation::new(why).inside(turn)),
        None if tools => report.pass(&BALANCE, at),
        None => {}
    }
}

fn sort(block: Json<'_>) -> String {
    block.member("type").and_then(string_of).unwrap_or_default()
}

fn ids(blocks: &[Json<'_>], kind: &str, member: &str) -> BTreeSet<String> {
    let of_kind = blocks.iter().filter(|block| sort(**block) == kind);
    of_kind.filter_map(|block| string_of(block.member(member)?)).collect()
}
