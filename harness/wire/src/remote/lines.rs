//! The client's end: lines that come, and lines that go, with a thread for each way.

use crate::http::HELD;
use crate::stdio::{Inbox, PipeEvent, listen};
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How many lines may wait, each way.
pub(super) const WAITING: usize = 16;

/// What the client says, to its end.
pub(super) fn read(from: File) -> Receiver<PipeEvent> {
    let inbox = Arc::new(Inbox::default());
    listen(from, Duration::ZERO, HELD, Default::default(), &inbox);
    let (sender, lines) = channel(WAITING);
    inbox.hand_on(move |came| sender.blocking_send(came).is_ok());
    lines
}

/// Where messages go. It closes when the last of its clones is dropped and all is written.
#[derive(Debug, Clone)]
pub(super) struct Writer(Sender<String>);

impl Writer {
    /// A writer, and the thread that ends with it.
    pub(super) fn open(mut to: File) -> (Self, JoinHandle<()>) {
        let (sender, mut lines) = channel::<String>(WAITING);
        let writing = thread::spawn(move || {
            while let Some(mut line) = lines.blocking_recv() {
                line.push('\n');
                // A client that reads no more is gone; its end of input follows.
                if to.write_all(line.as_bytes()).is_err() {
                    return;
                }
            }
        });
        (Self(sender), writing)
    }

    /// Has a message written, which waits for those before it.
    pub(super) async fn write(&self, line: String) {
        // Where nobody reads any more, nobody is missed either.
        let _ = self.0.send(line).await;
    }
}
