//! Error codes: which of them may be used, and that -32601 is for methods that are not there, and for no others.
//!
//! The ranges that 2026-07-28 drew bind anyone who speaks that revision. A client that tries it on an older server gets
//! that server's codes. Memory: up to [`MOST_SUSPECTS`] refusals of methods that may turn out to be known.

use super::modern_versions::PROMISED;
use crate::engine::{
    Family, FindingLocation, MessageKind, PendingRequest, Report, Revision, RuleContext, RuleVisitor,
    SeenMessage, Trigger, Violation, quoted, text_of,
};
use crate::rule::{Party, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "errors",
    title: "Error codes",
    rules: &RULES,
    triggers: &[Trigger::Kinds(&[MessageKind::Result, MessageKind::Error])],
    visitor: || Box::new(ErrorsState::default()),
};

const TEXT: &str = include_str!("errors.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const RESERVED: &Rule = named(&RULES, "jsonrpc.error.reserved-range");
const LEGACY: &Rule = named(&RULES, "jsonrpc.error.legacy-range");
const RETIRED: &Rule = named(&RULES, "jsonrpc.error.retired");
const PREDEFINED: &Rule = named(&RULES, "jsonrpc.error.predefined-range");
const URL_SHAPE: &Rule = named(&RULES, "jsonrpc.error.32042-shape");
const UNKNOWN: &Rule = named(&RULES, "jsonrpc.error.method-unknown");
const SERVED: &Rule = named(&RULES, "cap.declared-is-served");

/// What capabilities promise beside [`PROMISED`], up to 2025-11-25. Each method's `-32601` is about the method: that of
/// `resources/read` may be about the resource.
const PROMISED_IN_SESSIONS: &[(&str, &str)] = &[
    ("logging/setLevel", "logging"),
    ("resources/subscribe", "resources.subscribe"),
    ("roots/list", "roots"),
    ("sampling/createMessage", "sampling"),
    ("tasks/list", "tasks.list"),
    ("tasks/cancel", "tasks.cancel"),
];

/// The most refusals that are held back.
const MOST_SUSPECTS: usize = 100;

/// A refusal of a method that no revision has, by another code than the one for that.
struct Suspect {
    method: Box<str>,
    code: i64,
    location: FindingLocation,
    request: FindingLocation,
    side: Option<Side>,
}

#[derive(Default)]
struct ErrorsState {
    session: u64,
    /// This side gave a result by 2026-07-28: the client, the server.
    speaks: [bool; 2],
    suspects: Vec<Suspect>,
}

impl RuleVisitor for ErrorsState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if at.facts.session != self.session {
            self.unknown(at, report);
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(message) = at.message else { return };
        if let Some(request) = message.request() {
            served(message, request, at, report);
            self.suspect(message, request, at, report);
        }
        let lane = usize::from(at.side == Some(Side::Server));
        match message.kind {
            MessageKind::Result => self.speaks[lane] |= at.revision == Some(Revision::V2026_07_28),
            MessageKind::Error => {
                let Some(code) = message.error_code() else { return };
                self.modern(code, message, self.speaks[lane], at, report);
                let defined = matches!(code, -32700 | -32603..=-32600);
                report.check(PREDEFINED, at, defined || !(-32768..=-32100).contains(&code), || {
                    let value = message.error().and_then(|error| error.member("code"));
                    let wrong = Violation::new(format!("the code {code} is reserved and not defined"));
                    wrong.inside(value.unwrap_or(message.raw.json()))
                });
                if code == -32042 {
                    url_elicitations(message, at, report);
                }
            }
            MessageKind::Request | MessageKind::Notification => {}
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        self.unknown(at, report);
    }
}

impl ErrorsState {
    /// A response to a method that the specification does not have. It may be one of the answering side's own, which a
    /// result shows, before or later.
    fn suspect(
        &mut self,
        message: &SeenMessage<'_>,
        request: &PendingRequest,
        at: &RuleContext<'_>,
        report: &mut Report,
    ) {
        let method = request.method();
        if request.is_specified() {
            return;
        }
        let own =
            at.side.map(|side| ["experimental", "extensions"].map(|path| at.facts.declares(side, path)));
        match message.error_code() {
            None if message.kind == MessageKind::Result => {
                self.suspects.retain(|suspect| *suspect.method != *method || suspect.side != at.side);
            }
            Some(-32601) => report.pass(UNKNOWN, at),
            Some(-32602 | -32603) if own != Some([Some(false); 2]) => {
                let why = "the method may be of an extension; capabilities that name none would show that it is not";
                report.inconclusive(UNKNOWN, at, why);
            }
            Some(code @ (-32602 | -32603)) if self.suspects.len() < MOST_SUSPECTS => {
                let (location, request) = (at.location(), request.location());
                self.suspects.push(Suspect { method: method.into(), code, location, request, side: at.side });
            }
            _ => {}
        }
    }

    /// Nothing more comes of the session: what was never served is not known.
    fn unknown(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        for suspect in std::mem::take(&mut self.suspects) {
            let Suspect { method, code, location, request, side } = suspect;
            let party = if side == Some(Side::Client) { Party::Client } else { Party::Server };
            let wrong = format!("no revision has {}, and the answer is {code}", quoted(&method));
            let wrong = Violation::new(wrong).at(location).see(request, "the request");
            report.fail(UNKNOWN, at, wrong.by(party));
        }
    }

    fn modern(
        &self,
        code: i64,
        message: &SeenMessage<'_>,
        speaks: bool,
        at: &RuleContext<'_>,
        report: &mut Report,
    ) {
        let wrong = match code {
            -32002 | -32042 => Some((RETIRED, "retired")),
            -32019..=-32000 => Some((LEGACY, "left to older implementations")),
            -32022..=-32020 => None,
            -32099..=-32023 => Some((RESERVED, "reserved and not defined")),
            _ => None,
        };
        for rule in [RESERVED, LEGACY, RETIRED] {
            match wrong {
                Some((broken, how)) if broken.id == rule.id => {
                    if speaks {
                        let value = message.error().and_then(|error| error.member("code"));
                        let wrong = Violation::new(format!("the code {code} is {how}"));
                        report.fail(
                            rule,
                            at,
                            match value {
                                Some(value) => wrong.inside(value),
                                None => wrong,
                            },
                        );
                    } else {
                        report.inconclusive(
                            rule,
                            at,
                            "nothing shows yet that the party that answers speaks this revision",
                        );
                    }
                }
                _ => report.pass(rule, at),
            }
        }
    }
}

/// What the answering side declares is there.
fn served(message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>, report: &mut Report) {
    let promised = || PROMISED.iter().chain(PROMISED_IN_SESSIONS);
    let Some((method, path)) = promised().find(|(method, _)| *method == request.method()) else { return };
    if at.side.and_then(|side| at.facts.declares(side, path)) == Some(true) {
        report.check(SERVED, at, message.error_code() != Some(-32601), || {
            let wrong = format!("`{method}` is answered with -32601, and `{path}` is declared");
            Violation::new(wrong).see(request.location(), "the request")
        });
    }
}

fn url_elicitations(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let Some(error) = message.error() else { return };
    let list = error.member("data").and_then(|data| data.member("elicitations"));
    let Some(list) = list.filter(|list| list.kind() == JsonKind::Array) else {
        return report.fail(URL_SHAPE, at, Violation::new("there are no `data.elicitations`").inside(error));
    };
    if list.items().next().is_none() {
        return report.fail(URL_SHAPE, at, Violation::new("`data.elicitations` is empty").inside(list));
    }
    let is_whole = |item: &Json<'_>| {
        item.member("mode").and_then(text_of).is_some_and(|mode| *mode == *"url")
            && item.member("elicitationId").is_some_and(|id| id.kind() == JsonKind::String)
    };
    match list.items().find(|item| !is_whole(item)) {
        Some(item) => {
            let wrong = Violation::new("an elicitation lacks the mode \"url\" or its elicitationId");
            report.fail(URL_SHAPE, at, wrong.inside(item));
        }
        None => report.pass(URL_SHAPE, at),
    }
}
