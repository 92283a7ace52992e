//! Which exchange carries which message over Streamable HTTP, and how each request is answered.
//!
//! An answer belongs to the stream of its request. Other messages of the server belong to the stream of the request
//! that they are about, as far as the session shows it (the exchange of an archive, a progress token, a request that is
//! answered later), and to the stream of a GET otherwise. Both peers come to the same result, so that a client knows
//! when it needs a GET.

use crate::http::{SESSION, VERSION};
use crate::messages::{about, own_token, protocol_version};
use crate::play::script::Script;
use formats::{OwnedContent, OwnedEntry};
use std::collections::HashMap;
use transcript::meaning::EventKind;
use transcript::session::{Carrier, Exchange, Side, header};

/// In what form a server of Streamable HTTP answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Each request as the session shows it, and as a stream where it does not.
    AsRecorded,
    /// As one JSON body. What the server says of its own goes over the stream of a GET.
    Json,
    /// As a stream of events.
    Stream,
}

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::play) enum Route {
    /// It is a POST of its own.
    Post,
    /// The answer to the POST of this step.
    Answer(usize),
    /// The stream of a GET.
    Get,
    /// It is not sent.
    Nowhere,
}

/// How the POST of a message is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::play) enum Reply {
    /// With no body, since nobody has to answer.
    Accepted(u16),
    /// With one message.
    Json(u16),
    /// With a stream of events.
    Stream,
    /// Not at all: the session shows an error of HTTP, with these headers.
    Refused(u16, Vec<(String, String)>),
}

/// The routes of a script.
#[derive(Debug)]
pub(in crate::play) struct Routes {
    /// By step.
    pub(in crate::play) of: Vec<Route>,
    /// By step, for those of the client.
    pub(in crate::play) replies: Vec<Reply>,
    /// The id that the server gives to the session, where it gives one: what the recording has, or nothing known.
    pub(in crate::play) session: Option<Option<String>>,
    /// The step that answers `initialize`. From then on the client names the session and the revision.
    pub(in crate::play) initialized: Option<usize>,
    /// The revision that was agreed on.
    pub(in crate::play) version: Option<String>,
    /// Whatever the recorded requests name as their revision, in a header.
    pub(in crate::play) named: Vec<String>,
    /// The session shows that a GET is answered with this error.
    pub(in crate::play) no_get: Option<u16>,
}

impl Routes {
    pub(in crate::play) fn new(script: &Script, answers: Answers) -> Self {
        let steps = &script.steps;
        let mut router = Router::new(script, answers);
        let of: Vec<Route> = (0..steps.len()).map(|step| router.find(step)).collect();
        // How many messages go over the answer to each step.
        let mut counts = vec![0; steps.len()];
        for route in &of {
            if let Route::Answer(step) = route {
                counts[*step] += 1;
            }
        }
        let replies = (0..steps.len()).map(|step| router.reply(step, counts[step] == 1)).collect();
        let mut gets = router.exchanges.values().filter(|exchange| exchange.method == "GET");
        let no_get = gets.find_map(|exchange| exchange.status.filter(|status| *status == 405));
        let no_get = no_get.filter(|_| !of.contains(&Route::Get));
        let initialized = initialized(script);
        let version = initialized.and_then(|step| protocol_version(script.message(step)?.outcome()?));
        let named = script.session.entries.iter().filter_map(named).collect();
        Self { of, replies, session: router.session(initialized), initialized, version, named, no_get }
    }
}

struct Router<'s> {
    script: &'s Script,
    /// By step: the one that it answers.
    answers_to: Vec<Option<usize>>,
    /// By step: the one that answers it.
    answered: Vec<Option<usize>>,
    /// The exchanges of an archive, by their numbers.
    exchanges: HashMap<u64, &'s Exchange<'static>>,
    /// The step of the client that each one begins with.
    asked: HashMap<u64, usize>,
    /// Requests of the client by the text of their progress token.
    tokens: HashMap<String, usize>,
    /// Messages that are the body of an answer and bind nothing, by the step that they answer.
    bodies: HashMap<usize, usize>,
    answers: Answers,
}

impl<'s> Router<'s> {
    fn new(script: &'s Script, answers: Answers) -> Self {
        let steps = &script.steps;
        let exchange = |entry: &'s OwnedEntry| match &entry.what {
            OwnedContent::Exchange(exchange) => Some((entry.exchange?, &**exchange)),
            _ => None,
        };
        let exchanges: HashMap<u64, &Exchange<'_>> =
            script.session.entries.iter().filter_map(exchange).collect();
        let number = |step: usize| script.entry(step).and_then(|entry| entry.exchange);
        let id = |step: usize| script.message(step)?.id().key();
        let is_turned_away = |step: usize| {
            number(step).and_then(|number| exchanges.get(&number)?.status).is_some_and(|status| status >= 300)
        };
        let (mut answers_to, mut answered) = (vec![None; steps.len()], vec![None; steps.len()]);
        let mut asked = HashMap::new();
        for (step, found) in steps.iter().enumerate() {
            let number = number(step);
            if let Some(number) = number.filter(|_| found.side == Side::Client) {
                asked.entry(number).or_insert(step);
            }
            let Some(first) = found.answers else { continue };
            // A call that was turned away with a message stays open by its id. It comes again in another exchange, which
            // has the answer, whichever of the two that binds to.
            let own = number.and_then(|number| asked.get(&number).copied());
            let own = own.filter(|own| is_turned_away(first) && id(*own) == id(first)).unwrap_or(first);
            answers_to[step] = Some(own);
            if let Some(answer) = answered.get_mut(own) {
                *answer = Some(step);
            }
        }
        let (tokens, bodies) = (HashMap::new(), HashMap::new());
        Self { script, answers_to, answered, exchanges, asked, tokens, bodies, answers }
    }

    fn find(&mut self, step: usize) -> Route {
        let Some(found) = self.script.steps.get(step).copied() else { return Route::Get };
        if self.script.is_left_out(step) {
            return Route::Nowhere;
        }
        if found.side == Side::Client {
            let token = self.script.message(step).and_then(own_token);
            self.tokens.extend(token.map(|token| (token.text().to_owned(), step)));
            return Route::Post;
        }
        let is_asked = |asked: &usize| self.script.steps[*asked].side == Side::Client;
        if let Some(asked) = self.answers_to[step].filter(is_asked) {
            return Route::Answer(asked);
        }
        if let Some(asked) = self.body_of(step) {
            self.bodies.insert(asked, step);
            return Route::Answer(asked);
        }
        if self.answers == Answers::Json {
            return Route::Get;
        }
        self.recorded(step).or_else(|| self.about(step)).or_else(|| self.within(step)).unwrap_or(Route::Get)
    }

    /// The POST that the recording answers with this message although nothing binds them: an error without an id.
    fn body_of(&self, step: usize) -> Option<usize> {
        let entry = self.script.entry(step).filter(|entry| entry.carrier == Carrier::Response)?;
        let asked = match entry.exchange {
            Some(number) => *self.asked.get(&number)?,
            None => (0..step).rev().find(|&before| self.script.steps[before].side == Side::Client)?,
        };
        let is_free = self.answered[asked].is_none() && !self.bodies.contains_key(&asked);
        is_free.then_some(asked)
    }

    /// Where the recording has it.
    fn recorded(&self, step: usize) -> Option<Route> {
        let number = self.script.entry(step)?.exchange?;
        match self.asked.get(&number) {
            Some(&asked) => self.is_open(asked, step).then_some(Route::Answer(asked)),
            None => Some(Route::Get),
        }
    }

    /// The request whose progress it reports.
    fn about(&self, step: usize) -> Option<Route> {
        let token = about(self.script.message(step)?, "notifications/progress", "progressToken")?;
        let asked = *self.tokens.get(token.text())?;
        self.is_open(asked, step).then_some(Route::Answer(asked))
    }

    /// The last request before it that is answered behind it.
    fn within(&self, step: usize) -> Option<Route> {
        let later = |asked: &usize| self.answered[*asked].is_some_and(|answer| answer > step);
        let mut asked = (0..step).rev().take(crate::play::player::AHEAD);
        asked.find(|asked| self.asks(*asked) && later(asked)).map(Route::Answer)
    }

    fn is_open(&self, asked: usize, step: usize) -> bool {
        self.asks(asked) && self.answered[asked].is_none_or(|answer| answer > step)
    }

    /// Whether somebody has to answer a step of the client.
    fn asks(&self, step: usize) -> bool {
        let Some(found) = self.script.steps.get(step) else { return false };
        found.side == Side::Client
            && !matches!(found.kind, EventKind::Result | EventKind::Error)
            && self.script.message(step).is_some_and(|message| message.id().key().is_some())
    }

    /// How the POST of a step is answered, over which only one message goes where `is_single`.
    fn reply(&self, step: usize, is_single: bool) -> Reply {
        if let Some((status, headers)) = self.script.refusals.get(&step) {
            return Reply::Refused(*status, headers.clone());
        }
        let entry = self.script.entry(step);
        let number = entry.and_then(|entry| entry.exchange);
        let status = number.and_then(|number| self.exchanges.get(&number)?.status);
        // An envelope has the status of an answer beside it.
        let answer = self.bodies.get(&step).copied().or(self.answered[step]);
        let answer = answer.and_then(|answer| self.script.entry(answer));
        let shown = answer.and_then(|entry| entry.context.as_ref()?.status);
        // Over HTTP+SSE a request is accepted, and answered in another exchange.
        let status = status.filter(|_| answer.is_none_or(|answer| answer.exchange == number));
        let status =
            status.or(shown.filter(|_| answer.is_some_and(|entry| entry.carrier == Carrier::Response)));
        // What an envelope says need not be possible: under some statuses there is no body.
        let status = status.filter(|status| answer.is_none() || matches!(status, 200..=203 | 400..=599));
        if self.bodies.contains_key(&step) {
            return Reply::Json(status.unwrap_or(200));
        }
        if !self.asks(step) {
            return Reply::Accepted(status.unwrap_or(202));
        }
        let slot = answer.map(|entry| entry.carrier);
        let json = match self.answers {
            Answers::Json => true,
            // An error of HTTP is not a stream.
            Answers::Stream => status.is_some_and(|status| status >= 400),
            Answers::AsRecorded => slot == Some(Carrier::Response),
        };
        if json && is_single && slot.is_some() { Reply::Json(status.unwrap_or(200)) } else { Reply::Stream }
    }

    /// The id of the session: a server gives one where there is an `initialize`, unless the recording has its answer
    /// without one.
    fn session(&self, initialized: Option<usize>) -> Option<Option<String>> {
        let number = self.script.entry(initialized?).and_then(|entry| entry.exchange);
        if let Some(exchange) = number.and_then(|number| self.exchanges.get(&number)) {
            return header(&exchange.response_headers, SESSION).map(|id| Some(id.to_owned()));
        }
        let mut contexts = self.script.session.entries.iter().filter_map(|entry| entry.context.as_ref());
        Some(contexts.find_map(|context| header(&context.headers, SESSION)).map(ToOwned::to_owned))
    }
}

/// The step that answers `initialize`.
fn initialized(script: &Script) -> Option<usize> {
    script.steps.iter().position(|step| step.answers.is_some_and(|asked| script.is(asked, "initialize")))
}

/// The revision that a request names in a header.
fn named(entry: &OwnedEntry) -> Option<String> {
    let headers = match (&entry.what, &entry.context) {
        (OwnedContent::Exchange(exchange), _) => &exchange.request_headers,
        (_, Some(context)) if entry.side == Some(Side::Client) => &context.headers,
        _ => return None,
    };
    header(headers, VERSION).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Answers, Reply, Routes};
    use crate::play::script::tests::{of_bytes, script};
    use crate::play::testing::{plays, spelled};
    use transcript::session::Side;

    /// The routes of each session of `tests.txt`, as it is recorded, or behind `--- json` where answers are JSON.
    #[test]
    fn what_stands_between_a_request_and_its_answer_goes_with_the_answer() {
        plays(include_str!("tests.txt"), |session, words, _| {
            let answers = if words == "json" { Answers::Json } else { Answers::AsRecorded };
            let routes = Routes::new(&script(session, Side::Server).unwrap(), answers).of;
            vec![routes.iter().map(|route| format!("{route:?}")).collect::<Vec<_>>().join(" ")]
        });
    }

    #[test]
    fn replies_are_those_of_the_recording_or_those_that_were_asked_for() {
        let session =
            ["> 1 tools/call", "< 1 = {}", "> - notifications/initialized", "> 2 tools/list"].map(spelled);
        let script = script(&session.each_ref().map(String::as_str), Side::Server).unwrap();
        let replies = |answers| Routes::new(&script, answers).replies;
        let (accepted, json) = (Reply::Accepted(202), Reply::Json(200));
        let streamed = replies(Answers::AsRecorded);
        assert_eq!([&streamed[0], &streamed[2], &streamed[3]], [&Reply::Stream, &accepted, &Reply::Stream]);
        // What is never answered stays open.
        let bodies = replies(Answers::Json);
        assert_eq!([&bodies[0], &bodies[2], &bodies[3]], [&json, &accepted, &Reply::Stream]);
        let envelope = concat!(
            r#"{"transport":"streamable-http","entries":["#,
            r#"{"request":{"jsonrpc":"2.0","id":0,"method":"initialize"}},"#,
            r#"{"transport_context":{"status":401,"headers":{"WWW-Authenticate":"Bearer scope=\"a\""}},"response":null},"#,
            r#"{"transport_context":{"headers":{"MCP-Protocol-Version":"w"}},"request":{"jsonrpc":"2.0","id":1,"method":"initialize"}},"#,
            r#"{"transport_context":{"headers":{"Mcp-Session-Id":"s"}},"response":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"v"}}}]}"#,
        );
        let script = of_bytes("streamable-http", envelope.as_bytes(), Side::Server).unwrap();
        let routes = Routes::new(&script, Answers::AsRecorded);
        let challenge = vec![("www-authenticate".to_owned(), "Bearer scope=\"a\"".to_owned())];
        assert_eq!(routes.replies[0], Reply::Refused(401, challenge));
        assert_eq!(routes.replies[1], json);
        assert_eq!(routes.session, Some(Some("s".to_owned())));
        assert_eq!((routes.version.as_deref(), routes.no_get), (Some("v"), None));
        assert_eq!(routes.named, ["w"]);
    }
}
