//! Bodies: boxed, collected up to a bound, and watched as they pass.

use super::headers::insert;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// An error of whatever made a body.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// The body of a request or an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The next part of a body, as far as there is one.
pub(crate) type PolledPart<E> = Poll<Option<Result<Frame<Bytes>, E>>>;

/// A body that is all there.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    boxed(Full::new(bytes.into()))
}

/// Any body, boxed.
pub(crate) fn boxed<B>(body: B) -> Body
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    UnsyncBoxBody::new(body.map_err(Into::into))
}

/// The answer with this body, and with its media type where it has one.
pub(crate) fn answer(status: StatusCode, media: Option<&str>, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    insert(answer.headers_mut(), CONTENT_TYPE.as_str(), media);
    answer
}

/// Why there is no whole body.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It has more bytes than are held.
    TooLong,
    /// Its sender broke off, for this reason.
    Broken(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => out.write_str("length limit exceeded"),
            Self::Broken(why) => out.write_str(why),
        }
    }
}

/// A whole body of up to `longest` bytes. Fails where it is longer, or breaks off.
pub(crate) async fn collect<B>(mut body: B, longest: usize) -> Result<Vec<u8>, Unread>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
{
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let part = frame.map_err(|why| Unread::Broken(why.to_string()))?.into_data().unwrap_or_default();
        if bytes.len() + part.len() > longest {
            return Err(Unread::TooLong);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// With its last byte.
    Complete,
    /// Its sender broke off, for this reason.
    Broken(String),
    /// Its reader went away.
    Dropped,
}

/// Sees what passes of a body.
pub(crate) trait Watch: Send + Unpin + 'static {
    /// Ready when more may pass.
    fn poll_room(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// Takes a part, right before it is passed on.
    fn part(&mut self, part: &[u8]);

    /// Takes the end, once.
    fn ended(&mut self, end: End);
}

/// A body that passes, and reports each of its parts and its end.
#[derive(Debug)]
pub(crate) struct Watched<B, W: Watch> {
    body: B,
    watch: W,
    ended: bool,
}

impl<B: HttpBody, W: Watch> Watched<B, W> {
    pub(crate) fn new(body: B, watch: W) -> Self {
        let mut watched = Self { body, watch, ended: false };
        watched.look_for_the_end();
        watched
    }

    /// A body that is known to be over is not polled again by its reader.
    fn look_for_the_end(&mut self) {
        if self.body.is_end_stream() {
            self.end(End::Complete);
        }
    }
}

impl<B, W: Watch> Watched<B, W> {
    fn end(&mut self, end: End) {
        if !std::mem::replace(&mut self.ended, true) {
            self.watch.ended(end);
        }
    }
}

impl<B, W: Watch> Drop for Watched<B, W> {
    fn drop(&mut self) {
        self.end(End::Dropped);
    }
}

impl<B, W> HttpBody for Watched<B, W>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
    W: Watch,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledPart<B::Error> {
        let watched = self.get_mut();
        ready!(watched.watch.poll_room(context));
        let polled = ready!(Pin::new(&mut watched.body).poll_frame(context));
        match &polled {
            None => watched.end(End::Complete),
            Some(Err(error)) => watched.end(End::Broken(error.to_string())),
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    watched.watch.part(data);
                    watched.look_for_the_end();
                }
            }
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Watch, Watched, full};
    use hyper::body::Body as _;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Waker};

    #[derive(Clone, Default)]
    struct SeenParts(Arc<Mutex<Vec<String>>>);

    impl Watch for SeenParts {
        fn part(&mut self, part: &[u8]) {
            self.0.lock().unwrap().push(String::from_utf8_lossy(part).into_owned());
        }

        fn ended(&mut self, end: End) {
            self.0.lock().unwrap().push(format!("{end:?}"));
        }
    }

    #[test]
    fn a_body_reports_its_parts_and_its_end_once() {
        let (passed, dropped, empty) = (SeenParts::default(), SeenParts::default(), SeenParts::default());
        let mut watched = Watched::new(full("ab"), passed.clone());
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut watched).poll_frame(&mut context).is_ready() && watched.is_end_stream());
        drop(watched);
        drop(Watched::new(full("ab"), dropped.clone()));
        drop(Watched::new(full(""), empty.clone()));
        let seen = [passed, dropped, empty].map(|seen| seen.0.lock().unwrap().join(" "));
        assert_eq!(seen, ["ab Complete", "Dropped", "Complete"]);
    }
}
