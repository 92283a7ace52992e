//! A program under test as an importer: an adapter, which speaks protocol 1 over processes that are kept, and restarted when they
//! fail; or a one-shot command, which is a process for each answer.
//!
//! Each transcript is given to two processes, and by an adapter to both at once, so that state that one of them keeps shows as
//! instability. With a one-shot command nothing is agreed beforehand, so its level and its formats are seen from its answers to
//! transcripts of our own, and its version is unknown.

use super::command::Command;
use super::handshake::{readable, spelling};
use super::process::{Output, Process};
use super::program::{BrokenAnswer, Limits, NotRun, Reply, with_stderr};
use super::sample::good;
use super::transcripts::{Transcript, Transcripts};
use crate::exit;
use mcp_concord_suite::importer::{Importer, ReadPair};
use mcp_concord_suite::{Format as CaptureFormat, Reading, Rejection, reading};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use transcript::dialect::{ALL, Dialect};
use verdict::answer::{Answer, FailureKind, Level};
use verdict::protocol::{self, Handshake, START, STOP};

/// The exit code of a rejection.
const REJECTED: i32 = exit::REJECTED as i32;

/// A program under test.
#[derive(Debug)]
pub(crate) struct Adapter {
    command: Command,
    limits: Limits,
    /// What it says of itself, or what its first answers show.
    hello: Handshake,
    dialect: &'static Dialect,
    transcripts: Transcripts,
    /// Whether it is held to the codes of this program.
    pub(crate) strict: bool,
    /// Whether it is a command that is started for each answer.
    one_shot: bool,
    /// The processes that are idle.
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
        let adapter = Self::new(command, limits, dialect.or(hello.dialect), hello)?;
        adapter.idle().push([Server { process: Some(process), ..Server::default() }, Server::default()]);
        Ok(adapter)
    }

    /// Takes a one-shot command, and tries it on a transcript of each format, which shows its level and what it does not read.
    pub(crate) fn one_shot(
        command: Command,
        limits: Limits,
        dialect: Option<&'static Dialect>,
    ) -> Result<Self, NotRun> {
        let hello = Handshake {
            name: command.name().to_owned(),
            version: "unknown".to_owned(),
            level: Level::Events,
            formats: formats::FORMATS.iter().map(|format| format.name.to_owned()).collect(),
            dialect: None,
            identify: false,
        };
        let mut once = Self { one_shot: true, ..Self::new(command, limits, dialect, hello)? };
        let mut answered = false;
        for format in formats::written() {
            let Ok(file) = once.transcripts.lay_out(&good(format)) else { continue };
            match once.once(format.name, file.path())?.answer {
                Answer::Unsupported { .. } => once.hello.formats.retain(|name| name != format.name),
                // The first answer shows the level; it is to be the same in all formats.
                Answer::Calls(_) if !answered => (once.hello.level, answered) = (Level::Calls, true),
                Answer::Meaning(_) => answered = true,
                _ => {}
            }
        }
        Ok(once)
    }

    fn new(
        command: Command,
        limits: Limits,
        dialect: Option<&'static Dialect>,
        hello: Handshake,
    ) -> Result<Self, NotRun> {
        let dialect = dialect.unwrap_or(&ALL[0]);
        let transcripts =
            Transcripts::new().map_err(|error| NotRun(format!("there is no temporary folder: {error}")))?;
        let (strict, one_shot, idle) = (false, false, Mutex::default());
        Ok(Self { command, limits, hello, dialect, transcripts, strict, one_shot, idle })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<[Server; 2]>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The formats that it says it reads, as it spells them; none where it says nothing.
    pub(super) fn formats(&self) -> Option<&[String]> {
        (!self.one_shot).then_some(&self.hello.formats)
    }

    /// One answer, with what it cost.
    pub(crate) fn ask(&self, format: &str, file: &Path) -> Reply {
        let format = spelling(&self.hello, format).unwrap_or(format);
        if self.one_shot {
            return self.once(format, file).unwrap_or_else(|NotRun(why)| Reply {
                answer: BrokenAnswer::new(FailureKind::Crash, why).into(),
                said: String::new(),
                took: Duration::ZERO,
                worked: None,
                peak: None,
            });
        }
        let mut servers = self.idle().pop().unwrap_or_default();
        let worked = |server: &Server| server.process.as_ref().and_then(Process::processor_time);
        let before = worked(&servers[0]).unwrap_or_default();
        let asked = servers[0].ask(self, AdapterQuestion::Read(format), file);
        let since = servers[0].asked.unwrap_or_else(Instant::now);
        let (answer, said) = servers[0].answer(asked);
        let took = since.elapsed();
        let worked = worked(&servers[0]).map(|after| after.saturating_sub(before));
        let peak = servers[0].process.as_mut().and_then(Process::peak);
        self.idle().push(servers);
        Reply { answer, said, took, worked, peak }
    }

    /// Forgets what runs: the next answer comes from a process that has seen nothing.
    pub(crate) fn restart(&self) {
        self.idle().clear();
    }

    /// Asks both of two processes before either is heard, so that both work at the same time.
    fn ask_both(&self, question: AdapterQuestion<'_>, transcript: &[u8]) -> ReadPair {
        let file = match self.transcripts.lay_out(transcript) {
            Ok(file) => file,
            Err(error) => return ReadPair::nothing(&format!("no file can be written for it: {error}")),
        };
        if let AdapterQuestion::Read(format) = question
            && self.one_shot
        {
            let [one, two] = [(); 2].map(|()| self.ask(format, file.path()));
            return read_pair(&file, [(one.answer, one.said), (two.answer, two.said)]);
        }
        let mut servers = self.idle().pop().unwrap_or_default();
        let [first, second] = servers.each_mut().map(|server| server.ask(self, question, file.path()));
        let [one, two] = &mut servers;
        let heard = [one.answer(first), two.answer(second)];
        self.idle().push(servers);
        read_pair(&file, heard)
    }

    /// Runs a one-shot command on a file.
    fn once(&self, format: &str, file: &Path) -> Result<Reply, NotRun> {
        let since = Instant::now();
        let mut process =
            Process::start(&self.command, self.command.filled(file, format), self.limits, Output::Whole)?;
        let all = process.all();
        let (took, peak) = (since.elapsed(), process.peak());
        let said = process.end_and_stderr();
        let answer = all.and_then(|(output, status)| match status.code() {
            Some(0) if output.trim_ascii().is_empty() => {
                Err(BrokenAnswer::new(FailureKind::Garbled, "it printed nothing and exited with 0"))
            }
            Some(0) => {
                protocol::answer(&output, None).map_err(|why| BrokenAnswer::new(FailureKind::Garbled, why))
            }
            Some(REJECTED) => rejection(&output, &said),
            _ => {
                let why = format!("{status}; 0 means an answer, and {REJECTED} a rejection");
                Err(BrokenAnswer::new(FailureKind::Crash, why))
            }
        });
        Ok(Reply { answer: answer.unwrap_or_else(Answer::from), said, took, worked: None, peak })
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

    fn reads(&self, format: CaptureFormat) -> bool {
        spelling(&self.hello, format.name()).is_some()
    }

    fn read(&self, format: CaptureFormat, transcript: &[u8]) -> Result<Reading, Rejection> {
        reading(self.read_twice(format, transcript).answers[0].clone())
    }

    fn read_twice(&self, format: CaptureFormat, transcript: &[u8]) -> ReadPair {
        let format = format.name();
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
        let idle = std::mem::take(&mut *self.idle());
        let running = idle.into_iter().flatten().filter_map(|server| server.process);
        let stubborn = thread::scope(|scope| {
            let stopping: Vec<_> = running.map(|process| scope.spawn(move || process.stop(STOP))).collect();
            stopping.into_iter().filter_map(|it| it.join().ok()).filter(|stopped| !stopped).count()
        });
        (stubborn > 0).then(|| {
            let name = &self.hello.name;
            format!("{name} kept running after {STOP} and had to be killed; exit when that line comes")
        })
    }
}

/// Two answers about one file, with what the program said besides, free of the file's name.
fn read_pair(file: &Transcript, heard: [(Answer, String); 2]) -> ReadPair {
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
            let message = format!("it wrote something before it was asked: {}", protocol::shown(&line));
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
            let BrokenAnswer { how, message } = asked
                .err()
                .unwrap_or_else(|| BrokenAnswer::new(FailureKind::Crash, "it is no longer running"));
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

/// The answer that exit code 65 means: the rejection on stdout, or else the last words of stdout or stderr.
fn rejection(output: &[u8], said: &str) -> Result<Answer, BrokenAnswer> {
    match protocol::answer(output, None) {
        Ok(rejection @ Answer::Rejection { .. }) => Ok(rejection),
        Ok(other) => {
            let message = format!("it exited with {REJECTED}, a rejection, and printed {}", other.in_words());
            Err(BrokenAnswer::new(FailureKind::Garbled, message))
        }
        Err(_) => {
            let words = protocol::shown(output);
            let words =
                if words.trim().is_empty() { said.lines().last().unwrap_or_default() } else { &words };
            Ok(Answer::Rejection { code: None, message: words.to_owned() })
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
