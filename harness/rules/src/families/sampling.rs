//! Sampling: the messages that a server has a client's model complete, and which of them a client refuses.
//!
//! Memory: open questions as `ServerRequests` says, and compiled schemas as `Schemas` says.

use crate::engine::{
    ClientAnswer, Family, Fit, MessageKind, Revision, RuleContext, RuleVisitor, Schemas, SeenMessage,
    ServerRequests, Span, Trigger, Violation, part, quoted, server_requests, string_of,
};
use crate::rule::Rule;
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "sampling",
    title: "Sampling",
    rules: &[&ONLY, &BALANCE, &CHOICE, &STRUCTURED, &CONTEXT, &TOOLS_REFUSED, &UNBALANCED_REFUSED, &REJECTED],
    triggers: &[Trigger::Methods(MessageKind::CALLS, &["sampling/createMessage"]), Trigger::InputRequests],
    visitor: || Box::new(SamplingState::default()),
};

const TOOLS: Span = Span::from(Revision::V2025_11_25);

static ONLY: Rule = Rule {
    id: "sampling.tool-result-only",
    span: TOOLS,
    source: "client/sampling#tool-result-messages",
    title: "A user message with a tool result holds only tool results",
    why: "Model APIs give tool results a role of their own, and refuse mixed messages.",
    fix: "Put text, images and audio into a message after the results.",
    ..Rule::BLANK.server()
};

static BALANCE: Rule = Rule {
    id: "sampling.tool-balance",
    span: TOOLS,
    source: "client/sampling#tool-use-and-result-balance",
    title: "Each tool use has its result in the next message, and each result its tool use",
    why: "Model APIs refuse a conversation in which a tool use stays open.",
    fix: "Send one `tool_result` for each `tool_use`, with its id, in the message right after it.",
    ..Rule::BLANK.server()
};

static CHOICE: Rule = Rule {
    id: "sampling.tool-choice",
    span: TOOLS,
    source: "client/sampling#tool-choice-modes",
    title: "An answer uses a tool where `toolChoice` requires it, and none where it says none",
    why: "The server relies on what it asked for: it has no tool to run, or waits for a tool use that never comes.",
    fix: "Pass `toolChoice` on to the model, and check its answer.",
    ..Rule::BLANK.client()
};

static STRUCTURED: Rule = Rule {
    id: "sampling.tool-structured",
    span: TOOLS,
    source: "schema, ToolResultContent",
    title: "Structured content in a tool's result fits the `outputSchema` that the request gives",
    why: "The model was promised another shape, and reasons about members that are not there.",
    fix: "Pass on what the tool returned, together with its schema.",
    ..Rule::BLANK.should().server()
};

static CONTEXT: Rule = Rule {
    id: "sampling.no-context",
    span: TOOLS,
    source: "client/sampling#capabilities",
    title: "A sample asks for no context of servers, even where the client could add it",
    why: "The values `thisServer` and `allServers` are deprecated, and a later revision may drop them.",
    fix: "Leave `includeContext` out, and put what the model has to know into the messages.",
    ..Rule::BLANK.should().server()
};

static TOOLS_REFUSED: Rule = Rule {
    id: "sampling.tools-refused",
    span: TOOLS,
    source: "schema, CreateMessageRequestParams",
    title: "A client without `sampling.tools` refuses a sample that hands it tools",
    why: "A sample without the tools looks like one whose model needed none.",
    fix: "Answer with an error, or declare `sampling.tools`.",
    ..Rule::BLANK.client()
};

/// What a client answers with which code. Since 2026-07-28 it answers no error at all.
const CODES: Rule = Rule {
    span: Span::only(Revision::V2025_11_25),
    source: "client/sampling#error-handling",
    ..Rule::BLANK.should().client()
};

static UNBALANCED_REFUSED: Rule = Rule {
    id: "sampling.unbalanced-refused",
    title: "Messages whose tool uses and tool results do not match are refused with -32602",
    why: "The model's provider refuses them anyway, with an error that does not tell the server what to correct.",
    fix: "Check the messages first, and answer with -32602.",
    ..CODES
};

static REJECTED: Rule = Rule {
    id: "sampling.rejected-code",
    title: "A sample that the user rejects is answered with the code -1",
    why: "With another code the server takes a person's decision for a failure, and tries again.",
    fix: "Answer with the code -1.",
    ..CODES
};

const SAMPLE: &str = "sampling/createMessage";
const NOT_KEPT: &str = "what was asked for is not in the recording";

#[derive(Default)]
struct SamplingState {
    server_requests: ServerRequests,
    schemas: Schemas,
}

impl RuleVisitor for SamplingState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        for asked in server_requests(at).iter().filter(|asked| asked.method == SAMPLE) {
            let Some(params) = asked.params else { continue };
            if let Some(messages) = params.member("messages") {
                self.messages(messages, params, at);
            }
            let context = params.member("includeContext");
            let asks = context.and_then(string_of).is_some_and(|context| context != "none");
            // Without the capability it is the business of another rule.
            if !asks || at.facts.declares(Side::Client, "sampling.context") != Some(false) {
                at.check(&CONTEXT, !asks, || {
                    Violation::new("context of servers is asked for").inside(context.unwrap_or(params))
                });
            }
        }
        for answer in self.server_requests.see(at).iter().filter(|answer| answer.method == SAMPLE) {
            answered(answer, at);
        }
        let Some(request) = message.request_for(SAMPLE) else { return };
        if message.kind == MessageKind::Error && hands_tools(request.params()) {
            refused(at);
        }
        codes(message, request.param("messages"), at);
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        at.reached(self.schemas.spent());
    }
}

/// A sample, by whatever way it comes to the server.
fn answered(answer: &ClientAnswer<'_>, at: &RuleContext<'_>) {
    let Some(params) = answer.params() else {
        return at.inconclusive(&TOOLS_REFUSED, NOT_KEPT);
    };
    if hands_tools(Some(params)) && at.facts.declares(Side::Client, "sampling") != Some(false) {
        match at.facts.declares(Side::Client, "sampling.tools") {
            Some(true) => {}
            Some(false) => {
                let wrong =
                    Violation::new("tools are handed over, and the client samples without `sampling.tools`");
                at.fail(&TOOLS_REFUSED, wrong.see(answer.request.clone(), "the request"));
            }
            None => at.inconclusive(&TOOLS_REFUSED, "the client's capabilities are not in the recording"),
        }
    }
    if let (Some(choice), Some(content)) = (params.member("toolChoice"), answer.result.member("content")) {
        let uses = blocks(content).iter().any(|block| sort(*block) == "tool_use");
        let mode = choice.member("mode").and_then(string_of);
        let (kept, wrong) = match mode.as_deref() {
            Some("none") => (!uses, "the answer uses a tool, and `toolChoice` says none"),
            Some("required") => (uses, "the answer uses no tool, and `toolChoice` requires one"),
            _ => return,
        };
        at.check(&CHOICE, kept, || Violation::new(wrong).inside(content));
    }
}

fn hands_tools(params: Option<Json<'_>>) -> bool {
    params.is_some_and(|params| params.member("tools").or_else(|| params.member("toolChoice")).is_some())
}

fn refused(at: &RuleContext<'_>) {
    if at.facts.declares(Side::Client, "sampling.tools") == Some(false) {
        at.pass(&TOOLS_REFUSED);
    }
}

/// What an answer of its own says of the messages that it is for.
fn codes(message: &SeenMessage<'_>, messages: Option<Json<'_>>, at: &RuleContext<'_>) {
    let code = message.error_code();
    // A client without samples says that first, and a person's word comes before any other.
    if code == Some(-1) {
        return at.pass(&REJECTED);
    }
    let words = message.error().and_then(|error| error.member("message"));
    if words.is_some_and(|words| at.redacted(words)) {
        at.inconclusive(&REJECTED, "the recorder took out why the sample was refused");
    } else if let Some(words) = words.and_then(string_of).map(|words| words.to_lowercase())
        && words.contains("user ")
        && ["reject", "declin", "denied", "refus"].iter().any(|word| words.contains(word))
    {
        return at.fail(&REJECTED, format!("the user has refused, and the code is {}", code.unwrap_or(0)));
    }
    if code == Some(-32601) {
        return;
    }
    let Some(messages) = messages else {
        return at.inconclusive(&UNBALANCED_REFUSED, NOT_KEPT);
    };
    // That a result is of no use of a tool, nothing says how to refuse.
    let lacks = || unbalanced(messages).1.filter(|(.., lacks)| *lacks).map(|(turn, why, _)| (turn, why));
    if let Some((_, why)) = mixed(messages).or_else(lacks) {
        at.check(&UNBALANCED_REFUSED, code == Some(-32602), || match code {
            Some(code) => format!("{why}, and the answer is the error {code}"),
            None => format!("{why}, and the answer is a sample"),
        });
    }
}

type Fault<'m> = (Json<'m>, String);

impl SamplingState {
    fn messages(&mut self, messages: Json<'_>, params: Json<'_>, at: &RuleContext<'_>) {
        let (tools, wrong) = unbalanced(messages);
        match (mixed(messages), tools) {
            (Some((block, why)), _) => at.fail(&ONLY, Violation::new(why).inside(block)),
            (None, true) => at.pass(&ONLY),
            (None, false) => {}
        }
        match wrong {
            Some((turn, why, _)) => at.fail(&BALANCE, Violation::new(why).inside(turn)),
            None if tools => at.pass(&BALANCE),
            None => {}
        }
        let blocks: Vec<Json<'_>> =
            messages.items().filter_map(|turn| turn.member("content")).flat_map(blocks).collect();
        for result in blocks.iter().filter(|block| sort(**block) == "tool_result") {
            let Some(structured) = result.member("structuredContent") else { continue };
            let same = |one: Option<Json<'_>>, other: Option<Json<'_>>| {
                one.and_then(string_of).is_some_and(|one| other.and_then(string_of).as_ref() == Some(&one))
            };
            let mut uses = blocks.iter().filter(|block| sort(**block) == "tool_use");
            let used = uses.find(|block| same(block.member("id"), result.member("toolUseId")));
            let mut tools = params.member("tools").into_iter().flat_map(Json::items);
            let tool =
                used.and_then(|used| tools.find(|tool| same(tool.member("name"), used.member("name"))));
            let Some(tool) = tool else {
                at.inconclusive(&STRUCTURED, "the tool's definition is not among the `tools` of the request");
                continue;
            };
            let Some(schema) = tool.member("outputSchema") else { continue };
            match self.schemas.fit(schema, structured) {
                Fit::Fits => at.pass(&STRUCTURED),
                Fit::Unsure(why) => at.inconclusive(&STRUCTURED, why),
                Fit::Unfit(why, pointer) => {
                    let wrong = format!("`structuredContent` does not fit `outputSchema`: {why}");
                    at.fail(&STRUCTURED, Violation::new(wrong).inside(part(structured, &pointer)));
                }
            }
        }
    }
}

/// The first block that stands beside the results of tools, and what it is.
fn mixed(messages: Json<'_>) -> Option<Fault<'_>> {
    messages.items().find_map(|turn| {
        let blocks = turn.member("content").map(blocks).filter(|_| role(turn) == "user")?;
        blocks.iter().find(|block| sort(**block) == "tool_result")?;
        let other = blocks.into_iter().find(|block| !matches!(&*sort(*block), "" | "tool_result"))?;
        Some((other, format!("a message with results of tools has a block of the type `{}`", sort(other))))
    })
}

/// Whether tools are used at all, and the first message where a use or a result lacks the other, with whether it is a result that
/// is missing.
fn unbalanced(messages: Json<'_>) -> (bool, Option<(Json<'_>, String, bool)>) {
    let mut open: Option<(Json<'_>, BTreeSet<String>)> = None;
    let (mut tools, mut wrong) = (false, None);
    // What is not there cannot be balanced.
    if messages.items().any(|turn| turn.member("content").is_none()) {
        return (false, None);
    }
    for turn in messages.items() {
        let blocks = turn.member("content").map(blocks).unwrap_or_default();
        let results = ids(&blocks, "tool_result", "toolUseId");
        let uses = ids(&blocks, "tool_use", "id");
        tools |= !results.is_empty() || !uses.is_empty();
        let request = open.take().map(|(_, uses)| uses).unwrap_or_default();
        // Only a user's message brings results.
        let unmet = request.iter().find(|id| role(turn) == "assistant" || !results.contains(*id));
        let unasked = results.difference(&request).next();
        if let Some(id) = unmet {
            wrong.get_or_insert((turn, format!("the use {} of a tool has no result here", quoted(id)), true));
        } else if let Some(id) = unasked {
            let message = format!("there is a result for {}, and no use of a tool before it", quoted(id));
            wrong.get_or_insert((turn, message, false));
        }
        if !uses.is_empty() {
            open = Some((turn, uses));
        }
    }
    if let Some((turn, _)) = open {
        wrong.get_or_insert((turn, "the last message uses a tool, and no result follows".to_owned(), true));
    }
    (tools, wrong)
}

fn role(turn: Json<'_>) -> String {
    turn.member("role").and_then(string_of).unwrap_or_default()
}

/// Content as a list: one block stands without brackets.
fn blocks(content: Json<'_>) -> Vec<Json<'_>> {
    match content.kind() {
        JsonKind::Array => content.items().collect(),
        _ => vec![content],
    }
}

fn sort(block: Json<'_>) -> String {
    block.member("type").and_then(string_of).unwrap_or_default()
}

fn ids(blocks: &[Json<'_>], kind: &str, member: &str) -> BTreeSet<String> {
    let of_kind = blocks.iter().filter(|block| sort(**block) == kind);
    of_kind.filter_map(|block| string_of(block.member(member)?)).collect()
}
