//! The proxy as a server: it listens, forwards, and ends when it is asked to.
//!
//! Two threads forward and one writes the archive. What is open at the end is cut off and kept as far as it came.

use super::archive::{Summary, write_archive};
use super::events::queue;
use super::forward::{Forward, Upstream};
use crate::bridge::{Bridge, PATH};
use crate::http::{AllowedHosts, Client, HEAD_DEADLINE, Limits, Serving, Target, listen, runtime};
use crate::redaction::Redaction;
use jiff::Timestamp;
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{io, thread};
use tokio::runtime::Runtime;

/// How long a request to end may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(10);

/// A recorder that listens. What may be chosen is chosen before [`Proxy::record`].
#[derive(Debug)]
pub struct Proxy {
    listener: TcpListener,
    target: Target,
    client: Client,
    /// The server over stdio that answers, where there is one; otherwise the target is asked.
    pub bridge: Option<Arc<Bridge>>,
    /// What is kept out of the archive. Traffic passes as it is.
    pub redaction: Redaction,
    /// How long a connection may go without a whole head of a request before it is closed; 30 s, where nothing is said.
    pub head_deadline: Duration,
    /// Of which hosts, and by pages of which origins, what is asked is forwarded; those of this machine, where nothing is said.
    pub hosts: AllowedHosts,
    runtime: Runtime,
}

impl Proxy {
    /// Listens at `address`. Connections wait from then on, and are served by [`Proxy::record`].
    pub fn listen(address: SocketAddr, target: Target) -> Result<Self, String> {
        Self::at(address, |here| match target.leads_back_to(here) {
            true => Err(format!("{} is this recorder's own address: it listens at {here}", target.origin())),
            false => Ok(target),
        })
    }

    /// Listens at `address` for clients of a server over stdio, which [`Proxy::bridge`] is.
    pub fn for_stdio(address: SocketAddr) -> Result<Self, String> {
        Self::at(address, |here| Target::parse(&format!("http://{here}{PATH}")))
    }

    fn at(
        address: SocketAddr,
        target: impl FnOnce(SocketAddr) -> Result<Target, String>,
    ) -> Result<Self, String> {
        let listener = listen(address)?;
        let here = listener.local_addr().map_err(|error| format!("{address} cannot be used: {error}"))?;
        let target = target(here)?;
        Ok(Self {
            listener,
            client: Client::new(&target, None)?,
            target,
            bridge: None,
            redaction: Redaction::default(),
            head_deadline: HEAD_DEADLINE,
            hosts: AllowedHosts::new(here, &[]),
            runtime: runtime()?,
        })
    }

    /// Where clients connect.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The path at which the server is reached.
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// Forwards and writes to `file` until `stop` says so. What cannot be kept is reported at once.
    pub fn record(
        self,
        file: File,
        stop: &dyn Fn() -> bool,
        report: &(dyn Fn(&str) + Sync),
    ) -> Result<Summary, String> {
        let Self { listener, target, client, bridge, redaction, head_deadline, hosts, runtime } = self;
        let upstream = bridge.map_or(Upstream::Http(client), Upstream::Stdio);
        let (sender, receiver) = queue();
        let (redaction, over) = (Arc::new(redaction), Arc::clone(&sender.over));
        let forward = Forward { upstream, target, hosts, sender, next: AtomicU64::new(0) };
        let origin = Timestamp::now();
        let no_thread = |error: io::Error| format!("cannot start a thread: {error}");
        thread::scope(|scope| {
            let writing = thread::Builder::new()
                .name("archive".to_owned())
                .spawn_scoped(scope, move || write_archive(&receiver, file, origin, &redaction, report))
                .map_err(no_thread)?;
            let served = runtime.block_on(async {
                let limits = Limits { connections: usize::MAX, head_deadline };
                let serving = Serving::start(listener, limits, forward)?;
                while !stop() {
                    tokio::time::sleep(PATIENCE).await;
                }
                Ok(serving)
            });
            // Whatever is open reports its end as it is dropped; with the last sender the archive ends. The connection to the
            // server may be dropped before the one to the client.
            over.store(true, Ordering::Relaxed);
            runtime.shutdown_timeout(Duration::from_secs(1));
            let summary = writing.join().unwrap_or_else(|_| Summary {
                fault: Some("the thread that writes it has ended".to_owned()),
                ..Summary::default()
            });
            served.map_err(no_thread).map(|_| summary)
        })
    }
}
