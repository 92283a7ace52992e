//! Requests that need no session: what each says of its client, and what a result says of itself.
//!
//! A server of an older revision knows nothing of all this: what it leaves out is not a fault of its own. Memory: the
//! requests that lack a field and are unanswered, up to [`MOST_LACKING`].

use crate::engine::{
    Family, META_CAPABILITIES, META_CLIENT, META_VERSION, MessageKind, PendingRequest, RuleContext,
    RuleVisitor, SeenMessage, Span, TAKEN_OUT, Trigger, Violation, shown, text_of,
};
use crate::rule::Rule;
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind, write_compact};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "modern",
    title: "Requests that need no session",
    rules: &[
        &VERSION,
        &CAPABILITIES,
        &CLIENT_INFO,
        &MISSING_REJECTED,
        &MISSING_CAPABILITY,
        &SERVER_INFO,
        &TYPE_PRESENT,
        &TYPE_KNOWN,
    ],
    triggers: &[Trigger::Kinds(MessageKind::CALLS)],
    visitor: || Box::new(ModernState::default()),
};

/// The most requests without a field that are remembered until they are answered.
const MOST_LACKING: usize = 1_000;

/// Longer names of clients are not compared.
const LONGEST_CLIENT: usize = 1 << 10;

const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Why a server that leaves out what its revision asks for may be one of an older revision.
pub(super) const UNPROVEN: &str =
    "nothing shows that the server speaks this revision; an answer to server/discover would show it";

const OURS: Rule = Rule { span: Span::MODERN, source: "basic/index#_meta", ..Rule::BLANK.client() };

static VERSION: Rule = Rule {
    id: "meta.version",
    title: "Every request names its protocol version in `_meta`",
    why: "There is no handshake: a server that does not learn the version must refuse the request.",
    fix: "Write \"io.modelcontextprotocol/protocolVersion\" into the `_meta` of every request.",
    ..OURS
};

static CAPABILITIES: Rule = Rule {
    id: "meta.client-caps",
    title: "Every request lists the client's capabilities in `_meta`",
    why: "A server may not remember them from an earlier request, and must refuse a request without them.",
    fix: "Write \"io.modelcontextprotocol/clientCapabilities\" into every request, {} where there are none.",
    ..OURS
};

static CLIENT_INFO: Rule = Rule {
    id: "meta.client-info",
    title: "Every request says in `_meta` which client it is from",
    why: "Logs and statistics of a server that keeps no state have no other way to distinguish clients.",
    fix: "Write \"io.modelcontextprotocol/clientInfo\" with name and version into every request.",
    contested: Some(
        "Part of the official test material still calls it required; the published text and the schema do not.",
    ),
    ..OURS.should()
};

static MISSING_REJECTED: Rule = Rule {
    id: "meta.missing-rejected",
    title: "A request without version or capabilities is refused with -32602, over HTTP with 400",
    why: "A server that fills the gap by guessing serves clients that fail with every other server.",
    fix: "Check `_meta` first and answer -32602 (Invalid params).",
    ..OURS.server()
};

static MISSING_CAPABILITY: Rule = Rule {
    id: "meta.missing-capability",
    title: "Error -32021 lists the capabilities that were not declared, over HTTP with 400",
    why: "A client can only offer the capability or give up if it knows which one is missing.",
    fix: "Send data.requiredCapabilities with the capabilities that the request lacks, and no others.",
    ..OURS.server()
};

static SERVER_INFO: Rule = Rule {
    id: "meta.server-info",
    title: "Every result says in `_meta` which server it is from",
    why: "Without a handshake nothing else shows a client or a log which software answered.",
    fix: "Write \"io.modelcontextprotocol/serverInfo\" with name and version into the `_meta` of results.",
    ..OURS.should().server()
};

static TYPE_PRESENT: Rule = Rule {
    id: "result-type.present",
    source: "basic/index#result-responses",
    title: "Every result has a `resultType`, which is a string",
    why: "Clients decide by it whether they hold the outcome or a question; its absence marks an older server.",
    fix: "Send \"resultType\": \"complete\" with ordinary results.",
    ..OURS.server()
};

static TYPE_KNOWN: Rule = Rule {
    id: "result-type.known",
    source: "basic/index#resulttype",
    title: "`resultType` is `complete`, `input_required` or a type of an advertised extension",
    why: "Clients must take a result of any other type for invalid.",
    fix: "Send one of the two values, or advertise the extension that defines the value.",
    ..OURS.server()
};

#[derive(Default)]
struct ModernState {
    /// What requests that are unanswered lack, by their number.
    lacking: BTreeMap<u64, &'static str>,
}

impl RuleVisitor for ModernState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Request if is_clients(message, at) => self.request(message, at),
            MessageKind::Result => {
                self.answer(message, at);
                result(message, at);
            }
            MessageKind::Error => {
                self.answer(message, at);
                error(message, at);
            }
            _ => {}
        }
    }
}

/// The client that a request says it is from, if it says so in few words.
pub(super) fn client_of<'m>(meta: impl Fn(&str) -> Option<Json<'m>>) -> Option<&'m str> {
    meta(META_CLIENT).map(Json::text).filter(|text| text.len() <= LONGEST_CLIENT)
}

/// Whether two requests may be of one client. A recording of a server without sessions has all its clients, and each counts up
/// from one.
pub(super) fn may_be_one(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Whether a request is a client's, and none of a client that speaks an older revision as well.
pub(super) fn is_clients(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    at.side != Some(Side::Server)
        && !message.calls("initialize")
        && (message.meta(META_VERSION).is_some() || !at.facts.handshake)
}

/// Whether the recorder took out what would stand in a message's `_meta`.
pub(super) fn hides_meta(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    let hides = |value: Option<Json<'_>>| {
        value.is_some_and(|value| value.kind() != JsonKind::Object && at.redacted(value))
    };
    match message.raw.outcome() {
        Some(outcome) => hides(Some(outcome)) || hides(outcome.member("_meta")),
        None => hides(message.raw.params()) || hides(message.meta),
    }
}

/// The capabilities with which a request was made.
pub(super) fn declared<'a>(message: &SeenMessage<'a>) -> Option<Json<'a>> {
    message.request()?.meta(META_CAPABILITIES).filter(|declared| declared.kind() == JsonKind::Object)
}

impl ModernState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if hides_meta(message, at) {
            for rule in [&VERSION, &CAPABILITIES, &CLIENT_INFO] {
                at.inconclusive(rule, TAKEN_OUT);
            }
            return;
        }
        let version = field(&VERSION, META_VERSION, JsonKind::String, message, at);
        let capabilities = field(&CAPABILITIES, META_CAPABILITIES, JsonKind::Object, message, at);
        field(&CLIENT_INFO, META_CLIENT, JsonKind::Object, message, at);
        let lacks = match (version, capabilities) {
            (false, _) => "its version",
            (_, false) => "the client's capabilities",
            _ => return,
        };
        if let Some(number) = at.pending.last_number()
            && self.lacking.len() < MOST_LACKING
        {
            self.lacking.insert(number, lacks);
        }
    }

    fn answer(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        let Some(lacks) = self.lacking.remove(&request.number) else { return };
        match (message.raw.outcome(), message.error_code()) {
            (_, Some(-32602)) => match status(at) {
                Some(status) if status != 400 => {
                    let wrong = format!("-32602 goes with the status {status} rather than 400");
                    at.fail(&MISSING_REJECTED, Violation::new(wrong).of(request));
                }
                _ => at.pass(&MISSING_REJECTED),
            },
            (Some(result), None)
                if message.kind == MessageKind::Result && result.member("resultType").is_some() =>
            {
                let wrong = format!("a request that lacks {lacks} was served");
                at.fail(&MISSING_REJECTED, Violation::new(wrong).of(request));
            }
            (_, None) if message.kind == MessageKind::Result => {
                at.inconclusive(&MISSING_REJECTED, "the server may have served it by an older revision");
            }
            // Whatever else is wrong with the request may be refused first.
            _ => {}
        }
    }
}

/// The status of the HTTP answer at hand, where the recording has it.
pub(super) fn status(at: &RuleContext<'_>) -> Option<u16> {
    at.exchange?.status
}

/// Why a server may have served a request by an older revision, if it may.
pub(super) fn may_be_older(request: &PendingRequest, at: &RuleContext<'_>) -> Option<&'static str> {
    let disputed =
        request.disputed.then_some("the header of the request names another version than its body");
    disputed.or((!at.facts.modern).then_some(UNPROVEN))
}

/// Whether a field of `_meta` is there.
fn field(
    rule: &'static Rule,
    name: &'static str,
    kind: JsonKind,
    message: &SeenMessage<'_>,
    at: &RuleContext<'_>,
) -> bool {
    let value = message.meta(name);
    match value {
        Some(value) if value.kind() == kind => at.pass(rule),
        Some(value) => at.fail(rule, Violation::kind(&format!("`{name}`"), value)),
        None => at.check(rule, false, || {
            format!("`{}` has no `{name}` in its `_meta`", message.method.as_deref().unwrap_or_default())
        }),
    }
    value.is_some()
}

fn result(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
    if request.side == Some(Side::Server)
        || request.method() == "initialize"
        || result.kind() != JsonKind::Object
    {
        return;
    }
    let kind = result.member("resultType");
    let binds = [&SERVER_INFO, &TYPE_PRESENT].map(|rule| at.binds(rule));
    if kind.is_none() && binds == [false; 2] {
        return;
    }
    let name = result.member("_meta").and_then(|meta| meta.member(SERVER));
    match name {
        Some(info) if info.kind() == JsonKind::Object => at.pass(&SERVER_INFO),
        Some(info) => at.fail(&SERVER_INFO, Violation::kind(&format!("`{SERVER}`"), info)),
        None if hides_meta(message, at) => at.inconclusive(&SERVER_INFO, TAKEN_OUT),
        None => match may_be_older(request, at) {
            None => at.fail(&SERVER_INFO, "the result does not name its server"),
            Some(why) => at.inconclusive(&SERVER_INFO, why),
        },
    }
    match kind {
        Some(kind) if kind.kind() == JsonKind::String => {
            at.pass(&TYPE_PRESENT);
            known(kind, message, at);
        }
        Some(kind) => at.fail(&TYPE_PRESENT, Violation::kind("`resultType`", kind)),
        None => match may_be_older(request, at) {
            None => at.fail(&TYPE_PRESENT, "the result has no `resultType`"),
            Some(why) => at.inconclusive(&TYPE_PRESENT, why),
        },
    }
}

fn known(kind: Json<'_>, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let name = text_of(kind).unwrap_or_default();
    if matches!(&*name, "complete" | "input_required") {
        return at.pass(&TYPE_KNOWN);
    }
    // An extension that only one side supports changes nothing.
    let sides = [("request", declared(message)), ("server", at.facts.negotiated.capabilities(Side::Server))];
    let has_none = |capabilities: Json<'_>| match capabilities.member("extensions") {
        Some(extensions) => extensions.kind() == JsonKind::Object && extensions.members().next().is_none(),
        None => true,
    };
    match sides.iter().find(|(_, capabilities)| capabilities.is_some_and(has_none)) {
        Some((side, _)) => {
            let wrong = format!("`resultType` is {}, and the {side} advertises no extension", shown(kind));
            at.fail(&TYPE_KNOWN, Violation::new(wrong).inside(kind));
        }
        None => {
            let why = "whether an advertised extension defines such a result is not in the recording";
            at.inconclusive(&TYPE_KNOWN, why);
        }
    }
}

fn error(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    if message.error_code() != Some(-32021) {
        return;
    }
    let Some(error) = message.error() else { return };
    let required = error.member("data").and_then(|data| data.member("requiredCapabilities"));
    let wrong = match required {
        None => Some(Violation::new("the error has no data.requiredCapabilities").inside(error)),
        Some(required) if required.kind() != JsonKind::Object || required.members().next().is_none() => {
            Some(Violation::new("data.requiredCapabilities names no capability").inside(required))
        }
        Some(required) if declared(message).is_some_and(|declared| has_all(declared, required)) => {
            let wrong = format!("the request declares all that is asked for: {}", shown(required));
            Some(Violation::new(wrong).inside(required))
        }
        Some(_) => None,
    };
    match (wrong, status(at)) {
        (Some(wrong), _) => at.fail(&MISSING_CAPABILITY, wrong),
        (None, Some(status)) if status != 400 => {
            at.fail(&MISSING_CAPABILITY, format!("-32021 goes with the status {status} rather than 400"));
        }
        _ => at.pass(&MISSING_CAPABILITY),
    }
}

/// Whether capabilities hold every capability of another set, at every depth.
fn has_all(declared: Json<'_>, required: Json<'_>) -> bool {
    required.members().all(|(name, value)| {
        let name = name.to_str().unwrap_or_default();
        declared.member(&name).is_some_and(|declared| has_all(declared, value))
    })
}

/// What a request asks for, no matter who asks and how often: its params without `_meta` and the members named.
pub(super) fn gist(params: Option<Json<'_>>, without: &[&str]) -> String {
    let mut members: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, value) in params.into_iter().flat_map(Json::members) {
        let name = String::from_utf8_lossy(&name.decode()).into_owned();
        if name == "_meta" || without.contains(&&*name) {
            continue;
        }
        let mut text = Vec::new();
        write_compact(value, &mut text);
        members.push((name, text));
    }
    members.sort();
    let shown = members.iter().map(|(name, text)| format!("{name:?}:{}", String::from_utf8_lossy(text)));
    shown.collect::<Vec<_>>().join(",")
}
