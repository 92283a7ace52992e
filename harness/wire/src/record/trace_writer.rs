//! The writing end of a recording: takes what was seen, and writes it down line by line whenever nothing more waits.
//!
//! Memory: a block, and the two unfinished lines; longer lines wait in a temporary file beside the recording.

use super::intake::{Content, Intake, IntakeItem, index};
use super::line_writer::LineWriter;
use super::long_line::LongLine;
use crate::Notify;
use crate::files::Growing;
use crate::queue::{NextItem, Queue};
use crate::stdio::{HELD, LineSplitter, Piece};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use transcript::json::write_string;
use transcript::session::Side;

/// How much is gathered before it is written, while more waits.
const BLOCK: usize = 256 << 10;

/// How long the writer waits for something to do at a time.
const IDLE: Duration = Duration::from_secs(3600);

/// A longer line cannot be redacted, which needs all of it at hand, and is left out.
const REDACTED: usize = 16 << 20;

/// How much of a long line is copied at a time: whole groups of Base64.
const COPIED: usize = 3 << 16;

/// What is said of a file that is shorter than it was.
const CUT: &str = "was cut by another program";

/// What a recording came to.
#[derive(Debug, Default)]
pub struct Summary {
    /// Lines of the client and of the server that are not in the file.
    pub missing: [u64; 2],
    /// What was in the way first.
    pub trouble: Option<String>,
    /// Whether the file has its last line.
    pub ended: bool,
    /// Whether the file was given up with more to write, so that nobody knows what is missing.
    pub given_up: bool,
}

pub(super) struct TraceWriter {
    pub(super) intake: Arc<Intake>,
    pub(super) output: Growing,
    pub(super) path: PathBuf,
    pub(super) notify: Arc<dyn Notify>,
    pub(super) started: i64,
    pub(super) writer: LineWriter,
    /// The first line.
    pub(super) meta: Vec<u8>,
    /// Whether it is in the file.
    pub(super) begun: bool,
    /// How many lines are.
    pub(super) written: [u64; 2],
    pub(super) sides: [Incoming; 2],
    pub(super) block: Block,
    pub(super) summary: Summary,
    /// Lines that are missing where the file ends now.
    pub(super) gap: [u64; 2],
}

/// One side's bytes.
#[derive(Default)]
pub(super) struct Incoming {
    splitter: LineSplitter,
    long: Option<Spool>,
}

/// Whole lines that are not yet written.
#[derive(Default)]
pub(super) struct Block {
    text: Vec<u8>,
    since: i64,
    lines: [u64; 2],
}

/// A line that is too long to be held.
struct Spool {
    long: LongLine,
    file: io::Result<File>,
    /// How much more may come.
    room: usize,
}

impl TraceWriter {
    /// Writes down what comes, to the end of the session.
    pub(super) fn run(mut self) -> Summary {
        self.flush();
        loop {
            let item = match self.intake.queue.next(Duration::ZERO) {
                NextItem::Item(item) => item,
                _ => {
                    self.flush();
                    match self.intake.queue.next(IDLE) {
                        NextItem::Item(item) => item,
                        NextItem::Nothing => continue,
                        NextItem::Closed => break,
                    }
                }
            };
            self.take(&item);
            if self.block.text.len() >= BLOCK {
                self.flush();
            }
        }
        let time = self.intake.time();
        for side in [Side::Client, Side::Server] {
            self.take(&IntakeItem { side, time, content: Content::Ended });
        }
        self.flush();
        self.writer.end(time, self.started, self.intake.how_it_ended(), &mut self.block.text);
        self.block.since = time;
        self.summary.ended = self.flush();
        self.summary
    }

    fn take(&mut self, item: &IntakeItem) {
        let at = index(item.side);
        let mut splitter = std::mem::take(&mut self.sides[at].splitter);
        let mut sink = |piece: Piece<'_>| self.piece(item, piece);
        match &item.content {
            Content::Bytes(bytes) => splitter.take(bytes, &mut sink),
            Content::Ended => splitter.finish(&mut sink),
            Content::Gap(gap) => {
                let lost = splitter.gap(*gap, &mut sink);
                self.flush();
                self.lost(item.side, lost, "the file could not keep up with the traffic");
            }
        }
        self.sides[at].splitter = splitter;
    }

    fn piece(&mut self, item: &IntakeItem, piece: Piece<'_>) {
        let at = index(item.side);
        match piece {
            Piece::Line(line, _) => {
                if self.block.text.is_empty() {
                    self.block.since = item.time;
                }
                self.block.lines[at] += 1;
                self.writer.line(item.time, item.side, line, &mut self.block.text);
            }
            Piece::Part(part) => {
                let path = &self.path;
                let room = if self.writer.redaction.is_asked() { REDACTED } else { usize::MAX };
                let spool = self.sides[at].long.get_or_insert_with(|| Spool::beside(path, room));
                spool.long.feed(part);
                self.intake.queue.in_file(|| spool.keep(part));
            }
            Piece::LongEnds(_) => {
                if let Some(spool) = self.sides[at].long.take() {
                    self.flush();
                    self.long(item, spool);
                }
            }
            // It is counted with the gap.
            Piece::LongLost => self.sides[at].long = None,
        }
    }

    /// Writes what has been gathered. Whether it is in the file.
    fn flush(&mut self) -> bool {
        self.writer.blanks(&mut self.block.text);
        if self.block.text.is_empty() && self.begun {
            return true;
        }
        let head = self.head(self.block.since);
        let (output, text) = (&mut self.output, &self.block.text);
        let done = self.intake.queue.in_file(|| {
            output.append(|file| {
                if !head.is_empty() {
                    file.write_all(&head)?;
                }
                file.write_all(text)
            })
        });
        let lines = std::mem::take(&mut self.block.lines);
        self.block.text.clear();
        self.block.text.shrink_to(HELD);
        self.settle(done, lines)
    }

    /// What must precede the next line: the first line of the file, and what is missing.
    fn head(&mut self, time: i64) -> Vec<u8> {
        let mut head = Vec::new();
        if let Some(end) = self.output.cut() {
            // How many of them are left in half a file is not known.
            let [client, server] = std::mem::take(&mut self.written);
            self.lost(Side::Client, client, CUT);
            self.lost(Side::Server, server, CUT);
            self.begun = end > 0;
            head.extend(self.begun.then_some(b'\n'));
        }
        if !self.begun {
            head.extend_from_slice(&self.meta);
        }
        if self.gap != [0; 2] {
            self.writer.gap(time, self.gap, &mut head);
        }
        head
    }

    fn settle(&mut self, done: io::Result<()>, lines: [u64; 2]) -> bool {
        match done {
            Ok(()) => {
                self.begun = true;
                self.gap = [0; 2];
                (0..2).for_each(|at| self.written[at] += lines[at]);
                true
            }
            Err(error) => {
                self.lost(Side::Client, lines[0], &error.to_string());
                self.lost(Side::Server, lines[1], &error.to_string());
                false
            }
        }
    }

    fn lost(&mut self, side: Side, lines: u64, why: &str) {
        let at = index(side);
        self.gap[at] += lines;
        self.summary.missing[at] += lines;
        if self.summary.trouble.is_none() {
            let path = self.path.display();
            let what = if why == CUT { why.to_owned() } else { format!("cannot be written: {why}") };
            self.notify
                .error(&format!("{path} {what}; the session continues, and missing lines are counted"));
            self.summary.trouble = Some(why.to_owned());
        }
    }

    fn long(&mut self, item: &IntakeItem, spool: Spool) {
        let (time, side) = (item.time, item.side);
        let mut head = self.head(time);
        let mut lines = [0; 2];
        lines[index(side)] = 1;
        let Spool { long, file, .. } = spool;
        let (queue, output, writer) = (&self.intake.queue, &mut self.output, &mut self.writer);
        let kept = queue.in_file(|| file.and_then(|mut kept| kept.rewind().map(|()| kept)));
        let done = kept.and_then(|mut kept| {
            if writer.redaction.is_asked() {
                let mut line = Vec::new();
                queue.in_file(|| kept.read_to_end(&mut line))?;
                // This program's own work, which the end of a session waits for.
                writer.line(time, side, &line, &mut head);
                return queue.in_file(|| {
                    output.append(|file| {
                        copy(&mut &head[..], file, queue, |part, out| out.extend_from_slice(part))
                    })
                });
            }
            let is_message = long.is_message(InFile(queue, &kept));
            queue.in_file(|| kept.rewind())?;
            let (spell, end): (Spell, &[u8]) = if is_message {
                writer.message_head(time, side, None, &mut head);
                (on_one_line, b"}\n")
            } else {
                writer.noise_head(time, side, &mut head);
                head.extend_from_slice(if long.is_text() { b"\"text\":\"" } else { b"\"base64\":\"" });
                (if long.is_text() { in_string } else { in_base64 }, b"\"}}\n")
            };
            queue.in_file(|| {
                output.append(|file| {
                    file.write_all(&head)?;
                    copy(&mut kept, file, queue, spell)?;
                    file.write_all(end)
                })
            })
        });
        self.settle(done, lines);
    }
}

impl Spool {
    fn beside(path: &Path, room: usize) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile());
        Self { long: LongLine::default(), file, room }
    }

    fn keep(&mut self, part: &[u8]) {
        let Ok(file) = &mut self.file else { return };
        let kept = match self.room.checked_sub(part.len()) {
            Some(room) => {
                self.room = room;
                file.write_all(part)
            }
            None => Err(io::Error::other("a line of more than 16 MiB cannot be redacted and is left out")),
        };
        if let Err(error) = kept {
            // Its room is free at once.
            self.file = Err(error);
        }
    }
}

/// A file that is read in its own time, and not in this program's.
struct InFile<'w>(&'w Queue<IntakeItem>, &'w File);

impl Read for InFile<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.in_file(|| self.1.read(out))
    }
}

/// Appends a part of a long line as the trace has it.
type Spell = fn(&[u8], &mut Vec<u8>);

/// A carriage return can only be between two tokens, and some readers end a line there.
fn on_one_line(part: &[u8], out: &mut Vec<u8>) {
    out.extend(part.iter().map(|&byte| if byte == b'\r' { b' ' } else { byte }));
}

fn in_string(part: &[u8], out: &mut Vec<u8>) {
    write_string(part, out);
    out.remove(0);
    out.pop();
}

fn in_base64(part: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(STANDARD.encode(part).as_bytes());
}

/// Copies what `from` holds, each part as `spell` has it.
fn copy(from: &mut impl Read, to: &mut File, queue: &Queue<IntakeItem>, spell: Spell) -> io::Result<()> {
    let (mut part, mut out) = (Vec::with_capacity(COPIED), Vec::new());
    loop {
        part.clear();
        from.take(COPIED as u64).read_to_end(&mut part)?;
        if part.is_empty() {
            return Ok(());
        }
        out.clear();
        spell(&part, &mut out);
        to.write_all(&out)?;
        queue.progress();
    }
}

#[cfg(test)]
mod tests {
    use super::super::line_writer::LineWriter;
    use crate::redaction::Redaction;
    use transcript::session::Side;

    #[test]
    fn the_head_of_long_noise_is_that_of_short_noise() {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        let mut writer = LineWriter::new(Redaction::default());
        writer.noise(0, Side::Client, b"x", &mut short);
        writer.noise_head(0, Side::Client, &mut long);
        long.extend_from_slice(b"\"text\":\"x\"}}\n");
        assert_eq!(short, long);
    }
}
