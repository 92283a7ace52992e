//! 401 answers and their challenges (K2-A): what makes the summary, and what does not.
//!
//! Each comes with a whole JSON-RPC error in its body, since whether a body that is none may stand there is open.

use super::dice::Dice;
use super::endpoint::anywhere;
use super::node::{Node, quoted};
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use crate::variant::{Draft, Turn};
use formats::{OwnedContent, OwnedEntry, TransportContext};
use transcript::session::{Carrier, Side};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "challenge",
        sentence: "A 401 comes whose challenge has one of the parameters, or both.",
        clauses: &["K2A-SUMMARY", "HAR-K2A"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(&(name, value, metadata, scope)) = dice.pick(VISIBLE) else { return false };
            show(draft, metadata, scope);
            let other = ("Www-authenticate", "Basic realm=\"x\"");
            let headers = match dice.below(4) {
                0 => vec![(name, value), other],
                1 => vec![other, (name, value)],
                _ => vec![(name, value)],
            };
            refusal(draft, dice, 401, &headers)
        }),
    },
    Mutator {
        name: "challenge-without-message",
        sentence: "A 401 comes with a challenge and without a message in its body, as real ones do.",
        clauses: &["K2A-SUMMARY", "HAR-K2A", "ENV-NULL"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Session(|draft, dice| {
            let Some(&(name, value, metadata, scope)) = dice.pick(VISIBLE) else { return false };
            show(draft, metadata, scope);
            let entry = OwnedEntry {
                carrier: Carrier::Response,
                side: Some(Side::Server),
                context: Some(surroundings(401, &[(name, value)])),
                ..OwnedEntry::new(OwnedContent::Empty)
            };
            anywhere(draft, dice, Turn { entry, message: None })
        }),
    },
    Mutator {
        name: "challenges-several",
        sentence: "Two 401s come, and each shows another parameter.",
        clauses: &["K2A-SUMMARY"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Session(|draft, dice| {
            show(draft, true, true);
            let (metadata, scope) = (VISIBLE[1], ("WWW-Authenticate", "Bearer scope=a"));
            let mut both = [(metadata.0, metadata.1), scope];
            dice.shuffle(&mut both);
            both.into_iter().all(|header| refusal(draft, dice, 401, &[header]))
        }),
    },
    Mutator {
        name: "challenge-apart",
        sentence: "A 401 comes without a challenge, and a challenge with another status.",
        clauses: &["K2A-BOUND"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let (name, value, ..) = VISIBLE[0];
            refusal(draft, dice, 401, &[("X-Note", "no challenge")])
                && refusal(draft, dice, 403, &[(name, value)])
        }),
    },
    Mutator {
        name: "challenge-elsewhere",
        sentence: "A status and a challenge stand in the context of a request or of the whole envelope.",
        clauses: &["K2A-BOUND"],
        relation: Relation::Same,
        apply: Apply::Spelling(elsewhere),
    },
    Mutator {
        name: "challenge-of-nothing",
        sentence: "A 401 comes whose challenge has neither parameter, or no challenge at all.",
        clauses: &["K2A-BOUND", "HAR-K2A"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(&(name, value)) = dice.pick(INVISIBLE) else { return false };
            refusal(draft, dice, 401, &[(name, value)])
        }),
    },
    Mutator {
        name: "challenge-other-status",
        sentence: "An answer with another status has a challenge with both parameters.",
        clauses: &["K2A-BOUND"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let status = dice.pick(&[200, 400, 403, 407, 500]).copied().unwrap_or(403);
            let (name, value, ..) = VISIBLE[0];
            refusal(draft, dice, status, &[(name, value)])
        }),
    },
    Mutator {
        name: "challenge-spelling",
        sentence: "A status or headers stand where nobody documented them, with a challenge.",
        clauses: &["K2A-SPELLING"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Spelling(spelling),
    },
];

/// Headers of a 401, and what they make visible: `resource_metadata`, `scope`.
const VISIBLE: &[(&str, &str, bool, bool)] = &[
    (
        "WWW-Authenticate",
        r#"Bearer resource_metadata="https://a.example/.well-known/x", scope="read write""#,
        true,
        true,
    ),
    ("www-authenticate", r#"Bearer resource_metadata="https://a.example/x""#, true, false),
    ("Www-Authenticate", "bearer scope=read", false, true),
    ("WWW-AUTHENTICATE", r#"Basic realm="scope=x", Bearer resource_metadata="y""#, true, false),
    (
        "WWW-Authenticate",
        r#"Bearer error="invalid_token", error_description="a \"quoted\" word", SCOPE="a""#,
        false,
        true,
    ),
    ("WWW-Authenticate", r#"Bearer scope = "a" , resource_metadata ="b""#, true, true),
    ("WWW-Authenticate", r#"Bearer realm="a", , ,scope="b","#, false, true),
    ("WWW-Authenticate", r#"Bearer realm="a",resource_metadata="b""#, true, false),
    ("WWW-Authenticate", r#"Bearer scope="""#, false, true),
];

/// Headers of a 401 that make nothing visible.
const INVISIBLE: &[(&str, &str)] = &[
    ("WWW-Authenticate", r#"Bearer realm="mcp""#),
    ("WWW-Authenticate", r#"Bearer error_description="no scope=a, resource_metadata=b""#),
    ("WWW-Authenticate", r#"Bearer realm="x", scopes="a", x_resource_metadata="b""#),
    ("WWW-Authenticate", "Basic c2NvcGU="),
    ("WWW-Authenticate", r#"Bearer realm="5\" disk, scope=x", error="y""#),
    ("WWW-Authenticate", r#"Bearer realm="x, scope=a"#),
    (
        "WWW-Authenticate",
        r#"Bearer x_scope="a", resource-metadata="b", resource_metadata_uri="c", resource="d""#,
    ),
    ("WWW-Authenticate", r#"Bearer xscope="a", my-scope="b""#),
    ("Proxy-Authenticate", r#"Bearer scope="a""#),
    ("X-Note", r#"WWW-Authenticate: Bearer scope="a""#),
];

/// Adds to what the session's challenges show.
fn show(draft: &mut Draft, metadata: bool, scope: bool) {
    let before = draft.discovery.unwrap_or_default();
    draft.discovery = Some((before.0 || metadata, before.1 || scope));
}

/// An HTTP answer with this status and these headers that carries an error without an id.
fn refusal(draft: &mut Draft, dice: &mut Dice, status: u16, headers: &[(&str, &str)]) -> bool {
    let error = r#"{"code":-32001,"message":"no"}"#;
    let mut turn = Turn::message(
        Side::Server,
        &format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
        &format!(r#"{{"kind":"error","error":{error}}}"#),
        None,
    );
    turn.entry.carrier = Carrier::Response;
    turn.entry.context = Some(surroundings(status, headers));
    anywhere(draft, dice, turn)
}

fn surroundings(status: u16, headers: &[(&str, &str)]) -> TransportContext {
    let member = |(name, value): &(&str, &str)| format!("{}:{}", quoted(name), quoted(value));
    let members: Vec<String> = headers.iter().map(member).collect();
    let own = |(name, value): &(&str, &str)| ((*name).to_owned().into(), (*value).to_owned().into());
    TransportContext {
        text: format!("{{\"status\":{status},\"headers\":{{{}}}}}", members.join(",")),
        status: Some(status),
        headers: headers.iter().map(own).collect(),
    }
}

fn elsewhere(page: &mut Page, dice: &mut Dice) -> bool {
    const CONTEXT: &str =
        r#"{"status":401,"headers":{"WWW-Authenticate":"Bearer scope=\"a\", resource_metadata=\"b\""}}"#;
    let Some(context) = Node::parse(CONTEXT) else { return false };
    let whole = dice.one_in(2);
    let is_free = |holder: &&mut Node| holder.get("transport_context").is_none();
    let asks = |entry: &&mut Node| entry.get("request").is_some();
    let is_envelope = page.entries().next().is_some();
    let holder = match (whole, is_envelope) {
        (_, false) => None,
        (true, true) => page.values.first_mut().filter(is_free),
        (false, true) => page.entries().filter(asks).find(is_free),
    };
    holder.is_some_and(|holder| {
        holder.set("transport_context", context);
        true
    })
}

fn spelling(page: &mut Page, dice: &mut Dice) -> bool {
    const CHALLENGE: &str = r#""Bearer scope=\"a\"""#;
    let contexts = [
        format!(r#"{{"status":"401","headers":{{"WWW-Authenticate":{CHALLENGE}}}}}"#),
        format!(r#"{{"status_code":401,"headers":{{"WWW-Authenticate":{CHALLENGE}}}}}"#),
        format!(r#"{{"http_status":401,"headers":{{"WWW-Authenticate":{CHALLENGE}}}}}"#),
        format!(r#"{{"status":401,"headers":{{"WWW-Authenticate":[{CHALLENGE}]}}}}"#),
        format!(r#"{{"status":401,"headers":[["WWW-Authenticate",{CHALLENGE}]]}}"#),
    ];
    let Some(context) = dice.pick(&contexts).and_then(|text| Node::parse(text)) else { return false };
    for entry in page.entries() {
        if entry.get("response").is_some() && entry.get("transport_context").is_none() {
            entry.set("transport_context", context);
            return true;
        }
    }
    false
}
