//! Line by line: what the line formats share.
//!
//! Memory does not grow with the file.

use crate::excerpt::{excerpt, floor};
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use transcript::json::{Json, JsonString, MemberIndex, Scanner};
use transcript::message::{Message, Refusal, resembles_message};
use transcript::rejection::{Code, Position, Rejection};
use transcript::session::{Content, Entry, Location, Noise, Sink, SinkError};

/// One line that is not blank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The line without its end.
    pub(crate) text: &'a str,
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    /// Bytes from the beginning of the file to the line.
    pub(crate) offset: u64,
    /// The file ends with this line, and without a line end: it may be cut off.
    pub(crate) open_ended: bool,
}

impl Line<'_> {
    /// The place of something in the line, by its pointer.
    #[must_use]
    pub(crate) fn location(&self, at: usize, pointer: &'static str) -> Location {
        Location { offset: self.offset + at as u64, line: self.number, root: pointer, index: None, tail: "" }
    }

    /// A refusal with its place in the file; `refusal.at` counts from the beginning of the line.
    #[must_use]
    pub(crate) fn refuse(&self, refusal: Refusal, pointer: &str) -> ReadError {
        let at = floor(self.text, refusal.at.min(self.text.len()));
        let position = Position {
            offset: self.offset + at as u64,
            line: self.number,
            column: 1 + self.text[..at].chars().count() as u64,
            pointer: pointer.to_owned(),
        };
        let Refusal { code, clause, message, .. } = refusal;
        let excerpt = Some(excerpt(self.text, at, false));
        ReadError::Rejected(Box::new(Rejection { code, clause, message, position, excerpt }))
    }

    /// An entry at byte `at` of the line.
    pub(crate) fn entry<'e>(&self, at: usize, pointer: &'static str, content: Content<'e>) -> Entry<'e> {
        Entry::new(self.location(at, pointer), content)
    }

    /// Hands an entry of the line on.
    pub(crate) fn give(&self, entry: Entry<'_>, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        let Location { offset, root, .. } = entry.location;
        let at = usize::try_from(offset.saturating_sub(self.offset)).unwrap_or_default();
        sink(entry).map_err(|error| self.sink_error(error, at, root))
    }

    /// Ends the reading at what is not a message, or hands `text` on as noise in the place of `entry`.
    pub(crate) fn fault(
        &self,
        (why, pointer): (Refusal, &str),
        text: &str,
        entry: Entry<'_>,
        options: ReadOptions,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        if !options.hands_on(&why) {
            return Err(self.refuse(why, pointer));
        }
        let base = usize::try_from(entry.location.offset.saturating_sub(self.offset)).unwrap_or_default();
        let why = Refusal { at: why.at.saturating_sub(base), ..why };
        self.give(Entry { content: Content::Noise(Noise { why, text: text.into() }), ..entry }, sink)
    }

    /// What a sink returned of an entry that begins at byte `base` of the line.
    #[must_use]
    pub(crate) fn sink_error(&self, error: SinkError, base: usize, pointer: &str) -> ReadError {
        match error {
            SinkError::Rejected(refusal) => {
                self.refuse(Refusal { at: base + refusal.at, ..refusal }, pointer)
            }
            SinkError::Stop => ReadError::Stopped,
        }
    }
}

/// The part of a line's reading that needs no other line, and so may be done on any core.
pub(crate) trait Parse {
    /// What a line turns out to be by itself.
    type Parsed<'a>: Send;

    /// Takes one line apart. What is inside of its message may be put behind what is in `index`.
    fn parse<'a>(line: Line<'a>, index: &mut Vec<MemberIndex>) -> Self::Parsed<'a>;
}

/// Below this size a block of lines is not worth a second thread, in bytes.
const WORTH_SHARING: usize = 128 << 10;

/// How many bytes of lines are parsed at a time; each core takes the next such piece that nobody has begun.
const PIECE: usize = 32 << 10;

/// Hands each line that is not blank to `take`, in order, with what `P` made of it, and the index that it put something into.
///
/// The pieces of a block are parsed on two threads and taken on one: a line's JSON is its own, its meaning is not. The
/// thread that takes also parses where the other has not come ahead of it, so that both are busy whatever takes longer.
///
/// # Errors
/// Those of the input, and the first that `take` returns.
pub(crate) fn each<P: Parse>(
    input: &mut Input<'_>,
    mut take: impl FnMut(Line<'_>, P::Parsed<'_>, &[MemberIndex]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let spare = Spare::default();
    let shared = thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let mut number = 1;
    loop {
        // Whole lines first: what stands before a bad byte is read before the bad byte is complained of.
        let more = input.grow();
        let last = matches!(more, Ok(false));
        let text = input.text();
        let whole =
            if last { text.len() } else { memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1) };
        let mut block = Block { rest: &text[..whole], offset: input.offset(), number };
        if shared && whole >= WORTH_SHARING {
            let mut pieces = Vec::new();
            while !block.rest.is_empty() {
                pieces.push(block.split(PIECE));
            }
            number = block.number;
            share::<P>(&pieces, &spare, &mut take)?;
        } else {
            one_by_one::<P>(&mut block, &spare, &mut take)?;
            number = block.number;
        }
        input.consume(whole);
        if !more? {
            return Ok(());
        }
    }
}

/// Indices that are filled again: memory that goes back to the system and comes again costs more than filling it.
#[derive(Default)]
struct Spare(Mutex<Vec<Vec<MemberIndex>>>);

impl Spare {
    /// An empty index.
    fn take(&self) -> Vec<MemberIndex> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.pop().unwrap_or_default()
    }

    fn put_back(&self, mut index: Vec<MemberIndex>) {
        index.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(index);
    }
}

/// Parses each line just before it is taken.
fn one_by_one<'a, P: Parse>(
    block: &mut Block<'a>,
    spare: &Spare,
    take: &mut impl FnMut(Line<'_>, P::Parsed<'_>, &[MemberIndex]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut index = spare.take();
    block.try_for_each(|line| {
        index.clear();
        let parsed = P::parse(line, &mut index);
        take(line, parsed, &index)
    })?;
    spare.put_back(index);
    Ok(())
}

/// The lines of a piece, parsed.
struct Ready<'a, P: Parse> {
    lines: Vec<(Line<'a>, P::Parsed<'a>)>,
    index: Vec<MemberIndex>,
}

fn share<'a, P: Parse>(
    pieces: &[Block<'a>],
    spare: &Spare,
    take: &mut impl FnMut(Line<'_>, P::Parsed<'_>, &[MemberIndex]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let next = AtomicUsize::new(0);
    let begin = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&piece| piece < pieces.len());
    let parse = |piece: usize| -> Ready<'a, P> {
        let piece = pieces[piece];
        // What a line was parsed to is large: better counted first than moved each time the list grows.
        let mut lines = Vec::with_capacity(1 + memchr::memchr_iter(b'\n', piece.rest.as_bytes()).count());
        let mut index = spare.take();
        lines.extend(piece.map(|line| (line, P::parse(line, &mut index))));
        Ready { lines, index }
    };
    let (done, from_there) = mpsc::channel();
    thread::scope(|scope| {
        let helper = scope.spawn(move || {
            while let Some(piece) = begin() {
                // Nobody listens any more where taking has failed.
                if done.send((piece, parse(piece))).is_err() {
                    return;
                }
            }
        });
        let mut ready: Vec<Option<Ready<'a, P>>> = pieces.iter().map(|_| None).collect();
        let mut wanted = 0;
        while wanted < pieces.len() {
            while let Ok((piece, lines)) = from_there.try_recv() {
                ready[piece] = Some(lines);
            }
            if let Some(Ready { lines, index }) = ready[wanted].take() {
                lines.into_iter().try_for_each(|(line, parsed)| take(line, parsed, &index))?;
                spare.put_back(index);
                wanted += 1;
            } else if let Some(piece) = begin() {
                if piece == wanted {
                    one_by_one::<P>(&mut { pieces[piece] }, spare, take)?;
                    wanted += 1;
                } else {
                    ready[piece] = Some(parse(piece));
                }
            } else if let Ok((piece, lines)) = from_there.recv() {
                ready[piece] = Some(lines);
            } else {
                // Only a panic ends the other thread before its work.
                break;
            }
        }
        drop(from_there);
        helper.join().map_err(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lines that wait to be parsed.
#[derive(Clone, Copy)]
struct Block<'a> {
    rest: &'a str,
    offset: u64,
    number: u64,
}

impl<'a> Block<'a> {
    /// Takes whole lines of about `bytes` off the front.
    fn split(&mut self, bytes: usize) -> Self {
        let all = self.rest.as_bytes();
        let at = memchr::memchr(b'\n', &all[bytes.min(all.len())..]).map_or(all.len(), |end| bytes + end + 1);
        let (front, rest) = self.rest.split_at(at);
        let front = Self { rest: front, ..*self };
        self.rest = rest;
        self.offset += at as u64;
        self.number += memchr::memchr_iter(b'\n', front.rest.as_bytes()).count() as u64;
        front
    }
}

impl<'a> Iterator for Block<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        while !self.rest.is_empty() {
            let end = memchr::memchr(b'\n', self.rest.as_bytes()).map_or(self.rest.len(), |at| at + 1);
            let (line, rest) = self.rest.split_at(end);
            let closed = line.strip_suffix('\n');
            let text = closed.unwrap_or(line);
            let text = text.strip_suffix('\r').unwrap_or(text);
            let line = Line { text, number: self.number, offset: self.offset, open_ended: closed.is_none() };
            self.rest = rest;
            self.offset += end as u64;
            self.number += 1;
            if !text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                return Some(line);
            }
        }
        None
    }
}

/// Shows each member of a line that must be an object: where its name stands, the name, and a scanner that stands
/// before its value and is to be moved past it.
///
/// # Errors
/// Where the line is not a JSON object, and whatever `each` returns.
pub(crate) fn members<'a>(
    text: &'a str,
    whole: &str,
    mut each: impl FnMut(usize, JsonString<'a>, &mut Scanner<'a>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut scanner = Scanner::new(text);
    scanner.space();
    let start = scanner.at();
    if scanner.peek() != Some(b'{') {
        let value = scanner.take()?;
        scanner.end()?;
        let message = format!("a line of {whole} is an object; this is {}", value.kind().name());
        return Err(Refusal { code: Code::NotAMessage, clause: "JRP-LINE", at: start, message });
    }
    let mut more = scanner.open(b'}')?;
    while more {
        let at = scanner.at();
        let key = scanner.key()?;
        each(at, key, &mut scanner)?;
        more = scanner.more(b'}')?;
    }
    Ok(scanner.end()?)
}

/// Why something is not a message, and what it is.
pub(crate) type Faulty<'a> = (Refusal, Json<'a>);

/// What stands in a line where a message belongs, read in place, or why it is none (RPL-NOISE). Text that is not JSON
/// makes the whole line none.
///
/// # Errors
/// Where it is not JSON.
pub(crate) fn held<'a>(
    text: &'a str,
    scanner: &mut Scanner<'a>,
) -> Result<Result<Message<'a>, Faulty<'a>>, Refusal> {
    held_by(text, scanner, Message::scan)
}

/// The same, where `scan` reads the message.
pub(crate) fn held_by<'a>(
    text: &'a str,
    scanner: &mut Scanner<'a>,
    scan: impl FnOnce(&'a str, &mut Scanner<'a>) -> Result<Message<'a>, Refusal>,
) -> Result<Result<Message<'a>, Faulty<'a>>, Refusal> {
    let start = scanner.at();
    let mut refusal = match scan(text, scanner) {
        Ok(message) => return Ok(Ok(message)),
        Err(refusal) if matches!(refusal.code, Code::InvalidJson | Code::Truncated) => return Err(refusal),
        Err(refusal) => refusal,
    };
    *scanner = Scanner::starting(text, start);
    let value = scanner.take()?;
    if !resembles_message(value) {
        refusal.clause = "RPL-NOISE";
    }
    Ok(Err((refusal, value)))
}
