//! The proxy as a server: it listens, forwards, and ends when it is told to.
//!
//! Two threads forward and one writes the archive. What is open at the end is cut off and kept as far as it came.

use super::archive::write_archive;
use super::events::{Event, queue};
use super::forward::{Forward, Upstream};
use super::summary::Summary;
use super::target::Target;
use crate::bridge::{Bridge, PATH};
use crate::net::{self, AllowedHosts};
use crate::redaction::Redaction;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use jiff::Timestamp;
use std::convert::Infallible;
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use std::{io, thread};
use tokio::runtime::Runtime;

/// The exchange of what belongs to none.
const NO_EXCHANGE: u64 = u64::MAX;

/// How long a request to end may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// A recorder that listens.
#[derive(Debug)]
pub struct Proxy {
    listener: TcpListener,
    target: Target,
    /// The server over stdio behind it, where there is one, and otherwise the target is asked.
    bridge: Option<Arc<Bridge>>,
    redaction: Arc<Redaction>,
    head_deadline: Duration,
    hosts: AllowedHosts,
    runtime: Runtime,
}

impl Proxy {
    /// Listens at `address`. Connections wait from then on, and are served by [`Proxy::record`].
    ///
    /// # Errors
    /// A sentence, where it cannot listen there or cannot start threads.
    pub fn listen(address: SocketAddr, target: Target) -> Result<Self, String> {
        let listener = net::listen(address)?;
        let here = listener.local_addr().map_err(|error| format!("{address} cannot be used: {error}"))?;
        if target.leads_back_to(here) {
            return Err(format!("{} leads back to this recorder, which listens at {here}", target.origin()));
        }
        Self::at(listener, here, target)
    }

    /// Listens at `address` for clients of a server over stdio, which [`Proxy::before`] names.
    ///
    /// # Errors
    /// A sentence, where it cannot listen there or cannot start threads.
    pub fn for_stdio(address: SocketAddr) -> Result<Self, String> {
        let listener = net::listen(address)?;
        let here = listener.local_addr().map_err(|error| format!("{address} cannot be used: {error}"))?;
        Self::at(listener, here, Target::parse(&format!("http://{here}{PATH}"))?)
    }

    fn at(listener: TcpListener, here: SocketAddr, target: Target) -> Result<Self, String> {
        Ok(Self {
            listener,
            target,
            bridge: None,
            redaction: Arc::default(),
            head_deadline: net::HEAD_DEADLINE,
            hosts: AllowedHosts::new(here, &[]),
            runtime: net::runtime()?,
        })
    }

    /// Keeps what `redaction` names out of the archive. Traffic passes as it is.
    #[must_use]
    pub fn redacting(mut self, redaction: Redaction) -> Self {
        self.redaction = Arc::new(redaction);
        self
    }

    /// Has a server over stdio answer.
    #[must_use]
    pub fn before(mut self, bridge: Arc<Bridge>) -> Self {
        self.bridge = Some(bridge);
        self
    }

    /// Forwards what is asked of these hosts and by pages of these origins; where nothing is said, those of this machine.
    #[must_use]
    pub fn allowing(mut self, hosts: AllowedHosts) -> Self {
        self.hosts = hosts;
        self
    }

    /// Closes a connection on which no whole head of a request came for so long; 30 s, where nothing is said.
    #[must_use]
    pub fn with_head_deadline(mut self, deadline: Duration) -> Self {
        self.head_deadline = deadline;
        self
    }

    /// Where clients connect.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The path at which the server is reached.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// Forwards and writes to `file` until `stop` says so. `report` is told at once what cannot be kept.
    ///
    /// # Errors
    /// A sentence, where it cannot begin.
    pub fn record(
        self,
        file: File,
        stop: &dyn Fn() -> bool,
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<Summary, String> {
        let Self { listener, target, bridge, redaction, head_deadline, hosts, runtime } = self;
        let upstream = match bridge {
            Some(bridge) => Upstream::Stdio(bridge),
            None => {
                let mut client = Client::builder(TokioExecutor::new());
                client.http1_preserve_header_case(true);
                Upstream::Http(Box::new(client.build(net::connector(None)?)))
            }
        };
        let (sender, receiver) = queue();
        let forward = Arc::new(Forward { upstream, target, hosts, sender, next: AtomicU64::new(0) });
        let origin = Timestamp::now();
        let no_thread = |error: io::Error| format!("cannot start a thread: {error}");
        thread::scope(|scope| {
            let writing = thread::Builder::new()
                .name("archive".to_owned())
                .spawn_scoped(scope, move || write_archive(&receiver, file, origin, &redaction, report))
                .map_err(no_thread)?;
            let served = runtime.block_on(serve(listener, &forward, head_deadline, stop));
            // Whatever is open reports its end as it is dropped; with the last sender the archive ends.
            runtime.shutdown_timeout(Duration::from_secs(1));
            drop(forward);
            let summary = writing.join().unwrap_or_else(|_| Summary {
                fault: Some("the thread that writes it has ended".to_owned()),
                ..Summary::default()
            });
            served.map_err(no_thread).map(|()| summary)
        })
    }
}

async fn serve(
    listener: TcpListener,
    forward: &Arc<Forward>,
    head_deadline: Duration,
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut connections = 0;
    while !stop() {
        let Ok(accepted) = tokio::time::timeout(PATIENCE, listener.accept()).await else { continue };
        let Ok((stream, _)) = accepted else {
            // Too many open files, or a client that was gone at once: the next one may do better.
            tokio::time::sleep(PATIENCE).await;
            continue;
        };
        // Without it an answer may wait for the other side's acknowledgement of the last one.
        let _ = stream.set_nodelay(true);
        connections += 1;
        let number = connections;
        let forward = Arc::clone(forward);
        let sender = forward.sender.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let forward = Arc::clone(&forward);
                async move { Ok::<_, Infallible>(forward.forward(number, request).await) }
            });
            let mut connection = hyper::server::conn::http1::Builder::new();
            connection.preserve_header_case(true).timer(TokioTimer::new()).header_read_timeout(head_deadline);
            // An exchange reports a peer that went away; bytes that are not HTTP belong to none, and hyper answers them.
            let served = connection.serve_connection(TokioIo::new(stream), service).await;
            if let Some(error) = served.err().filter(hyper::Error::is_parse) {
                sender.send(NO_EXCHANGE, Event::NotHttp(net::error_chain(&error)));
            }
        });
    }
    Ok(())
}
