//! A session over HTTP: the server listens in this process, the recorder runs before it, and the client plays in this
//! process too.

use super::journals::{Journals, exchanges, heard};
use super::port;
use super::process::{KillTarget, Running, not_started, recorder_words, script, wait, watched};
use super::recorder::Placeholders;
use super::rig::{Files, Played, Rig};
use super::scenario::Scenario;
use crate::http::Target;
use crate::journal::{self, Direction, Entry, Journal};
use crate::notify::Quiet;
use crate::play::http::{Answers, Server, Transport, as_client};
use crate::play::{Plan, Variants};
use crate::stdio::group::Group;
use crate::stdio::{running, start};
use rustix::process::{Signal, kill_process};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use transcript::diff::DiffOptions;
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
    let port = port::free()?;
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
    let rules = DiffOptions::default();
    let plan = |script, variants, journal, patience| Plan {
        script,
        rules: &rules,
        patience,
        variants,
        journal,
        refuse: false,
        name: &scenario.name,
        notify: &Quiet,
    };

    // Where nothing more comes, the client gives up first, and not the quicker of the two.
    let longer = rig.waits(conditions) + rig.patience;
    let (nobody_comes, gone) = watch::channel(false);

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
        let serving = scope
            .spawn(|| server.play_until(&plan(&server_script, &answering, &server_journal, longer), gone));
        (killed, stopped) = watched(rig, scenario, files, (id, kill_target.as_ref()), || {
            // What a peer met is in the journals.
            let plan = plan(&client_script, &asking, &client_journal, rig.waits(conditions));
            let _ = as_client(&plan, &target, transport);
        });
        died = died_of(&mut recorder.group).filter(|_| killed.is_none());
        ended = end(&mut recorder.group, killed, rig.patience);
        // What the recorder sent before it went may be on its way for so long, and then nothing is.
        wait(rig.patience, || serving.is_finished());
        let _ = nobody_comes.send(true);
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
    wait(START, || recorder.exited() || TcpStream::connect(address).is_ok()) && !recorder.exited()
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
        if let Some(pid) = running::pid(recorder.id()) {
            let _ = kill_process(pid, signal);
        }
        if recorder.exits_within(END) {
            return None;
        }
    }
    too_late(", by SIGINT and by SIGTERM")
}
