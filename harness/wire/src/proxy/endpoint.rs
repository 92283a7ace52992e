//! The endpoint that a server of the older HTTP+SSE names: as an absolute URL it would lead its client past the proxy.

use crate::http::PolledPart;
use hyper::body::{Body, Bytes, Frame};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// An event stream on its way to the client, without the origin in its endpoint.
#[derive(Debug)]
pub(super) struct Relocated<B> {
    body: B,
    endpoint: Option<Endpoint>,
}

impl<B> Relocated<B> {
    /// The stream of the server at this origin.
    pub(super) fn new(body: B, origin: String) -> Self {
        Self { body, endpoint: Some(Endpoint::new(origin)) }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Relocated<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledPart<B::Error> {
        let Self { body, endpoint } = self.get_mut();
        loop {
            let polled = ready!(Pin::new(&mut *body).poll_frame(context));
            let is_held = match (&polled, &mut *endpoint) {
                (None, Some(_)) => false,
                (Some(Ok(frame)), Some(endpoint)) => match frame.data_ref() {
                    Some(data) => !endpoint.hold(data),
                    None => return Poll::Ready(polled),
                },
                _ => return Poll::Ready(polled),
            };
            if !is_held {
                let released = endpoint.take().map(Endpoint::released).filter(|held| !held.is_empty());
                return Poll::Ready(released.map(|held| Ok(Frame::data(held.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream() && self.endpoint.is_none()
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
    pub(super) fn relocated(mut self, stream: &[u8]) -> Vec<u8> {
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
    use super::{Endpoint, LONGEST};

    fn through(parts: &[&str]) -> String {
        let mut endpoint = Endpoint::new("http://127.0.0.1:1".to_owned());
        let held =
            parts.iter().position(|part| endpoint.hold(part.as_bytes())).map_or(parts.len(), |at| at + 1);
        let rest = parts[held..].concat();
        String::from_utf8([endpoint.released(), rest.into_bytes()].concat()).unwrap()
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
}
