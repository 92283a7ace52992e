//! Members and lines that nobody knows: they are passed over, also where they look like something.

use crate::format_tree::{FormatTree, change_each, is_archive};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::Relation;
use crate::rng::Rng;

mutators! {
    "unknown-in-messages" ["EQ-PAIR"] "Messages have members that JSON-RPC does not know."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            let mut took = false;
            tree.each(&mut |_, message| took |= rng.one_in(2) && add(message, rng));
            took
        });
    "unknown-in-frames" ["ENV-UNKNOWN" "RPL-UNKNOWN"] "The objects around messages have members that the format does not know."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            change_each(tree.frames(), |frame| rng.one_in(2) && add(frame, rng))
        });
    "unknown-lines" ["RPL-DIR" "RPL-UNKNOWN"] "A trace has lines of other directions, types and kinds, some with the text of a message."
        => Relation::Same, Apply::Spelling(lines);
    "unknown-sites" ["HAR-MESSAGE"] "A HAR has exchanges of other sites."
        => Relation::Same, Apply::Spelling(sites);
}

const NAMES: &[&str] = &["_x", "comment", "Id", "JSONRPC", "request_id", "__proto__", "é"];
const VALUES: &[&str] =
    &["null", r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, r#"[{"id":true}]"#, "1e999", r#""x""#];

fn add(node: &mut Node, rng: &mut Rng) -> bool {
    let (Some(name), Some(value)) = (rng.pick(NAMES), rng.pick(VALUES)) else { return false };
    if node.get(name).is_some() {
        return false;
    }
    let Some(value) = Node::parse(value) else { return false };
    node.set(name, value);
    true
}

fn lines(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    const LINES: &[&str] = &[
        r#"{"t":"2026-05-12T23:00:00.000Z","dir":"event","raw":{"jsonrpc":"2.0","id":0,"result":{"n":1}}}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","dir":"command","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call"}}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","type":"entry","role":"user","text":"hello"}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","kind":"llm.request","id":0}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","dir":"stderr","raw":"listening"}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","dir":"IN","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","dir":"Out","raw":{"jsonrpc":"2.0","id":0,"result":{"n":2}}}"#,
        r#"{"t":"2026-05-12T23:00:00.000Z","type":"entry","role":"assistant","blocks":[{"type":"tool_use","id":"1","name":"echo","input":{}}]}"#,
    ];
    if !tree.format.carries.process {
        return false;
    }
    for _ in 0..1 + rng.below(3) {
        let Some(line) = rng.pick(LINES).and_then(|line| Node::parse(line)) else { return false };
        // After the first line, which is `meta`, and before the last, which is `end`.
        let at = 1 + rng.below(tree.values.len().saturating_sub(1));
        tree.values.insert(at, line);
    }
    true
}

fn sites(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    const SITE: &str = r#"{"startedDateTime":"2026-05-12T23:00:00.000Z","time":1,"request":{"method":"GET","url":"https://example.com/","httpVersion":"HTTP/1.1","cookies":[],"headers":[],"queryString":[],"headersSize":-1,"bodySize":0},"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[],"content":{"size":14,"mimeType":"BODY","text":TEXT},"redirectURL":"","headersSize":-1,"bodySize":14},"cache":{},"timings":{"send":0,"wait":1,"receive":0}}"#;
    const BODIES: &[(&str, &str)] = &[
        ("text/html", r#""<p>hello</p>""#),
        ("application/json", r#""{\"error\":\"x\"}""#),
        ("application/json", r#""{\"id\":1,\"ok\":1}""#),
        ("application/json", r#""[1,{\"id\":2}]""#),
        ("text/event-stream", r#""data: hello\n\n""#),
    ];
    // Requests that do not POST a message, and one whose body the exporter dropped.
    const REQUESTS: &[(&str, &str)] = &[
        ("method", "\"GET\""),
        ("method", "\"PUT\""),
        ("method", "\"DELETE\""),
        ("headers", r#"[{"name":"WWW-Authenticate","value":"Bearer scope=\"a\""}]"#),
        ("bodySize", "55"),
    ];
    const POSTED: &str =
        r#"{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}"}"#;
    let Some((kind, text)) = rng.pick(BODIES) else { return false };
    let Some(&(name, value)) = rng.pick(REQUESTS) else { return false };
    let dropped = rng.one_in(4);
    let place = rng.next_u64();
    let Some(site) = Node::parse(&SITE.replace("BODY", kind).replace("TEXT", text)) else { return false };
    let Some(document) = tree.values.first_mut().filter(|_| is_archive(tree.format)) else {
        return false;
    };
    let Some(Node::Array(entries)) = document.get_mut("log").and_then(|log| log.get_mut("entries")) else {
        return false;
    };
    // It takes the time of its neighbour, so that it moves nothing.
    let at = usize::try_from(place % (entries.len() as u64 + 1)).unwrap_or_default();
    let neighbour = at.checked_sub(1).or(Some(0)).and_then(|at| entries.get(at));
    let time = neighbour.and_then(|it| it.get("startedDateTime")).cloned();
    let mut site = site;
    if let Some(request) = site.get_mut("request") {
        request.set(name, Node::parse(value).unwrap_or(Node::leaf("null")));
        if ["\"PUT\"", "\"DELETE\""].contains(&value) {
            request.set("postData", Node::parse(POSTED).unwrap_or(Node::leaf("null")));
        }
    }
    if let Some(response) = site.get_mut("response") {
        if name == "headers" {
            response.set("status", Node::leaf("401"));
        }
        if let Some(content) = response.get_mut("content").filter(|_| dropped) {
            content.remove("text");
        }
    }
    if let Some(time) = time {
        site.set("startedDateTime", time);
    }
    entries.insert(at, site);
    true
}
