//! The `text/event-stream` processing model of WHATWG HTML, over bytes as they come.
//!
//! Lines (LF, CR, CRLF, split anywhere), fields, comments, blocks, and which blocks make an event. Reports more than a
//! browser would: comments and blocks without data too, and the block that the stream's end cut off, since a recording
//! is judged by those as well. Memory: one block.
//!
//! ```
//! use formats::sse::{SseBlockKind, SseParser};
//!
//! let mut seen = Vec::new();
//! let mut parser = SseParser::default();
//! for chunk in [&b"id: 7\r\ndata: a\r"[..], b"\ndata: b\n\n: idle\n\ndata: cut"] {
//!     parser.feed(chunk, &mut |event| seen.push((event.kind, event.data.to_vec())));
//! }
//! parser.finish(&mut |event| seen.push((event.kind, event.data.to_vec())));
//! let expected =
//!     [(SseBlockKind::Event, b"a\nb".to_vec()), (SseBlockKind::Comment, Vec::new()), (SseBlockKind::Unfinished, b"cut".to_vec())];
//! assert_eq!(seen, expected);
//! ```

/// What a block turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SseBlockKind {
    /// An event: the block has a `data` field. One whose data is empty, such as the priming event of MCP
    /// 2025-11-25, is an event too.
    Event,
    /// Fields without any `data`: a browser takes the `id` and the `retry` and dispatches nothing.
    Dataless,
    /// Nothing but comments.
    Comment,
    /// The stream ended before the empty line: a browser discards the block.
    Unfinished,
}

/// One block of a stream, with what stood in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseBlock<'p> {
    /// What it is.
    pub kind: SseBlockKind,
    /// The last `event` field of the block. None, or empty: the event is named `message`.
    pub name: Option<&'p [u8]>,
    /// The `data` fields, joined by LF.
    pub data: &'p [u8],
    /// Where in the stream the first data begins; the block's beginning where it has none.
    pub at: u64,
    /// The last `id` field of this very block, if any; one that contains NUL does not count.
    pub id: Option<&'p [u8]>,
    /// The last event id as of this block: the `id` of it or of the last block before it that had one.
    pub last_id: &'p [u8],
    /// The last `retry` field of the block that is only digits and fits, in milliseconds.
    pub retry: Option<u64>,
    /// How many comment lines stood in the block, and known fields whose values count for nothing.
    pub comments: u64,
}

/// A parser that is fed a stream piece by piece.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The line that no line end was seen of yet.
    line: Vec<u8>,
    /// The last byte was a CR: an LF right after it belongs to it.
    after_cr: bool,
    /// Some line has begun, so a byte order mark is none any more.
    begun: bool,
    /// Where in the stream the line begins.
    at: u64,
    block: Block,
    last_id: Vec<u8>,
}

#[derive(Debug, Default)]
struct Block {
    /// Whether any line stood in it, and where the first one did.
    start: Option<u64>,
    name: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    data_at: Option<u64>,
    has_id: bool,
    retry: Option<u64>,
    fields: bool,
    comments: u64,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

impl SseParser {
    /// Takes the next bytes of the stream, and hands each block that they complete to `each`.
    pub fn feed(&mut self, mut bytes: &[u8], each: &mut impl FnMut(SseBlock<'_>)) {
        if std::mem::take(&mut self.after_cr) {
            match bytes.first() {
                Some(b'\n') => {
                    bytes = &bytes[1..];
                    self.at += 1;
                }
                Some(_) => {}
                None => self.after_cr = true,
            }
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) {
            let crlf = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            self.after_cr = bytes[end] == b'\r' && end + 1 == bytes.len();
            let taken = end + 1 + usize::from(crlf);
            if self.line.is_empty() {
                self.take(&bytes[..end], each);
                self.at += taken as u64;
            } else {
                let mut line = std::mem::take(&mut self.line);
                let held = line.len();
                line.extend_from_slice(&bytes[..end]);
                self.take(&line, each);
                self.at += (held + taken) as u64;
                line.clear();
                self.line = line;
            }
            bytes = &bytes[taken..];
        }
        self.line.extend_from_slice(bytes);
    }

    /// Ends the stream: what stood after the last empty line is handed on as unfinished.
    pub fn finish(&mut self, each: &mut impl FnMut(SseBlock<'_>)) {
        let line = std::mem::take(&mut self.line);
        let line = if self.begun { &line } else { line.strip_prefix(MARK).unwrap_or(&line) };
        if !line.is_empty() {
            self.field(line, self.at);
        }
        self.end_block(Some(SseBlockKind::Unfinished), each);
        *self = Self::default();
    }

    fn take(&mut self, line: &[u8], each: &mut impl FnMut(SseBlock<'_>)) {
        let marked = !std::mem::replace(&mut self.begun, true) && line.starts_with(MARK);
        let skipped = if marked { MARK.len() } else { 0 };
        match &line[skipped..] {
            [] => self.end_block(None, each),
            line => self.field(line, self.at + skipped as u64),
        }
    }

    fn field(&mut self, line: &[u8], at: u64) {
        let block = &mut self.block;
        block.start.get_or_insert(at);
        let colon = memchr::memchr(b':', line);
        if colon == Some(0) {
            block.comments += 1;
            return;
        }
        block.fields = true;
        let (name, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => block.name = Some(value.to_vec()),
            b"data" => match &mut block.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => {
                    block.data = Some(value.to_vec());
                    block.data_at = Some(at + (line.len() - value.len()) as u64);
                }
            },
            b"id" if !value.contains(&0) => {
                block.has_id = true;
                self.last_id = value.to_vec();
            }
            b"retry" if let Some(time) = milliseconds(value) => block.retry = Some(time),
            // Clients pass over such a value as over a comment.
            b"id" | b"retry" => block.comments += 1,
            _ => {}
        }
    }

    fn end_block(&mut self, kind: Option<SseBlockKind>, each: &mut impl FnMut(SseBlock<'_>)) {
        let block = std::mem::take(&mut self.block);
        let Some(start) = block.start else { return };
        let kind = kind.unwrap_or(match (&block.data, block.fields) {
            (Some(_), _) => SseBlockKind::Event,
            (None, true) => SseBlockKind::Dataless,
            (None, false) => SseBlockKind::Comment,
        });
        each(SseBlock {
            kind,
            name: block.name.as_deref(),
            data: block.data.as_deref().unwrap_or_default(),
            at: block.data_at.unwrap_or(start),
            id: block.has_id.then_some(&*self.last_id),
            last_id: &self.last_id,
            retry: block.retry,
            comments: block.comments,
        });
    }
}

fn milliseconds(digits: &[u8]) -> Option<u64> {
    // `parse` by itself would take a plus sign as well.
    digits.iter().all(u8::is_ascii_digit).then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
