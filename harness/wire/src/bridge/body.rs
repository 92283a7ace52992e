//! The body of a stream of events, read from what is kept for a client.

use super::server::ClientHandle;
use super::streams::Next;
use crate::http::spell;
use hyper::body::{Body, Bytes, Frame};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads a stream.
#[derive(Debug)]
pub(super) struct EventBody {
    pub(super) client: ClientHandle,
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
        let next = match std::mem::take(&mut self.primed) {
            true => Next::Event(0, String::new()),
            false => ready!(self.client.poll_next(self.stream, self.reader, context)),
        };
        Poll::Ready(match next {
            Next::Event(number, text) => {
                let id = format!("{}-{number}", self.stream);
                Some(Ok(Frame::data(spell(None, Some(&id), &text))))
            }
            Next::End => None,
            Next::Cut => Some(Err(io::Error::other("what follows on this stream is not kept any more"))),
        })
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.client.detach(self.stream, self.reader);
    }
}
