//! The process of a live server: behind a mock that does not know an answer, or behind a bridge.

use super::group::{Exit, Group};
use super::pipe::{Inbox, PipeEvent, Writer, listen};
use super::process::{pipes, start};
use crate::StartError;
use crate::journal::Journal;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

/// A live server that runs.
#[derive(Debug)]
pub(crate) struct LiveServer {
    group: Group,
    writer: Writer,
}

impl LiveServer {
    /// Starts one, and hands on what it says, up to lines of `longest` bytes.
    pub(crate) fn start(
        command: &[String],
        longest: usize,
        hand_on: impl Fn(PipeEvent) + Send + 'static,
    ) -> Result<Self, StartError> {
        let mut group = start(command, [Stdio::piped(), Stdio::piped(), Stdio::inherit()])?;
        let (from, to) = pipes(&mut group)?;
        let inbox = Arc::new(Inbox::default());
        let writer = Writer::plain(to, &inbox);
        listen(from, Duration::ZERO, longest, Journal::default(), &inbox);
        inbox.hand_on(move |came| {
            hand_on(came);
            true
        });
        Ok(Self { group, writer })
    }

    /// Sends it a message.
    pub(crate) fn send(&self, text: &str) {
        self.writer.write(format!("{text}\n").into_bytes());
    }

    /// How it exited, where it does soon after it closed its output.
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        self.group.exits_within(Duration::from_secs(1));
        self.group.exit()
    }

    /// What became of it.
    pub(crate) fn fate(&mut self) -> String {
        match self.exit() {
            Some(exit) => format!("the live server ended with {exit}"),
            None => "the live server closed its output".to_owned(),
        }
    }

    /// Closes its input, and ends it where it does not end by itself.
    pub(crate) fn close(self, patience: Duration) {
        let Self { mut group, writer } = self;
        drop(writer);
        group.exits_within(patience);
        // One that has ended is as well.
        let _ = group.end();
    }
}
