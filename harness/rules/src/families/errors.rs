//! Error codes: which of them may be used, that -32601 is for methods that are not there and -32700 for what is not JSON,
//! and for no others.
//!
//! The ranges that 2026-07-28 drew bind anyone who speaks that revision. A client that tries it on an older server gets
//! that server's codes. Memory: up to [`MOST_SUSPECTS`] refusals of methods that may turn out to be known.

mod parse;

use super::modern_versions::PROMISED;
use crate::engine::{
    Family, FindingLocation, HttpExchange, MessageKind, Method, PendingRequest, Revision, RuleContext,
    RuleVisitor, SeenMessage, Span, Trigger, Violation, per_session, quoted, text_of,
};
use crate::rule::{Party, Rule};
use parse::PARSE;
use transcript::json::{Json, JsonKind};
use transcript::rejection::Code;
use transcript::session::{Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "errors",
    title: "Error codes",
    rules: &[&RESERVED, &LEGACY, &RETIRED, &PREDEFINED, &URL_SHAPE, &UNKNOWN, &PARSE, &SERVED],
    triggers: &[Trigger::Kinds(MessageKind::ANSWERS), Trigger::NonMessages, Trigger::HttpExchanges],
    visitor: per_session::<ErrorsState>,
};

/// What the rules on ranges have in common.
const OURS: Rule = Rule { span: Span::MODERN, source: "basic/index#error-codes", ..Rule::BLANK };

static RESERVED: Rule = Rule {
    id: "jsonrpc.error.reserved-range",
    title: "Codes from -32020 to -32099 are used only as the specification defines them",
    why: "The next revision may give the code a meaning, which clients will then take it for.",
    fix: "Use -32602 or -32603, or a code of your own outside -32768 to -32000.",
    ..OURS
};

static LEGACY: Rule = Rule {
    id: "jsonrpc.error.legacy-range",
    title: "Codes from -32000 to -32019 are left to those who used them before",
    why: "Implementations gave them meanings before there was a policy, so no meaning can be read into them.",
    fix: "In a new implementation, use a code outside -32768 to -32000.",
    ..OURS.info()
};

static RETIRED: Rule = Rule {
    id: "jsonrpc.error.retired",
    title: "The codes -32002 and -32042 are no longer used",
    why: "Clients of this revision look for -32602 where a resource is missing, and for an `input_required` result \
          where the user has to visit a page.",
    fix: "Answer -32602 for a missing resource, and ask for input in a result.",
    ..OURS
};

static PREDEFINED: Rule = Rule {
    id: "jsonrpc.error.predefined-range",
    span: Span::ALL,
    source: "JSON-RPC 2.0, section 5.1; basic/index#error-codes",
    title: "A code from -32768 to -32100 is one of the five that JSON-RPC defines",
    why: "The rest of the range is kept for errors of the protocol itself, and libraries read such codes as theirs.",
    fix: "Use one of the five, or a code of your own outside -32768 to -32000.",
    ..OURS.should()
};

static URL_SHAPE: Rule = Rule {
    id: "jsonrpc.error.32042-shape",
    span: Span::only(Revision::V2025_11_25),
    source: "client/elicitation#url-elicitation-required-error",
    title: "The error -32042 lists the elicitations in URL mode that are needed",
    why: "Without the list the client cannot send its user anywhere, and the call can never succeed.",
    fix: "Put `elicitations` into `data`, each with mode \"url\", an elicitationId, a url and a message.",
    ..Rule::BLANK.server()
};

static UNKNOWN: Rule = Rule {
    id: "jsonrpc.error.method-unknown",
    relational: true,
    source: "schema, METHOD_NOT_FOUND; JSON-RPC 2.0, section 5.1",
    title: "A method that does not exist is answered with -32601",
    why: "Only that code says that the method is missing; after -32602 clients try other params.",
    fix: "Check that the method exists before you check its params.",
    ..Rule::BLANK.should()
};

/// A method that `probe` asks for, and nobody has.
const MADE_UP: &str = "concord/unknown";

static SERVED: Rule = Rule {
    id: "cap.declared-is-served",
    span: Span::SESSIONS,
    source: "basic/lifecycle#capability-negotiation",
    title: "A method that a declared capability promises is not refused as unknown",
    why: "Peers show features by the capabilities, and fail when they use them.",
    fix: "Declare what is implemented, and nothing else.",
    ..Rule::BLANK.should()
};

/// What capabilities promise beside [`PROMISED`], up to 2025-11-25. Each method's `-32601` is about the method: that of
/// `resources/read` may be about the resource.
const PROMISED_IN_SESSIONS: &[(&str, &str)] = &[
    ("elicitation/create", "elicitation"),
    ("logging/setLevel", "logging"),
    ("resources/subscribe", "resources.subscribe"),
    ("resources/unsubscribe", "resources.subscribe"),
    ("roots/list", "roots"),
    ("sampling/createMessage", "sampling"),
    ("tasks/list", "tasks.list"),
    ("tasks/cancel", "tasks.cancel"),
];

/// The most refusals that are held back.
const MOST_SUSPECTS: usize = 100;

/// A refusal of a method that no revision has, by something other than the code for that.
struct Suspect {
    method: Box<str>,
    answer: String,
    location: FindingLocation,
    request: Option<FindingLocation>,
    side: Option<Side>,
}

#[derive(Default)]
struct ErrorsState {
    /// This side gave a result by 2026-07-28: the client, the server.
    speaks: [bool; 2],
    suspects: Vec<Suspect>,
    /// What the last exchange that was served says of its session, version and token.
    served: Option<[Option<Box<str>>; 3]>,
    /// What came last over stdio that is not a message, and from whom.
    broken: Option<(Side, Code)>,
}

impl RuleVisitor for ErrorsState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        match (at.message, &at.entry.content) {
            (Some(message), _) => self.message(message, at),
            (None, Content::Noise(noise)) if at.exchange.is_none() => {
                self.broken = at.entry.side.zip(parse::broken(noise));
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if let Some(request) = message.request() {
            served(message, request, at);
            self.suspect(message, request, at);
        }
        parse::answer(message, &mut self.broken, at);
        let lane = usize::from(at.side == Some(Side::Server));
        match message.kind {
            MessageKind::Result => self.speaks[lane] |= at.revision == Some(Revision::V2026_07_28),
            MessageKind::Error => {
                let Some(code) = message.error_code() else { return };
                self.modern(code, message, self.speaks[lane], at);
                let defined = matches!(code, -32700 | -32603..=-32600);
                at.check(&PREDEFINED, defined || !(-32768..=-32100).contains(&code), || {
                    let value = message.error().and_then(|error| error.member("code"));
                    let wrong = Violation::new(format!("the code {code} is reserved and not defined"));
                    wrong.inside(value.unwrap_or(message.raw.json()))
                });
                if code == -32042 {
                    url_elicitations(message, at);
                }
            }
            MessageKind::Request | MessageKind::Notification => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        // What was never served is not known.
        for suspect in std::mem::take(&mut self.suspects) {
            let Suspect { method, answer, location, request, side } = suspect;
            let wrong = format!("no revision has {}, and the answer is {answer}", quoted(&method));
            let wrong = Violation::new(wrong).at(location).by(side.map_or(Party::Server, Party::from));
            at.fail(&UNKNOWN, wrong.see(request, "the request"));
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        parse::code(exchange, at);
        let headers = exchange.named();
        if exchange.succeeded() && exchange.speaks() {
            self.served = Some(headers);
            return;
        }
        let [call] = &exchange.calls[..] else { return };
        let words = exchange.raw.document.as_deref().filter(|_| exchange.messages == 0);
        if words.is_some_and(says_unknown)
            && let Some(path) = promise(&call.method, Some(Side::Server), at)
        {
            let wrong = format!("`{}` is refused as unknown, and `{path}` is declared", call.method);
            at.fail(&SERVED, Violation::new(wrong).by(Party::Server));
        }
        // Of other statuses the cause is in the headers, or the method is there.
        let refused = matches!(exchange.status(), 400 | 500 | 501);
        if !refused || exchange.answer_lost || exchange.messages > 0 || Method::find(&call.method).is_some() {
            return;
        }
        let answer = format!("{} without a JSON-RPC error", exchange.status());
        let suspect = Suspect {
            method: call.method.clone(),
            answer,
            location: at.location(),
            request: None,
            side: Some(Side::Server),
        };
        match self.served.as_ref() == Some(&headers) {
            true => self.hold(suspect, at),
            false => {
                at.inconclusive(&UNKNOWN, "nothing with such headers was served, which may be the cause")
            }
        }
    }
}

impl ErrorsState {
    /// A response to a method that the specification does not have. It may be one of the answering side's own, which a
    /// result shows, before or later.
    fn suspect(&mut self, message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
        let method = request.method();
        if request.is_specified() {
            return;
        }
        match message.error_code() {
            None if message.kind == MessageKind::Result && method == MADE_UP => {
                let wrong = Violation::new("a method that does not exist is answered with a result");
                at.fail(&UNKNOWN, wrong.see(request.location(), "the request"));
            }
            None if message.kind == MessageKind::Result => {
                self.suspects.retain(|suspect| *suspect.method != *method || suspect.side != at.side);
            }
            Some(-32601) => at.pass(&UNKNOWN),
            Some(code)
                if matches!(code, -32603 | -32602)
                    || method == MADE_UP
                    || words_of(message).is_some_and(|words| says_unknown(&words)) =>
            {
                let (answer, request) = (code.to_string(), Some(request.location()));
                let (method, location) = (method.into(), at.location());
                self.hold(Suspect { method, answer, location, request, side: at.side }, at);
            }
            _ => {}
        }
    }

    /// Holds a refusal back, where the method is not of an extension.
    fn hold(&mut self, suspect: Suspect, at: &RuleContext<'_>) {
        // An empty list of them names none.
        let names = |declared: Json<'_>, list| {
            declared.member(list).is_some_and(|list| list.members().next().is_some())
        };
        let declared = suspect.side.and_then(|side| at.facts.negotiated.capabilities(side));
        let own = declared.map(|declared| ["experimental", "extensions"].map(|list| names(declared, list)));
        if own != Some([false; 2]) {
            let why =
                "the method may be of an extension; capabilities that name none would show that it is not";
            at.inconclusive(&UNKNOWN, why);
        } else if self.suspects.len() < MOST_SUSPECTS {
            self.suspects.push(suspect);
        }
    }

    fn modern(&self, code: i64, message: &SeenMessage<'_>, speaks: bool, at: &RuleContext<'_>) {
        let wrong = match code {
            // The rule on missing resources says what takes its place.
            -32002 if message.error_of("resources/read").is_some() => return,
            -32002 | -32042 => Some((&RETIRED, "retired")),
            -32019..=-32000 => Some((&LEGACY, "left to older implementations")),
            -32022..=-32020 => None,
            -32099..=-32023 => Some((&RESERVED, "reserved and not defined")),
            _ => None,
        };
        for rule in [&RESERVED, &LEGACY, &RETIRED] {
            match wrong {
                Some((broken, how)) if broken.id == rule.id => {
                    if speaks {
                        let value = message.error().and_then(|error| error.member("code"));
                        let wrong = Violation::new(format!("the code {code} is {how}"));
                        at.fail(rule, wrong.inside(value));
                    } else {
                        let why = "nothing shows yet that the party that answers speaks this revision";
                        at.inconclusive(rule, why);
                    }
                }
                _ => at.pass(rule),
            }
        }
    }
}

/// What the answering side declares is there.
fn served(message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
    let Some(path) = promise(request.method(), at.side, at) else { return };
    // Another capability promises this mode.
    if request.param("mode").and_then(text_of).is_some_and(|mode| *mode != *"form") {
        return;
    }
    let in_words = words_of(message).is_some_and(|words| says_unknown(&words));
    let unknown = in_words || message.error_code() == Some(-32601) && !refuses_params(message, request);
    at.check(&SERVED, !unknown, || {
        let code = message.error_code().map_or("an error".to_owned(), |code| code.to_string());
        let wrong = format!("`{}` is answered with {code}, and `{path}` is declared", request.method());
        Violation::new(wrong).of(request)
    });
}

/// The capability that promises a method, where this side declares it.
fn promise(method: &str, side: Option<Side>, at: &RuleContext<'_>) -> Option<&'static str> {
    let (_, path) = PROMISED.iter().chain(PROMISED_IN_SESSIONS).find(|(promised, _)| *promised == method)?;
    let is_there = Method::find(method).is_some_and(|method| method.is_of(at.revision));
    (is_there && at.facts.declares(side?, path) == Some(true)).then_some(*path)
}

fn words_of(message: &SeenMessage<'_>) -> Option<Box<str>> {
    message.error()?.member("message").and_then(text_of)
}

/// Whether the code -32601 is about what was asked for, and not about the method: its words name a value of the params.
pub(super) fn refuses_params(message: &SeenMessage<'_>, request: &PendingRequest) -> bool {
    let Some(words) = words_of(message).filter(|_| message.error_code() == Some(-32601)) else {
        return false;
    };
    let values = request.params().into_iter().flat_map(Json::members).map(|(_, value)| value);
    let names =
        |value: Json<'_>| text_of(value).is_some_and(|name| !name.is_empty() && words.contains(&*name));
    !says_unknown(&words)
        && values.into_iter().any(|value| names(value) || value.members().any(|(_, inner)| names(inner)))
}

/// Whether the words of a refusal say that nothing serves the method.
fn says_unknown(words: &str) -> bool {
    const PHRASES: [&str; 8] = [
        "method not found",
        "unknown method",
        "no such method",
        "unsupported method",
        "method not supported",
        "method not implemented",
        "handler for request",
        "handler for method",
    ];
    let words = words.to_ascii_lowercase();
    PHRASES.iter().any(|phrase| words.contains(phrase))
}

fn url_elicitations(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let Some(error) = message.error() else { return };
    let list = error.member("data").and_then(|data| data.member("elicitations"));
    let Some(list) = list.filter(|list| list.kind() == JsonKind::Array) else {
        return at.fail(&URL_SHAPE, Violation::new("there are no `data.elicitations`").inside(error));
    };
    if list.items().next().is_none() {
        return at.fail(&URL_SHAPE, Violation::new("`data.elicitations` is empty").inside(list));
    }
    let is_whole = |item: &Json<'_>| {
        item.member("mode").and_then(text_of).is_some_and(|mode| *mode == *"url")
            && item.member("elicitationId").is_some_and(|id| id.kind() == JsonKind::String)
    };
    at.without(&URL_SHAPE, list.items().find(|item| !is_whole(item)), |item| {
        Violation::new("an elicitation lacks the mode \"url\" or its elicitationId").inside(item)
    });
}
