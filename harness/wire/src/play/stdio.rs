//! Playing over two pipes: as a server on the standard streams, or as a client that starts its server.
//!
//! Knows: lines, the end of input, and the process at the other side. Refuses to know: what is said. Two threads read and
//! write, so that neither side waits for the other one to be read; this one decides. Memory: what [`super::pipe`] says,
//! and the session.

use super::journal::What;
use super::mismatch::Mismatch;
use super::pipe::{Came, Inbox, Mouth, listen};
use super::playing::{Order, Playing};
use super::script::on_one_line;
use super::{Kind, Plan, Played, StartError};
use crate::group;
use crate::record;
use std::fs::File;
use std::process::{Child, Command, Stdio, id};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often a server that was told to end is looked at.
const TICK: Duration = Duration::from_millis(2);

/// Plays on the standard streams of this process, which its client holds.
///
/// # Errors
/// Where they cannot be used.
pub fn as_server(plan: &Plan<'_>) -> Result<Played, StartError> {
    let streams = record::standard_streams();
    let (from, to) =
        streams.map_err(|error| StartError::Here(format!("the standard streams cannot be used: {error}")))?;
    began(plan, "server");
    let mut talk = Talk::new(plan, from, to);
    talk.play();
    if talk.is_patient() && !talk.rest() {
        plan.tell.note(&format!("the client has kept its end open for {}", plan.waited()));
    }
    Ok(plan.over(talk.played()))
}

/// Starts a server and plays its client.
///
/// # Errors
/// Where it cannot be started.
pub fn as_client(plan: &Plan<'_>, command: &[String]) -> Result<Played, StartError> {
    let [program, arguments @ ..] = command else {
        return Err(StartError::Command("the command is empty; name a program".to_owned()));
    };
    let mut start = Command::new(program);
    start.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    group::lead(&mut start);
    let started = start.spawn().map_err(|error| StartError::Command(record::refused(program, &error)))?;
    let mut server = Server(started);
    let pipes = server.0.stdout.take().zip(server.0.stdin.take());
    let (from, to) = pipes.ok_or_else(|| StartError::Command("it has no standard streams".to_owned()))?;
    began(plan, "client");
    let mut talk = Talk::new(plan, record::owned(from), record::owned(to));
    talk.play();
    talk.rest();
    if !server.ends(plan) {
        let why = format!("the server had not ended {} after its input was closed", plan.waited());
        talk.depart(Mismatch::manners(why));
    }
    Ok(plan.over(talk.played()))
}

fn began(plan: &Plan<'_>, role: &str) {
    plan.journal.note(|| What::Began {
        role: role.to_owned(),
        transport: "stdio".to_owned(),
        address: None,
        pid: id(),
    });
}

/// A server that is killed, with what it started, when nobody waits for it any more.
struct Server(Child);

impl Server {
    /// Waits for its end, and notes it.
    fn ends(&mut self, plan: &Plan<'_>) -> bool {
        let until = Instant::now() + plan.patience;
        while !group::exited(&mut self.0) {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(TICK);
        }
        if let Ok(status) = self.0.wait() {
            #[cfg(unix)]
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            #[cfg(not(unix))]
            let signal = None;
            plan.journal.note(|| What::Exited { code: status.code(), signal });
            if !status.success() {
                plan.tell.note(&format!("the server ended with {status}"));
            }
        }
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            group::kill(&mut self.0);
            let _ = self.0.wait();
        }
    }
}

/// A play over two pipes.
struct Talk<'p> {
    plan: &'p Plan<'p>,
    playing: Playing<'p>,
    inbox: Arc<Inbox>,
    mouth: Option<Mouth>,
    /// How many writes the other side has not taken.
    waiting: usize,
    /// This side closed before the session was over, as it was told to.
    closed_early: bool,
    /// The other side says no more.
    ended: bool,
    /// This side's end is closed, and what it said is taken.
    closed: bool,
    /// A wait ran out.
    ran_out: bool,
    last: String,
    tally: Played,
}

impl<'p> Talk<'p> {
    fn new(plan: &'p Plan<'p>, from: File, to: File) -> Self {
        let inbox = Arc::new(Inbox::default());
        let mouth = Mouth::open(to, plan.variants.clone(), plan.journal.clone(), &inbox);
        listen(from, plan.variants.slow_read, plan.longest(), plan.journal.clone(), &inbox);
        let playing = Playing::new(plan.script, plan.rules.clone(), Order::Strict);
        Self {
            plan,
            playing,
            inbox,
            mouth: Some(mouth),
            waiting: 0,
            closed_early: false,
            ended: false,
            closed: false,
            ran_out: false,
            last: String::new(),
            tally: Played::default(),
        }
    }

    /// Plays until the script is over, the other side is gone or silent, or this side was told to close.
    fn play(&mut self) {
        loop {
            self.speak();
            if self.playing.is_over() || self.closed_early || self.ended || self.ran_out {
                break;
            }
            self.take_next();
        }
        if !self.closed_early {
            let why = match (self.ended, self.inbox.begun()) {
                (true, _) => "the other side has ended".to_owned(),
                (_, 0) => format!("nothing came for {}", self.plan.waited()),
                (_, begun) => {
                    format!("nothing came for {} behind {begun} bytes of a line", self.plan.waited())
                }
            };
            self.playing.missing(&why).into_iter().for_each(|missing| self.depart(missing));
            self.close();
        }
    }

    /// Hears what the other side still says, up to its end, and waits until it has taken what was said. Whether both came.
    fn rest(&mut self) -> bool {
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

    /// Whether it is worth waiting for the other side's end.
    fn is_patient(&self) -> bool {
        !self.ran_out
    }

    fn played(&self) -> Played {
        Played { said: self.playing.said(), heard: self.playing.heard(), ..self.tally }
    }

    fn depart(&mut self, mismatch: Mismatch) {
        self.plan.depart(&mut self.tally, &mismatch);
    }

    /// Says all that can be said now.
    fn speak(&mut self) {
        let variants = self.plan.variants;
        let mut bytes = Vec::new();
        while !self.closed_early {
            if variants.close_after == Some(self.playing.said()) {
                self.closed_early = true;
                break;
            }
            let Some(said) = self.playing.say() else { break };
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
        if let Some(mouth) = self.mouth.as_ref().filter(|_| !bytes.is_empty()) {
            self.waiting += 1;
            mouth.say(bytes);
        }
    }

    fn close(&mut self) {
        if let Some(half) = self.plan.variants.half(&self.last) {
            self.write(half);
        }
        self.mouth = None;
    }

    /// Waits for the next thing that happens, and heeds it.
    fn take_next(&mut self) {
        let patience = self.plan.patience + self.plan.variants.delay + self.plan.variants.slow_read;
        match self.inbox.next(patience) {
            Some(Came::Line(line, _)) => self.hear(&line),
            Some(Came::TooLong(bytes)) => self.depart(Mismatch::of(Kind::TooLong(bytes), None)),
            Some(Came::Taken) => self.waiting -= 1,
            Some(Came::Closed) => self.closed = true,
            Some(Came::Refused(why)) => {
                self.waiting = 0;
                // Whoever closes early himself has nothing to complain of.
                if !self.closed_early {
                    self.depart(Mismatch::manners(format!("the other side takes no more messages: {why}")));
                }
            }
            Some(Came::End(broken)) => {
                self.ended = true;
                if let Some(why) = broken {
                    self.depart(Mismatch::manners(format!("the other side broke off: {why}")));
                }
            }
            None => {
                self.ran_out = true;
                if self.waiting > 0 {
                    let why = format!("the other side has not read for {}", self.plan.waited());
                    self.depart(Mismatch::manners(why));
                }
            }
        }
    }

    fn hear(&mut self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else {
            let why = "it is no UTF-8".to_owned();
            let came = String::from_utf8_lossy(line).into_owned();
            return self.depart(Mismatch::of(Kind::NoMessage(why), Some(came)));
        };
        for heard in self.playing.hear(text) {
            heard.mismatch.into_iter().for_each(|mismatch| self.depart(mismatch));
        }
    }
}

#[cfg(test)]
mod tests;
