//! 401 answers and their challenges (K2-A): what makes the summary, and what does not.
//!
//! Each comes with a whole JSON-RPC error in its body, since it is open whether another body may be there.

use super::endpoint::anywhere;
use crate::format_tree::FormatTree;
use crate::mutator::Apply;
use crate::node::{Node, quoted};
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};
use formats::{OwnedContent, OwnedEntry, TransportContext};
use transcript::session::{Carrier, Side};

mutators! {
    "challenge" ["K2A-SUMMARY" "HAR-K2A"] "A 401 comes whose challenge has one of the parameters, or both."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let Some(&(name, value, metadata, scope)) = rng.pick(VISIBLE) else { return false };
            show(builder, metadata, scope);
            let other = ("Www-authenticate", "Basic realm=\"x\"");
            let headers = match rng.below(4) {
                0 => vec![(name, value), other],
                1 => vec![other, (name, value)],
                _ => vec![(name, value)],
            };
            refusal(builder, rng, 401, &headers)
        });
    "challenge-without-message" ["K2A-SUMMARY" "HAR-K2A" "ENV-NULL"] "A 401 comes with a challenge and without a message in its body, as real ones do."
        => Relation::Open(Reading::Known), Apply::Session(|builder, rng| {
            let Some(&(name, value, metadata, scope)) = rng.pick(VISIBLE) else { return false };
            show(builder, metadata, scope);
            let entry = OwnedEntry {
                carrier: Carrier::Response,
                side: Some(Side::Server),
                context: Some(surroundings(Some(401), &[(name, value)])),
                ..OwnedEntry::new(OwnedContent::Empty)
            };
            anywhere(builder, rng, Entry { owned: entry, message: None })
        });
    "challenges-several" ["K2A-SUMMARY"] "Two 401s come, and each shows another parameter."
        => Relation::Changes, Apply::Session(|builder, rng| {
            show(builder, true, true);
            let (metadata, scope) = (VISIBLE[1], ("WWW-Authenticate", "Bearer scope=a"));
            let mut both = [(metadata.0, metadata.1), scope];
            rng.shuffle(&mut both);
            both.into_iter().all(|header| refusal(builder, rng, 401, &[header]))
        });
    "challenge-apart" ["K2A-BOUND"] "A 401 comes without a challenge, and a challenge with another status."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let (name, value, ..) = VISIBLE[0];
            refusal(builder, rng, 401, &[("X-Note", "no challenge")])
                && refusal(builder, rng, 403, &[(name, value)])
        });
    "challenge-elsewhere" ["K2A-BOUND"] "A status and a challenge are in the context of a request or of the whole envelope."
        => Relation::Same, Apply::Spelling(elsewhere);
    "challenge-of-nothing" ["K2A-BOUND" "HAR-K2A"] "A 401 comes whose challenge has neither parameter, or no challenge at all."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let Some(&(name, value)) = rng.pick(INVISIBLE) else { return false };
            refusal(builder, rng, 401, &[(name, value)])
        });
    "challenge-other-status" ["K2A-BOUND"] "An answer with another status has a challenge with both parameters."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let status = rng.pick(&[200, 400, 403, 407, 500]).copied().unwrap_or(403);
            let (name, value, ..) = VISIBLE[0];
            refusal(builder, rng, status, &[(name, value)])
        });
    "challenge-spelling" ["K2A-SPELLING"] "A status or headers are in an undocumented place, with a challenge."
        => Relation::Open(Reading::Free), Apply::Spelling(spelling);
}

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
fn show(builder: &mut SessionBuilder, metadata: bool, scope: bool) {
    let before = builder.discovery.unwrap_or_default();
    builder.discovery = Some((before.0 || metadata, before.1 || scope));
}

/// An HTTP answer with this status and these headers that carries an error without an id.
fn refusal(builder: &mut SessionBuilder, rng: &mut Rng, status: u16, headers: &[(&str, &str)]) -> bool {
    let error = r#"{"code":-32001,"message":"no"}"#;
    let mut entry = Entry::message(
        Side::Server,
        &format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#),
        &format!(r#"{{"kind":"error","error":{error}}}"#),
        None,
    );
    entry.owned.carrier = Carrier::Response;
    entry.owned.context = Some(surroundings(Some(status), headers));
    anywhere(builder, rng, entry)
}

pub(super) fn surroundings(status: Option<u16>, headers: &[(&str, &str)]) -> TransportContext {
    let head = status.map(|status| format!("\"status\":{status},")).unwrap_or_default();
    let member = |(name, value): &(&str, &str)| format!("{}:{}", quoted(name), quoted(value));
    let members: Vec<String> = headers.iter().map(member).collect();
    let own = |(name, value): &(&str, &str)| ((*name).to_owned().into(), (*value).to_owned().into());
    TransportContext {
        text: format!("{{{head}\"headers\":{{{}}}}}", members.join(",")),
        status,
        headers: headers.iter().map(own).collect(),
    }
}

fn elsewhere(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    const CONTEXT: &str =
        r#"{"status":401,"headers":{"WWW-Authenticate":"Bearer scope=\"a\", resource_metadata=\"b\""}}"#;
    let Some(context) = Node::parse(CONTEXT) else { return false };
    let whole = rng.one_in(2);
    let is_free = |holder: &&mut Node| holder.get("transport_context").is_none();
    let asks = |entry: &&mut Node| entry.get("request").is_some();
    let is_envelope = tree.entries().next().is_some();
    let holder = match (whole, is_envelope) {
        (_, false) => None,
        (true, true) => tree.values.first_mut().filter(is_free),
        (false, true) => tree.entries().filter(asks).find(is_free),
    };
    holder.is_some_and(|holder| {
        holder.set("transport_context", context);
        true
    })
}

fn spelling(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let contexts = [
        r#"{"status":"401","headers":{"WWW-Authenticate":"Bearer scope=\"a\""}}"#,
        r#"{"status_code":401,"headers":{"WWW-Authenticate":"Bearer scope=\"a\""}}"#,
        r#"{"http_status":401,"headers":{"WWW-Authenticate":"Bearer scope=\"a\""}}"#,
        r#"{"status":401,"headers":{"WWW-Authenticate":["Bearer scope=\"a\""]}}"#,
        r#"{"status":401,"headers":[["WWW-Authenticate","Bearer scope=\"a\""]]}"#,
    ];
    let Some(context) = rng.pick(&contexts).and_then(|text| Node::parse(text)) else { return false };
    let bare =
        |entry: &&mut Node| entry.get("response").is_some() && entry.get("transport_context").is_none();
    tree.entries().find(bare).is_some_and(|entry| {
        entry.set("transport_context", context);
        true
    })
}
