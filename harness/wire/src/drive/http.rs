//! A session over HTTP: the server listens in this process, the recorder runs before it, and the client plays in this
//! process too.

use super::exchanges::{exchanges, heard};
use super::journals::Journals;
use super::process::{KillTarget, Quiet, recorder_words, script, stderr, wait};
use super::recorder::Placeholders;
use super::rig::{Files, Played, Rig};
use super::scenario::Scenario;
use crate::child::{self, ChildGuard};
use crate::drive::judge::transparency::Exit;
use crate::group;
use crate::play::http::{Answers, Server, Transport, as_client};
use crate::play::journal::{self, Direction, Entry, Journal};
use crate::play::{Plan, Variants};
use crate::proxy::Target;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use transcript::diff::DiffOptions;
use transcript::session::Side;

/// So long may a recorder take to listen.
const START: Duration = Duration::from_secs(20);

/// So long may it take to end and to write its file, once it is told to.
const END: Duration = Duration::from_secs(10);

/// Plays a scenario through the recorder.
///
/// # Errors
/// Where the files or the ports of the trial cannot be used.
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
    let port = TcpListener::bind(local)?.local_addr()?.port();
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
        name: &scenario.name,
        notify: &Quiet,
    };

    // Where nothing more comes, it is the client that gives up first, and not whoever is the quicker.
    let longer = rig.timeout + rig.patience;

    let mut recorder = Recorder(ChildGuard(start(&words)?));
    let listens = recorder.listens(port);
    let over = AtomicBool::new(false);
    let kill_target = KillTarget::of(scenario, &client_script, files, heard_by_client, None);
    let (mut died, mut killed) = (recorder.died(), None);
    let mut ended = None;
    thread::scope(|scope| {
        let over = &over;
        if !listens {
            return;
        }
        let serving = scope.spawn(|| server.play(&plan(&server_script, &answering, &server_journal, longer)));
        let killer = kill_target.as_ref().map(|kill_target| scope.spawn(move || kill_target.kill(rig, over)));
        // What a peer met is in the journals.
        let _ = as_client(&plan(&client_script, &asking, &client_journal, rig.timeout), &target, transport);
        over.store(true, Ordering::Relaxed);
        killed = killer.and_then(|killer| killer.join().ok()).flatten();
        died = recorder.died().filter(|_| killed.is_none());
        ended = recorder.end(killed, rig.patience);
        let _ = serving.join();
    });
    if !listens && died.is_none() {
        died = Some(format!("no listening at port {port} within {} s", START.as_secs()));
    }
    let journals = Journals { client: journal::read(&client_path)?, server: journal::read(&server_path)? };
    Ok(Played { journals, stderr: stderr(files), killed: killed.is_some(), ended, died })
}

fn start(words: &[String]) -> io::Result<Child> {
    let [program, arguments @ ..] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    group::lead(&mut command);
    command.spawn()
}

fn heard_by_client(notes: &[Entry]) -> usize {
    exchanges(notes, Direction::Sent).iter().map(heard).sum()
}

/// The recorder under test.
struct Recorder(ChildGuard);

impl Recorder {
    /// Whether it listens, in time.
    fn listens(&mut self, port: u16) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        wait(START, || self.died().is_some() || TcpStream::connect(address).is_ok()) && self.died().is_none()
    }

    /// How it ended, if it has.
    fn died(&mut self) -> Option<String> {
        let status = self.0.0.try_wait().ok().flatten()?;
        let exit = child::signal(status).map_or(Exit::Code(status.code().unwrap_or_default()), Exit::Signal);
        Some(exit.in_words())
    }

    /// Has it end as Ctrl-C does, and then less politely. Where it was killed before: whether it is gone in time; where it
    /// goes on for ever, that.
    fn end(&mut self, killed: Option<SystemTime>, patience: Duration) -> Option<Result<(), String>> {
        let too_late =
            |what: &str| Some(Err(format!("the recorder kept running after it was told to end{what}")));
        if killed.is_some() {
            let gone = wait(patience, || self.died().is_some());
            return if gone { Some(Ok(())) } else { too_late("") };
        }
        for signal in [Signal::INT, Signal::TERM] {
            let since = Instant::now();
            if let Some(pid) = i32::try_from(self.0.0.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, signal);
            }
            if wait(END.saturating_sub(since.elapsed()), || self.died().is_some()) {
                return None;
            }
        }
        too_late(", by SIGINT and by SIGTERM")
    }
}
