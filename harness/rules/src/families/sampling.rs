//! Sampling: the messages that a server has a client's model complete.
//!
//! Refuses to know: what a model makes of them.

use crate::engine::{Found, Moment, Revision, Sort, Span, Wrong, quoted, string_of, wishes};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Party, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "sampling",
    title: "Sampling",
    rules: &[&ONLY, &BALANCE],
    hears: &[Hears::Some(&[Sort::Request], &["sampling/createMessage"]), Hears::Asking],
    watch: || Box::new(Watching),
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

struct Watching;

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        for wish in wishes(at).iter().filter(|wish| wish.method == "sampling/createMessage") {
            if let Some(messages) = wish.params.and_then(|params| params.member("messages")) {
                judge(messages, at, found);
            }
        }
    }
}

fn judge(messages: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    let mut open: Option<(Json<'_>, BTreeSet<String>)> = None;
    let (mut tools, mut wrong) = (false, None);
    for message in messages.items() {
        let role = message.member("role").and_then(string_of).unwrap_or_default();
        let blocks: Vec<Json<'_>> = match message.member("content") {
            Some(list) if list.kind() == JsonKind::Array => list.items().collect(),
            Some(one) => vec![one],
            None => Vec::new(),
        };
        let results = ids(&blocks, "tool_result", "toolUseId");
        let uses = ids(&blocks, "tool_use", "id");
        tools |= !results.is_empty() || !uses.is_empty();
        if role == "user" && !results.is_empty() {
            let other = blocks.iter().find(|block| sort(**block) != "tool_result");
            found.check(&ONLY, at, other.is_none(), || {
                let kind = other.map(|block| sort(*block)).unwrap_or_default();
                let wrong =
                    Wrong::of(format!("a message with results of tools has a block of the type `{kind}`"));
                wrong.inside(*other.unwrap_or(&message))
            });
        }
        let asked = open.take().map(|(_, uses)| uses).unwrap_or_default();
        let unmet = asked.difference(&results).next();
        let unasked = results.difference(&asked).next();
        if let Some(id) = unmet {
            wrong.get_or_insert((message, format!("the use {} of a tool has no result here", quoted(id))));
        } else if let Some(id) = unasked {
            let said = format!("there is a result for {}, and no use of a tool before it", quoted(id));
            wrong.get_or_insert((message, said));
        }
        if !uses.is_empty() {
            open = Some((message, uses));
        }
    }
    if let Some((message, _)) = open {
        wrong.get_or_insert((message, "the last message uses a tool, and no result follows".to_owned()));
    }
    match wrong {
        Some((message, why)) => found.broke(&BALANCE, at, Wrong::of(why).inside(message)),
        None if tools => found.held(&BALANCE, at),
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
