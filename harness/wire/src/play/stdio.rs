//! Playing over two pipes: as a server on the standard streams, or as a client that starts its server.
//!
//! Two threads read and write, so that neither side waits for the other to be read; this one decides.

use super::game::Game;
use super::plan::{Mismatch, MismatchKind, Plan, Played};
use super::player::Order;
use crate::StartError;
use crate::journal::JournalEvent;
use crate::messages::on_one_line;
use crate::stdio::group::Group;
use crate::stdio::{Inbox, PipeEvent, Writer, listen, pipes, standard_streams, start};
use std::fs::File;
use std::process::Stdio;
use std::sync::Arc;

/// Plays on the standard streams of this process, which its client holds.
pub fn as_server(plan: &Plan<'_>) -> Result<Played, StartError> {
    let (from, to) = standard_streams()?;
    plan.journal.began("server", "stdio", None);
    let mut conversation = Conversation::new(plan, from, to);
    conversation.play();
    if !conversation.ran_out && !conversation.rest() {
        plan.notify.note(&format!("the client has kept its end open for {}", plan.waited()));
    }
    Ok(plan.over(conversation.game.played()))
}

/// Starts a server and plays its client.
pub fn as_client(plan: &Plan<'_>, command: &[String]) -> Result<Played, StartError> {
    as_client_of(plan, &mut start(command, [Stdio::piped(), Stdio::piped(), Stdio::inherit()])?)
}

/// Plays the client of a server that was started.
pub(crate) fn as_client_of(plan: &Plan<'_>, server: &mut Group) -> Result<Played, StartError> {
    let (from, to) = pipes(server)?;
    plan.journal.began("client", "stdio", None);
    let mut conversation = Conversation::new(plan, from, to);
    conversation.play();
    conversation.rest();
    if !ends(server, plan) {
        let why = format!("the server had not ended {} after its input was closed", plan.waited());
        conversation.game.report(Mismatch::protocol(why));
    }
    Ok(plan.over(conversation.game.played()))
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

/// A play over two pipes.
struct Conversation<'p> {
    plan: &'p Plan<'p>,
    game: Game<'p>,
    inbox: Arc<Inbox>,
    writer: Option<Writer>,
    /// How many writes the other side has not taken.
    waiting: usize,
    /// The other side says no more.
    ended: bool,
    /// This side's end is closed, and what it said is taken.
    closed: bool,
    /// A wait ran out.
    ran_out: bool,
    /// How many writes the other side has taken.
    taken: u64,
    last: String,
}

impl<'p> Conversation<'p> {
    fn new(plan: &'p Plan<'p>, from: File, to: File) -> Self {
        let inbox = Arc::new(Inbox::default());
        let (variants, journal) = (plan.variants.clone(), plan.journal.clone());
        let writer = Writer::open(to, plan.journal.clone(), &inbox, move |bytes, to, moved| {
            variants.write(bytes, to, &journal, moved)
        });
        listen(from, plan.variants.slow_read, plan.longest(), plan.journal.clone(), &inbox);
        Self {
            plan,
            game: Game::new(plan, Order::Strict),
            inbox,
            writer: Some(writer),
            waiting: 0,
            ended: false,
            closed: false,
            ran_out: false,
            taken: 0,
            last: String::new(),
        }
    }

    /// Plays until the script is over, the other side is gone or silent, or this side has to close.
    fn play(&mut self) {
        loop {
            self.send_due();
            if self.game.player.is_over() || self.game.closed_early || self.ended || self.ran_out {
                break;
            }
            self.take_next();
        }
        if !self.game.closed_early {
            let why = match (self.ended, self.inbox.begun()) {
                (true, _) => "the other side has ended".to_owned(),
                (_, begun) if begun > 0 && !self.game.talks_on => {
                    format!("{} after {begun} bytes of a line", self.game.silence())
                }
                _ => self.game.silence(),
            };
            self.game.miss(&why);
            self.close();
        }
    }

    /// Hears what the other side still says, up to its end, and waits until it has taken what was said. Whether both came.
    fn rest(&mut self) -> bool {
        self.game.wait_anew();
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

    /// Sends all that is due now.
    fn send_due(&mut self) {
        let variants = self.plan.variants;
        let mut bytes = Vec::new();
        for refusal in std::mem::take(&mut self.game.refusals) {
            variants.line(&refusal, &mut bytes);
        }
        while !self.game.closes() {
            let Some(said) = self.game.player.next_message() else { break };
            variants.line(&on_one_line(&said.text), &mut bytes);
            self.last = said.text.into_owned();
            if !variants.merge {
                self.write(std::mem::take(&mut bytes));
            }
        }
        self.write(bytes);
        if self.game.closed_early {
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
        match self.inbox.next(self.game.patience()) {
            Some(PipeEvent::Line(line, _)) => drop(self.game.receive(&line)),
            Some(PipeEvent::TooLong(bytes)) => {
                self.game.report(Mismatch::new(MismatchKind::TooLong(bytes), None))
            }
            Some(PipeEvent::Taken) => {
                self.waiting -= 1;
                self.taken += 1;
            }
            Some(PipeEvent::Closed | PipeEvent::Live(_)) => self.closed = true,
            Some(PipeEvent::Refused(why)) => {
                self.waiting = 0;
                // A side that closes early has nothing to complain of.
                if !self.game.closed_early {
                    self.game.report(Mismatch::protocol(format!(
                        "the other side accepts no more messages: {why}"
                    )));
                }
            }
            Some(PipeEvent::End(broken)) => {
                self.ended = true;
                if let Some(why) = broken {
                    self.game.report(Mismatch::protocol(format!("the other side broke off: {why}")));
                }
            }
            None => {
                self.ran_out = true;
                if self.waiting > 0 {
                    let why = format!("the other side has not read for {}", self.plan.waited());
                    self.game.report(Mismatch::protocol(why));
                }
            }
        }
        self.ran_out = self.ran_out || self.game.is_late(self.taken);
    }
}

#[cfg(test)]
mod tests;
