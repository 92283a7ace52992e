//! A running program under test: lines in and out, deadlines, limits on memory and output, and the tail of its stderr.

use super::command::Command;
use super::program::{BrokenAnswer, Limits, NotRun};
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use verdict::answer::FailureKind;
use verdict::protocol::shown;
use wire::group::Group;
use wire::{Stderr, interrupt};

/// How often a slow program is checked.
const TICK: Duration = Duration::from_millis(50);

/// How long a program may take to end once it has closed its output or was asked to stop.
const GRACE: Duration = Duration::from_secs(1);

/// How many bytes of the end of the standard error are kept.
const TAIL: usize = 2 << 10;

/// A program that runs, in a process group of its own. The group is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    group: Group,
    input: Option<ChildStdin>,
    output: Receiver<Piece>,
    stderr: Option<Stderr>,
    limits: Limits,
    /// The most memory that the group was seen to hold.
    peak: Option<u64>,
    looked: Option<Instant>,
}

/// How its output is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// Line by line, as a long-lived adapter answers.
    Lines,
    /// As one answer, whatever lines it has.
    Whole,
}

/// A piece of its output.
#[derive(Debug)]
enum Piece {
    /// A part of the one answer.
    Part(Vec<u8>),
    /// A line, and whether more followed at once.
    Line(Vec<u8>, bool),
    /// The rest, which no line feed ends.
    Rest(Vec<u8>),
    /// The beginning of a line that is longer than allowed.
    TooLong(Vec<u8>),
}

impl Process {
    /// Starts `start`, which was made from `command`.
    pub(super) fn start(
        command: &Command,
        mut start: std::process::Command,
        limits: Limits,
        wanted: Output,
    ) -> Result<Self, NotRun> {
        start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(&mut start).map_err(|error| command.refused(&error))?;
        let leader = group.leader();
        let (lines, output) = sync_channel(1);
        // Nobody waits for this thread: a process that left the group may hold the pipe open for ever.
        if let Some(stdout) = leader.stdout.take() {
            thread::spawn(move || match wanted {
                Output::Lines => split(stdout, limits.output, &lines),
                Output::Whole => parts(stdout, &lines),
            });
        }
        let stderr = leader.stderr.take().map(|pipe| Stderr::keep(pipe, 0, TAIL));
        let input = group.take_input().map_err(|error| command.refused(&error))?;
        Ok(Self { group, input, output, stderr, limits, peak: None, looked: None })
    }

    /// Writes a line to its standard input.
    pub(super) fn send(&mut self, line: &str) -> Result<(), BrokenAnswer> {
        let text = format!("{line}\n");
        match self.input.as_mut().map(|input| input.write_all(text.as_bytes())) {
            Some(Ok(())) => Ok(()),
            // A question is shorter than what a pipe takes at once or not at all.
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                self.group.kill();
                Err(BrokenAnswer::new(FailureKind::Timeout, "it answers without reading what it is asked"))
            }
            _ => Err(self.crashed("closed its standard input")),
        }
    }

    /// Forgets what it wrote to its standard error so far.
    pub(super) fn clear_stderr(&self) {
        self.stderr.iter().for_each(Stderr::clear);
    }

    /// The end of what it wrote to its standard error.
    pub(super) fn stderr_tail(&self) -> String {
        self.stderr.as_ref().map(|stderr| stderr.text().trim().to_owned()).unwrap_or_default()
    }

    /// Ends it, and gives the end of its standard error.
    pub(super) fn end_and_stderr(&mut self) -> String {
        let _ = self.end();
        self.stderr_tail()
    }

    /// The most memory that the group was seen to hold.
    pub(super) fn peak(&mut self) -> Option<u64> {
        self.look();
        self.peak
    }

    /// How long processors have worked for the group.
    pub(super) fn processor_time(&self) -> Option<Duration> {
        self.group.processor_time()
    }

    /// Looks at the memory that the group holds, where that is wanted.
    fn look(&mut self) {
        if self.limits.watched {
            self.peak = self.peak.max(self.group.peak());
            self.looked = Some(Instant::now());
        }
    }

    /// A line that nobody asked for.
    pub(super) fn unsolicited(&self) -> Option<Vec<u8>> {
        match self.output.try_recv() {
            Ok(Piece::Line(line, _) | Piece::TooLong(line)) => Some(line),
            // The next question sees its end.
            _ => None,
        }
    }

    /// Its next line, which nothing follows at once.
    pub(super) fn line(&mut self, since: Instant) -> Result<Vec<u8>, BrokenAnswer> {
        match self.piece(since)? {
            Piece::Line(line, false) => Ok(line),
            // What is not an object is not an answer, whatever follows it: it is reported as a banner is.
            Piece::Line(line, true) if !line.trim_ascii_start().starts_with(b"{") => Ok(line),
            Piece::Line(_, true) => {
                let more = match self.output.recv_timeout(TICK) {
                    Ok(
                        Piece::Line(line, _) | Piece::TooLong(line) | Piece::Part(line) | Piece::Rest(line),
                    ) => shown(&line),
                    Err(_) => "half a line".to_owned(),
                };
                Err(BrokenAnswer::new(
                    FailureKind::Garbled,
                    format!("it wrote more after its answer: {more}"),
                ))
            }
            Piece::TooLong(head) => Err(self.too_long(&head)),
            Piece::Part(rest) | Piece::Rest(rest) if rest.is_empty() => {
                Err(self.crashed("closed its standard output"))
            }
            Piece::Part(rest) | Piece::Rest(rest) => {
                let mut fault = self.crashed("closed its standard output");
                fault.message = format!("{}, in the middle of a line: {}", fault.message, shown(&rest));
                Err(fault)
            }
        }
    }

    /// Everything that it writes until it ends, for a program that is started for one answer, and how it ended.
    pub(super) fn all(&mut self) -> Result<(Vec<u8>, ExitStatus), BrokenAnswer> {
        self.input = None;
        let since = Instant::now();
        let mut all = Vec::new();
        loop {
            match self.piece(since)? {
                Piece::Part(part) | Piece::Line(part, _) => all.extend_from_slice(&part),
                Piece::Rest(rest) => {
                    all.extend_from_slice(&rest);
                    break;
                }
                Piece::TooLong(head) => return Err(self.too_long(&head)),
            }
            if all.len() as u64 > self.limits.output {
                return Err(self.too_long(&all));
            }
        }
        if !self.group.exits_within(self.limits.timeout.saturating_sub(since.elapsed())) {
            return Err(self.timed_out());
        }
        let status = self.end().map_err(|error| BrokenAnswer::new(FailureKind::Crash, error.to_string()))?;
        Ok((all, status))
    }

    /// Asks it to stop, and waits for a while. Whether it did.
    pub(super) fn stop(mut self, line: &str) -> bool {
        let sent = self.send(line).is_ok();
        self.input = None;
        sent && self.group.exits_within(GRACE)
    }

    fn piece(&mut self, since: Instant) -> Result<Piece, BrokenAnswer> {
        let mut exited: Option<Instant> = None;
        loop {
            let left = self.limits.timeout.saturating_sub(since.elapsed());
            let piece = self.output.recv_timeout(left.min(TICK));
            // A look costs as much as many lines.
            if self.looked.is_none_or(|last| last.elapsed() > TICK) {
                self.look();
            }
            match piece {
                Ok(piece) => return Ok(piece),
                Err(RecvTimeoutError::Disconnected) => return Ok(Piece::Rest(Vec::new())),
                // A child of it may hold its output open, so that its end is never seen. On a busy machine what it wrote
                // comes a while after its exit.
                Err(RecvTimeoutError::Timeout)
                    if exited.is_some_and(|at| at.elapsed() > GRACE || left.is_zero()) =>
                {
                    return Ok(Piece::Rest(Vec::new()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt::requested() {
                return Err(BrokenAnswer::new(FailureKind::Crash, "it was interrupted"));
            }
            exited = exited.or_else(|| self.group.exited().then(Instant::now));
            if let Some(used) = self.group.resident().filter(|used| *used > self.limits.memory) {
                self.group.kill();
                let (used, allowed) = (mebibytes(used), mebibytes(self.limits.memory));
                let message = format!("it held {used} of memory, and --memory allows {allowed}");
                return Err(BrokenAnswer::new(FailureKind::Crash, message));
            }
            if left.is_zero() {
                return Err(self.timed_out());
            }
        }
    }

    fn timed_out(&mut self) -> BrokenAnswer {
        self.group.kill();
        let seconds = self.limits.timeout.as_secs_f64();
        BrokenAnswer::new(FailureKind::Timeout, format!("no answer within {seconds} s (--timeout)"))
    }

    fn too_long(&mut self, head: &[u8]) -> BrokenAnswer {
        self.group.kill();
        let allowed = mebibytes(self.limits.output);
        BrokenAnswer::new(
            FailureKind::Garbled,
            format!("an answer of more than {allowed}, which begins {}", shown(head)),
        )
    }

    /// It stopped listening or talking: how it died, or that it runs on.
    fn crashed(&mut self, what: &str) -> BrokenAnswer {
        if !self.group.exits_within(GRACE) {
            return BrokenAnswer::new(FailureKind::Crash, format!("it {what} and kept running"));
        }
        let ended = self.end().map_or_else(|error| error.to_string(), |status| status.to_string());
        BrokenAnswer::new(FailureKind::Crash, format!("it ended without an answer ({ended})"))
    }

    /// Ends the group, and gives the leader's status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let status = self.group.end()?;
        self.stderr.iter().for_each(Stderr::wait);
        Ok(status)
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

fn split(stdout: ChildStdout, longest: u64, to: &SyncSender<Piece>) {
    let mut reader = BufReader::with_capacity(64 << 10, stdout);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(longest + 1).read_until(b'\n', &mut line);
        let piece = match read {
            Ok(_) if line.ends_with(b"\n") => Piece::Line(line, !reader.buffer().is_empty()),
            Ok(_) if line.len() as u64 > longest => {
                line.truncate(TAIL);
                Piece::TooLong(line)
            }
            _ => Piece::Rest(line),
        };
        let last = !matches!(piece, Piece::Line(..));
        if to.send(piece).is_err() || last {
            return;
        }
    }
}

fn parts(mut stdout: ChildStdout, to: &SyncSender<Piece>) {
    loop {
        let mut part = vec![0; 64 << 10];
        let piece = match stdout.read(&mut part) {
            Ok(count @ 1..) => {
                part.truncate(count);
                Piece::Part(part)
            }
            _ => Piece::Rest(Vec::new()),
        };
        let last = matches!(piece, Piece::Rest(_));
        if to.send(piece).is_err() || last {
            return;
        }
    }
}
