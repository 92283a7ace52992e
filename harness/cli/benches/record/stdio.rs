//! Traffic over pipes.

use super::{
    INITIALIZED, Load, Recorder, Run, Server, Traffic, call, everything, initialize, median, resident,
};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

const BUFFER: usize = 64 << 10;

/// A process that takes longer has stopped for good.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that gives back each request, once it has parsed it.
pub(super) fn serve() {
    let (mut input, mut out) = (BufReader::with_capacity(BUFFER, io::stdin().lock()), io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).unwrap() > 0 {
        let message: serde_json::Value = serde_json::from_slice(&line).unwrap();
        if message.get("id").is_some() {
            out.write_all(&line).unwrap();
            out.flush().unwrap();
        }
        line.clear();
    }
}

/// Sessions over pipes, recorded in this folder.
pub(super) struct Pipes<'f> {
    pub(super) folder: &'f Path,
}

struct Session {
    child: Child,
    stdin: BufWriter<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Pipes<'_> {
    fn session(&self, server: Server, between: Option<&Recorder>) -> Session {
        let (program, arguments) = match server {
            Server::Echo => (std::env::current_exe().unwrap(), vec!["serve".into()]),
            Server::Everything => ("node".into(), vec![everything().into_os_string(), "stdio".into()]),
        };
        let mut command = match between {
            Some(recorder) => {
                let mut command = recorder.command(self.folder, &[]);
                command.arg(program);
                command
            }
            None => Command::new(program),
        };
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdin = BufWriter::with_capacity(BUFFER, child.stdin.take().unwrap());
        let stdout = BufReader::with_capacity(BUFFER, child.stdout.take().unwrap());
        let mut session = Session { child, stdin, stdout };
        session.say(&initialize());
        session.answer(0);
        session.say(INITIALIZED);
        session
    }
}

impl Session {
    fn say(&mut self, text: &str) {
        self.stdin.write_all(text.as_bytes()).unwrap();
        self.stdin.write_all(b"\n").unwrap();
        self.stdin.flush().unwrap();
    }

    /// Reads up to the next answer, which is a line of at least this size; what the server says besides is shorter.
    fn answer(&mut self, size: usize) {
        assert!(next(&mut self.stdout, size, &mut Vec::new()), "the session ended");
    }

    fn end(mut self) {
        drop(self.stdin);
        io::copy(&mut self.stdout, &mut io::sink()).unwrap();
        self.child.wait().unwrap();
    }
}

/// Whether there was one before the end.
fn next(stdout: &mut BufReader<ChildStdout>, size: usize, line: &mut Vec<u8>) -> bool {
    loop {
        line.clear();
        if stdout.read_until(b'\n', line).unwrap() == 0 {
            return false;
        }
        if line.len() >= size {
            return true;
        }
    }
}

impl Traffic for Pipes<'_> {
    fn round_trip(&self, server: Server, between: Option<&Recorder>, count: usize) -> Duration {
        let mut session = self.session(server, between);
        let call = call(600);
        let time = median(count, || {
            session.say(&call);
            session.answer(400);
        });
        session.end();
        time
    }

    fn through(&self, server: Server, between: Option<&Recorder>, load: Load) -> Option<Run> {
        let Session { mut child, mut stdin, mut stdout } = self.session(server, between);
        let line = format!("{}\n", call(load.size));
        let since = Instant::now();
        let saying = thread::spawn(move || {
            // A process that was given up reads no more.
            let said = (0..load.count).try_for_each(|_| stdin.write_all(line.as_bytes()));
            let _ = said.and_then(|()| stdin.flush());
            stdin
        });
        let (over, waiting) = channel::<()>();
        let pid = child.id().to_string();
        let watching = thread::spawn(move || {
            if waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            }
        });
        let mut line = Vec::new();
        let whole = (0..load.count).all(|_| next(&mut stdout, load.size * 3 / 4, &mut line));
        let took = since.elapsed();
        let peak = resident(&child);
        drop(over);
        watching.join().unwrap();
        drop(saying.join().unwrap());
        io::copy(&mut stdout, &mut io::sink()).unwrap();
        let ended_well = child.wait().unwrap().success();
        if whole && !ended_well {
            println!("  (a recording is incomplete, and says so)");
        }
        whole.then_some(Run { took, peak })
    }
}
