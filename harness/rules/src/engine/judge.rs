//! The judge at work: takes the entries of a recording in order, and says at the end what came of each rule.
//!
//! Knows: the order in which a step is taken in, bound, and shown to the families. Memory: that of the facts, the
//! ledger, the families and the findings, each of which says its own; none grows with the length of a session.

use super::context::{MessageKind, ResponseMatch, RuleContext, SeenMessage};
use super::dispatch::Dispatch;
use super::facts::{Facts, RecordingInfo};
use super::location::FindingLocation;
use super::methods::usual_sender;
use super::pending_requests::PendingRequests;
use super::report::{Report, RuleOutcome};
use crate::families::FAMILIES;
use crate::family::RuleVisitor;
use crate::revision::Revision;
use std::borrow::Cow;
use transcript::json::{Json, MemberIndex, index_members};
use transcript::message::Message;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Entry, Exchange, Location, Noise, Side, header};

/// How a recording is to be judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeOptions {
    /// What is judged.
    pub recording: RecordingInfo,
    /// The revision that rules, whatever the session shows.
    pub spec: Option<Revision>,
    /// Every family is woken for everything, also for what it does not hear: slower, and comes to the same.
    pub dispatch_all: bool,
}

/// What a recording turned out to be.
#[derive(Debug, Clone)]
pub struct CheckResult {
    /// The revision by which it was judged; none where nothing shows it.
    pub revision: Option<Revision>,
    /// What came of every rule that it judges by, in the order of the families.
    pub outcomes: Vec<RuleOutcome>,
    /// How many messages there were.
    pub messages: u64,
    /// A limit of memory that was reached, in words.
    pub limit: Option<&'static str>,
    /// Why the reading ended before the file did: what the reader refused.
    pub rejected: Option<Rejection>,
}

/// A judge at work.
pub(crate) struct Judge {
    /// The families that it judges by, each at its number; none where another judge does.
    visitors: Vec<Option<Box<dyn RuleVisitor>>>,
    dispatch: Dispatch,
    facts: Facts,
    pending: PendingRequests,
    report: Report,
    exchange: Option<Exchange<'static>>,
    last: Location,
    rejected: Option<Rejection>,
    /// What is inside of the message at hand. It is kept for its memory alone.
    parts: Vec<MemberIndex>,
}

impl Judge {
    /// Begins.
    #[must_use]
    pub(crate) fn new(options: JudgeOptions) -> Self {
        Self::of(options, |_| true)
    }

    /// Begins, and judges by some of the families alone, told by their numbers.
    #[must_use]
    pub(super) fn of(options: JudgeOptions, by: impl Fn(usize) -> bool) -> Self {
        Self {
            dispatch: match options.dispatch_all {
                true => Dispatch::all(),
                false => Dispatch::of(&options.recording.format),
            },
            visitors: (0..).zip(FAMILIES).map(|(number, family)| by(number).then(family.visitor)).collect(),
            report: Report::new(options.recording.carries.clone()),
            facts: Facts::of(options.recording, options.spec),
            pending: PendingRequests::default(),
            exchange: None,
            last: Location::default(),
            rejected: None,
            parts: Vec::new(),
        }
    }

    /// Takes the next entry.
    pub(crate) fn take(&mut self, entry: &Entry<'_>) {
        self.last = entry.location;
        if let Content::Exchange(exchange) = &entry.content {
            self.exchange = Some(exchange.owned());
        }
        self.facts.see(entry);
        match &entry.content {
            Content::Message(message) => self.message(entry, *message, None),
            Content::Noise(noise) if noise.why.code == Code::Batch => {
                // Whether batches are allowed is a rule's business; what is in them is judged like anything else.
                self.show(entry, None, entry.side);
                let Ok(list) = Json::parse(&noise.text) else { return };
                for (index, item) in list.items().enumerate() {
                    match Message::parse(item.text()) {
                        Ok(message) => {
                            let entry = Entry { content: Content::Message(message), ..entry.clone() };
                            self.message(&entry, message, Some(index));
                        }
                        Err(why) => {
                            let noise = Noise { why, text: item.text().into() };
                            self.show(
                                &Entry { content: Content::Noise(noise), ..entry.clone() },
                                None,
                                entry.side,
                            );
                        }
                    }
                }
            }
            _ => self.show(entry, None, entry.side),
        }
    }

    /// The reader gave up here.
    pub(crate) fn rejected(&mut self, rejection: Rejection) {
        self.facts.torn = true;
        self.rejected = Some(rejection);
    }

    /// What came of it.
    #[must_use]
    pub(crate) fn finish(mut self) -> CheckResult {
        let entry = Entry::new(self.last, Content::Empty);
        let revision = self.facts.revision;
        let mut visitors = std::mem::take(&mut self.visitors);
        let at = RuleContext {
            entry: &entry,
            facts: &self.facts,
            pending: &self.pending,
            revision,
            side: None,
            message: None,
            exchange: None,
        };
        for visitor in visitors.iter_mut().flatten() {
            visitor.finish(&at, self.rejected.as_ref(), &mut self.report);
        }
        let rules = FAMILIES.iter().zip(&visitors).filter(|(_, visitor)| visitor.is_some());
        let rules = rules.flat_map(|(family, _)| family.rules.iter().copied());
        CheckResult {
            revision,
            outcomes: self.report.outcomes(rules, revision),
            messages: self.facts.messages,
            limit: self.pending.full(),
            rejected: self.rejected,
        }
    }

    /// A message is taken apart once, by its reader or here, since every family asks it for its members.
    fn message(&mut self, entry: &Entry<'_>, message: Message<'_>, item: Option<usize>) {
        if !message.json().index().is_empty() {
            return self.indexed(entry, message, item);
        }
        let mut parts = std::mem::take(&mut self.parts);
        index_members(message.text(), &mut parts);
        self.indexed(entry, message.indexed(&parts), item);
        self.parts = parts;
    }

    fn indexed(&mut self, entry: &Entry<'_>, message: Message<'_>, item: Option<usize>) {
        self.facts.look_for_markers(message.text());
        let kind = MessageKind::of(&message);
        let method: Option<Cow<'_, str>> = message.method().map(|method| match method.to_str() {
            Some(method) => method,
            None => String::from_utf8_lossy(&method.decode()).into_owned().into(),
        });
        let side = entry.side.or_else(|| usual_sender(method.as_deref()?));
        let meta = message.params().and_then(|params| params.member("_meta"));
        let mut message =
            SeenMessage { raw: message, kind, method, meta, response_match: ResponseMatch::No, item };
        if let Some(method) = message.method.clone() {
            if method == "initialize" && self.is_another_session() {
                self.facts.start_over();
                self.pending.start_over();
            }
            self.facts.hear(&message);
            let revision = self.facts.revision_of(Some(&message));
            self.pending.ask(entry, &message.raw, &method, side, revision);
            if method == "notifications/cancelled"
                && let Some(id) = message.param("requestId")
            {
                let location =
                    FindingLocation::inside(&entry.location, entry.carrier, message.raw.text(), id);
                self.pending.cancel(side, id, location, entry.time);
            }
            self.show(entry, Some(message), side);
        } else {
            self.facts.answered();
            let answer = self.pending.answer(&message.raw, side);
            message.response_match = answer.response_match();
            // Who answers was asked.
            let side = side.or_else(|| answer.request()?.side.map(Side::other));
            self.facts.learn(&message);
            self.show(entry, Some(message), side);
        }
        self.facts.forget_markers();
    }

    /// Whether an `initialize` at hand begins a session of its own: over HTTP it comes without a session id.
    fn is_another_session(&self) -> bool {
        let Some(exchange) = &self.exchange else { return false };
        self.facts.handshake && header(&exchange.request_headers, "Mcp-Session-Id").is_none()
    }

    fn show(&mut self, entry: &Entry<'_>, message: Option<SeenMessage<'_>>, side: Option<Side>) {
        let revision = self.facts.revision_of(message.as_ref());
        let exchange = self.exchange.as_ref().filter(|_| entry.exchange.is_some());
        let at = RuleContext {
            entry,
            facts: &self.facts,
            pending: &self.pending,
            revision,
            side,
            message,
            exchange,
        };
        for family in self.dispatch.families_for(&at) {
            if let Some(Some(visitor)) = self.visitors.get_mut(family) {
                visitor.visit(&at, &mut self.report);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckResult, Judge, JudgeOptions};
    use crate::engine::{RecordingInfo, RuleVerdict};
    use crate::rule::Need;
    use transcript::message::Message;
    use transcript::session::{Content, Entry, Location, Side};

    /// Judges messages as a trace would have them, each with who said it.
    fn judged(messages: impl Iterator<Item = (Side, String)>) -> CheckResult {
        let recording = RecordingInfo {
            format: "mcp-replay".to_owned(),
            carries: vec![Need::Direction, Need::Times, Need::Process],
            ..RecordingInfo::default()
        };
        let mut judging = Judge::new(JudgeOptions { recording, spec: None, dispatch_all: false });
        for (line, (side, text)) in (1..).zip(messages) {
            let location = Location { line, ..Location::default() };
            let content = Content::Message(Message::parse(&text).unwrap());
            judging.take(&Entry { side: Some(side), ..Entry::new(location, content) });
        }
        judging.finish()
    }

    fn handshake() -> impl Iterator<Item = (Side, String)> {
        let about = r#""protocolVersion":"2025-11-25","capabilities":{}"#;
        [
            (Side::Client, format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{{about},"clientInfo":{{"name":"c","version":"1"}}}}}}"#)),
            (Side::Server, format!(r#"{{"jsonrpc":"2.0","id":"i","result":{{{about},"serverInfo":{{"name":"s","version":"1"}}}}}}"#)),
            (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()),
        ]
        .into_iter()
    }

    fn call(id: u64) -> (Side, String) {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a","_meta":{{"progressToken":"t{id}"}}}}}}"#
        );
        (Side::Client, message)
    }

    fn progress(token: u64) -> (Side, String) {
        let message = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t{token}","progress":1}}}}"#
        );
        (Side::Server, message)
    }

    fn answer(id: u64) -> (Side, String) {
        (Side::Server, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#))
    }

    fn of(judged: &CheckResult, rule: &str) -> (RuleVerdict, String) {
        let outcome = judged.outcomes.iter().find(|outcome| outcome.rule.id == rule).unwrap();
        (outcome.verdict, outcome.unsure.clone().unwrap_or_default())
    }

    #[test]
    fn past_the_limits_nothing_is_held_against_anybody_and_the_limit_is_named() {
        let most = 50_000;
        let over = most + 5;
        let messages = handshake()
            .chain((1..=over).map(call))
            .chain([progress(over)])
            .chain((1..=over).map(answer))
            .chain([progress(over + 1)]);
        let judged = judged(messages);
        assert!(
            judged.limit.is_some_and(|limit| limit.contains("50,000 requests are open")),
            "{:?}",
            judged.limit
        );
        for rule in ["jsonrpc.response.id-match", "jsonrpc.response.duplicate", "jsonrpc.request.answered"] {
            let (verdict, why) = of(&judged, rule);
            assert_eq!(verdict, RuleVerdict::Inconclusive, "{rule}");
            assert!(why.contains("50,000 requests are open"), "{rule}: {why}");
        }
        let (verdict, why) = of(&judged, "progress.token.known");
        assert_eq!(verdict, RuleVerdict::Inconclusive, "{why}");
        assert!(why.contains("more tokens than are remembered"), "{why}");
    }

    #[test]
    fn short_of_the_limits_all_of_it_is_told() {
        let messages =
            handshake().chain((1..=100).map(call)).chain((1..=101).map(answer)).chain([progress(101)]);
        let judged = judged(messages);
        assert_eq!(judged.limit, None);
        assert_eq!(of(&judged, "progress.token.known").0, RuleVerdict::Fail);
        assert_eq!(of(&judged, "jsonrpc.response.id-match").0, RuleVerdict::Fail);
        let other = answer(1).1.replace("[]", r#"[{"type":"text","text":""}]"#);
        let again = self::judged(handshake().chain([call(1), answer(1), (Side::Server, other)]));
        assert_eq!(of(&again, "jsonrpc.response.duplicate").0, RuleVerdict::Fail);
    }
}
