//! A running program under test: lines in and out, deadlines, limits on memory and output, and the tail of its stderr.

use super::command::Command;
use super::program::{BrokenAnswer, Limits, NotRun};
use crate::interrupt;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use verdict::answer::FailureKind;
use verdict::protocol::shown;
use wire::group;

/// How often a slow program is checked.
const TICK: Duration = Duration::from_millis(50);

/// How long a program may take to end once it has closed its output or was told to stop.
const GRACE: Duration = Duration::from_secs(1);

/// How many bytes of the end of the standard error are kept.
const TAIL: usize = 2 << 10;

/// A program that runs, in a process group of its own. The group is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Piece>,
    errors: Arc<Mutex<Vec<u8>>>,
    errors_end: Receiver<()>,
    limits: Limits,
    /// The most memory that the group was seen to hold.
    peak: Option<u64>,
    looked: Option<Instant>,
    /// How it ended. From then on its number may belong to another process.
    status: Option<ExitStatus>,
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
        group::lead(&mut start);
        let mut child = start.spawn().map_err(|error| command.refused(&error))?;
        let (lines, output) = sync_channel(1);
        let (ended, errors_end) = sync_channel(1);
        let errors = Arc::new(Mutex::new(Vec::new()));
        // Nobody waits for these threads: a process that left the group may hold the pipes open for ever.
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || match wanted {
                Output::Lines => split(stdout, limits.output, &lines),
                Output::Whole => parts(stdout, &lines),
            });
        }
        if let Some(stderr) = child.stderr.take() {
            let tail = Arc::clone(&errors);
            thread::spawn(move || {
                keep_tail(stderr, &tail);
                let _ = ended.send(());
            });
        }
        let input = child.stdin.take();
        Ok(Self { child, input, output, errors, errors_end, limits, peak: None, looked: None, status: None })
    }

    /// Writes a line to its standard input.
    pub(super) fn send(&mut self, line: &str) -> Result<(), BrokenAnswer> {
        let text = format!("{line}\n");
        match self.input.as_mut().map(|input| input.write_all(text.as_bytes())) {
            Some(Ok(())) => Ok(()),
            _ => Err(self.crashed("closed its standard input")),
        }
    }

    /// Forgets what it wrote to its standard error so far.
    pub(super) fn clear_stderr(&self) {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The end of what it wrote to its standard error.
    pub(super) fn stderr_tail(&self) -> String {
        let tail = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).trim().to_owned()
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

    /// Looks at the memory that the group holds, where that is wanted.
    fn look(&mut self) {
        if self.limits.watched && self.status.is_none() {
            self.peak = self.peak.max(group::peak(&self.child));
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
                Err(BrokenAnswer::new(FailureKind::Garbled, format!("it went on after its answer: {more}")))
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
        while !group::exited(&mut self.child) {
            if since.elapsed() > self.limits.timeout {
                return Err(self.timed_out());
            }
            thread::sleep(Duration::from_millis(1));
        }
        let status = self.end().map_err(|error| BrokenAnswer::new(FailureKind::Crash, error.to_string()))?;
        Ok((all, status))
    }

    /// Tells it to stop, and waits for a while. Whether it did.
    pub(super) fn stop(mut self, line: &str) -> bool {
        let told = self.send(line).is_ok();
        self.input = None;
        told && self.ends_within(GRACE)
    }

    fn piece(&mut self, since: Instant) -> Result<Piece, BrokenAnswer> {
        let mut exited = false;
        loop {
            let left = self.limits.timeout.saturating_sub(since.elapsed());
            let piece = self.output.recv_timeout(left.min(TICK));
            // A look costs as much as many lines.
            if self.looked.is_none_or(|last| last.elapsed() > TICK) {
                self.look();
            }
            match piece {
                Ok(piece) => return Ok(piece),
                // A child of it may hold its output open, so that its end is never seen.
                Err(RecvTimeoutError::Disconnected) => return Ok(Piece::Rest(Vec::new())),
                Err(RecvTimeoutError::Timeout) if exited => return Ok(Piece::Rest(Vec::new())),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt::requested() {
                group::kill(&mut self.child);
                return Err(BrokenAnswer::new(FailureKind::Crash, "it was interrupted"));
            }
            exited = group::exited(&mut self.child);
            if let Some(used) = group::resident(&self.child).filter(|used| *used > self.limits.memory) {
                group::kill(&mut self.child);
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
        group::kill(&mut self.child);
        let seconds = self.limits.timeout.as_secs_f64();
        BrokenAnswer::new(FailureKind::Timeout, format!("no answer within {seconds} s (--timeout)"))
    }

    fn too_long(&mut self, head: &[u8]) -> BrokenAnswer {
        group::kill(&mut self.child);
        let allowed = mebibytes(self.limits.output);
        BrokenAnswer::new(
            FailureKind::Garbled,
            format!("an answer of more than {allowed}, which begins {}", shown(head)),
        )
    }

    /// It stopped listening or talking: how it died, or that it runs on.
    fn crashed(&mut self, what: &str) -> BrokenAnswer {
        if !self.ends_within(GRACE) {
            return BrokenAnswer::new(FailureKind::Crash, format!("it {what} and ran on"));
        }
        match self.end() {
            Ok(status) => {
                BrokenAnswer::new(FailureKind::Crash, format!("it ended without an answer ({status})"))
            }
            Err(error) => {
                BrokenAnswer::new(FailureKind::Crash, format!("it ended without an answer ({error})"))
            }
        }
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let since = Instant::now();
        while !group::exited(&mut self.child) {
            if since.elapsed() > time {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Ends the group, and gives the leader's status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        group::kill(&mut self.child);
        let status = self.child.wait()?;
        self.status = Some(status);
        // The last words of a dying program are worth reading.
        let _ = self.errors_end.recv_timeout(TICK * 2);
        Ok(status)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
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

fn keep_tail(mut stderr: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut chunk) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&chunk[..count]);
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }
}
