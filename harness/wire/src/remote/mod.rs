//! A server over HTTP as one over stdio: Streamable HTTP, and HTTP+SSE where a server refuses that.
//!
//! Lines come in, and messages go out on one line each. What is asked and what comes back is in `session`, requests and their
//! headers in `caller`, and the streams that answer them. Memory: a message of up to [`crate::http::HELD`] bytes for each open
//! request, and of all answers no more than that for a prober, and [`session::WAITING`] on either side.

mod caller;
mod opening;
mod session;

pub(crate) use caller::{BROKEN, CLOSED, FLOODED, METADATA, Outcome, TORN};
pub(crate) use session::GONE;

use crate::http::{self, Client, Target};
use crate::{Notify, StartError, lock};
use caller::Caller;
use session::Session;
use std::fs::File;
use std::mem::take;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::time::timeout;

/// How long each step may take that ends a session.
const GOODBYE: Duration = Duration::from_secs(2);

/// A session over HTTP that goes on.
pub(crate) struct Remote {
    running: JoinHandle<(Outcome, Vec<String>, bool)>,
    /// Where it is asked to end.
    pub(crate) stop: Sender<Outcome>,
}

impl Remote {
    /// Reads a client's messages, and writes the server's. For a client that waits so long for an answer, a session that the server ends
    /// is followed by another. Fails where threads, or the certificates that `https` needs, cannot be had.
    pub(crate) fn start(
        target: &Target,
        from: File,
        to: File,
        patience: Option<Duration>,
        notify: Arc<dyn Notify>,
    ) -> Result<Self, StartError> {
        let runtime = http::runtime().map_err(StartError::Unusable)?;
        let client = Client::new(target, None).map_err(StartError::Unusable)?;
        let (writer, writing) = session::write(to);
        let lines = session::read(from);
        let (stop, stopped) = channel();
        let session = Arc::new(Session {
            caller: Caller::new(target, client, patience.is_some()),
            writer,
            notify,
            over: stop.clone(),
            open: Default::default(),
            patience,
            renewing: Default::default(),
            noise: Default::default(),
        });
        let over = stop.clone();
        let running = thread::spawn(move || {
            let conversing = Arc::clone(&session);
            let conversation = runtime.spawn(async move {
                let end = conversing.converse(lines).await;
                let _ = over.send(end);
            });
            let outcome = stopped.recv().unwrap_or(Outcome::Closed);
            conversation.abort();
            runtime.block_on(async {
                let _ = timeout(GOODBYE, session.leave()).await;
                let _ = timeout(GOODBYE, session.give_up()).await;
            });
            // Whatever is under way ends, and with the last of it the writer.
            runtime.shutdown_timeout(GOODBYE);
            let (given, renamed) = {
                let mut state = lock(&session.caller.state);
                (take(&mut state.given), state.renamed)
            };
            drop(session);
            let _ = writing.join();
            (outcome, given, renamed)
        });
        Ok(Self { running, stop })
    }

    /// Waits for its end; how it ended, the session ids that the server gave, and whether it named another one in mid-session.
    pub(crate) fn wait(self) -> (Outcome, Vec<String>, bool) {
        self.running.join().unwrap_or((Outcome::Lost, Vec::new(), false))
    }
}
