//! Recordings that cannot be read to their end or hold nothing to judge, whatever their format.
//!
//! Which rule a reader's refusal falls under. Memory: the first request and the first line that is not a message, cut short.

use super::jsonrpc::is_bare_object;
use super::{encoding, envelope, replay};
use crate::engine::{
    Family, FindingLocation, HttpExchange, RecordingKind, Revision, RuleContext, RuleVisitor, Trigger,
    Violation,
};
use crate::rule::{Level, Rule};
use std::collections::BTreeSet;
use transcript::batch;
use transcript::json::Json;
use transcript::message::resembles_message;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Carrier, Content, Noise, Side};

pub(super) const FAMILY: Family = Family {
    name: "recording",
    title: "Recordings of any format",
    rules: &[&READABLE, &MESSAGES, &BOTH_SIDES, &LOSSES, &WHOLE, &SHAPE],
    triggers: &[Trigger::NonMessages, Trigger::HttpExchanges],
    visitor: || Box::new(RecordingState::default()),
};

pub(crate) static READABLE: Rule = Rule {
    id: "rec.readable",
    source: "the capture format's own description; RFC 8259, section 2",
    title: "The file is a recording of its format from the first byte to the last",
    why: "Everything after the place where a reader has to stop is lost to every user of the file.",
    fix: "Write the document in one go, or repair it by hand at the place that is shown. Split a file of several documents into one file per document; `jq -c . FILE` prints each on a line.",
    softened: Some(
        "a warning where the contract leaves it open or a sender may have cut the body; a note on what a program may have printed, and on a batch where the revision is not known",
    ),
    ..Rule::BLANK.recorder()
};

pub(crate) static MESSAGES: Rule = Rule {
    id: "rec.messages",
    source: "mcp-concord, docs/check.md#recordings-without-messages",
    title: "A recording holds messages",
    why: "Nothing can be judged in a file without messages, and a report without findings would read as praise.",
    fix: "Name the file that holds the session. For a log, record again at the level at which its program logs messages. `check --allow-empty` accepts such a file.",
    softened: Some("a note on messages of other services beside those of MCP"),
    ..Rule::BLANK.recorder()
};

static BOTH_SIDES: Rule = Rule {
    id: "rec.both-sides",
    source: "JSON-RPC 2.0, section 5",
    title: "A recording holds what both sides said",
    why: "Rules about one side's messages depend on what the other said; from one side they cannot be decided.",
    fix: "Record between client and server, for example with `mcp-concord record`, and not the output of one of them.",
    softened: Some("a note where no HTTP exchange has an answer: the server may not have listened"),
    ..Rule::BLANK.should().recorder()
};

static LOSSES: Rule = Rule {
    id: "rec.losses",
    source: "the capture format's own description",
    title: "The recorder reports no losses",
    why: "After a loss nobody can tell what was asked or answered, so rules about other messages are inconclusive.",
    fix: "Record again with a larger buffer or without a limit on the length of messages.",
    ..Rule::BLANK.should().recorder()
};

static WHOLE: Rule = Rule {
    id: "rec.bodies",
    source: "HAR 1.2, postData and content",
    title: "The bodies of the exchanges are in the file",
    why: "An exporter that leaves bodies out leaves messages out, and nothing can be said about what is not there.",
    fix: "Export with bodies (in a browser: \"with content\"), decoded as HAR requires, and keep proxies from streaming past the recorder.",
    ..Rule::BLANK.should().recorder()
};

static SHAPE: Rule = Rule {
    id: "rec.inspector.shape",
    source: "Assay import formats, inspector",
    title: "An Inspector export is an array of messages, or an object with one under `events`",
    why: "Importers look only in these two places, and do not recognize a file of another shape.",
    fix: "Write [message, …] or {\"events\": [message, …]}.",
    ..Rule::BLANK.recorder()
};

/// Which rule a refusal falls under. Those that a rule of a format names are its own.
fn rule_for(kind: RecordingKind, code: Code) -> &'static Rule {
    match code {
        Code::MissingMeta | Code::SecondMeta if kind.trace => &replay::META_FIRST,
        Code::UnsupportedVersion if kind.trace => &replay::VERSION,
        Code::MissingRaw | Code::MissingDir | Code::WrongType if kind.trace => &replay::LINE,
        Code::AfterEnd if kind.trace => &replay::END_LAST,
        Code::WrongTransport if kind.envelope => &envelope::TRANSPORT,
        Code::InvalidEntry if kind.envelope => &envelope::ONE_SLOT,
        Code::WrongDocument if kind.bare_list => &SHAPE,
        Code::InvalidUtf8 => &encoding::UTF8,
        _ => &READABLE,
    }
}

/// How much it binds that something is not a message which no other rule tells of: readers refuse the recording there.
fn untold(noise: &Noise<'_>, at: &RuleContext<'_>) -> Option<Level> {
    let kind = at.facts.recording.kind;
    // Such a line may be what a program printed, and rules of its own tell of it.
    let printed = kind.trace || kind.bare_lines || kind.bare_list;
    match noise.why.code {
        _ if kind.spoils(noise, at.entry) => Some(Level::Must),
        _ if kind.misquotes(noise) => Some(Level::Should),
        Code::Truncated if !printed => Some(match at.entry.carrier {
            Carrier::Line => Level::Must,
            // Anyone who sent the body may have cut it.
            _ => Level::Should,
        }),
        Code::WrongType => Some(Level::Must),
        // Which side sent it cannot be known, or what. Of a trace's lines a rule of traces tells.
        Code::MissingDir | Code::MissingRaw if !kind.trace => Some(Level::Must),
        Code::NestedData => Some(Level::Should),
        // An item of a batch.
        _ if noise.why.clause == batch::CLAUSE => Some(Level::Must),
        // One revision has batches, and readers take them only where the session shows that it is of that one.
        Code::Batch if at.revision.is_none() => Some(Level::Info),
        Code::Batch if at.facts.by_envelope && at.revision.is_some_and(Revision::has_batches) => {
            Some(Level::Info)
        }
        _ if is_bare_object(noise, at) => None,
        Code::NotAMessage if !printed && !Json::parse(&noise.text).is_ok_and(resembles_message) => {
            Some(if noise.why.clause == "RPL-NOISE" { Level::Info } else { Level::Must })
        }
        _ => None,
    }
}

#[derive(Default)]
struct RecordingState {
    /// An exchange got an answer.
    answered: bool,
    missing: bool,
    damaged: bool,
    /// A log says that the server ended.
    ended: bool,
    /// An Inspector export has items that are not messages.
    foreign: bool,
    /// The number of HTTP exchanges, and the first of them.
    exchanges: u64,
    first_exchange: Option<String>,
    /// One of them became a WebSocket.
    socket: bool,
    /// The number of lines or items that are not messages, and the first of them.
    others: u64,
    first_other: Option<String>,
    /// That is JSON text in which a message stands.
    nested: bool,
    /// One of them is a message with a fault.
    spoilt: bool,
    /// One of them is the server's.
    garbled: bool,
    /// The levels of a log's lines that are not messages.
    levels: BTreeSet<&'static str>,
}

/// The levels of logs.
const LEVELS: [&str; 8] = ["trace", "debug", "info", "notice", "warning", "warn", "error", "critical"];

/// The level that a line of a log names in brackets.
fn level(line: &str) -> Option<&'static str> {
    let words = line.split('[').skip(1).filter_map(|part| part.split_once(']')).map(|(word, _)| word);
    words.take(3).find_map(|word| LEVELS.into_iter().find(|level| word.eq_ignore_ascii_case(level)))
}

/// The most characters of an address or a line that are quoted.
const MOST_QUOTED: usize = 80;

fn quoted(text: &str) -> String {
    let mut rest = text.trim().chars();
    let mut quoted: String = rest.by_ref().take(MOST_QUOTED).collect();
    if rest.next().is_some() {
        quoted.push('…');
    }
    quoted
}

/// Whether a text is a JSON string in which a message stands.
fn is_nested(text: &str) -> bool {
    let string = Json::parse(text).ok().and_then(Json::as_text);
    string
        .and_then(|string| string.to_str())
        .is_some_and(|text| Json::parse(&text).is_ok_and(resembles_message))
}

impl RecordingState {
    /// What the recording holds where it holds no message.
    fn instead(&self, message_levels: &str) -> String {
        let first = |text: &Option<String>| text.clone().unwrap_or_default();
        match (self.exchanges, self.others) {
            (0, 0) if !self.levels.is_empty() => {
                let levels: Vec<_> = self.levels.iter().copied().collect();
                let level = if levels.len() == 1 { "level" } else { "levels" };
                format!("it is a log at the {level} {}; {message_levels}", levels.join(" and "))
            }
            (0, _) if self.nested => {
                "what it holds are messages written as JSON strings, so they were encoded twice; jq's `fromjson` decodes one"
                    .to_owned()
            }
            (0, 0) => "nothing in it is a message".to_owned(),
            (0, 1) => format!("it holds one text that is not a message, `{}`", first(&self.first_other)),
            (0, many) => {
                format!("it holds {many} texts that are not messages; the first is `{}`", first(&self.first_other))
            }
            (many, _) => {
                let first = first(&self.first_exchange);
                let exchanges = if many == 1 { "HTTP exchange" } else { "HTTP exchanges" };
                // It writes bare params and results under addresses of its own.
                let way_out = match self.socket {
                    _ if first.contains(" mcp://") => {
                        "; mcpsnoop leaves JSON-RPC out of its HAR, and its JSONL has it"
                    }
                    true => {
                        "; what went over a WebSocket is not read, and \
                         `jq -r '.log.entries[]._webSocketMessages[]?.data' FILE > NEW` takes it out"
                    }
                    false => "",
                };
                format!("it holds {many} {exchanges}, the first {first}{way_out}")
            }
        }
    }
}

impl RuleVisitor for RecordingState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        match &at.entry.content {
            Content::Missing(body) => {
                self.missing = true;
                at.fail(&WHOLE, body.to_string());
            }
            // What is not an object at all is not a message with a fault, and no program printed it into a list.
            Content::Noise(noise)
                if at.facts.recording.kind.bare_list && noise.why.code == Code::NotAMessage =>
            {
                let resembles = Json::parse(&noise.text).is_ok_and(resembles_message);
                if !resembles {
                    self.foreign = true;
                    self.nested |= is_nested(&noise.text);
                    at.fail(&SHAPE, "the item is not a message");
                }
            }
            Content::Skipped(_) | Content::Started | Content::Ended(_)
                if at.facts.recording.kind.is_clients_log() =>
            {
                self.ended |= matches!(at.entry.content, Content::Ended(_));
                self.levels.extend(at.entry.line.and_then(level));
            }
            Content::Noise(noise) => {
                self.others += 1;
                self.garbled |= at.side == Some(Side::Server);
                self.first_other.get_or_insert_with(|| quoted(&noise.text));
                self.nested |= self.others == 1 && is_nested(&noise.text);
                let level = untold(noise, at);
                // Nothing else tells of what is only noted here.
                let is_told = level != Some(Level::Info) || noise.why.code == Code::Batch;
                self.spoilt |= is_told && noise.text.contains("\"jsonrpc\"");
                if let Some(level) = level {
                    self.damaged = true;
                    let parsed = match at.facts.recording.kind.misquotes(noise) {
                        true => "; the log has what the client parsed, so it was not sent like this",
                        false => "",
                    };
                    let wrong = format!("{} (clause {}){parsed}", noise.why.message, noise.why.clause);
                    at.fail(&READABLE, Violation::new(wrong).only(level));
                }
            }
            _ => {}
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, _at: &RuleContext<'_>) {
        self.exchanges += 1;
        self.answered |= exchange.status() != 0;
        self.socket |= exchange.raw.url.starts_with("ws") || exchange.status() == 101;
        self.first_exchange
            .get_or_insert_with(|| format!("{} {}", exchange.raw.method, quoted(&exchange.raw.url)));
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>) {
        for (location, lost) in &at.facts.losses.kept {
            at.fail(&LOSSES, Violation::new(lost.to_string()).at(location.clone()));
        }
        if at.facts.losses.numbered() && at.facts.losses.kept.is_empty() {
            at.pass(&LOSSES);
        }
        if at.facts.recording.kind.exchanges && !self.missing {
            at.pass(&WHOLE);
        }
        let Some(rejection) = rejection else {
            match at.facts.messages + at.facts.others {
                // Of messages with a fault other rules tell.
                0 if self.spoilt => {}
                0 => at.fail(
                    &MESSAGES,
                    format!(
                        "the recording holds no message: {}",
                        self.instead(at.facts.recording.kind.message_levels)
                    ),
                ),
                messages => {
                    let (facts, beside) = (at.facts, at.facts.first_of_others.as_ref());
                    let others = match (facts.alien, facts.other_method.as_ref().or(beside.map(|it| &it.0))) {
                        (Some(name), _) => format!("{messages} of {name}"),
                        (None, Some(method)) if !facts.knows_mcp => {
                            format!("{messages} of JSON-RPC, and the first method is `{method}`")
                        }
                        _ => String::new(),
                    };
                    at.check(&MESSAGES, others.is_empty(), || {
                        format!("the recording holds no message of MCP: it holds {others}")
                    });
                    if let Some((method, place)) = beside.filter(|_| others.is_empty()) {
                        let wrong = format!(
                            "messages of another service are not judged: {}, such as `{method}`",
                            facts.others
                        );
                        at.fail(&MESSAGES, Violation::new(wrong).only(Level::Info).at(place.clone()));
                    }
                }
            }
            match (at.facts.requests, at.facts.responses) {
                // A server that does not listen leaves the same, so that it is not held against the recorder.
                (requests, 0) if requests > 0 && self.exchanges > 0 && !self.answered && !self.missing => {
                    let wrong = "no exchange has an answer, so nothing of the server is judged";
                    at.fail(&BOTH_SIDES, Violation::new(wrong).only(Level::Info));
                }
                // A client that goes on after `initialize` heard an answer, unless it started the server again.
                (2.., 0)
                    if at.facts.handshake
                        && !self.ended
                        && !self.garbled
                        && !at.facts.recording.kind.exchanges =>
                {
                    let wrong =
                        format!("one side is missing: {} requests, and no response", at.facts.requests);
                    at.fail(&BOTH_SIDES, wrong);
                }
                (_, 0) => {}
                // Of exchanges other rules say which bodies are missing.
                (0, _) if at.facts.recording.kind.exchanges => {}
                (0, 1) => at.fail(&BOTH_SIDES, "one side is missing: a response, and no request"),
                (0, responses) => {
                    let wrong = format!("one side is missing: {responses} responses, and no request");
                    at.fail(&BOTH_SIDES, wrong);
                }
                (_, responses)
                    if !at.facts.bound
                        && (responses > 1 && !at.facts.handshake || at.pending.crossed)
                        && !at.facts.recording.kind.exchanges =>
                {
                    let what = if responses == 1 { "response" } else { "responses" };
                    let wrong = format!(
                        "one side is missing: {responses} {what}, and none to a request of the recording"
                    );
                    at.fail(&BOTH_SIDES, wrong);
                }
                _ if at.facts.heard[0] != at.facts.heard[1] && !at.facts.recording.kind.exchanges => {
                    at.fail(&BOTH_SIDES, "one side is missing: requests and responses are all of one");
                }
                _ => at.pass(&BOTH_SIDES),
            }
            if !self.damaged {
                at.pass(&READABLE);
            }
            if at.facts.recording.kind.bare_list && !self.foreign {
                at.pass(&SHAPE);
            }
            return;
        };
        let rule = rule_for(at.facts.recording.kind, rejection.code);
        let location = FindingLocation {
            offset: rejection.position.offset,
            line: rejection.position.line,
            pointer: rejection.position.pointer.clone(),
            within: String::new(),
            snippet: rejection.excerpt.as_ref().map(|excerpt| excerpt.text.clone()).unwrap_or_default(),
        };
        let message = format!("{} (clause {}); the rest is not judged", rejection.message, rejection.clause);
        at.fail(rule, Violation::new(message).at(location));
    }
}
