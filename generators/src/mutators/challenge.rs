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
use formats::Surroundings;
use transcript::session::{Side, Slot};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "challenge",
        sentence: "A 401 comes whose challenge has one of the parameters, or both.",
        clauses: &["K2A-SUMMARY", "HAR-K2A"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(&(name, value, metadata, scope)) = dice.pick(VISIBLE) else { return false };
            let before = draft.discovery.unwrap_or_default();
            draft.discovery = Some((before.0 || metadata, before.1 || scope));
            refusal(draft, dice, 401, name, value)
        }),
    },
    Mutator {
        name: "challenge-of-nothing",
        sentence: "A 401 comes whose challenge has neither parameter, or no challenge at all.",
        clauses: &["K2A-BOUND", "HAR-K2A"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(&(name, value)) = dice.pick(INVISIBLE) else { return false };
            refusal(draft, dice, 401, name, value)
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
            refusal(draft, dice, status, name, value)
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
];

/// Headers of a 401 that make nothing visible.
const INVISIBLE: &[(&str, &str)] = &[
    ("WWW-Authenticate", r#"Bearer realm="mcp""#),
    ("WWW-Authenticate", r#"Bearer error_description="no scope=a, resource_metadata=b""#),
    ("WWW-Authenticate", r#"Bearer realm="x", scopes="a", x_resource_metadata="b""#),
    ("WWW-Authenticate", "Basic c2NvcGU="),
    ("Proxy-Authenticate", r#"Bearer scope="a""#),
    ("X-Note", r#"WWW-Authenticate: Bearer scope="a""#),
];

/// An HTTP answer with this status and header that carries an error without an id.
fn refusal(draft: &mut Draft, dice: &mut Dice, status: u16, name: &str, value: &str) -> bool {
    let error = r#"{"code":-32001,"message":"no"}"#;
    let mut turn = Turn::message(
        Side::Server,
        &format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
        &format!(r#"{{"kind":"error","error":{error}}}"#),
        None,
    );
    turn.entry.slot = Slot::Response;
    turn.entry.context = Some(Surroundings {
        text: format!("{{\"status\":{status},\"headers\":{{{}:{}}}}}", quoted(name), quoted(value)),
        status: Some(status),
        headers: vec![(name.to_owned().into(), value.to_owned().into())],
    });
    anywhere(draft, dice, turn)
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
