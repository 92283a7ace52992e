//! Answers: to what, with which id, and how often.
//!
//! Knows: that ids belong to whoever asked, and that a resumed stream says things twice. Refuses to know: what is
//! asked; and whether a request's id is new, which is the business of `request_ids`. Memory: the last answers by a
//! fingerprint, and [`MOST_GARBLED`] ids.

use crate::engine::{
    Asked, Bound, Found, Mark, Moment, Recent, Redelivery, Revision, Said, Sort, Span, Wrong,
};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Need, Party, Rule};
use std::collections::BTreeSet;
use transcript::json::Json;
use transcript::message::Id;
use transcript::rejection::Rejection;
use transcript::session::{Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "correlation",
    title: "Requests and their answers",
    rules: &[&ID_MATCH, &ID_TYPE, &DUPLICATE, &ID_ECHO, &NO_RESPONSE, &ANSWERED],
    hears: &[Hears::All],
    watch: || Box::new(Watching::default()),
};

static ID_MATCH: Rule = Rule {
    id: "jsonrpc.response.id-match",
    source: "basic/index#responses",
    title: "A response has the id of a request that the other side made",
    why: "The request waits until it times out, and the answer is dropped or breaks the client.",
    fix: "Repeat the id of the request exactly as it came.",
    ..Rule::BLANK
};

static ID_TYPE: Rule = Rule {
    id: "jsonrpc.response.id-type",
    source: "basic/index#responses",
    title: "A response's id has the type of its request's id",
    why: "`1` and `\"1\"` are different ids: a client that compares exactly never sees the answer.",
    fix: "Keep the id as the JSON value it is; do not pass it through a string or an integer.",
    ..Rule::BLANK
};

static DUPLICATE: Rule = Rule {
    id: "jsonrpc.response.duplicate",
    source: "JSON-RPC 2.0, section 5",
    title: "A request is answered once",
    why: "The second answer belongs to nothing; where ids come again, it is taken for the answer to another request.",
    fix: "Answer when the work is done, and not also when it times out or is cancelled.",
    ..Rule::BLANK
};

static ID_ECHO: Rule = Rule {
    id: "jsonrpc.error.id-echo",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/index#error-responses",
    title: "An error has its request's id wherever that id could be read",
    why: "Without it the caller waits until it times out, although the error was there.",
    fix: "Read the id before anything that can fail, and repeat it.",
    ..Rule::BLANK
};

static NO_RESPONSE: Rule = Rule {
    id: "jsonrpc.notification.no-response",
    span: Span::from(Revision::V2025_03_26),
    source: "basic/index#notifications",
    title: "A notification is not answered",
    why: "Nobody waits for the answer; strict receivers take a response to nothing for a broken peer and hang up.",
    fix: "Do what a notification asks in silence; over HTTP, answer 202 without a body.",
    ..Rule::BLANK
};

static ANSWERED: Rule = Rule {
    id: "jsonrpc.request.answered",
    source: "basic/index#responses; JSON-RPC 2.0, section 5",
    title: "A request that was not cancelled is answered before the session ends",
    why: "Whoever asked waits, mostly for a minute, and often takes the whole server for dead.",
    fix: "Answer every request, with an error where nothing else can be said.",
    ..Rule::BLANK
};

/// So many ids of spoilt messages are remembered.
const MOST_GARBLED: usize = 10_000;

/// So many answers without an id are looked into: each may be to any of the open requests.
const MOST_ASTRAY: usize = 1_000;

/// A request that is this old when the session ends had its time, in milliseconds.
const PATIENCE: i64 = 5_000;

#[derive(Default)]
struct Watching {
    session: u64,
    redelivery: Redelivery,
    /// What each side said last that the other could have answered: of the client, of the server.
    last: [Option<Last>; 2],
    /// Something came from this side whose id nobody can read, so that an error without an id may be its answer.
    unreadable: [bool; 2],
    /// The ids of what no reader takes for a message: an answer that is spoilt is an answer.
    garbled: BTreeSet<Box<str>>,
    /// The last answers.
    answers: Recent,
    /// How many answers belonged to nothing and had no id.
    astray: usize,
    /// When the session ended.
    ended: Option<i64>,
}

/// A request or notification, as the other side sees it.
struct Last {
    /// The method and place of a notification; none for a request.
    notification: Option<(Box<str>, Mark)>,
    exchange: Option<u64>,
    /// The other side spoke since, and did not answer it.
    told: bool,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if at.facts.session != self.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        match (&at.said, &at.entry.content) {
            (Some(said), _) => match said.sort {
                Sort::Request => self.request(said, at, found),
                Sort::Notification => {
                    let name = said.method.as_deref().unwrap_or_default().into();
                    self.quiet(at, found);
                    self.heard(at, Some((name, at.mark())));
                }
                Sort::Result | Sort::Error => self.response(said, at, found),
            },
            (None, Content::TraceEnd(_)) => self.ended = at.entry.time,
            (None, Content::Noise(noise)) => {
                match at.side {
                    Some(side) => self.unreadable[lane(side)] = true,
                    None => self.unreadable = [true; 2],
                }
                let members = Json::parse(&noise.text).into_iter().flat_map(Json::members);
                for (_, id) in members.filter(|(name, _)| name.is("id")) {
                    if self.garbled.len() < MOST_GARBLED {
                        self.garbled.insert(id.text().into());
                    }
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, at: &Moment<'_>, _rejection: Option<&Rejection>, found: &mut Found) {
        if let Some(why) = at.ledger.full() {
            found.unsure(&ANSWERED, at, why);
        }
        let due = |asked: &&Asked| is_due(asked) && !self.garbled.contains(&asked.id);
        for asked in at.ledger.open().into_iter().filter(due) {
            if at.facts.over_stdio() != Some(true) {
                let why =
                    "over HTTP a status may have been the answer; such recordings do not carry it to the end";
                found.unsure(&ANSWERED, at, why);
                continue;
            }
            if !at.facts.closed {
                let why =
                    "the recording does not say that the session had ended; a trace with an `end` line would";
                return found.unsure(&ANSWERED, at, why);
            }
            let waited = asked.time.zip(self.ended).map(|(asked, ended)| ended.saturating_sub(asked));
            if waited.is_none_or(|waited| waited < PATIENCE) {
                let why = "the session ended before the answer was due; a longer one would tell";
                found.unsure(&ANSWERED, at, why);
                continue;
            }
            let wrong = format!("`{}` with the id {} was never answered", asked.method(), asked.id);
            let by = match asked.side {
                Some(Side::Client) => Party::Server,
                Some(Side::Server) => Party::Client,
                None => Party::Sender,
            };
            found.broke_if_whole(&ANSWERED, at, Wrong::of(wrong).at(asked.place()).by(by));
        }
    }
}

impl Watching {
    fn request(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        if !matches!(said.message.id(), Id::Text(_) | Id::Number(_)) {
            if let Some(side) = at.side {
                self.unreadable[lane(side)] = true;
            }
            return self.heard(at, None);
        }
        self.quiet(at, found);
        self.heard(at, None);
    }

    /// A side speaks of something else than the other's last notification.
    fn quiet(&mut self, at: &Moment<'_>, found: &mut Found) {
        let Some(other) = at.side.map(Side::other) else { return };
        if let Some(last) = &mut self.last[lane(other)]
            && last.notification.is_some()
            && !std::mem::replace(&mut last.told, true)
        {
            found.held(&NO_RESPONSE, at);
        }
    }

    fn heard(&mut self, at: &Moment<'_>, notification: Option<(Box<str>, Mark)>) {
        let Some(side) = at.side else { return };
        self.last[lane(side)] = Some(Last { notification, exchange: at.entry.exchange, told: false });
    }

    fn response(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let again = self.redelivery.again(at);
        if is_redacted(said, at) {
            for rule in [&ID_MATCH, &ID_TYPE, &DUPLICATE] {
                found.unsure(rule, at, "the recorder took out the id");
            }
            return;
        }
        match said.bound {
            Bound::No => {}
            Bound::To(asked) => {
                self.answers.again(said.message.text());
                self.quiet(at, found);
                for rule in [&ID_MATCH, &ID_TYPE, &DUPLICATE, &ANSWERED] {
                    found.held(rule, at);
                }
                if said.sort == Sort::Error {
                    found.held(&ID_ECHO, at);
                }
                // With an id it is a request, and an error answers it well.
                if asked.method().starts_with("notifications/") && said.sort == Sort::Result {
                    let wrong = format!("the notification `{}` got a result", asked.method());
                    found.broke(&NO_RESPONSE, at, Wrong::of(wrong).see(asked.place(), "the notification"));
                }
            }
            Bound::Mistyped(asked) => {
                let wrong = format!("the id is {}, and the request's is {}", shown_id(said), asked.id);
                found.broke(&ID_TYPE, at, Wrong::of(wrong).see(asked.place(), "the request"));
            }
            Bound::Again if again => found.held(&DUPLICATE, at),
            // Word for word the same: a resumed stream, where nothing shows the events.
            Bound::Again if self.answers.has(said.message.text()) && event_id(at).is_none() => {
                let why = "a stream that is resumed repeats its answers; an envelope or a HAR with event ids would tell";
                found.unsure(&DUPLICATE, at, why);
            }
            Bound::Again => {
                let wrong = format!("the request with the id {} was answered before", shown_id(said));
                found.broke(&DUPLICATE, at, wrong);
            }
            Bound::Unclear => found.unsure(&ID_MATCH, at, Need::Direction.lack()),
            Bound::Untold => {
                let why = at.ledger.full().unwrap_or_default();
                for rule in [&ID_MATCH, &ID_TYPE, &DUPLICATE] {
                    found.unsure(rule, at, why);
                }
            }
            Bound::Nothing => self.astray(said, at, found),
        }
    }

    fn was_unreadable(&self, at: &Moment<'_>) -> bool {
        match at.side {
            Some(side) => self.unreadable[lane(side.other())],
            None => self.unreadable.contains(&true),
        }
    }

    /// A response that answers nothing that was asked.
    fn astray(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        if matches!(said.message.id(), Id::Text(_) | Id::Number(_)) {
            return match at.exchange {
                Some(exchange) if exchange.method != "POST" || at.facts.session > 0 => {
                    let why = "an exchange log does not tell what was asked before a stream said this";
                    found.unsure(&ID_MATCH, at, why);
                }
                _ if self.garbled.contains(shown_id(said).as_str()) => {}
                _ if self.was_unreadable(at) => {
                    found.unsure(&ID_MATCH, at, "a message of the other side could not be read");
                }
                _ => {
                    let wrong = format!("nothing was asked with the id {}", shown_id(said));
                    found.broke_if_whole(&ID_MATCH, at, wrong);
                }
            };
        }
        let Some(side) = at.side else {
            return found.unsure(&NO_RESPONSE, at, Need::Direction.lack());
        };
        let other = side.other();
        self.astray += 1;
        if self.unreadable[lane(other)] || self.astray > MOST_ASTRAY {
            return;
        }
        let of_this_exchange = |last: &&Last| at.exchange.is_none() || last.exchange == at.entry.exchange;
        let last = self.last[lane(other)].as_ref().filter(of_this_exchange);
        let status = at.exchange.and_then(|exchange| exchange.status);
        let open = at.ledger.open().into_iter().filter(|asked| {
            asked.side == Some(other) && (at.exchange.is_none() || asked.exchange == at.entry.exchange)
        });
        let open = open.max_by_key(|asked| asked.number);
        match (last, open, said.sort) {
            // HTTP lets a server say why it refused a notification, in an error without an id.
            (Some(Last { notification: Some(_), .. }), None, Sort::Error)
                if status.is_some_and(|status| status >= 400) => {}
            (Some(Last { notification: Some((name, place)), .. }), None, _) => {
                let wrong = Wrong::of(format!("an answer to the notification `{name}`"));
                found.broke(&NO_RESPONSE, at, wrong.see(place.place(), "the notification"));
            }
            (_, Some(asked), Sort::Error) if asked.method() == "server/discover" => {
                let why = format!("nothing shows the revision of whoever answers {}", asked.id);
                found.unsure(&ID_ECHO, at, why);
            }
            (_, Some(asked), Sort::Error) if status != Some(403) => {
                let wrong =
                    Wrong::of(format!("the error does not have the id {} of the open request", asked.id));
                found.broke(&ID_ECHO, at, wrong.see(asked.place(), "the request"));
            }
            (.., Sort::Result) => {
                found.broke_if_whole(&ID_MATCH, at, "the result has no id, and so answers nothing");
            }
            _ => {}
        }
    }
}

fn event_id<'m>(at: &'m Moment<'_>) -> Option<&'m str> {
    at.entry.sse.as_ref()?.id.as_deref()
}

/// Whether somebody waits for the answer still. A subscription stays open for as long as both like.
fn is_due(asked: &Asked) -> bool {
    asked.cancelled.is_none()
        && asked.method() != "subscriptions/listen"
        && !asked.method().starts_with("notifications/")
}

pub(super) fn is_redacted(said: &Said<'_>, at: &Moment<'_>) -> bool {
    said.message.json().member("id").is_some_and(|id| at.facts.redacted(id))
}

pub(super) fn shown_id(said: &Said<'_>) -> String {
    match said.message.id() {
        Id::Text(text) => format!("\"{}\"", text.raw()),
        Id::Number(number) => number.to_owned(),
        Id::Null | Id::Missing => "null".to_owned(),
    }
}

fn lane(side: Side) -> usize {
    usize::from(side == Side::Server)
}
