//! What a recorder forwarded: both journals of a session, judged. The conditions of a session decide what is asked, and
//! when a failure is a crash or a timeout.

use super::journals::{Journals, exchanges, said};
use super::judge::pairing::SentMessage;
use super::judge::passage::{self, Terms, in_words};
use super::judge::{Defect, Finding, http, judgement};
use super::rig::{Played, Rig};
use super::scenario::Scenario;
use crate::journal::{Direction, Entry, JournalEvent, micros};
use crate::stdio::group::Exit;
use transcript::session::Side;
use verdict::verdict::{Judgement, Verdict};

/// Judges a session over pipes. And what was said in it.
pub(super) fn over_pipes(rig: &Rig, scenario: &Scenario, played: &Played) -> (Judgement, Vec<SentMessage>) {
    let (conditions, journals) = (&scenario.conditions, &played.journals);
    let pipes = journals.pipes();
    let whole = !played.killed;
    let patience = micros(rig.patience);
    let terms = Terms { patience: conditions.slow.is_zero().then_some(patience), whole };
    let mut found = Vec::new();
    for side in [Side::Client, Side::Server] {
        found.extend(passage::bytes(&pipes.passage(side), terms));
    }
    let recorder = journals.exit();
    let crashed = whole && broke_off(journals);
    if whole && !crashed {
        for side in [Side::Client, Side::Server] {
            found.extend(passage::end(&pipes.passage(side), patience));
        }
        // It ends with the code of the condition, or else as it judged its client.
        let own =
            |mismatches: u64| if conditions.exit == 0 { i32::from(mismatches > 0) } else { conditions.exit };
        let server = journals.server_over().map(|over| Exit { code: Some(own(over.1)), signal: None });
        found.extend(server.and_then(|server| passage::exit(server, recorder)));
    }
    found.extend(left(played));
    if let Some(line) = conditions.stderr.filter(|line| whole && !played.stderr.contains(line)) {
        let says = "what the server wrote to its standard error did not arrive on the recorder's";
        found.push(Finding::new(Defect::NotReceived, Some(Side::Server), 0, says).sent(line));
    }
    let broken = if let Some(why) = &played.stopped {
        Some((Verdict::Garbled, why.clone()))
    } else if !whole {
        None
    } else if recorder.is_none() {
        Some((Verdict::Timeout, "the recorder had not ended within the timeout".to_owned()))
    } else if crashed {
        Some(crash(&in_words(recorder)))
    } else {
        unplayed(journals, &found)
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
    let mut found = http::judge(&client, &server, Terms { patience, whole }, &upstream);
    found.extend(left(played));
    let stopped = played.stopped.as_ref().map(|why| (Verdict::Garbled, why.clone()));
    let broken = stopped.or_else(|| played.died.as_ref().filter(|_| whole).map(|died| crash(died)));
    let broken = broken.or_else(|| unplayed(journals, &found).filter(|_| whole));
    let all = whole && broken.is_none();
    (broken_or(&found, broken), said(&client, &server, all, coarse))
}

fn crash(how: &str) -> (Verdict, String) {
    (Verdict::Crash, format!("the recorder ended in the middle of the session, with {how}"))
}

/// What went on after the recorder was asked to end.
fn left(played: &Played) -> Option<Finding> {
    let says = played.ended.as_ref()?.as_ref().err()?;
    Some(Finding::new(Defect::NoEnd, None, 0, says))
}

/// That a session was not played as it should have been although the recorder did nothing wrong that can be seen, as where
/// it began to forward only when both peers had given up.
fn unplayed(journals: &Journals, found: &[Finding]) -> Option<(Verdict, String)> {
    let (side, text) = journals.missing().filter(|_| found.is_empty())?;
    Some((
        Verdict::Timeout,
        format!("the session was not played to its end; the {} reports: {text}", side.name()),
    ))
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

/// Whether the recorder ended while both peers still talked: each saw the end of what it read before it closed what it
/// wrote, or the server never came to close anything.
///
/// No time of one peer is held against one of the other, whose clock may be off. Through a recorder that passes on ends and
/// makes none, one of the two must have closed before it saw an end.
fn broke_off(journals: &Journals) -> bool {
    let pipes = journals.pipes();
    let (asked, answered) = (pipes.passage(Side::Client), pipes.passage(Side::Server));
    let first = |seen: Option<u64>, closed: Option<u64>| {
        seen.is_some_and(|at| closed.is_none_or(|closed| at < closed))
    };
    let client = first(answered.received.ended, asked.sent.ended);
    let closed = answered.sent.ended.or_else(|| journals.server_over().map(|over| over.0));
    let server = first(asked.received.ended, closed);
    let never = answered.received.ended.is_some() && closed.is_none();
    journals.server.is_empty() || (client && server) || never
}

/// Where our server listened, or our client connected to, as a `Host` header names it.
fn authority(notes: &[Entry]) -> String {
    let address = notes.iter().find_map(|note| match &note.event {
        JournalEvent::Began { address, .. } => address.clone(),
        _ => None,
    });
    let address = address.unwrap_or_default();
    let rest = address.split_once("://").map_or(address.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Journals, broke_off};
    use crate::journal::{Direction, Entry, JournalEvent};

    const BEGAN: u64 = 1_000_000;

    /// A journal of a peer that saw the end, closed its own, and was over, at these times.
    fn journal(seen: Option<u64>, closed: Option<u64>, over: Option<u64>) -> Vec<Entry> {
        let ended = |way| JournalEvent::Ended { way, exchange: None, broken: None };
        let began =
            JournalEvent::Began { role: String::new(), transport: String::new(), address: None, pid: 1 };
        let note = |at: Option<u64>, event| at.map(|at| Entry { at: BEGAN + at, event });
        let over = note(over, JournalEvent::Over { sent: 1, received: 1, mismatches: 0 });
        let ends = [note(seen, ended(Direction::Received)), note(closed, ended(Direction::Sent))];
        let began = Entry { at: BEGAN, event: began };
        [Some(began)].into_iter().chain(ends).chain([over]).flatten().collect()
    }

    #[test]
    fn only_a_recorder_that_goes_amid_the_session_breaks_it_off() {
        // When each peer saw the end and closed its own, when the server was over, and whether that is a breach.
        for (client, server, breach) in [
            // The client closes first, or the server, or both close before they see the end of the other.
            ([Some(40), Some(10)], [Some(20), Some(30), Some(35)], false),
            ([Some(20), Some(30)], [Some(40), Some(10), Some(45)], false),
            ([Some(20), Some(10)], [Some(20), Some(10), Some(45)], false),
            // The client never saw an end.
            ([None, Some(5)], [Some(8), None, None], false),
            ([Some(10), Some(12)], [Some(10), Some(13), Some(14)], true),
            ([Some(10), Some(12)], [Some(10), None, Some(14)], true),
            // It took the server with it, in the middle of the session or when the client had closed.
            ([Some(10), Some(12)], [None, None, None], true),
            ([Some(10), Some(5)], [Some(8), None, None], true),
        ] {
            // A clock that is off breaks no session off.
            for off in [-500_000, -1, 0, 1, 500_000] {
                let mut client = journal(client[0], client[1], None);
                client.iter_mut().for_each(|note| note.at = note.at.saturating_add_signed(off));
                let server = journal(server[0], server[1], server[2]);
                assert_eq!(broke_off(&Journals { client, server }), breach, "{off}");
            }
        }
        assert!(broke_off(&Journals { client: journal(Some(1), Some(2), None), server: Vec::new() }));
    }
}
