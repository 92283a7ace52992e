//! What a recorder forwarded: both journals of a session, judged. The conditions of a session decide what is asked, and
//! when a failure is a crash or a timeout.

use super::exchanges::{exchanges, said};
use super::journals::Journals;
use super::rig::{Played, Rig};
use super::scenario::Scenario;
use crate::drive::judge::messages::SentMessage;
use crate::drive::judge::transparency::{self, Exit};
use crate::drive::judge::{Finding, Kind, http, judgement};
use crate::play::journal::{Direction, Entry, Event, micros};
use transcript::session::Side;
use verdict::verdict::{Judgement, Verdict};

/// Judges a session over pipes. And what was said in it.
pub(super) fn over_pipes(rig: &Rig, scenario: &Scenario, played: &Played) -> (Judgement, Vec<SentMessage>) {
    let (conditions, journals) = (&scenario.conditions, &played.journals);
    let pipes = journals.pipes();
    let whole = !played.killed;
    let patience = micros(rig.patience);
    let terms = transparency::Terms { patience: conditions.slow.is_zero().then_some(patience), whole };
    let mut found = Vec::new();
    for side in [Side::Client, Side::Server] {
        found.extend(transparency::bytes(&pipes.passage(side), terms));
    }
    let recorder = journals.exit();
    let crashed = whole && broke_off(journals);
    if whole && !crashed {
        for side in [Side::Client, Side::Server] {
            found.extend(transparency::end(&pipes.passage(side), patience));
        }
        let server = journals.server_exit(conditions.exit);
        found.extend(server.and_then(|server| transparency::exit(server, recorder)));
    }
    found.extend(left(played));
    if let Some(line) = conditions.stderr.filter(|line| whole && !played.stderr.contains(line)) {
        let says = "what the server wrote to its standard error did not come out of the recorder's";
        found.push(Finding::new(Kind::NotReceived, Some(Side::Server), 0, says).sent(line));
    }
    let broken = match recorder {
        _ if !whole => None,
        Exit::Never => Some((Verdict::Timeout, "the recorder had not ended within the timeout".to_owned())),
        exit if crashed => {
            let says = format!("the recorder ended in the middle of the session, with {}", exit.in_words());
            Some((Verdict::Crash, says))
        }
        _ => None,
    };
    (broken_or(&found, broken), pipes.said(whole && !crashed))
}

/// Judges a session over HTTP. And what was said in it; see [`said`] for `coarse`.
pub(super) fn over_http(
    rig: &Rig,
    scenario: &Scenario,
    played: &Played,
    coarse: bool,
) -> (Judgement, Vec<SentMessage>) {
    let journals = &played.journals;
    let whole = !played.killed;
    let mut client = exchanges(&journals.client, Direction::Sent);
    // The client's journal leaves out what it names by connecting there.
    let own = ("host".to_owned(), authority(&journals.client));
    let over = journals.client.last().map_or(0, |note| note.at);
    for exchange in &mut client {
        exchange.asked.push(own.clone());
        // A stream that was opened right before the session was over.
        let late = exchange.body.ended.is_some_and(|at| at + micros(rig.patience) > over);
        exchange.abandoned = exchange.status.is_none() && exchange.body.chunks.is_empty() && late;
    }
    let server = exchanges(&journals.server, Direction::Received);
    let upstream = authority(&journals.server);
    let patience = scenario.conditions.slow.is_zero().then_some(micros(rig.patience));
    let terms = http::Terms { patience, upstream: &upstream, whole };
    let mut found = http::judge(&client, &server, terms);
    found.extend(left(played));
    let crash = |died: &String| {
        (Verdict::Crash, format!("the recorder ended in the middle of the session, with {died}"))
    };
    let broken = played.died.as_ref().filter(|_| whole).map(crash);
    let all = whole && broken.is_none();
    (broken_or(&found, broken), said(&client, &server, all, coarse))
}

/// What went on after the recorder was told to end.
fn left(played: &Played) -> Option<Finding> {
    let says = played.ended.as_ref()?.as_ref().err()?;
    Some(Finding::new(Kind::NoEnd, None, 0, says))
}

/// The judgement of these findings, but of a verdict of its own where there is one.
fn broken_or(found: &[Finding], broken: Option<(Verdict, String)>) -> Judgement {
    let mut judged = judgement(found);
    if let Some((verdict, says)) = broken {
        judged.verdict = verdict;
        judged.message = Some(judged.message.map_or(says.clone(), |more| format!("{says}; {more}")));
    }
    judged
}

/// Whether the recorder ended while both peers still talked: the client saw the end before the server had closed, or the
/// server saw it before either of them had.
fn broke_off(journals: &Journals) -> bool {
    let pipes = journals.pipes();
    let (asked, answered) = (pipes.passage(Side::Client), pipes.passage(Side::Server));
    let before = |seen: Option<u64>, closed: Option<u64>| {
        seen.is_some_and(|at| closed.is_none_or(|closed| at < closed))
    };
    let closed = answered.sent.ended.or_else(|| journals.server_over());
    let early = asked.received.ended;
    journals.server.is_empty()
        || before(answered.received.ended, closed)
        || (before(early, asked.sent.ended) && before(early, closed))
}

/// Where our server listened, or our client connected to, as a `Host` header names it.
fn authority(notes: &[Entry]) -> String {
    let address = notes.iter().find_map(|note| match &note.event {
        Event::Began { address, .. } => address.clone(),
        _ => None,
    });
    let address = address.unwrap_or_default();
    let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}
