//! Conversion from every format to every other, over the cases and the recorded sessions: what `check` finds must of the
//! copy it must find of the original, the copy means the same, and so does what is made of it in the first format again. What
//! the copy does not show convert says that it left out.
//!
//! `scripts/conversion.sh` prints the table by pair.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use formats::{Format, Input, Loss, OwnedContent, ReadOptions, Session, meaning, written as written_formats};
use mcp_concord_suite::{Root, Suite};
use rules::CheckOptions;
use rules::rule::Level;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::Path;
use std::thread;
use transcript::json::Json;

/// Findings that a copy may have and its original not, with what convert says that it left out: it excused them.
const EXCUSED: &[(&str, &str)] = &[
    ("ping.empty-result", "HTTP"),
    ("progress.stop", "answer came"),
    ("progress.token.known", "answer came"),
    ("progress.stop", "HTTP"),
    ("progress.token.known", "HTTP"),
    ("jsonrpc.response.id-match", "HTTP"),
    ("jsonrpc.response.id-match", "answer came"),
    ("jsonrpc.notification.no-response", "HTTP"),
    ("jsonrpc.notification.no-response", "answer came"),
    ("ping.empty-result", "answer came"),
    ("jsonrpc.error.id-echo", "HTTP"),
    ("jsonrpc.error.id-echo", "answer came"),
    ("version.present", "answer came"),
    // Two connections, whose order proves nothing.
    ("progress.monotonic", "HTTP"),
    ("tasks.result.blocks", "HTTP"),
    ("tasks.status.terminal", "HTTP"),
    ("tasks.cancel-terminal", "HTTP"),
    ("logging.min-level", "HTTP"),
    ("tools.output.conforms", "HTTP"),
    // Several sessions that HTTP tells apart.
    ("jsonrpc.id.unique-session", "HTTP"),
    // Of a program's pipes.
    ("tools.x-mcp-header.reject", "process"),
    ("jsonrpc.id.unique-session", "who sent"),
    ("jsonrpc.response.id-match", "who sent"),
    ("cancel.known", "who sent"),
    ("cap.use-only-negotiated", "who sent"),
    ("jsonrpc.response.duplicate", "who sent"),
    // The recorder keeps no notification of the client.
    ("life.initialized.sent", "dropped a body"),
    // A marker where a number was.
    ("jsonrpc.schema.typed", "took out"),
];

/// Cases whose copies are judged by more than shows in them.
const LESS: &[&str] = &[
    // What is of another service is known by its address.
    "rules/messages/beside-another-service",
    "rules/messages/of-a2a-beside-mcp",
    // Who sent what is guessed, and a note of reading says so.
    "rules/correlation/same-id-on-both-sides",
    "rules/recording/client-alone-with-ids-of-both",
    "rules/recording/client-alone-with-one-answer",
    "rules/recording/server-alone-with-ids-of-both",
    "rules/correlation/notification-answered-in-the-first-revision",
    // What a recorder says beside a message of its own losses has no place elsewhere.
    "replay/numbers-and-flags-beside-messages",
    // That an error refuses a batch is known by the array, whose messages are written one by one.
    "rules/batches/refused-as-a-whole",
    // That a handshake was refused is known by its exchange.
    "batches/later-handshake-refused",
    // That a request names two versions is known by its headers.
    "rules/modern/older-result-to-two-versions",
    "rules/modern/older-result-to-two-versions-in-an-envelope",
    // That an answer came after the request which stands behind it is known by its time.
    "rules/correlation/answer-a-line-early",
    "rules/correlation/answer-a-line-early-in-a-trace",
    "rules/correlation/answer-of-the-client-a-line-early",
    // Of which session or server a message is, and to which request of one id an answer, is known by its exchange.
    "correlation/list-and-call-share-an-id",
    "rules/capabilities/another-era-beside",
    "rules/capabilities/two-servers",
    "rules/capabilities/two-sessions",
    "rules/correlation/one-client-two-transports",
    "rules/legacy-sse/connected-again",
    "rules/pings/two-sessions-one-id",
    "rules/sessions/two-clients-without-ids",
    "rules/subscriptions/another-client-with-its-id",
    "rules/tools/another-session-took-the-id",
    "rules/tools/two-revisions",
];

/// Of how many transcripts one is converted by default; `CONVERSION=all` converts them all.
const SAMPLE: usize = 8;

/// Cases that are converted always: something in them has no place in another format.
const ALWAYS: &[&str] = &[
    "envelope/headers-say-otherwise",
    "k2a/har-two-headers",
    "k2a/on-a-request",
    "order/transport-context",
    "recorders/agent-vcr-order-of-ends",
    "recorders/inspector-network-session",
    "rules/envelope/status-of-no-answer",
    "rules/http/accept-in-two-headers",
    "rules/http/envelope-answer-as-text",
    "rules/redaction/cassette",
    "rules/replay/two-ends",
];

/// The format that a transcript has, and the one it gets.
type Pair = (&'static str, &'static str);

/// What came of the conversions of one pair.
#[derive(Default)]
struct Tally {
    converted: u64,
    /// Refused, since the meaning would be another one.
    refused: u64,
    /// Conversions that left something out and said so.
    with_losses: u64,
    faults: Vec<String>,
}

/// The rules of level must that a transcript breaks.
fn broken(format: &Format, bytes: &[u8]) -> BTreeSet<&'static str> {
    let mut reader = bytes;
    let judged =
        rules::check(format, &mut Input::new(&mut reader).unwrap(), &CheckOptions::default()).unwrap();
    let is_must =
        |outcome: &&rules::RuleOutcome| outcome.counts.iter().any(|count| count.level == Level::Must);
    // The two transports have the same fault by two names, such as `stdio.no-server-request`.
    let name = |outcome: &rules::RuleOutcome| {
        outcome.rule.id.trim_start_matches("stdio.").trim_start_matches("http.")
    };
    judged.outcomes.iter().filter(is_must).map(name).collect()
}

fn read(format: &Format, bytes: &[u8]) -> Option<Session> {
    Session::of(format, bytes, ReadOptions::default()).ok()
}

/// What the messages mean, and the summary of a challenge where it can be compared.
fn means(format: &Format, bytes: &[u8], challenges: bool) -> String {
    let found = meaning(format, &mut { bytes }, ReadOptions::default());
    let text = found.map_or_else(|error| format!("rejected: {error}"), |meaning| meaning.text);
    match text.rsplit_once("\"authorization_discovery\"") {
        Some((events, _)) if !challenges => events.to_owned(),
        _ => text,
    }
}

fn written(session: &Session, format: &Format) -> Vec<u8> {
    let mut out = Vec::new();
    format.write(session, &mut out).unwrap();
    out
}

/// The words of what is left out of exchanges.
const HTTP: &str = "HTTP|which answer";

/// What a session shows, by the words (one or another) with which convert says that it left such out.
fn inventory(session: &Session) -> BTreeMap<&'static str, Vec<String>> {
    let mut shown: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut show = |word, what: String| shown.entry(word).or_default().push(what);
    for entry in &session.entries {
        if entry.message().is_some() && !entry.inferred {
            show("who sent", format!("the sender of a message, {:?}", entry.side));
        }
        // Times may be kept from another moment on.
        if entry.message().is_some() && entry.time.is_some() {
            show("times", "the time of a message".to_owned());
        }
        if let Some(context) = &entry.context {
            context.headers.iter().for_each(|(name, value)| {
                show(HTTP, format!("the header {}: {value}", name.to_ascii_lowercase()))
            });
            context.status.iter().for_each(|status| show(HTTP, format!("the status {status}")));
        }
        if let Some(sse) = &entry.sse {
            if let Some(name) = sse.name.as_deref().filter(|name| !matches!(*name, "" | "message")) {
                show("event", format!("the name of an event, {name}"));
            }
            sse.id.iter().for_each(|id| show("event", format!("the id of an event, {id}")));
            sse.retry.iter().for_each(|retry| show("event", format!("a retry time, {retry}")));
            (0..sse.comments).for_each(|_| show("comments", "a comment of a stream".to_owned()));
        }
        match &entry.what {
            OwnedContent::Exchange(exchange) => {
                show(HTTP, format!("{} {}", exchange.method, exchange.url));
                let headers = exchange.request_headers.iter().chain(&exchange.response_headers);
                headers.for_each(|(name, value)| {
                    show(HTTP, format!("the header {}: {value}", name.to_ascii_lowercase()))
                });
                exchange.status.iter().for_each(|status| show(HTTP, format!("the status {status}")));
            }
            OwnedContent::Event => show("event", "an event without a message".to_owned()),
            OwnedContent::TraceStart(line) | OwnedContent::TraceEnd(line) => {
                for (name, value) in Json::parse(line).into_iter().flat_map(Json::members) {
                    show(
                        "process",
                        format!("a member of a line on the process, {} {}", name.raw(), value.text()),
                    );
                }
            }
            OwnedContent::Missing(body) => show("dropped a body", format!("that {body}")),
            OwnedContent::Skipped(what) => show("what was skipped", what.clone()),
            _ => {}
        }
        if let Some(added) = entry.added.as_ref().filter(|_| entry.message().is_some()) {
            show("members", format!("members of a line, {added}"));
        }
    }
    shown
}

/// What a copy has not of a session, although nothing says that it was left out: the first of each sort.
fn unsaid(session: &Session, copy: &Session, losses: &[Loss]) -> Vec<(String, &'static str)> {
    let there = inventory(copy);
    let mut unsaid = Vec::new();
    for (word, all) in inventory(session) {
        let mut left: Vec<&String> = there.get(word).into_iter().flatten().collect();
        let gone = all.into_iter().find(|what| match left.iter().position(|kept| *kept == what) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        });
        if let Some(what) =
            gone.filter(|_| !losses.iter().any(|loss| word.split('|').any(|word| loss.what.contains(word))))
        {
            unsaid.push((what, word));
        }
    }
    unsaid
}

fn convert(name: &str, from: &Format, bytes: &[u8], to: &Format, tally: &mut Tally) {
    let Some(session) = read(from, bytes) else { return };
    let losses = session.losses(to);
    if losses.iter().any(|loss| loss.clause.is_some()) {
        tally.refused += 1;
        return;
    }
    tally.converted += 1;
    tally.with_losses += u64::from(!losses.is_empty());
    let copy = written(&session, to);
    let mut fault = |what: String| tally.faults.push(format!("{name}: {what}"));
    let after = read(to, &copy);
    if let Some(after) = &after {
        for (what, word) in unsaid(&session, after, &losses) {
            fault(format!("leaves out {what} and does not say so ({word})"));
        }
    }
    let challenges = from.carries.challenge && to.carries.challenge;
    if means(from, bytes, challenges) != means(to, &copy, challenges) {
        fault("means something else".to_owned());
    }
    let had = broken(from, bytes);
    let excused = |rule: &str| {
        let left_out = |what: &str| losses.iter().any(|loss| loss.what.contains(what));
        // What a recorder says of its own losses has a place in two formats.
        let numbered = from.carries.numbering && to.carries.numbering;
        name.starts_with("rules/losses/") && !numbered || LESS.contains(&name)
            || !name.starts_with("recorded/")
                && EXCUSED.iter().any(|(id, what)| *id == rule && left_out(what))
            // Who sent what is guessed, and a note of reading says so.
            || from.name == "jsonrpc" && rule == "jsonrpc.notification.no-response"
    };
    let new: Vec<_> =
        broken(to, &copy).into_iter().filter(|rule| !had.contains(rule) && !excused(rule)).collect();
    if !new.is_empty() {
        fault(format!("breaks {}", new.join(", ")));
    }
    let Some(again) = after else { return };
    if from.is_written()
        && !again.losses(from).iter().any(|loss| loss.clause.is_some())
        && means(from, bytes, challenges) != means(from, &written(&again, from), challenges)
    {
        fault("is another session when it is back".to_owned());
    }
}

/// What comes of the conversions to every so-maniest format.
fn converted(suite: &Suite, all: bool, first: usize, step: usize) -> BTreeMap<Pair, Tally> {
    let mut pairs: BTreeMap<Pair, Tally> = BTreeMap::new();
    for (number, case) in suite.cases.iter().chain(&suite.judged).enumerate() {
        let sampled =
            number % SAMPLE == 0 || case.name.starts_with("recorded/") || ALWAYS.contains(&&*case.name);
        if !all && !sampled {
            continue;
        }
        for transcript in &case.transcripts {
            let bytes = transcript.blob.bytes().unwrap();
            // A quarter of a megabyte in every format is enough of one shape.
            if bytes.len() > 256 << 10 {
                continue;
            }
            for to in written_formats().skip(first).step_by(step) {
                let tally = pairs.entry((transcript.format.name, to.name)).or_default();
                convert(&case.name, transcript.format, &bytes, to, tally);
            }
        }
    }
    pairs
}

#[test]
fn no_conversion_adds_a_fault_or_changes_a_meaning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let suite = Suite::load(&[Root::Disk(root)]).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let all = std::env::var_os("CONVERSION").is_some_and(|asked| asked == "all");
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut pairs = BTreeMap::new();
    thread::scope(|scope| {
        let suite = &suite;
        let shares = (0..cores).map(|first| scope.spawn(move || converted(suite, all, first, cores)));
        for share in shares.collect::<Vec<_>>() {
            pairs.extend(share.join().unwrap());
        }
    });
    println!("from               to                 converted  refused  with losses  faults");
    let mut faults = Vec::new();
    for ((from, to), tally) in &pairs {
        let Tally { converted, refused, with_losses, faults: found } = tally;
        println!("{from:18} {to:18} {converted:9} {refused:8} {with_losses:12} {:7}", found.len());
        faults.extend(found.iter().map(|fault| format!("{from} to {to}: {fault}")));
    }
    let converted: u64 = pairs.values().map(|tally| tally.converted).sum();
    println!("{converted} conversions, {} faults", faults.len());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let least = if all { 20_000 } else { 2_500 };
    assert!(converted > least, "only {converted} conversions");
}
