//! A session of a probe: the server, the recorder between it and the client, and the client.

use super::client::Client;
use super::plan::{Probe, Probed, RECORDER, Silence};
use super::player::Player;
use crate::files::Growing;
use crate::http::AllowedHosts;
use crate::proxy::{Proxy, Target};
use crate::record::{Live, Plan, Server, create_in_place};
use crate::redaction::Redaction;
use crate::remote::{METADATA, Outcome, Remote};
use crate::stdio;
use crate::{Notify, StartError, interrupt};
use std::fs::File;
use std::mem::take;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The host of the pages of another origin, which the recorder lets pass so that the server can refuse them.
pub(super) const FOREIGN: &str = "concord.example";

/// A session.
pub(super) struct Session<'p> {
    pub(super) player: Player<'p>,
    connection: Connection,
}

/// What is between the client and the server.
enum Connection {
    Stdio(Live),
    Http(Remote, Archive),
}

/// A recorder of a server over HTTP that runs.
pub(super) struct Archive {
    /// Where it is reached.
    pub(super) target: Target,
    stop: Arc<AtomicBool>,
    out: PathBuf,
    running: JoinHandle<Option<String>>,
}

impl<'p> Session<'p> {
    pub(super) fn open(probe: &'p Probe, name: &str, notify: &Arc<dyn Notify>) -> Result<Self, StartError> {
        let (server_reads, client_writes) = pipe()?;
        let (client_reads, server_writes) = pipe()?;
        let (recording, connection) = match &probe.server {
            Server::Command(command) => {
                let out = probe.folder.join(format!("{name}.jsonl"));
                let plan = Plan {
                    server: Server::Command(command.clone()),
                    output: Growing::create(&out, true).map_err(StartError::Unusable)?,
                    out: out.clone(),
                    label: None,
                    redaction: Redaction::default(),
                    apart: true,
                };
                let ends = || Ok((server_reads, server_writes));
                (out, Connection::Stdio(Live::start(plan, Arc::clone(notify), ends)?))
            }
            Server::Http(target) => {
                let out = probe.folder.join(format!("{name}.har"));
                let archive = Archive::start(target, &out, notify)?;
                let notify = Arc::clone(notify);
                let remote = Remote::start(
                    &archive.target,
                    server_reads,
                    server_writes,
                    Some(probe.patience),
                    notify,
                )?;
                (out, Connection::Http(remote, archive))
            }
        };
        let done = Probed { name: name.to_owned(), recording, ..Probed::default() };
        let client = Client::new(client_writes, client_reads, probe.patience);
        Ok(Self { player: Player::new(client, probe, done), connection })
    }

    /// The server over HTTP that asked for a login, in its first answer or later, and where its challenge says that its metadata is.
    pub(super) fn locked(&self) -> Option<(&Target, Option<&str>)> {
        let done = &self.player.done;
        let first = done.refused.as_ref().and_then(|why| why.strip_prefix(RECORDER));
        let mut refused = first.into_iter().chain(done.turned_away.iter().map(|refusal| &*refusal.why));
        let why = refused.find(|why| why.starts_with("HTTP 401"))?;
        let Connection::Http(_, archive) = &self.connection else { return None };
        Some((&archive.target, why.rsplit_once(METADATA).map(|(_, at)| at)))
    }

    /// Ends the session, as a client does, and kills a server that does not end in this time. Without the end of its recording it
    /// would be judged as if nothing had followed.
    pub(super) fn close(self, patience: Duration) -> Result<Probed, StartError> {
        let Self { player: Player { mut client, mut done, .. }, connection } = self;
        (done.astray, done.asked) = (client.astray, take(&mut client.named));
        // The recorder passes on to its end what a server goes on saying, and must not wait for this client to take it.
        client.inbox.leave();
        match connection {
            Connection::Stdio(mut live) => {
                let server = &mut live.server;
                if let Some(why) = client.over {
                    // One that is gone takes a moment; one that does not listen is not waited for.
                    let ends =
                        server.ends_within(if why == Silence::Ended { patience } else { Duration::ZERO });
                    let exit = server.exit().filter(|_| ends).map(|exit| format!("ended with {exit}"));
                    // What it ended with after it was killed is not its own doing.
                    done.exit = exit.or_else(|| Some("closed its output".to_owned()));
                }
                client.writer = None;
                done.killed = !server.ends_within(patience) && client.over.is_none();
                done.last_words = server.last_words();
                let summary = live.finish().summary;
                if let Some(why) = summary.trouble.filter(|_| !summary.ended) {
                    return Err(cut_off(&done.recording, &why));
                }
            }
            Connection::Http(remote, archive) => {
                client.writer = None;
                // One that does not answer is not waited for.
                if !done.unanswered.is_empty()
                    || done.astray
                    || !done.slow.is_empty()
                    || client.subscribed
                    || interrupt::requested()
                {
                    let _ = remote.stop.send(Outcome::Closed);
                }
                (_, done.ids, done.renamed) = remote.wait();
                archive.close()?;
            }
        }
        Ok(done)
    }
}

impl Archive {
    /// Listens for a client, and keeps what passes in this file.
    pub(super) fn start(target: &Target, out: &Path, notify: &Arc<dyn Notify>) -> Result<Self, StartError> {
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        let proxy = Proxy::listen(here, target.clone()).map_err(StartError::Unusable)?;
        Self::before(proxy, out, notify)
    }

    /// The same with a proxy that listens.
    pub(super) fn before(mut proxy: Proxy, out: &Path, notify: &Arc<dyn Notify>) -> Result<Self, StartError> {
        let at = proxy.address().map_err(|error| StartError::Unusable(error.to_string()))?;
        proxy.hosts = AllowedHosts::new(at, &[FOREIGN.to_owned()]);
        let file = create_in_place(out, true).map_err(StartError::Unusable)?;
        let (stop, notify) = (Arc::new(AtomicBool::new(false)), Arc::clone(notify));
        let asked = Arc::clone(&stop);
        let target = Target::parse(&format!("http://{at}{}", proxy.path())).map_err(StartError::Unusable)?;
        let running = thread::spawn(move || {
            let stop = || asked.load(Ordering::Relaxed);
            match proxy.record(file, &stop, &|text| notify.error(text)) {
                Ok(summary) if summary.is_whole() => None,
                // Bytes of a body that is too long were lost on purpose.
                Ok(summary) if summary.missing > 0 || summary.fault.is_some() => Some(summary.to_string()),
                Ok(summary) => {
                    notify.error(&summary.to_string());
                    None
                }
                Err(why) => Some(why),
            }
        });
        Ok(Self { target, stop, out: out.to_owned(), running })
    }

    /// Ends the recording.
    pub(super) fn close(self) -> Result<(), StartError> {
        self.stop.store(true, Ordering::Relaxed);
        let fault = self.running.join().ok().flatten();
        fault.map_or(Ok(()), |why| Err(cut_off(&self.out, &why)))
    }
}

fn cut_off(recording: &Path, why: &str) -> StartError {
    StartError::Unusable(format!("{} cannot be written to its end: {why}", recording.display()))
}

fn pipe() -> Result<(File, File), StartError> {
    stdio::pipe().map_err(|error| StartError::CannotRun(format!("no pipe can be had: {error}")))
}
