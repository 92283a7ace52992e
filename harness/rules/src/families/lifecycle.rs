//! How a session begins: the handshake, and what may be said before it is over.
//!
//! A recorder that reads two pipes, and an exchange log, may put messages that crossed in the other order; a rule on
//! order forgives [`CROSSING`]. The versions themselves are in `versions`, and pings in `pings`.

use crate::engine::{
    CROSSING, Family, FindingLocation, MessageKind, NO_ORDER, PendingRequest, ResponseMatch, Revision,
    RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation, per_session, why_not_whole,
};
use crate::rule::{Level, Rule};
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::{Content, Side, header};

const READY_EARLY: &str = "`notifications/initialized` is sent before `initialize` is answered";

pub(super) const FAMILY: Family = Family {
    name: "lifecycle",
    title: "The beginning of a session",
    rules: &[
        &FIRST,
        &REQUEST_FIELDS,
        &RESULT_FIELDS,
        &ONCE,
        &ONE_SESSION,
        &INITIALIZED,
        &CLIENT_EARLY,
        &SERVER_EARLY,
        &NO_CANCEL,
    ],
    triggers: &[Trigger::Messages, Trigger::NonMessages],
    visitor: per_session::<LifecycleState>,
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { span: Span::SESSIONS, source: "basic/lifecycle#initialization", ..Rule::BLANK };

static FIRST: Rule = Rule {
    id: "life.init.first",
    title: "The first message of a client is `initialize`",
    why: "Before that the server does not know which revision to speak, and most servers refuse anything else.",
    fix: "Send `initialize`, wait for its answer, then send `notifications/initialized`.",
    softened: Some("a warning where the recording may have begun in an earlier session"),
    ..OURS.client()
};

static REQUEST_FIELDS: Rule = Rule {
    id: "life.init.request-fields",
    title: "`initialize` has a protocol version, capabilities, and the client's name and version",
    why: "Servers refuse the handshake, or take the client for one that can do nothing.",
    fix: "Send protocolVersion, capabilities (an object, empty if need be) and clientInfo with name and version.",
    ..OURS.client()
};

static RESULT_FIELDS: Rule = Rule {
    id: "life.init.result-fields",
    title: "The answer to `initialize` has a version, capabilities, and the server's name",
    why: "Typed clients refuse the answer, and the session ends before it began.",
    fix: "Answer with protocolVersion, capabilities and serverInfo with name and version.",
    ..OURS.server()
};

static ONCE: Rule = Rule {
    id: "life.init.once",
    title: "A session is initialized once",
    why: "Nothing says whether the second handshake replaces what the first one agreed.",
    fix: "Begin a new session, with a connection or a session id of its own.",
    ..OURS.should().client()
};

static ONE_SESSION: Rule = Rule {
    id: "rec.one-session",
    span: Span::ALL,
    source: "mcp-replay v1, format",
    title: "A recording other than an exchange log holds one session",
    why: "Ids and capabilities of one session are taken for another's, and readers reject a file whose calls share an id.",
    fix: "Write a file for each session.",
    ..OURS.should().recorder()
};

static INITIALIZED: Rule = Rule {
    id: "life.initialized.sent",
    title: "After the answer to `initialize` the client sends `notifications/initialized`",
    why: "Servers wait for it before they send requests of their own, and some refuse all requests until then.",
    fix: "Send `notifications/initialized`, under this very name, before any other request.",
    ..OURS.client()
};

static CLIENT_EARLY: Rule = Rule {
    id: "life.client.early-request",
    relational: true,
    title: "A client sends no request but `ping` before `initialize` is answered",
    why: "The server does not know yet what was agreed, and may refuse it or drop it.",
    fix: "Wait for the answer to `initialize`.",
    ..OURS.should().client()
};

static SERVER_EARLY: Rule = Rule {
    id: "life.server.early-request",
    title: "A server sends no request but `ping` before `notifications/initialized`",
    why: "The client is not ready: it may not have its handlers in place, and the request gets lost.",
    fix: "Wait for `notifications/initialized` before asking for roots, samples or anything else.",
    ..OURS.should().server()
};

static NO_CANCEL: Rule = Rule {
    id: "life.init.no-cancel",
    source: "basic/utilities/cancellation#behavior-requirements",
    title: "A client does not cancel `initialize`",
    why: "It would be unclear whether there is a session.",
    fix: "Close the connection instead.",
    ..OURS.client()
};

#[derive(Default)]
struct LifecycleState {
    /// What the client said first, pings and probes aside: the method and where.
    first: Option<(String, FindingLocation)>,
    /// It named a session of HTTP, which is an earlier one.
    in_session: bool,
    /// The client asked as in a revision that begins with no handshake, or for one in what is not a message.
    excused: bool,
    /// The id of `initialize`, as it is written.
    id: Option<Box<str>>,
    /// The id of the first `initialize` that was answered with a result, and the server's name, as they are written.
    first_handshake: Option<[Option<Box<str>>; 2]>,
    /// `initialize` was answered with a result: when, and on which line.
    answered: Option<Option<i64>>,
    answered_on: u64,
    /// The first request of the client that came before that, and when.
    client_early: Option<(String, FindingLocation, Option<i64>)>,
    /// The first request of the server that came before `notifications/initialized`, and when.
    server_early: Option<(String, FindingLocation, Option<i64>)>,
    initialized: bool,
    /// `notifications/initialized` came before the answer to `initialize`: where, and when.
    ready_early: Option<(FindingLocation, Option<i64>)>,
    /// The client sent `initialized`, which is not a method.
    misnamed: bool,
    /// The client asked for something after the handshake, and got its answer.
    worked: Option<FindingLocation>,
}

impl RuleVisitor for LifecycleState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        match (at.message, &at.entry.content) {
            (Some(message), _) => self.message(message, at),
            (None, Content::Noise(noise)) => self.excused |= noise.text.contains("\"initialize\""),
            _ => {}
        }
    }

    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Request | MessageKind::Notification => self.call(message, at),
            MessageKind::Result | MessageKind::Error => self.response(message, at),
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.settle(at, false);
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        self.settle(at, at.facts.closed);
    }
}

impl LifecycleState {
    fn call(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let method = message.method.as_deref().unwrap_or_default();
        // A client that tries the newest revision first is at liberty to go back to a handshake.
        let probe = method == "server/discover" || at.is_modern();
        match at.side {
            Some(Side::Client) if method == "initialize" => self.initialize(message, at),
            Some(Side::Client) if probe => self.excused = true,
            Some(Side::Client) => self.of_client(method, message, at),
            Some(Side::Server) if message.kind == MessageKind::Request && method != "ping" => {
                if self.initialized {
                    at.pass(&SERVER_EARLY);
                } else {
                    let early = || (method.to_owned(), at.location(), at.entry.time);
                    self.server_early.get_or_insert_with(early);
                }
            }
            _ => {}
        }
    }

    fn of_client(&mut self, method: &str, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if method != "ping" {
            if self.first.is_none() {
                let headers = at.exchange.map(|exchange| &exchange.request_headers).or(at.envelope_headers());
                self.in_session = headers.is_some_and(|headers| header(headers, "Mcp-Session-Id").is_some());
            }
            self.first.get_or_insert_with(|| (method.to_owned(), at.location()));
        }
        match method {
            "notifications/initialized" => {
                self.initialized = true;
                // Clients without sessions look alike in later ones.
                let is_single = at.facts.session == 0 && message.item.is_none();
                if is_single && self.id.is_some() && self.answered.is_none() {
                    self.ready_early.get_or_insert_with(|| (at.location(), at.entry.time));
                } else {
                    at.check(&INITIALIZED, !is_single || !self.was_on_its_way(at), || READY_EARLY);
                }
                self.server_was_early(at);
            }
            "initialized" => self.misnamed = true,
            "notifications/cancelled" => {
                let Some(id) = message.param("requestId") else { return };
                let reused = || at.pending.find(at.side, id).is_some_and(|it| it.method() != "initialize");
                at.check(&NO_CANCEL, self.id.as_deref() != Some(id.text()) || reused(), || {
                    Violation::new("`initialize` is cancelled").inside(id)
                });
            }
            "ping" => {}
            _ if message.kind == MessageKind::Request => match self.answered {
                Some(_) => at.check(&CLIENT_EARLY, !self.was_on_its_way(at), || {
                    format!("`{method}` is sent before the answer to `initialize` is there")
                }),
                None if self.id.is_some() => {
                    self.client_early
                        .get_or_insert_with(|| (method.to_owned(), at.location(), at.entry.time));
                }
                None => {}
            },
            _ => {}
        }
    }

    fn initialize(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.first.get_or_insert_with(|| ("initialize".to_owned(), at.location()));
        self.id = message.raw.id_value().map(|id| id.text().into());
        let params = message.raw.params();
        check_fields(&REQUEST_FIELDS, "clientInfo", params.unwrap_or(message.raw.json()), at);
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        match request.method() {
            "initialize" if message.kind == MessageKind::Result => {
                if let Some(result) = message.raw.outcome() {
                    check_fields(&RESULT_FIELDS, "serverInfo", result, at);
                }
                self.once(message, request, at);
                self.began(at);
            }
            _ if request.side == Some(Side::Client)
                && request.revision.is_none_or(Revision::has_handshake)
                && self.answered.is_some()
                && matches!(message.response_match, ResponseMatch::Matched(_)) =>
            {
                self.worked.get_or_insert_with(|| request.location());
            }
            _ => {}
        }
    }

    fn once(&mut self, message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
        let server = message.raw.outcome().and_then(|result| result.member("serverInfo")?.member("name"));
        let these = [message.raw.id_value(), server].map(|value| value.map(|value| value.text().into()));
        let first = self.first_handshake.get_or_insert_with(|| these.clone());
        if self.answered.is_none() {
            at.pass(&ONE_SESSION);
            return at.pass(&ONCE);
        }
        // A client whose session was lost begins again, with another id and at the same server.
        let [same_id, same_server] = [0, 1].map(|part| first[part] == these[part]);
        if at.exchange.is_none() && (!same_server || same_id && !at.facts.piped) {
            let behind = |line: &u64| self.first.as_ref().is_some_and(|(_, place)| place.line < *line);
            let wrong = match at.facts.ended.filter(behind) {
                _ if !same_server => "another server answers a second `initialize`".to_owned(),
                _ if at.facts.recording.kind.is_clients_log() && request.location().line < self.answered_on => {
                    "`initialize` is here twice under one id before it is answered: the client started the server twice at \
                     once, or the log has what it has twice"
                        .to_owned()
                }
                Some(line) => format!(
                    "the server was started again after line {line}: keep the lines of one run, with head -n {line} or \
                     tail -n +{}",
                    line + 1
                ),
                None => "a second `initialize` has the id of the first: another client's".to_owned(),
            };
            at.fail(&ONE_SESSION, Violation::new(wrong).at(request.location()));
        }
        if at.exchange.is_some() || at.facts.piped {
            at.fail(&ONCE, "a second `initialize` succeeds in one session");
        } else {
            let why = "the file may hold several sessions; one file per session would show it";
            at.inconclusive(&ONCE, why);
        }
    }

    /// `initialize` succeeded: what came before it can be judged.
    fn began(&mut self, at: &RuleContext<'_>) {
        if self.answered.is_none()
            && let Some((method, location)) = &self.first
        {
            if method == "initialize" {
                at.pass(&FIRST);
            } else {
                let wrong = Violation::new(format!("the client begins with `{method}`")).at(location.clone());
                let facts = at.facts;
                if facts.late && !self.in_session && !facts.mixed && !facts.torn() && facts.session == 0 {
                    // The recording shows the handshake, and may all the same have begun in an earlier session.
                    at.fail(&FIRST, wrong.only(Level::Should));
                } else {
                    at.fail_if_complete(&FIRST, wrong);
                }
            }
        }
        if self.answered.is_none() {
            (self.answered, self.answered_on) = (Some(at.entry.time), at.entry.location.line);
        }
        if let Some((location, time)) = self.ready_early.take() {
            let lost = at.exchange.is_some_and(|exchange| !exchange.timed).then_some(NO_ORDER);
            match why_not_whole(at.facts).or(lost) {
                Some(why) => at.inconclusive(&INITIALIZED, why),
                None => at.fail_if_earlier(&INITIALIZED, Violation::new(READY_EARLY).at(location), time),
            }
        }
        if let Some((method, location, time)) = self.client_early.take() {
            let wrong = format!("`{method}` is sent before `initialize` is answered");
            at.fail_if_earlier(&CLIENT_EARLY, Violation::new(wrong).at(location), time);
        }
    }

    /// Whether the answer to `initialize` came later, which an exchange log has before what began by then.
    fn was_on_its_way(&self, at: &RuleContext<'_>) -> bool {
        let times = self.answered.flatten().zip(at.entry.time).filter(|_| at.exchange.is_some());
        times.is_some_and(|(answered, time)| time + CROSSING < answered)
    }

    /// There was no `initialize` at all, which the one revision without it forbids as well: its requests name their revision.
    fn never_began(&self, at: &RuleContext<'_>) {
        let Some((method, location)) = &self.first else { return };
        if at.facts.handshake || self.excused || at.facts.modern || !at.facts.knows_mcp {
            return;
        }
        let at = at.in_revision(at.revision.or(Some(Span::SESSIONS.last)));
        if at.facts.piped || at.facts.opened && at.facts.recording.kind.is_clients_log() {
            let wrong = format!("the client begins with `{method}` and never sends `initialize`");
            at.fail_if_complete(&FIRST, Violation::new(wrong).at(location.clone()));
        } else {
            let why = "the recording may begin after the session did; a trace from the server's start would show it";
            at.inconclusive(&FIRST, why);
        }
    }

    fn server_was_early(&mut self, at: &RuleContext<'_>) {
        let Some((method, location, time)) = self.server_early.take() else { return };
        if at.exchange.is_some() {
            let why = "an exchange log does not tell when a stream said something";
            return at.inconclusive(&SERVER_EARLY, why);
        }
        let wrong = format!("`{method}` is sent before `notifications/initialized` came");
        at.fail_if_earlier(&SERVER_EARLY, Violation::new(wrong).at(location), time);
    }

    /// The session is over, at a clean end or not: what never came can be known.
    fn settle(&self, at: &RuleContext<'_>, closed: bool) {
        self.never_began(at);
        if self.answered.is_none() || self.initialized {
            return;
        }
        let Some(work) = &self.worked else {
            if closed {
                at.inconclusive(&INITIALIZED, "the session ended with the handshake");
            }
            return;
        };
        let wrong = if self.misnamed {
            "the client sends `initialized`, which is not a method, and never `notifications/initialized`"
        } else {
            "the client sends requests and never sends `notifications/initialized`"
        };
        at.fail_if_complete(&INITIALIZED, Violation::new(wrong).at(work.clone()));
    }
}

/// What both sides tell of themselves in the handshake.
fn check_fields(rule: &'static Rule, info: &str, value: Json<'_>, at: &RuleContext<'_>) {
    let of_kind = |name: &str, kind: JsonKind| value.member(name).is_some_and(|value| value.kind() == kind);
    let about = value.member(info);
    let named = |name| {
        about.and_then(|about| about.member(name)).is_some_and(|value| value.kind() == JsonKind::String)
    };
    let lack = match () {
        () if !of_kind("protocolVersion", JsonKind::String) => Some("`protocolVersion`".to_owned()),
        () if !of_kind("capabilities", JsonKind::Object) => Some("`capabilities`".to_owned()),
        () if about.is_none_or(|about| about.kind() != JsonKind::Object) => Some(format!("`{info}`")),
        () if !named("name") => Some(format!("`{info}.name`")),
        () if !named("version") => Some(format!("`{info}.version`")),
        () => None,
    };
    let wrong = |lack| Violation::new(format!("there is no {lack} of the right type")).inside(value);
    at.without(rule, lack, wrong);
}
