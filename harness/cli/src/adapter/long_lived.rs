//! A long-lived adapter as an importer: protocol 1 over processes that are kept, and restarted when they fail.
//!
//! Each transcript is given to two processes at once, so that state that one of them keeps shows as instability.

use super::command::Command;
use super::process::{Output, Process};
use super::program::{BrokenAnswer, Limits, NotRun, Program, Reply, with_stderr};
use super::transcripts::{Transcript, Transcripts};
use mcp_concord_suite::importer::{Importer, ReadPair};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use transcript::dialect::{ALL, Dialect};
use verdict::answer::{Answer, FailureKind, Level};
use verdict::protocol::{self, Handshake, START, STOP};

/// An adapter, with the processes that are idle.
#[derive(Debug)]
pub(crate) struct Adapter {
    command: Command,
    limits: Limits,
    hello: Handshake,
    dialect: &'static Dialect,
    transcripts: Transcripts,
    /// Whether it is held to the codes of this program.
    pub(crate) strict: bool,
    idle: Mutex<Vec<[Server; 2]>>,
}

/// One process, once it runs.
#[derive(Debug, Default)]
struct Server {
    process: Option<Process>,
    seq: u64,
    asked: Option<Instant>,
}

/// What is asked about a file.
#[derive(Debug, Clone, Copy)]
enum AdapterQuestion<'q> {
    /// What it means, in this format as the adapter spells it.
    Read(&'q str),
    /// What it shows.
    Identify,
}

impl Adapter {
    /// Starts the adapter and shakes hands. Where no dialect is given it is judged in the one that it names.
    pub(crate) fn start(
        command: Command,
        limits: Limits,
        dialect: Option<&'static Dialect>,
    ) -> Result<Self, NotRun> {
        let (process, hello) = started(&command, limits)?;
        let dialect = dialect.or(hello.dialect).unwrap_or(&ALL[0]);
        let transcripts =
            Transcripts::new().map_err(|error| NotRun(format!("there is no temporary folder: {error}")))?;
        let first = Server { process: Some(process), ..Server::default() };
        let idle = Mutex::new(vec![[first, Server::default()]]);
        Ok(Self { command, limits, hello, dialect, transcripts, strict: false, idle })
    }

    fn take(&self) -> [Server; 2] {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop().unwrap_or_default()
    }

    fn put_back(&self, servers: [Server; 2]) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(servers);
    }

    /// Asks both of two processes before either is heard, so that both work at the same time.
    fn ask_both(&self, question: AdapterQuestion<'_>, transcript: &[u8]) -> ReadPair {
        let file = match self.transcripts.lay_out(transcript) {
            Ok(file) => file,
            Err(error) => return ReadPair::nothing(&format!("no file can be laid out for it: {error}")),
        };
        let mut servers = self.take();
        let asked = servers.each_mut().map(|server| server.ask(self, question, file.path()));
        let [one, two] = &mut servers;
        let [first, second] = asked;
        let heard = [one.answer(first), two.answer(second)];
        self.put_back(servers);
        read_pair(&file, heard)
    }
}

impl Importer for Adapter {
    fn name(&self) -> &str {
        &self.hello.name
    }

    fn version(&self) -> &str {
        &self.hello.version
    }

    fn level(&self) -> Level {
        self.hello.level
    }

    fn dialect(&self) -> &str {
        self.dialect.name
    }

    fn strict_codes(&self) -> bool {
        self.strict
    }

    fn reads(&self, format: &str) -> bool {
        spelling(&self.hello, format).is_some()
    }

    fn read(&self, format: &str, transcript: &[u8]) -> Answer {
        self.read_twice(format, transcript).answers[0].clone()
    }

    fn read_twice(&self, format: &str, transcript: &[u8]) -> ReadPair {
        self.ask_both(AdapterQuestion::Read(spelling(&self.hello, format).unwrap_or(format)), transcript)
    }

    fn identifies(&self) -> bool {
        self.hello.identify
    }

    fn identify(&self, recording: &[u8]) -> Answer {
        self.identify_twice(recording).answers[0].clone()
    }

    fn identify_twice(&self, recording: &[u8]) -> ReadPair {
        self.ask_both(AdapterQuestion::Identify, recording)
    }

    fn stop(&self) -> Option<String> {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        let running = idle.into_iter().flatten().filter_map(|server| server.process);
        let stubborn = thread::scope(|scope| {
            let stopping: Vec<_> = running.map(|process| scope.spawn(move || process.stop(STOP))).collect();
            stopping.into_iter().filter_map(|it| it.join().ok()).filter(|stopped| !stopped).count()
        });
        (stubborn > 0).then(|| {
            let name = &self.hello.name;
            format!("{name} ran on after {STOP} and had to be killed; end the program at that line")
        })
    }
}

impl Program for Adapter {
    fn formats(&self) -> Option<&[String]> {
        Some(&self.hello.formats)
    }

    fn ask(&self, format: &str, file: &Path) -> Reply {
        let mut servers = self.take();
        let format = spelling(&self.hello, format).unwrap_or(format);
        let asked = servers[0].ask(self, AdapterQuestion::Read(format), file);
        let since = servers[0].asked.unwrap_or_else(Instant::now);
        let (answer, said) = servers[0].answer(asked);
        let took = since.elapsed();
        let peak = servers[0].process.as_mut().and_then(Process::peak);
        self.put_back(servers);
        Reply { answer, said, took, peak }
    }

    fn restart(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Two answers about one file, with what the program said besides, free of the file's name.
pub(super) fn read_pair(file: &Transcript, heard: [(Answer, String); 2]) -> ReadPair {
    let anonymized = |answer| match answer {
        Answer::Rejection { code, message } => Answer::Rejection { code, message: file.anonymized(&message) },
        Answer::Unsupported { why } => Answer::Unsupported { why: file.anonymized(&why) },
        Answer::Broken { how, message } => Answer::Broken { how, message: file.anonymized(&message) },
        other => other,
    };
    let [(first, said), (second, said_again)] = heard;
    let said = if said.is_empty() { said_again } else { said };
    ReadPair { answers: [anonymized(first), anonymized(second)], said: file.anonymized(&said) }
}

impl Server {
    /// Sends the question to the process, which is started if none runs.
    fn ask(
        &mut self,
        adapter: &Adapter,
        question: AdapterQuestion<'_>,
        file: &Path,
    ) -> Result<(), BrokenAnswer> {
        self.seq += 1;
        self.asked = Some(Instant::now());
        let process = match &mut self.process {
            Some(process) => process,
            None => {
                let (process, hello) = started(&adapter.command, adapter.limits).map_err(|NotRun(why)| {
                    BrokenAnswer::new(FailureKind::Crash, format!("it could not be started again: {why}"))
                })?;
                if hello != adapter.hello {
                    let message = "after its restart, its handshake differs from the first one";
                    return Err(BrokenAnswer::new(FailureKind::Garbled, message));
                }
                // The start has a deadline of its own.
                self.asked = Some(Instant::now());
                self.process.insert(process)
            }
        };
        if let Some(line) = process.unsolicited() {
            let message = format!("it spoke before it was asked: {}", protocol::shown(&line));
            return Err(BrokenAnswer::new(FailureKind::Garbled, message));
        }
        process.clear_stderr();
        let path = file.to_string_lossy();
        process.send(&match question {
            AdapterQuestion::Read(format) => protocol::read(self.seq, format, &path),
            AdapterQuestion::Identify => protocol::identify(self.seq, &path),
        })
    }

    /// Waits for the answer. After a failure the state of the process is unknown, so it is dropped.
    fn answer(&mut self, asked: Result<(), BrokenAnswer>) -> (Answer, String) {
        let (seq, since) = (self.seq, self.asked.unwrap_or_else(Instant::now));
        let Some(process) = &mut self.process else {
            let BrokenAnswer { how, message } =
                asked.err().unwrap_or_else(|| BrokenAnswer::new(FailureKind::Crash, "it is gone"));
            return (Answer::Broken { how, message }, String::new());
        };
        let answer = asked.and_then(|()| process.line(since)).and_then(|line| {
            protocol::answer(&line, Some(seq)).map_err(|why| BrokenAnswer::new(FailureKind::Garbled, why))
        });
        match answer {
            Ok(answer) => (answer, process.stderr_tail()),
            Err(fault) => {
                let said = process.end_and_stderr();
                self.process = None;
                (fault.into(), said)
            }
        }
    }
}

/// A new process after its handshake.
fn started(command: &Command, limits: Limits) -> Result<(Process, Handshake), NotRun> {
    let mut process = Process::start(command, command.bare(), limits, Output::Lines)?;
    let shaken = process
        .send(START)
        .and_then(|()| process.line(Instant::now()))
        .map_err(|fault| fault.message)
        .and_then(|line| {
            Handshake::parse(&line).and_then(readable).map_err(|why| format!("{why} (its answer to {START})"))
        });
    match shaken {
        Ok(hello) => Ok((process, hello)),
        Err(why) => {
            let said = with_stderr(why, &process.end_and_stderr());
            Err(NotRun(format!("the adapter `{}`: handshake failed: {said}", command.text())))
        }
    }
}

/// A handshake whose formats exist.
fn readable(hello: Handshake) -> Result<Handshake, String> {
    let known = || formats::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    if hello.formats.is_empty() {
        return Err(format!("`formats` is empty, so there is nothing to read; there are {}", known()));
    }
    match hello.formats.iter().find(|name| formats::find(name).is_none()) {
        Some(unknown) => {
            Err(format!("`formats` names `{unknown}`, which does not exist; there are {}", known()))
        }
        None => Ok(hello),
    }
}

/// The adapter's own name for a format, where it reads it.
fn spelling<'h>(hello: &'h Handshake, format: &str) -> Option<&'h str> {
    let wanted = formats::find(format)?;
    let same = |name: &&String| formats::find(name).is_some_and(|format| format.name == wanted.name);
    hello.formats.iter().find(same).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::{readable, spelling};
    use verdict::answer::Level;
    use verdict::protocol::Handshake;

    fn hello(formats: &[&str]) -> Handshake {
        let formats = formats.iter().map(|name| (*name).to_owned()).collect();
        Handshake {
            name: "a".into(),
            version: "2".into(),
            level: Level::Calls,
            formats,
            dialect: None,
            identify: false,
        }
    }

    #[test]
    fn a_format_is_asked_for_in_the_adapters_own_words() {
        let hello = readable(hello(&["sse-legacy", "har"])).unwrap();
        assert_eq!(spelling(&hello, "http-sse"), Some("sse-legacy"));
        assert_eq!(spelling(&hello, "inspector"), None);
    }

    #[test]
    fn formats_that_do_not_exist_are_refused_by_name() {
        for (formats, part) in [
            (&["har", "pcap"][..], "`pcap`, which does not exist; there are jsonrpc"),
            (&[], "`formats` is empty, so there is nothing to read; there are jsonrpc"),
        ] {
            let why = readable(hello(formats)).unwrap_err();
            assert!(why.contains(part), "{part} is missing in: {why}");
        }
    }
}
