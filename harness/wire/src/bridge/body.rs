//! The body of a stream of events, read from what is kept for a client.

use super::server::Server;
use super::streams::Next;
use crate::play::http::spell;
use hyper::body::{Body, Bytes, Frame};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// What reads a stream.
#[derive(Debug)]
pub(crate) struct EventBody {
    pub(super) server: Arc<Server>,
    pub(super) client: u64,
    pub(super) stream: u64,
    pub(super) reader: u64,
    /// It begins with an event of no data, so that a client can resume it before anything was said.
    pub(super) primed: bool,
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let (server, client, stream, reader) = (&self.server, self.client, self.stream, self.reader);
        let event = |number: u64, text: &str| {
            let id = format!("{stream}-{number}");
            Poll::Ready(Some(Ok(Frame::data(spell(None, Some(&id), text)))))
        };
        if self.primed {
            let first = event(0, "");
            self.primed = false;
            return first;
        }
        match ready!(server.poll_next((client, stream, reader), context)) {
            Next::Event(number, text) => event(number, &text),
            Next::End => Poll::Ready(None),
            Next::Cut => {
                Poll::Ready(Some(Err(io::Error::other("what follows on this stream is not kept any more"))))
            }
        }
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.server.detach(self.client, self.stream, self.reader);
    }
}
