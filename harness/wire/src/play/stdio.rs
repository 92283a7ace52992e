//! Playing over two pipes: as a server on the standard streams, or as a client that starts its server.
//!
//! Two threads read and write, so that neither side waits for the other to be read; this one decides.

use super::deadline::Deadline;
use super::mismatch::{Mismatch, MismatchKind};
use super::plan::{Plan, Played};
use super::player::{Order, Player};
use crate::StartError;
use crate::journal::JournalEvent;
use crate::messages::on_one_line;
use crate::stdio::group::Group;
use crate::stdio::{Inbox, PipeEvent, Writer, listen, pipes, standard_streams, start};
use std::fs::File;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

/// Plays on the standard streams of this process, which its client holds.
///
/// # Errors
/// Where they cannot be used.
pub fn as_server(plan: &Plan<'_>) -> Result<Played, StartError> {
    let (from, to) = standard_streams()?;
    plan.journal.began("server", "stdio", None);
    let mut conversation = Conversation::new(plan, from, to);
    conversation.play();
    if !conversation.ran_out && !conversation.rest() {
        plan.notify.note(&format!("the client has kept its end open for {}", plan.waited()));
    }
    Ok(plan.over(conversation.played()))
}

/// Starts a server and plays its client.
///
/// # Errors
/// Where it cannot be started.
pub fn as_client(plan: &Plan<'_>, command: &[String]) -> Result<Played, StartError> {
    as_client_of(plan, &mut start(command, [Stdio::piped(), Stdio::piped(), Stdio::inherit()])?)
}

/// Plays the client of a server that was started.
///
/// # Errors
/// Where its pipes cannot be used.
pub(crate) fn as_client_of(plan: &Plan<'_>, server: &mut Group) -> Result<Played, StartError> {
    let (from, to) = pipes(server)?;
    plan.journal.began("client", "stdio", None);
    let mut conversation = Conversation::new(plan, from, to);
    conversation.play();
    conversation.rest();
    if !ends(server, plan) {
        let why = format!("the server had not ended {} after its input was closed", plan.waited());
        conversation.report(Mismatch::protocol(why));
    }
    Ok(plan.over(conversation.played()))
}

/// Waits for the end of the server, and notes it.
fn ends(server: &mut Group, plan: &Plan<'_>) -> bool {
    if !server.exits_within(plan.patience) {
        return false;
    }
    if let Some(exit) = server.exit() {
        plan.journal.note(|| JournalEvent::Exited { code: exit.code, signal: exit.signal });
        if exit.code != Some(0) {
            plan.notify.note(&format!("the server ended with {exit}"));
        }
    }
    true
}

/// How long a wait may be, with what this side takes on top.
fn patience(plan: &Plan<'_>) -> Duration {
    plan.patience + plan.variants.delay + plan.variants.slow_read
}

/// A play over two pipes.
struct Conversation<'p> {
    plan: &'p Plan<'p>,
    player: Player<'p>,
    inbox: Arc<Inbox>,
    writer: Option<Writer>,
    /// How many writes the other side has not taken.
    waiting: usize,
    /// This side closed before the session was over, as its variant asks.
    closed_early: bool,
    /// The other side says no more.
    ended: bool,
    /// This side's end is closed, and what it said is taken.
    closed: bool,
    /// A wait ran out.
    ran_out: bool,
    /// It did although something came: nothing that was awaited.
    talks_on: bool,
    deadline: Deadline,
    /// How many writes the other side has taken.
    taken: u64,
    last: String,
    tally: Played,
}

impl<'p> Conversation<'p> {
    fn new(plan: &'p Plan<'p>, from: File, to: File) -> Self {
        let inbox = Arc::new(Inbox::default());
        let (variants, journal) = (plan.variants.clone(), plan.journal.clone());
        let writer = Writer::open(to, plan.journal.clone(), &inbox, move |bytes, to, moved| {
            variants.write(bytes, to, &journal, moved)
        });
        listen(from, plan.variants.slow_read, plan.longest(), plan.journal.clone(), &inbox);
        let player = Player::new(plan.script, plan.rules.clone(), Order::Strict);
        Self {
            plan,
            player,
            inbox,
            writer: Some(writer),
            waiting: 0,
            closed_early: false,
            ended: false,
            closed: false,
            ran_out: false,
            talks_on: false,
            deadline: Deadline::new(patience(plan)),
            taken: 0,
            last: String::new(),
            tally: Played::default(),
        }
    }

    /// Plays until the script is over, the other side is gone or silent, or this side has to close.
    fn play(&mut self) {
        loop {
            self.send_due();
            if self.player.is_over() || self.closed_early || self.ended || self.ran_out {
                break;
            }
            self.take_next();
        }
        if !self.closed_early {
            let why = match (self.ended, self.inbox.begun()) {
                (true, _) => "the other side has ended".to_owned(),
                _ if self.talks_on => {
                    format!("what came for {} is not in the session", self.plan.waited())
                }
                (_, 0) => format!("nothing arrived for {}", self.plan.waited()),
                (_, begun) => {
                    format!("nothing arrived for {} after {begun} bytes of a line", self.plan.waited())
                }
            };
            self.player.missing(&why).into_iter().for_each(|missing| self.report(missing));
            self.close();
        }
    }

    /// Hears what the other side still says, up to its end, and waits until it has taken what was said. Whether both came.
    fn rest(&mut self) -> bool {
        self.deadline = Deadline::new(patience(self.plan));
        while !(self.ended && self.closed) {
            let ran_out = std::mem::take(&mut self.ran_out);
            self.take_next();
            if self.ran_out {
                return false;
            }
            self.ran_out = ran_out;
        }
        true
    }

    fn played(&self) -> Played {
        Played { sent: self.player.sent(), received: self.player.received(), ..self.tally }
    }

    fn report(&mut self, mismatch: Mismatch) {
        self.plan.report(&mut self.tally, &mismatch);
    }

    /// Sends all that is due now.
    fn send_due(&mut self) {
        let variants = self.plan.variants;
        let mut bytes = Vec::new();
        while !self.closed_early {
            if variants.close_after == Some(self.player.sent()) {
                self.closed_early = true;
                break;
            }
            let Some(said) = self.player.next_message() else { break };
            variants.line(&on_one_line(&said.text), &mut bytes);
            self.last = said.text.into_owned();
            if !variants.merge {
                self.write(std::mem::take(&mut bytes));
            }
        }
        self.write(bytes);
        if self.closed_early {
            self.close();
        }
    }

    fn write(&mut self, bytes: Vec<u8>) {
        if let Some(writer) = self.writer.as_ref().filter(|_| !bytes.is_empty()) {
            self.waiting += 1;
            writer.write(bytes);
        }
    }

    fn close(&mut self) {
        if let Some(half) = self.plan.variants.half(&self.last) {
            self.write(half);
        }
        self.writer = None;
    }

    /// Waits for the next thing that happens, and handles it.
    fn take_next(&mut self) {
        match self.inbox.next(patience(self.plan)) {
            Some(PipeEvent::Line(line, _)) => self.receive(&line),
            Some(PipeEvent::TooLong(bytes)) => self.report(Mismatch::new(MismatchKind::TooLong(bytes), None)),
            Some(PipeEvent::Taken) => {
                self.waiting -= 1;
                self.taken += 1;
            }
            Some(PipeEvent::Closed | PipeEvent::Live(_)) => self.closed = true,
            Some(PipeEvent::Refused(why)) => {
                self.waiting = 0;
                // A side that closes early has nothing to complain of.
                if !self.closed_early {
                    self.report(Mismatch::protocol(format!("the other side takes no more messages: {why}")));
                }
            }
            Some(PipeEvent::End(broken)) => {
                self.ended = true;
                if let Some(why) = broken {
                    self.report(Mismatch::protocol(format!("the other side broke off: {why}")));
                }
            }
            None => {
                self.ran_out = true;
                if self.waiting > 0 {
                    let why = format!("the other side has not read for {}", self.plan.waited());
                    self.report(Mismatch::protocol(why));
                }
            }
        }
        let progress = self.player.sent() + self.player.received() + self.taken;
        self.talks_on = !self.ran_out && self.deadline.has_passed(progress);
        self.ran_out |= self.talks_on;
    }

    fn receive(&mut self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else {
            let why = "it is not UTF-8".to_owned();
            let came = String::from_utf8_lossy(line).into_owned();
            return self.report(Mismatch::new(MismatchKind::NoMessage(why), Some(came)));
        };
        for heard in self.player.receive(text) {
            heard.mismatch.into_iter().for_each(|mismatch| self.report(mismatch));
        }
    }
}

#[cfg(test)]
mod tests;
