//! A session over HTTP: the server listens in this process, the recorder runs before it, and the client plays in this
//! process too.

use super::journals::{Journals, exchanges, heard};
use super::process::{KillTarget, Running, not_started, plan, recorder_words, script, watched};
use super::recorder::Placeholders;
use super::rig::{Files, Played, Rig};
use super::scenario::Scenario;
use crate::http::Target;
use crate::interrupt;
use crate::journal::{self, Direction, Entry, Journal};
use crate::play::Variants;
use crate::play::http::{Answers, Presence, Server, Transport, as_client};
use crate::stdio::group::{Group, pid};
use crate::stdio::start;
use rustix::process::{Signal, kill_process};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use transcript::session::Side;

/// How long a recorder may take to listen.
const START: Duration = Duration::from_secs(20);

/// How long it may take to end and to write its file once it is asked to.
const END: Duration = Duration::from_secs(10);

/// Plays a scenario through the recorder.
pub(super) fn play(
    rig: &Rig,
    scenario: &Scenario,
    files: &Files,
    transport: Transport,
) -> io::Result<Played> {
    let conditions = &scenario.conditions;
    let refused = |refused: crate::StartError| io::Error::other(format!("{refused:?}"));
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::listen(local, transport, Answers::AsRecorded).map_err(refused)?;
    let upstream = server.url()?;
    let port = free_port()?;
    let words =
        recorder_words(rig, files, Placeholders { port, upstream: &upstream, ..Placeholders::default() });
    let path = upstream.splitn(4, '/').nth(3).unwrap_or_default();
    let target = Target::parse(&format!("http://127.0.0.1:{port}/{path}")).map_err(io::Error::other)?;

    let [client_script, server_script] = [script(scenario, Side::Client)?, script(scenario, Side::Server)?];
    let [client_path, server_path] = ["client.journal", "server.journal"].map(|name| files.path(name));
    let journal = |path| Journal::create(path).map_err(io::Error::other);
    let [client_journal, server_journal] = [journal(&client_path)?, journal(&server_path)?];
    let (chunk, merge) = (conditions.chunk, conditions.merge);
    let asking = Variants { chunk, slow_read: conditions.slow, ..Variants::default() };
    let answering = Variants { chunk, merge, delay: rig.delay(conditions), ..Variants::default() };

    // Where nothing more comes, the client gives up first, and not the quicker of the two.
    let longer = rig.waits(conditions) + rig.patience;
    let (tell, presence) = watch::channel(Presence::Plays);

    let mut recorder =
        Running::new(start(&words, [Stdio::null(), Stdio::null(), Stdio::piped()]).map_err(not_started)?);
    let id = recorder.group.id();
    let listens = listens(&mut recorder.group, port);
    let kill_target = KillTarget::new(scenario, &client_script, files, heard_by_client, None);
    let (mut died, mut killed) = (died_of(&mut recorder.group), None);
    let (mut ended, mut stopped) = (None, None);
    thread::scope(|scope| {
        if !listens {
            return;
        }
        let serving = scope.spawn(|| {
            let plan = plan((scenario, &server_script), &answering, &server_journal, longer);
            server.play_until(&plan, presence)
        });
        (killed, stopped) = watched(rig, scenario, files, (id, kill_target.as_ref()), || {
            // What a peer met is in the journals.
            let plan = plan((scenario, &client_script), &asking, &client_journal, rig.waits(conditions));
            let _ = as_client(&plan, &target, transport);
            let _ = tell.send(Presence::Over);
        });
        died = died_of(&mut recorder.group).filter(|_| killed.is_none());
        ended = end(&mut recorder.group, killed, rig.patience);
        // What the recorder sent before it went may be on its way for so long, and then nothing is.
        interrupt::wait(rig.patience, || serving.is_finished());
        let _ = tell.send(Presence::Gone);
        let _ = serving.join();
    });
    if !listens && died.is_none() {
        died = Some(format!("the recorder did not listen at port {port} within {} s", START.as_secs()));
    }
    let journals = Journals { client: journal::read(&client_path)?, server: journal::read(&server_path)? };
    let stderr = recorder.end(files)?;
    Ok(Played { journals, stderr, killed: killed.is_some(), ended, died, stopped })
}

fn heard_by_client(notes: &[Entry]) -> usize {
    exchanges(notes, Direction::Sent).iter().map(heard).sum()
}

/// Whether a recorder listens, in time.
fn listens(recorder: &mut Group, port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    interrupt::wait(START, || recorder.exited() || TcpStream::connect(address).is_ok()) && !recorder.exited()
}

/// How it ended, if it has.
fn died_of(recorder: &mut Group) -> Option<String> {
    recorder.exit().map(|exit| exit.to_string())
}

/// Has it end as Ctrl-C does, and then less politely. Where it was killed before: whether it is gone in time; where it goes
/// on for ever, that.
fn end(recorder: &mut Group, killed: Option<SystemTime>, patience: Duration) -> Option<Result<(), String>> {
    let too_late =
        |what: &str| Some(Err(format!("the recorder kept running after it was asked to end{what}")));
    if killed.is_some() {
        return if recorder.exits_within(patience) { Some(Ok(())) } else { too_late("") };
    }
    for signal in [Signal::INT, Signal::TERM] {
        if let Some(pid) = pid(recorder.id()) {
            let _ = kill_process(pid, signal);
        }
        if recorder.exits_within(END) {
            return None;
        }
    }
    too_late(", by SIGINT and by SIGTERM")
}

/// Between a port's choice and the moment when the recorder listens there, the system may give it to another program
/// that asks for any free one. It gives none of these away: Linux begins at 32,768, others at 49,152.
const PORTS: Range<u16> = 20_000..32_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of 127.0.0.1 at which nobody listens, and which this process has not chosen lately.
fn free_port() -> io::Result<u16> {
    for _ in PORTS {
        let port = chosen(std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    let message = format!("no port from {} to {} of 127.0.0.1 is free", PORTS.start, PORTS.end - 1);
    Err(io::Error::new(io::ErrorKind::AddrInUse, message))
}

/// Processes that run at the same time begin far from each other, since their ids are close.
fn chosen(process: u32, count: u16) -> u16 {
    let room = u32::from(PORTS.end - PORTS.start);
    let offset = (process % room * 97 + u32::from(count)) % room;
    PORTS.start + u16::try_from(offset).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Ipv4Addr, PORTS, TcpListener, chosen, free_port};

    #[test]
    fn a_port_is_none_that_the_system_gives_away_and_nobody_has_it() {
        let first = free_port().unwrap();
        let taken: Vec<_> =
            (1..=3).map(|more| TcpListener::bind((Ipv4Addr::LOCALHOST, first + more))).collect();
        let next = free_port().unwrap();
        assert!(PORTS.contains(&first) && PORTS.contains(&next));
        let by_us = taken.iter().flatten().any(|it| it.local_addr().unwrap().port() == next);
        assert!(next != first && !by_us, "{first} {next}");
    }

    #[test]
    fn neighbours_choose_apart() {
        let of = |process| (0..90).map(move |count| chosen(process, count));
        assert!(of(4_711).all(|port| of(4_712).all(|other| other != port)));
        assert!(of(u32::MAX).all(|port| PORTS.contains(&port)));
    }
}
