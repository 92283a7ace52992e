//! A body that passes, and sends each of its parts to the queue as it does.
//!
//! A server of the older HTTP+SSE may give its endpoint as an absolute URL, and a client that followed it would bypass
//! the proxy. See [`Endpoint`].

use super::events::{End, Event, Sender, Side};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::fmt::Display;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Sleep;

/// A body on its way.
#[derive(Debug)]
pub(super) struct Tee<B> {
    body: B,
    sender: Sender,
    exchange: u64,
    side: Side,
    ended: bool,
    endpoint: Option<Endpoint>,
    /// Where the file is behind.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<B: Body> Tee<B> {
    pub(super) fn new(
        body: B,
        sender: Sender,
        exchange: u64,
        side: Side,
        endpoint: Option<Endpoint>,
    ) -> Self {
        let mut tee = Self { body, sender, exchange, side, ended: false, endpoint, pause: None };
        tee.look_for_the_end();
        tee
    }

    /// A body that is known to be over is not asked again by whoever reads it.
    fn look_for_the_end(&mut self) {
        if self.body.is_end_stream() {
            self.end(End::Complete);
        }
    }
}

impl<B> Tee<B> {
    fn end(&mut self, end: End) {
        if !self.ended {
            self.ended = true;
            self.sender.send(self.exchange, Event::Ended(self.side, end));
        }
    }
}

impl<B> Drop for Tee<B> {
    fn drop(&mut self) {
        self.end(End::Dropped);
    }
}

impl<B> Body for Tee<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Display,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let tee = self.get_mut();
        ready!(tee.sender.poll_room(&mut tee.pause, context));
        loop {
            let frame = match Pin::new(&mut tee.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => {
                    tee.end(End::Complete);
                    let held = tee.endpoint.take().map(Endpoint::released).filter(|held| !held.is_empty());
                    return Poll::Ready(held.map(|held| Ok(Frame::data(held.into()))));
                }
                Poll::Ready(Some(Err(error))) => {
                    tee.end(End::Broken(error.to_string()));
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            let Some(data) = frame.data_ref() else { return Poll::Ready(Some(Ok(frame))) };
            tee.sender.send(tee.exchange, Event::Part(tee.side, data.to_vec()));
            let Some(endpoint) = &mut tee.endpoint else {
                tee.look_for_the_end();
                return Poll::Ready(Some(Ok(frame)));
            };
            if endpoint.hold(data)
                && let Some(endpoint) = tee.endpoint.take()
            {
                return Poll::Ready(Some(Ok(Frame::data(endpoint.released().into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.endpoint.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.endpoint.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

/// The first event of a stream, held until it is whole: if it is an `endpoint` that is a URL of the server itself, the
/// client gets it without the origin, and so comes back to the recorder. The archive has what the server said.
#[derive(Debug)]
pub(super) struct Endpoint {
    origin: String,
    held: Vec<u8>,
}

/// A first event that is longer is none of these, and is held no longer.
const LONGEST: usize = 4096;

impl Endpoint {
    pub(super) fn new(origin: String) -> Self {
        Self { origin, held: Vec::new() }
    }

    /// What goes on of a stream that came at once, as far as it is held.
    pub(super) fn of(mut self, stream: &[u8]) -> Vec<u8> {
        self.hold(stream);
        self.released()
    }

    /// Takes a part of the stream; whether it is enough.
    fn hold(&mut self, data: &[u8]) -> bool {
        self.held.extend_from_slice(data);
        let ends: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\r\r"];
        self.held.len() > LONGEST || ends.iter().any(|end| self.held.windows(end.len()).any(|at| at == *end))
    }

    /// What goes on to the client.
    fn released(self) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(&self.held) else { return self.held };
        let is_endpoint = text.lines().any(|line| matches!(line, "event:endpoint" | "event: endpoint"));
        for data in ["data:", "data: "] {
            let url = format!("{data}{}/", self.origin);
            let at =
                text.find(&url).filter(|&at| at == 0 || matches!(text.as_bytes()[at - 1], b'\n' | b'\r'));
            if let Some(at) = at.filter(|_| is_endpoint) {
                let cut = at + data.len();
                return [&self.held[..cut], &self.held[cut + self.origin.len()..]].concat();
            }
        }
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::{Endpoint, LONGEST, Tee};
    use crate::proxy::events::{End, Event, Side, queue};
    use crate::queue::Next;
    use http_body_util::{BodyExt as _, Full};
    use hyper::body::{Body as _, Bytes};
    use std::time::Duration;

    fn through(parts: &[&str]) -> String {
        let mut endpoint = Some(Endpoint::new("http://127.0.0.1:1".to_owned()));
        let mut out = Vec::new();
        for part in parts {
            match &mut endpoint {
                Some(held) => {
                    if held.hold(part.as_bytes()) {
                        out.extend(endpoint.take().unwrap().released());
                    }
                }
                None => out.extend(part.bytes()),
            }
        }
        out.extend(endpoint.map(Endpoint::released).unwrap_or_default());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_endpoint_of_the_server_leads_back_to_the_recorder() {
        let parts = ["event: endpoint\r\nda", "ta: http://127.0.0.1:1/messages?s=1\r\n\r", "\ndata: x\n\n"];
        assert_eq!(through(&parts), "event: endpoint\r\ndata: /messages?s=1\r\n\r\ndata: x\n\n");
        assert_eq!(
            through(&["data:http://127.0.0.1:1/m\nevent:endpoint\n\n"]),
            "data:/m\nevent:endpoint\n\n"
        );
    }

    #[test]
    fn every_other_stream_passes_as_it_is() {
        let long = format!("data: {}", "x".repeat(2 * LONGEST));
        for text in [
            "event: endpoint\ndata: /messages\n\n",
            "event: endpoint\ndata: http://127.0.0.1:12/messages\n\n",
            "data: http://127.0.0.1:1/messages\n\n",
            ": event: endpoint, data: http://127.0.0.1:1/\n\n",
            "",
            "data: {\"cut",
            &long,
        ] {
            let (one, other) = text.split_at(text.len() / 2);
            assert_eq!(through(&[one, other]), text);
        }
    }

    #[test]
    fn a_body_tells_its_parts_and_its_end_once() {
        let (sender, receiver) = queue();
        let next = || match receiver.next(Duration::ZERO) {
            Next::Item(sent) => Some(sent.event),
            _ => None,
        };
        let mut tee = Tee::new(Full::new(Bytes::from("ab")), sender.clone(), 7, Side::Request, None);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::Pin::new(&mut tee).poll_frame(&mut context).is_ready() && tee.is_end_stream());
        drop(tee);
        assert!(matches!(next(), Some(Event::Part(Side::Request, bytes)) if bytes == b"ab"));
        assert!(matches!(next(), Some(Event::Ended(Side::Request, End::Complete))));
        assert!(next().is_none());
        drop(Tee::new(Full::new(Bytes::from("ab")).boxed(), sender, 8, Side::Response, None));
        assert!(matches!(next(), Some(Event::Ended(Side::Response, End::Dropped))));
    }
}
