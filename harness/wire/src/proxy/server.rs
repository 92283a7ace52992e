//! The recorder as a server: it listens, forwards, and ends when it is told to.
//!
//! Knows: sockets and threads. Refuses to know: what passes. Two threads forward and one writes; Ctrl-C ends the
//! recording as a request of its own, and whatever is open then is cut off and kept as far as it came.

use super::Summary;
use super::archive::keep;
use super::forward::{Forward, reasons};
use super::queue::{What, queue};
use super::target::Target;
use crate::record::Redaction;
use hyper::service::service_fn;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use std::convert::Infallible;
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use std::{fmt, io, thread};
use tokio::runtime::{Builder, Runtime};

/// The exchange of what belongs to none.
const NOBODYS: u64 = u64::MAX;

/// How long a request to end may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// A recorder that listens.
#[derive(Debug)]
pub struct Proxy {
    listener: TcpListener,
    target: Target,
    redaction: Arc<Redaction>,
    runtime: Runtime,
}

/// Why nothing can be recorded.
#[derive(Debug)]
pub enum StartError {
    /// The address cannot be listened at.
    Listen(SocketAddr, io::Error),
    /// The certificates of the system cannot be read, which `https` needs.
    Certificates(io::Error),
    /// No thread can be had.
    Threads(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address, error) if error.kind() == io::ErrorKind::AddrInUse => {
                write!(out, "{address} is in use by another program; port 0 takes one that is free")
            }
            Self::Listen(address, error) => write!(out, "{address} cannot be listened at: {error}"),
            Self::Certificates(error) => write!(out, "the system's certificates cannot be read: {error}"),
            Self::Threads(error) => write!(out, "no thread can be had: {error}"),
        }
    }
}

impl Proxy {
    /// Listens at `address`. Connections wait from then on, and are served by [`Proxy::record`].
    ///
    /// # Errors
    /// Where that cannot be.
    pub fn listen(address: SocketAddr, target: Target) -> Result<Self, StartError> {
        let listener = TcpListener::bind(address).map_err(|error| StartError::Listen(address, error))?;
        listener.set_nonblocking(true).map_err(|error| StartError::Listen(address, error))?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let redaction = Arc::default();
        Ok(Self { listener, target, redaction, runtime: runtime.map_err(StartError::Threads)? })
    }

    /// Takes out of the archive what somebody asked to be taken out. Traffic passes as it is.
    #[must_use]
    pub fn redacting(mut self, redaction: Redaction) -> Self {
        self.redaction = Arc::new(redaction);
        self
    }

    /// Where clients connect.
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Forwards and writes to `file` until `stop` says so. `say` hears at once what cannot be kept.
    ///
    /// # Errors
    /// Where it cannot begin.
    pub fn record(
        self,
        file: File,
        stop: &dyn Fn() -> bool,
        say: &(dyn Fn(&str) + Sync),
    ) -> Result<Summary, StartError> {
        let Self { listener, target, redaction, runtime } = self;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(StartError::Certificates)?
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let mut client = Client::builder(TokioExecutor::new());
        client.http1_preserve_header_case(true);
        let (teller, told) = queue();
        let next = AtomicU64::new(0);
        let forward = Arc::new(Forward { client: client.build(connector), target, teller, next });
        let origin = Timestamp::now();
        thread::scope(|scope| {
            let keeping = thread::Builder::new()
                .name("archive".to_owned())
                .spawn_scoped(scope, move || keep(&told, file, origin, &redaction, say))
                .map_err(StartError::Threads)?;
            let served = runtime.block_on(serve(listener, &forward, stop));
            // Whatever is open tells its end as it is dropped; with the last teller the archive ends.
            runtime.shutdown_timeout(Duration::from_secs(1));
            drop(forward);
            let summary = keeping.join().unwrap_or_else(|_| Summary {
                fault: Some("the thread that writes it has ended".to_owned()),
                ..Summary::default()
            });
            served.map_err(StartError::Threads).map(|()| summary)
        })
    }
}

async fn serve(listener: TcpListener, forward: &Arc<Forward>, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    while !stop() {
        let Ok(accepted) = tokio::time::timeout(PATIENCE, listener.accept()).await else { continue };
        let Ok((stream, _)) = accepted else {
            // Too many open files, or a client that was gone at once: the next one may do better.
            tokio::time::sleep(PATIENCE).await;
            continue;
        };
        // Without it an answer may wait for the other side's acknowledgement of the last one.
        let _ = stream.set_nodelay(true);
        let forward = Arc::clone(forward);
        let teller = forward.teller.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let forward = Arc::clone(&forward);
                async move { Ok::<_, Infallible>(forward.forward(request).await) }
            });
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.preserve_header_case(true);
            // Whoever goes away is told of by the exchange at hand; what is no HTTP has none, and was answered by hyper.
            let served = connection.serve_connection(TokioIo::new(stream), service).await;
            if let Some(error) = served.err().filter(hyper::Error::is_parse) {
                teller.tell(NOBODYS, What::NoHttp(reasons(&error)));
            }
        });
    }
    Ok(())
}
