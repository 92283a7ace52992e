//! A body on its way to the other side, which is sent part by part.
//!
//! Memory: the parts that are not sent yet, which are no more than the session.

use crate::net;
use crate::play::journal::{Direction, Journal};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A body that is fed.
#[derive(Debug)]
pub(super) struct StreamedBody {
    parts: UnboundedReceiver<Bytes>,
    /// What was taken out and is not sent.
    part: Bytes,
    /// How many bytes are left, where that is known.
    left: Option<u64>,
    chunk: usize,
    /// The last part has to be sent before the next one is.
    pause: bool,
    ended: bool,
    exchange: u64,
    journal: Journal,
}

/// What feeds a body. It ends when this is dropped.
pub(super) type BodySender = UnboundedSender<Bytes>;

impl StreamedBody {
    /// A body that is all there.
    pub(super) fn whole(bytes: Bytes, chunk: Option<usize>, exchange: u64, journal: &Journal) -> Self {
        let left = Some(bytes.len() as u64);
        let mut body = Self::open(chunk, exchange, journal).1;
        (body.part, body.left) = (bytes, left);
        if left == Some(0) {
            body.end();
        }
        body
    }

    /// A body of which nobody knows how long it will be.
    pub(super) fn open(chunk: Option<usize>, exchange: u64, journal: &Journal) -> (BodySender, Self) {
        let (feed, parts) = unbounded_channel();
        let chunk = chunk.unwrap_or(usize::MAX).max(1);
        let journal = journal.clone();
        let part = Bytes::new();
        (feed, Self { parts, part, left: None, chunk, pause: false, ended: false, exchange, journal })
    }

    /// The answer that has this body.
    pub(super) fn answer(self, status: u16, media: Option<&'static str>) -> Response<Self> {
        net::answer(StatusCode::from_u16(status).unwrap_or(StatusCode::OK), media, self)
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.journal.ended(Direction::Sent, Some(self.exchange), None);
        }
    }
}

impl Drop for StreamedBody {
    fn drop(&mut self) {
        if !self.ended {
            let why = "the other side does not read on".to_owned();
            self.journal.ended(Direction::Sent, Some(self.exchange), Some(why));
        }
    }
}

impl Body for StreamedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = &mut *self;
        if std::mem::take(&mut body.pause) {
            // Whoever waits sends what he has.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if body.part.is_empty() {
            match body.left {
                Some(_) => return Poll::Ready(None),
                None => match body.parts.poll_recv(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(part)) => body.part = part,
                    Poll::Ready(None) => {
                        body.end();
                        return Poll::Ready(None);
                    }
                },
            }
        }
        let piece = body.part.split_to(body.chunk.min(body.part.len()));
        body.pause = body.chunk < usize::MAX;
        body.journal.bytes_at(body.journal.now(), Direction::Sent, Some(body.exchange), &piece);
        if let Some(left) = &mut body.left {
            *left = left.saturating_sub(piece.len() as u64);
            if *left == 0 {
                body.end();
            }
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

#[cfg(test)]
mod tests {
    use super::StreamedBody;
    use crate::play::journal::Journal;
    use hyper::body::{Body as _, Bytes};
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    fn pieces(mut body: StreamedBody) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut found = Vec::new();
        for _ in 0..20 {
            match Pin::new(&mut body).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(frame))) => {
                    found.push(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap());
                }
                Poll::Ready(None) => found.push("end".to_owned()),
                _ => found.push("-".to_owned()),
            }
            if body.is_end_stream() {
                break;
            }
        }
        found
    }

    #[test]
    fn a_body_is_sent_in_its_pieces() {
        let journal = Journal::default();
        let whole = |chunk| StreamedBody::whole(Bytes::from("abcde"), chunk, 0, &journal);
        assert_eq!(whole(None).size_hint().exact(), Some(5));
        assert_eq!(pieces(whole(None)), ["abcde"]);
        assert_eq!(pieces(whole(Some(2))), ["ab", "-", "cd", "-", "e"]);
        let (feed, body) = StreamedBody::open(None, 0, &journal);
        feed.send(Bytes::from("abc")).unwrap();
        feed.send(Bytes::from("d")).unwrap();
        drop(feed);
        assert_eq!(pieces(body), ["abc", "d", "end"]);
    }
}
