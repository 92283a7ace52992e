//! A server that runs: its process, and what it and its clients say, passed on as it comes.
//!
//! Memory: what waits to be read by the server, up to [`UNREAD`] bytes and one message, and that of the conversation.

use super::conversation::{ClientStream, Conversation, NotTaken};
use super::streams::{NextEvent, Streams};
use crate::http::HELD;
use crate::messages::messages;
use crate::stdio::{LiveServer, PipeEvent};
use crate::{StartError, interrupt, lock};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use transcript::message::Message;

/// How many bytes may wait to be read by a server.
const UNREAD: usize = 16 << 20;

/// How long a client that reads too slowly may keep the server waiting, until its stream is cut.
const SLOW: Duration = Duration::from_secs(10);

/// How long a server may go on after its input was closed.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A server that runs, or ran.
pub(super) struct Server {
    state: Mutex<ServerState>,
    /// A client has read something.
    read: Condvar,
    missed: Arc<Missed>,
    on_end: OnEnd,
}

/// Called once with why the server ended by itself, and whether that was too early: with an error, or while a request was open.
pub(super) type OnEnd = Box<dyn Fn(&str, bool) + Send + Sync>;

struct ServerState {
    /// None once it is over.
    process: Option<LiveServer>,
    conversation: Conversation,
    /// The sizes of the lines that the server has not read.
    waiting: VecDeque<usize>,
    /// It reads nothing more.
    deaf: bool,
}

/// What servers said that reached nobody, counted.
#[derive(Debug, Default)]
pub(super) struct Missed {
    /// Lines that are not messages.
    pub(super) noise: AtomicU64,
    /// Answers to no open request.
    pub(super) unasked: AtomicU64,
    /// Messages that no client came to read.
    pub(super) unread: AtomicU64,
}

/// One client of a server.
#[derive(Clone)]
pub(super) struct ClientHandle {
    pub(super) server: Arc<Server>,
    id: u64,
}

impl Server {
    /// Starts the command.
    pub(super) fn start(
        command: &[String],
        shared: bool,
        missed: &Arc<Missed>,
        on_end: OnEnd,
    ) -> Result<Arc<Self>, StartError> {
        let state = ServerState {
            process: None,
            conversation: Conversation::new(shared),
            waiting: VecDeque::new(),
            deaf: false,
        };
        let (read, missed) = (Condvar::new(), Arc::clone(missed));
        let server = Arc::new(Self { state: Mutex::new(state), read, missed, on_end });
        let events = Arc::downgrade(&server);
        {
            // Whatever comes at once waits until the process is known.
            let mut state = lock(&server.state);
            state.process = Some(LiveServer::start(command, HELD, move |came| handle(&events, came))?);
        }
        Ok(server)
    }

    /// A client comes.
    pub(super) fn join(self: Arc<Self>) -> ClientHandle {
        let id = lock(&self.state).conversation.join();
        ClientHandle { server: self, id }
    }

    /// Whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        lock(&self.state).process.is_none()
    }

    /// Closes its input, and ends it where it does not end by itself soon; what does so.
    pub(super) fn close(&self) -> Option<JoinHandle<()>> {
        let process = lock(&self.state).process.take();
        self.read.notify_all();
        process.map(|process| thread::spawn(move || process.close(LAST_WORDS)))
    }

    /// Passes on a line that the server wrote.
    fn pass_on(&self, line: &[u8]) {
        let text = std::str::from_utf8(line).unwrap_or_default().trim_ascii();
        if line.trim_ascii().is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        let Ok(said) = messages(text) else {
            self.missed.noise.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let mut streams = Vec::new();
        for message in said {
            match state.conversation.receive(message) {
                Some(to) => streams.extend(to),
                None => {
                    self.missed.unasked.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        self.wait_for_readers(state, &streams);
    }

    /// Waits until the clients have read these events, as far as they read at all and not too slowly.
    fn wait_for_readers(&self, mut state: MutexGuard<'_, ServerState>, streams: &[ClientStream]) {
        let since = Instant::now();
        loop {
            let behind = |(client, stream): &&ClientStream| {
                state.conversation.clients.get(client).is_some_and(|it| it.streams.is_behind(*stream))
            };
            let behind: Vec<ClientStream> = streams.iter().filter(behind).copied().collect();
            let left = SLOW.saturating_sub(since.elapsed());
            if behind.is_empty() || state.process.is_none() {
                return;
            }
            if left.is_zero() {
                for (client, stream) in behind {
                    state.conversation.streams(client).into_iter().for_each(|streams| streams.cut(stream));
                }
                return;
            }
            state = self.read.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The server has ended, or is ended since it says what cannot be passed on.
    fn over(&self, why: Option<String>) {
        let Some(mut process) = lock(&self.state).process.take() else { return };
        let exit = process.exit().filter(|_| why.is_none());
        drop(process);
        // What ends every program has ended this one, too, and nobody is to blame.
        if interrupt::requested() {
            return;
        }
        let why = why.unwrap_or_else(|| match exit {
            Some(exit) => format!("the server ended with {exit}"),
            None => "the server closed its output".to_owned(),
        });
        let mut state = lock(&self.state);
        let is_early = state.conversation.open() > 0 || exit.and_then(|exit| exit.code) != Some(0);
        let open = match state.conversation.open() {
            0 => String::new(),
            1 => ", and 1 request was open".to_owned(),
            open => format!(", and {open} requests were open"),
        };
        state.conversation.end(&why);
        drop(state);
        self.read.notify_all();
        (self.on_end)(&format!("{why}{open}"), is_early);
    }
}

impl ClientHandle {
    /// The client goes.
    pub(super) fn leave(&self) {
        let unread = lock(&self.server.state).conversation.leave(self.id);
        self.server.missed.unread.fetch_add(unread, Ordering::Relaxed);
        self.server.read.notify_all();
    }

    /// The revision that it speaks, as far as it is known.
    pub(super) fn version(&self) -> Option<String> {
        lock(&self.server.state).conversation.clients.get(&self.id)?.version.clone()
    }

    /// Passes on what the client says; the stream of the answers, where there are any.
    /// Fails where it cannot be passed on.
    pub(super) fn ask(&self, said: &[Message<'_>]) -> Result<Option<u64>, NotTaken> {
        let mut state = lock(&self.server.state);
        let ServerState { process: Some(process), conversation, waiting, deaf: false } = &mut *state else {
            return Err(NotTaken::Over);
        };
        if waiting.iter().sum::<usize>() > UNREAD {
            return Err(NotTaken::Full);
        }
        let (stream, lines) = conversation.ask(self.id, said)?;
        for line in lines {
            waiting.push_back(line.len());
            process.send(&line);
        }
        Ok(stream)
    }

    /// A reader of a stream goes away.
    pub(super) fn detach(&self, stream: u64, reader: u64) {
        self.with(|streams| streams.detach(stream, reader));
        self.server.read.notify_all();
    }

    /// The next event for a reader of a stream.
    pub(super) fn poll_next(&self, stream: u64, reader: u64, context: &Context<'_>) -> Poll<NextEvent> {
        let next = self.with(|streams| streams.poll_next(stream, reader, context));
        let next = next.unwrap_or(Poll::Ready(NextEvent::End));
        if next.is_ready() {
            self.server.read.notify_all();
        }
        next
    }

    /// Looks at its streams, where it is still there.
    pub(super) fn with<R>(&self, look: impl FnOnce(&mut Streams) -> R) -> Option<R> {
        lock(&self.server.state).conversation.streams(self.id).map(look)
    }
}

fn handle(server: &Weak<Server>, came: PipeEvent) {
    let Some(server) = server.upgrade() else { return };
    match came {
        PipeEvent::Line(line, _) => server.pass_on(&line),
        PipeEvent::TooLong(bytes) => {
            let most = HELD >> 20;
            server.over(Some(format!(
                "the server wrote a line of {bytes} bytes, but at most {most} MiB are passed on: it was killed"
            )));
        }
        PipeEvent::Taken => {
            lock(&server.state).waiting.pop_front();
        }
        // Its end, if it ended, comes behind what it said.
        PipeEvent::Refused(_) => lock(&server.state).deaf = true,
        PipeEvent::End(_) => server.over(None),
        PipeEvent::Closed | PipeEvent::Live(_) => {}
    }
}
