//! Streamable HTTP without sessions: the headers that repeat the body, and what is left of the earlier transport.
//!
//! An exchange that shows next to no headers lacks none: some converter wrote it. Memory: one exchange, the
//! request that was served last, and [`MOST_REFUSED`] calls.

use super::modern::is_clients;
use super::modern_stdio::{is_http, sides};
use super::param_headers::{self, ENCODING as PARAM_ENCODING, MIRROR, OMIT, Spelled, compare};
use super::tool_headers::annotations;
use crate::engine::{
    Family, FindingLocation, META_VERSION, MessageKind, NOT_WHOLE, Revision, RuleContext, RuleVisitor,
    SeenMessage, Span, Trigger, Violation, quoted, shown, shows_all, text_of,
};
use crate::rule::{Level, Need, Rule};
use transcript::json::Json;
use transcript::message::Id;
use transcript::session::{Carrier, header};

pub(super) const FAMILY: Family = Family {
    name: "modern-http",
    title: "Requests over HTTP without sessions",
    rules: &[
        &VERSION,
        &VERSION_MATCH,
        &METHOD,
        &NAME,
        &NAME_ENCODING,
        &MIRROR,
        &OMIT,
        &PARAM_ENCODING,
        &MISMATCH,
        &FALSE_MISMATCH,
        &CLIENT_RESPONSE,
        &SERVER_REQUEST,
    ],
    triggers: &[Trigger::Messages],
    visitor: || Box::new(ModernHttpState::default()),
};

const OURS: Rule = Rule {
    span: Span::MODERN,
    needs: &[Need::Headers],
    source: "basic/transports/streamable-http#standard-request-headers",
    ..Rule::BLANK.client()
};

static VERSION: Rule = Rule {
    id: "http.header.version",
    source: "basic/transports/streamable-http#protocol-version-header",
    title: "Every POST has the header MCP-Protocol-Version",
    why: "Gateways classify requests by it, and servers refuse a request without it or treat it as an old one.",
    fix: "Send the version of the request in MCP-Protocol-Version.",
    softened: Some("a warning on a notification"),
    contested: Some(
        "One section asks for it in every POST; another says that the headers of a notification's POST are not defined.",
    ),
    ..OURS
};

static VERSION_MATCH: Rule = Rule {
    id: "http.header.version-match",
    source: "basic/transports/streamable-http#protocol-version-header",
    title: "MCP-Protocol-Version is the version that the body names",
    why: "A gateway and the server behind it would handle the request by different rules.",
    fix: "Write both from one value.",
    ..OURS
};

static METHOD: Rule = Rule {
    id: "http.header.method",
    title: "Mcp-Method is the method of the body, letter for letter",
    why: "Gateways route and count by it, and servers refuse a request whose header is missing or differs.",
    fix: "Send the body's method in Mcp-Method with every request.",
    ..OURS
};

static NAME: Rule = Rule {
    id: "http.header.name",
    title: "Mcp-Name is the name or URI that the body asks for",
    why: "A gateway that allows one tool would let a call of another through.",
    fix: "Send params.name of calls and prompts, and params.uri of resources, in Mcp-Name.",
    ..OURS
};

static NAME_ENCODING: Rule = Rule {
    id: "http.header.name-encoding",
    source: "basic/transports/streamable-http#value-encoding",
    title: "A name that a header cannot carry as it is goes into Mcp-Name as Base64",
    why: "Letters beyond ASCII, and spaces at the ends, do not reach the server as they were sent.",
    fix: "Write =?base64?…?= around the Base64 of the name's UTF-8.",
    ..OURS
};

const MISMATCH_OURS: Rule = Rule {
    needs: &[Need::Http],
    source: "basic/transports/streamable-http#server-validation",
    ..OURS.server()
};

static MISMATCH: Rule = Rule {
    id: "http.header.mismatch-400",
    title: "Headers that miss or contradict the body are refused with 400 and -32020",
    why: "Otherwise a request passes a gateway as one thing and is carried out as another.",
    fix: "Compare the headers with the body before anything else, after decoding them.",
    ..MISMATCH_OURS
};

static FALSE_MISMATCH: Rule = Rule {
    id: "http.header.false-mismatch",
    title: "A request whose headers match its body is not refused with -32020",
    why: "A client that keeps to the specification is shut out, and has nothing to correct.",
    fix: "Decode Mcp-Name and Mcp-Param headers before they are compared, compare numbers as numbers, and expect no header for a \
          parameter that is null or missing.",
    ..MISMATCH_OURS
};

static CLIENT_RESPONSE: Rule = Rule {
    id: "http.no-client-response",
    needs: &[],
    source: "basic/transports/streamable-http#sending-messages",
    title: "A client posts requests and notifications, not responses",
    why: "Servers send no requests in this revision, so they have nothing to match an answer with.",
    fix: "Answer a server's question by posting its request again with `inputResponses`.",
    ..OURS
};

static SERVER_REQUEST: Rule = Rule {
    id: "http.no-server-request",
    needs: &[],
    source: "basic/transports/streamable-http#receiving-messages",
    title: "A server's streams carry responses and notifications, not requests",
    why: "Clients of this revision do not answer requests on a stream.",
    fix: "Put the question into the `inputRequests` of an `input_required` result.",
    ..OURS.server()
};

/// The most refused calls that are remembered to the end.
const MOST_REFUSED: usize = 100;
const AGREES: &str = "-32020 refuses headers that agree with the body";

/// A fault in a request's headers, which its server has to refuse.
struct HeaderFault {
    exchange: u64,
    wrong: String,
    /// The server may take the request for one of an older revision.
    lenient: bool,
}

#[derive(Default)]
struct ModernHttpState {
    fault: Option<HeaderFault>,
    /// The last request's headers were all seen, and say what its body says: its exchange.
    right: Option<u64>,
    /// What the last request asks for, and what was served last under such headers.
    asked: Box<str>,
    served: Box<str>,
    /// Refusals of such calls: the tool, its schema as it was listed, and where.
    refused: Vec<(Box<str>, Box<str>, FindingLocation)>,
}

impl RuleVisitor for ModernHttpState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        // HTTP+SSE has none of these headers, also where a client tries the newest revision over it.
        if at.exchange.is_some_and(|exchange| at.exchanges.is_target(&exchange.url)) {
            return;
        }
        if is_http(at) {
            sides(&CLIENT_RESPONSE, &SERVER_REQUEST, message, at);
        }
        match (message.kind, at.entry.carrier) {
            (MessageKind::Request, Carrier::Request) if is_clients(message, at) => self.request(message, at),
            (MessageKind::Notification, Carrier::Request) => notified(at),
            (MessageKind::Result | MessageKind::Error, _) => self.answer(message, at),
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        for (name, listed, location) in self.refused.drain(..) {
            // A tool that has another schema later may have asked for headers that the client could not know of.
            if schema_of(&name, at).is_none_or(|schema| schema == &*listed) {
                at.fail(&FALSE_MISMATCH, Violation::new(AGREES).at(location));
            }
        }
    }
}

/// The schema of a tool's arguments as it was listed last.
fn schema_of<'f>(tool: &str, at: &RuleContext<'f>) -> Option<&'f str> {
    Some(at.facts.tool(tool)?.member("inputSchema")?.text())
}

/// The version in the headers of a notification's POST, where no handshake chose one.
fn notified(at: &RuleContext<'_>) {
    let shown = at.exchange.map(|exchange| &exchange.request_headers).or(at.envelope_headers());
    if at.facts.handshake || at.revision != Some(Revision::V2026_07_28) {
        return;
    }
    match shown {
        Some(headers) if header(headers, "MCP-Protocol-Version").is_some() => at.pass(&VERSION),
        Some(headers) => {
            let wrong = Violation::new("the notification has no MCP-Protocol-Version");
            at.lacks_header(&VERSION, headers, "MCP-Protocol-Version", wrong.only(Level::Should));
        }
        None if is_http(at) => at.inconclusive(&VERSION, NOT_WHOLE),
        _ => {}
    }
}

impl ModernHttpState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let seen = match at.exchange {
            Some(exchange) => Some(&exchange.request_headers),
            None => at.envelope_headers(),
        };
        let Some(headers) = seen.filter(|_| message.item.is_none()) else {
            for rule in [&VERSION, &METHOD].iter().filter(|_| seen.is_none() && is_http(at)) {
                at.inconclusive(rule, NOT_WHOLE);
            }
            return;
        };
        if at.revision != Some(Revision::V2026_07_28) {
            return;
        }
        let whole = shows_all(headers);
        let sent = |name: &str| header(headers, name).filter(|value| !at.facts.hides(value));
        let seen = |name: &str| header(headers, name).is_some();
        let mut wrong: Option<String> = None;
        let missing = |rule: &'static Rule, name: &str| {
            let wrong = format!("the request has no {name}");
            at.lacks_header(rule, headers, name, wrong.clone());
            Some(wrong).filter(|_| at.would_show(headers, name))
        };

        let lenient = if seen("MCP-Protocol-Version") {
            at.pass(&VERSION);
            None
        } else {
            missing(&VERSION, "MCP-Protocol-Version")
        };
        if let (Some(sent), Some(version)) = (sent("MCP-Protocol-Version"), message.meta(META_VERSION)) {
            let same = text_of(version).is_some_and(|version| *version == *sent);
            wrong = check(&VERSION_MATCH, same, at, || {
                (
                    format!("MCP-Protocol-Version is {}, and the body says {}", quoted(sent), shown(version)),
                    version,
                )
            });
        }
        let method = message.method.as_deref().unwrap_or_default();
        if !seen("Mcp-Method") {
            wrong = missing(&METHOD, "Mcp-Method").or(wrong);
        } else if let Some(sent) = sent("Mcp-Method") {
            let whole = message.raw.json();
            let same = sent == method;
            wrong = check(&METHOD, same, at, || {
                let wrong =
                    format!("Mcp-Method is {}, and the body asks for {}", quoted(sent), quoted(method));
                (wrong, whole.member("method").unwrap_or(whole))
            })
            .or(wrong);
        }
        if let Some(name) = name_of(method, message) {
            if !seen("Mcp-Name") {
                wrong = missing(&NAME, "Mcp-Name").or(wrong);
            } else if let Some(sent) = sent("Mcp-Name") {
                wrong = named(sent, name, at).or(wrong);
            }
        }
        if method == "tools/call" {
            wrong = param_headers::params(message, headers, at).or(wrong);
        }
        let is_ours = |name: &str| name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("mcp-"));
        let hidden = headers.iter().any(|(name, value)| is_ours(name) && at.facts.hides(value));
        // Which headers a server expects is not known of a tool that is not listed, or whose annotations are wrong.
        let schema = || at.facts.tool(&message.param("name").and_then(text_of)?)?.member("inputSchema");
        let expected = || schema().is_some_and(|schema| !annotations(schema).are_invalid());
        let named = message.meta(META_VERSION).is_some();
        let seen = whole && !hidden && named && (method != "tools/call" || expected());
        // Under whatever id.
        let params = message.raw.json().member("params").map_or("", |params| params.text());
        self.asked = format!("{method} {params}").into();
        self.right = at.entry.exchange.filter(|_| seen && wrong.is_none() && lenient.is_none());
        let is_lenient = wrong.is_none();
        let exchange = at.entry.exchange.unwrap_or_default();
        let fault = wrong.or(lenient);
        self.fault = fault.map(|wrong| HeaderFault { exchange, wrong, lenient: is_lenient });
    }

    fn answer(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(exchange) = at.exchange else { return };
        let request = message.request();
        // A refusal without an id is of what its exchange posted.
        let is_refusal = message.kind == MessageKind::Error && at.is_posts_answer();
        if request.is_none() && !(is_refusal && matches!(message.raw.id(), Id::Null | Id::Missing)) {
            return;
        }
        let fault = self.fault.take().filter(|fault| Some(fault.exchange) == at.entry.exchange);
        let right = self.right.take().is_some_and(|right| Some(right) == at.entry.exchange);
        let broke = |wrong: String| match request {
            Some(request) => Violation::new(wrong).of(request),
            None => Violation::new(wrong),
        };
        match message.error_code() {
            Some(-32020) if right => {
                let called = request.filter(|request| request.method() == "tools/call");
                let tool = called.and_then(|request| request.param("name")).and_then(text_of);
                match tool.and_then(|name| Some((schema_of(&name, at)?.into(), name))) {
                    Some((schema, name)) if self.refused.len() < MOST_REFUSED => {
                        self.refused.push((name, schema, at.location()));
                    }
                    _ => at.fail(&FALSE_MISMATCH, broke(AGREES.to_owned())),
                }
            }
            None if right => {
                at.pass(&FALSE_MISMATCH);
                self.served.clone_from(&self.asked);
            }
            _ => {}
        }
        match (message.error_code(), &fault) {
            (Some(-32020), _) => match exchange.status {
                Some(status) if status != 400 => {
                    let wrong = broke(format!("-32020 goes with the status {status} rather than 400"));
                    at.fail(&MISMATCH, wrong);
                }
                _ => at.pass(&MISMATCH),
            },
            (_, None) => {}
            (None, Some(fault)) if message.kind == MessageKind::Result => {
                if fault.lenient {
                    let why = "the server may take a request without a version for an old one";
                    at.inconclusive(&MISMATCH, why);
                } else {
                    at.fail(&MISMATCH, broke(format!("the request was served, although {}", fault.wrong)));
                }
            }
            // Another fault of the request may be refused first, unless the words are of a header, or the same was served before.
            (Some(-32022 | -32021 | -32601), _) if !names_a_header(message) => {}
            (Some(-32602), _) if !names_a_header(message) && self.served != self.asked => {}
            (code, Some(fault)) if at.facts.modern && !fault.lenient => {
                let code = code.map_or("an error without a code".to_owned(), |code| code.to_string());
                at.fail(&MISMATCH, broke(format!("{code} is the answer, although {}", fault.wrong)));
            }
            _ => at.inconclusive(&MISMATCH, super::modern::UNPROVEN),
        }
    }
}

/// Whether an error says that a header of MCP is wrong.
fn names_a_header(message: &SeenMessage<'_>) -> bool {
    let words = message.error().and_then(|error| error.member("message")).and_then(text_of);
    let words = words.unwrap_or_default().to_ascii_lowercase();
    ["mcp-name", "mcp-method", "mcp-param-", "mcp-protocol-version"].iter().any(|name| words.contains(name))
}

/// Judges a rule by whether it is kept; what is wrong where it is not.
fn check<'v>(
    rule: &'static Rule,
    kept: bool,
    at: &RuleContext<'_>,
    wrong: impl FnOnce() -> (String, Json<'v>),
) -> Option<String> {
    if kept {
        at.pass(rule);
        return None;
    }
    let (wrong, value) = wrong();
    at.fail(rule, Violation::new(wrong.clone()).inside(value));
    Some(wrong)
}

/// What Mcp-Name repeats, for the methods that have it.
fn name_of<'m>(method: &str, message: &SeenMessage<'m>) -> Option<Json<'m>> {
    let name = match method {
        "tools/call" | "prompts/get" => message.param("name"),
        "resources/read" => message.param("uri"),
        _ => None,
    };
    name.filter(|name| name.as_text().is_some())
}

fn named(sent: &str, name: Json<'_>, at: &RuleContext<'_>) -> Option<String> {
    let text = name.as_text()?.decode();
    match compare(sent, &text) {
        Spelled::Right => {
            at.pass(&NAME);
            at.pass(&NAME_ENCODING);
            None
        }
        Spelled::Badly(wrong) => {
            let wrong = format!("Mcp-Name: {wrong}");
            at.fail(&NAME_ENCODING, Violation::new(wrong.clone()).inside(name));
            Some(wrong)
        }
        Spelled::Other(other) => check(&NAME, false, at, || {
            (format!("Mcp-Name is {other}, and the body asks for {}", shown(name)), name)
        }),
    }
}
