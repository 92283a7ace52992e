//! Session ids and versions in the contexts of an envelope, which shows headers of messages and no exchanges.
//!
//! A recorder keeps the headers that it chooses: one that is not shown may have been sent. Memory: up to [`MOST_SESSIONS`]
//! sessions.

use super::rules::{CHARSET, ECHO, ENTROPY, NEGOTIATED, PRESENT};
use crate::engine::{
    NOT_WHOLE, Revision, RuleContext, SESSION, SeenMessage, TAKEN_OUT, VERSION, Violation, quoted, text_of,
};
use crate::rule::Level;
use std::collections::{BTreeMap, BTreeSet};
use transcript::json::Json;
use transcript::session::{Carrier, Headers, header};

/// The most sessions that are followed.
const MOST_SESSIONS: usize = 1_000;

/// A session id of fewer characters can be guessed.
const LEAST: usize = 16;

/// What the contexts of an envelope have shown of its sessions.
#[derive(Default)]
pub(super) struct EnvelopeSessions {
    /// The versions that were chosen, by the sessions that were assigned.
    sessions: BTreeMap<Box<str>, Box<str>>,
    /// What later answers called them.
    renamed: BTreeSet<Box<str>>,
    /// How many handshakes there were, and how many that do not show which session was assigned.
    handshakes: [u64; 2],
    /// An answer to `initialize` showed its headers, and a request behind the handshake did.
    shown: [bool; 2],
}

impl EnvelopeSessions {
    pub(super) fn visit(&mut self, at: &RuleContext<'_>) {
        let Some(message) = at.message.filter(|_| at.is_in_envelope()) else { return };
        if let Some(result) = message.result_of("initialize") {
            return self.answer(result, at);
        }
        let named = at.envelope_headers().and_then(|headers| header(headers, SESSION));
        if let (Some(session), Carrier::Response, true) =
            (named, at.entry.carrier, self.renamed.len() < MOST_SESSIONS)
        {
            self.renamed.insert(session.into());
        }
        if let Some(headers) = at.envelope_headers()
            && at.entry.carrier == Carrier::Request
            && !message.calls("initialize")
        {
            self.request(message, headers, at);
        }
    }

    pub(super) fn finish(&self, at: &RuleContext<'_>) {
        let [assigned, named] = self.shown;
        let rules = [
            (&CHARSET, assigned),
            (&ENTROPY, assigned),
            (&ECHO, named),
            (&PRESENT, named),
            (&NEGOTIATED, named),
        ];
        for (rule, _) in rules.iter().filter(|(_, shown)| at.is_in_envelope() && !shown) {
            at.inconclusive(rule, NOT_WHOLE);
        }
    }

    /// An answer to `initialize` assigns a session.
    fn answer(&mut self, result: Json<'_>, at: &RuleContext<'_>) {
        self.handshakes[0] += 1;
        let headers = at.envelope_headers();
        let Some((headers, session)) = headers.and_then(|headers| Some((headers, header(headers, SESSION)?)))
        else {
            self.handshakes[1] += 1;
            return;
        };
        self.shown[0] = true;
        assigned(headers, session, at);
        let chosen = result.member("protocolVersion").and_then(text_of).unwrap_or_default();
        for session in names_of(headers) {
            if self.sessions.len() < MOST_SESSIONS {
                self.sessions.insert(session, chosen.clone());
            }
        }
    }

    /// A request behind the handshake names its session and the version.
    fn request(&mut self, message: &SeenMessage<'_>, headers: &Headers<'_>, at: &RuleContext<'_>) {
        let (session, version) = (header(headers, SESSION), header(headers, VERSION));
        // Requests of the era without sessions may go to the same server.
        let is_modern = [at.revision, version.and_then(Revision::named)]
            .into_iter()
            .flatten()
            .any(|revision| !revision.has_handshake());
        if is_modern || !at.facts.negotiated.initialized {
            return;
        }
        self.shown[1] = true;
        self.echo(session, headers, at);
        let method = message.method.as_deref().unwrap_or("a response");
        match version {
            Some(_) => at.pass(&PRESENT),
            None if session.is_none() && !self.sessions.is_empty() => {
                at.inconclusive(&PRESENT, "without its session nobody knows of which handshake it is");
            }
            None => at.lacks_header(&PRESENT, headers, VERSION, format!("{method} has no `{VERSION}`")),
        }
        let chosen = match session.and_then(|session| self.sessions.get(session)) {
            Some(chosen) => Some(&**chosen),
            // Which of several handshakes it is of nobody can tell.
            None if self.handshakes[0] == 1 => at.revision.map(Revision::name),
            None => None,
        };
        if let (Some(version), Some(chosen)) = (version.filter(|version| !at.facts.hides(version)), chosen) {
            at.check(&NEGOTIATED, version == chosen, || {
                format!("the header says {}, and {} was negotiated", quoted(version), quoted(chosen))
            });
        }
    }

    /// Whether a request names a session that was assigned, as far as any was seen to be.
    fn echo(&self, session: Option<&str>, headers: &Headers<'_>, at: &RuleContext<'_>) {
        match session {
            Some(session) if self.sessions.contains_key(session) => at.pass(&ECHO),
            _ if self.handshakes[1] > 0 => {
                at.inconclusive(&ECHO, "nothing shows which session the server assigned");
            }
            Some(session) if is_lost(session, at) => at.inconclusive(&ECHO, TAKEN_OUT),
            Some(session) if self.renamed.contains(session) => at.fail(&ECHO, renamed(session)),
            Some(_) if self.sessions.len() >= MOST_SESSIONS => {}
            Some(_) if at.facts.late || at.facts.torn() => {
                at.inconclusive(&ECHO, "the session may have been assigned before the recording");
            }
            Some(session) => at.fail(&ECHO, format!("no server assigned the session {}", quoted(session))),
            None => {
                let wrong = "the request names no session, and the server assigned one";
                at.lacks_header(&ECHO, headers, SESSION, wrong);
            }
        }
    }
}

/// Whether a recorder took a session id out, and left nothing that tells it from another, as the number behind the mark of `redact`
/// does.
pub(super) fn is_lost(session: &str, at: &RuleContext<'_>) -> bool {
    let number = session.rsplit_once("]-").map(|(_, number)| number);
    let is_numbered = number.is_some_and(|number| number.parse::<u64>().is_ok());
    at.facts.hides(session) && !is_numbered
}

/// What is wrong with a request that names the session of a later answer. Some clients keep the last one that they received.
pub(super) fn renamed(session: &str) -> Violation<'static> {
    let session = quoted(session);
    let wrong =
        format!("a later answer named the session {session}, and the one to `initialize` assigned another");
    Violation::new(wrong).only(Level::Should)
}

/// What a client may call the session that an answer assigns: of several headers, or of those that were joined with commas, any, or
/// all as they are joined.
pub(super) fn names_of(headers: &Headers<'_>) -> Vec<Box<str>> {
    let ours = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(SESSION));
    let joined = ours.map(|(_, id)| &**id).collect::<Vec<_>>().join(", ");
    std::iter::once(&*joined).chain(joined.split(',').map(str::trim)).map(Into::into).collect()
}

/// A session id as it was assigned.
pub(super) fn assigned(headers: &Headers<'_>, session: &str, at: &RuleContext<'_>) {
    if at.facts.hides(session) {
        let why = "the recorder took out the session id";
        at.inconclusive(&CHARSET, why);
        return at.inconclusive(&ENTROPY, why);
    }
    let times = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(SESSION)).count();
    let visible = !session.is_empty() && session.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    at.check(&CHARSET, visible && times == 1, || match times {
        1 => format!("the session id is {}", quoted(session)),
        _ => format!("the session id is in {times} headers"),
    });
    at.check(&ENTROPY, session.len() >= LEAST, || {
        format!("the session id {} has {} characters", quoted(session), session.len())
    });
}
