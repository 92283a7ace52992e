//! Values, tools and names that somebody treats as special: what looks like markup, a number, a message or a secret.

use super::json::{one_of, plant};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::{KnownEvent, SessionBuilder};

mutators! {
    "value-text" ["EQ-ARGS" "EQ-OUTCOME"] "A value becomes a string that a reader may tidy: markup, digits, words, characters that entry text round."
        => Relation::Changes, Apply::Session(|builder, rng| one_of(builder, rng, TEXTS));
    "value-long" ["EQ-ARGS" "EQ-OUTCOME"] "A value becomes a string of more than 32 KiB."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let length = 32 * 1024 + 1 + rng.below(4096);
            plant(builder, rng, &format!("\"{}\"", "long ".repeat(length / 5 + 1)))
        });
    "value-known-names" ["EQ-ARGS" "EQ-OUTCOME"] "A value becomes an object with members that MCP or a program gives a meaning: `_meta`, `content`, `isError`."
        => Relation::Changes, Apply::Session(|builder, rng| one_of(builder, rng, OBJECTS));
    "value-deep" ["SRV-DEPTH"] "A value becomes one that is nested a thousand levels deep and more."
        => Relation::Open(Reading::Free), Apply::Session(|builder, rng| {
            let levels = 1000 + rng.below(1000);
            plant(builder, rng, &format!("{}{}", "[".repeat(levels), "]".repeat(levels)))
        });
    "tool-renamed" ["EQ-TOOL"] "A tool call names a tool that differs in case, white space or form from what is usual."
        => Relation::Changes, Apply::Session(tool);
}

const TEXTS: &[&str] = &[
    "\"0123\"",
    "\"12\"",
    "\"1e5\"",
    "\"true\"",
    "\"null\"",
    "\"<b>x</b> & \\\"y\\\" 'z'\"",
    "\"&lt;b&gt; &amp; &#39;\"",
    "\"a\u{202e}b\u{2066}c\u{200f}\"",
    "\"a\u{200b}b\u{ad}c\"",
    "\"2026-05-12T23:00:00Z\"",
    "\"%41+%20\"",
    "\"a\\\\nb\"",
    "\"\\\\ud83d\"",
    "\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":\\\"x\\\"}\"",
    "\"   \"",
];

const OBJECTS: &[&str] = &[
    r#"{"_meta":{"progressToken":1},"cursor":"x"}"#,
    r#"{"_meta":{"a":1},"content":[{"type":"text","text":"x"}]}"#,
    r#"{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}"#,
    r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
    r#"{"a":1,"A":2,"á":3}"#,
    r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"inner","arguments":{}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    r#"{"":0,"__proto__":{"x":1},"constructor":1,"10":1,"2":2}"#,
    r#"{"method":"tools/call","error":{"code":1,"message":"x"},"id":null}"#,
    r#"{"nextCursor":null,"tools":[]}"#,
];

fn tool(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let forms =
        ["\"CamelCase\"", "\" padded \"", "\"a.b/c-d_e\"", "\"\"", "\"É\"", "\"tools/call\"", "\"null\""];
    let named = |message: &KnownEvent| {
        message.is("tool_call")
            && message.text.get("params").is_some_and(|params| params.get("name").is_some())
            && message.meaning.get("tool").and_then(Node::spelled).is_some_and(|name| name.starts_with('"'))
    };
    let (those, form) = (builder.messages_where(named), rng.pick(&forms).copied().unwrap_or("\"\""));
    let Some(message) = rng.pick(&those).and_then(|&at| builder.entries[at].message.as_mut()) else {
        return false;
    };
    if let Some(params) = message.text.get_mut("params") {
        params.set("name", Node::leaf(form));
    }
    message.meaning.set("tool", Node::leaf(form));
    true
}
