//! The one server: accepts connections, and has a [`Service`] answer their requests.

use super::body::{Body, BoxError};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::{Future, poll_fn};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};

/// How long a client may take for the head of a request, or keep an idle connection: each holds a descriptor, and others
/// need them.
pub(crate) const HEAD_DEADLINE: Duration = Duration::from_secs(30);

/// How long nothing is accepted where that failed.
const PAUSE: Duration = Duration::from_millis(50);

/// What clients may take of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many connections are served at a time; others wait.
    pub(crate) connections: usize,
    /// How long a connection may go without a whole head of a request.
    pub(crate) head_deadline: Duration,
}

/// Answers requests.
pub(crate) trait Service: Send + Sync + 'static {
    /// A connection is there, and has this number.
    fn connected(&self, _connection: u64) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// The answer to a request; with an error the connection is closed.
    fn answer(
        &self,
        connection: u64,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Body>, BoxError>> + Send;

    /// A connection is gone, for this reason where it did not end well. What is not HTTP is answered by hyper.
    fn disconnected(&self, ended: hyper::Result<()>) -> impl Future<Output = ()> + Send;
}

/// A server at work.
#[derive(Debug)]
pub(crate) struct Serving(watch::Sender<bool>);

impl Serving {
    /// Serves connections, numbered from 1, until the runtime ends inside of which this is called.
    pub(crate) fn start(listener: TcpListener, limits: Limits, service: impl Service) -> io::Result<Self> {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (stop, stopped) = watch::channel(false);
        let service = Arc::new(service);
        let room = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
        tokio::spawn(async move {
            let mut connections = 0;
            loop {
                let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many open files, or a client that was gone at once: the next one may do better.
                    tokio::time::sleep(PAUSE).await;
                    continue;
                };
                connections += 1;
                let (number, service, stopped) = (connections, Arc::clone(&service), stopped.clone());
                tokio::spawn(async move {
                    service.connected(number).await;
                    let ended = connection(number, stream, limits.head_deadline, &*service, stopped).await;
                    service.disconnected(ended).await;
                    drop(permit);
                });
            }
        });
        Ok(Self(stop))
    }

    /// Ends every connection when its answer has been sent.
    pub(crate) fn stop(&self) {
        self.0.send_replace(true);
    }
}

async fn connection(
    number: u64,
    stream: TcpStream,
    head_deadline: Duration,
    service: &impl Service,
    mut stopped: watch::Receiver<bool>,
) -> hyper::Result<()> {
    // Without it an answer may wait for the other side's acknowledgement of the last one.
    let _ = stream.set_nodelay(true);
    let answering = service_fn(|request| service.answer(number, request));
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.preserve_header_case(true).timer(TokioTimer::new()).header_read_timeout(head_deadline);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), answering));
    let mut stopped = pin!(stopped.wait_for(|stopped| *stopped));
    let mut stopping = false;
    poll_fn(|context| {
        if !stopping && stopped.as_mut().poll(context).is_ready() {
            stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(context)
    })
    .await
}

/// Listens at `address`, for a runtime to accept connections.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{address} is in use by another program; port 0 picks a free one")
        }
        _ => format!("cannot listen at {address}: {error}"),
    })
}

/// Two threads that serve connections.
pub(crate) fn runtime() -> Result<Runtime, String> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| format!("cannot start a thread: {error}"))
}
