//! What must be true of any bytes at all, as plain functions that panic where it is not.
//!
//! The promises a reader makes whatever it is given (a reading or a rejection with a place in the file, the same
//! however the bytes arrive) and those of a session that was read (every format that can carry it gives it back). Fuzz
//! targets and a stable test run them.

#![expect(clippy::panic, reason = "a panic is how a property says to a fuzzer that it does not hold")]

mod texts;

pub use texts::{adapter_answer, baseline, case_toml};

use crate::session::KnownSession;
use arbitrary::{Arbitrary as _, Unstructured};
use formats::sse::SseParser;
use formats::{
    FORMATS, Format, Input, Items, Meaning, ReadError, ReadOptions, Session, Tolerance, detect, meaning,
    sessions,
};
use serde_json::value::RawValue;
use std::io::Read;
use transcript::diff::{DiffOptions, first};
use transcript::json::{Json, JsonKind, Tree, compact};

const STRICT: ReadOptions = ReadOptions::new(Tolerance::Nothing);

/// A reader that hands out no more than `size` bytes at a time.
#[derive(Debug)]
pub struct ChunkedReader<'b> {
    bytes: &'b [u8],
    size: usize,
}

impl<'b> ChunkedReader<'b> {
    /// `bytes`, `size` at a time and never none.
    pub fn new(bytes: &'b [u8], size: usize) -> Self {
        Self { bytes, size: size.max(1) }
    }
}

impl Read for ChunkedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.size.min(buffer.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(size);
        buffer[..size].copy_from_slice(now);
        self.bytes = later;
        Ok(size)
    }
}

/// A reading, or the rejection in words: code, place and message.
fn read(format: &Format, reader: &mut dyn Read, options: ReadOptions) -> Result<Meaning, String> {
    meaning(format, reader, options).map_err(|error| match error {
        ReadError::Rejected(rejection) => format!("{rejection} at byte {}", rejection.position.offset),
        other => panic!("bytes in memory can be read: {other}"),
    })
}

/// The format that the first byte chooses, and the bytes after it.
fn choose<'f, 'b>(formats: &[&'f Format], bytes: &'b [u8]) -> Option<(&'f Format, &'b [u8])> {
    let (&choice, bytes) = bytes.split_first()?;
    Some((formats.get(usize::from(choice) % formats.len().max(1))?, bytes))
}

/// The reader of one of these formats, chosen by the first byte, over the other bytes.
///
/// # Panics
/// Where the reading depends on how the bytes arrive, names a place that is not there, or is not JSON.
pub fn reader(formats: &[&Format], bytes: &[u8]) {
    let Some((format, bytes)) = choose(formats, bytes) else { return };
    let whole = read(format, &mut { bytes }, STRICT);
    let size = 1 + bytes.len() % 7;
    assert_eq!(whole, read(format, &mut ChunkedReader::new(bytes, size), STRICT), "in pieces of {size}");
    let lenient = read(format, &mut { bytes }, ReadOptions::LENIENT);
    match &whole {
        Ok(meaning) => {
            assert!(lenient.as_ref() == Ok(meaning), "leniency changes what needs none");
            assert!(Json::parse(&meaning.text).is_ok(), "the meaning is not JSON: {}", meaning.text);
            let events = meaning.text.lines().filter(|line| line.starts_with("{\"kind\": ")).count();
            assert_eq!(events as u64, meaning.totals.events);
        }
        Err(_) => placed(format, bytes),
    }
    parted(format, bytes);
    if let Ok(mut input) = Input::new(&mut { bytes }) {
        let found = detect(&mut input).map(|found| found.map(|found| found.name)).ok();
        let mut drops = ChunkedReader::new(bytes, size);
        let again = Input::new(&mut drops).and_then(|mut input| detect(&mut input));
        assert_eq!(found, again.map(|found| found.map(|found| found.name)).ok(), "detection in pieces");
    }
}

/// That the sessions of a log have each of its items once.
fn parted(format: &Format, bytes: &[u8]) {
    let (Items::List(path), Ok(parts)) = (format.items, sessions(format, bytes)) else { return };
    let items = |bytes: &[u8]| {
        let document = Json::parse(std::str::from_utf8(bytes).ok()?).ok()?;
        let list = path.iter().try_fold(document, |json, name| json.member(name))?;
        Some(list.items().count())
    };
    if parts.len() > 1 {
        let of_parts: Option<usize> = parts.iter().map(|part| items(part)).sum();
        assert!(of_parts.is_some() && of_parts == items(bytes), "the parts have {of_parts:?} items");
    }
}

/// That a rejection names a place that is in the file.
fn placed(format: &Format, bytes: &[u8]) {
    let Err(ReadError::Rejected(rejection)) = meaning(format, &mut { bytes }, ReadOptions::default()) else {
        panic!("rejected once and not again");
    };
    let place = &rejection.position;
    let offset = usize::try_from(place.offset).unwrap_or(usize::MAX);
    assert!(offset <= bytes.len(), "byte {offset} of {}", bytes.len());
    let lines = bytes[..offset].iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert_eq!(place.line, lines + 1, "the line of byte {offset}: {rejection}");
    assert!(place.column >= 1, "{rejection}");
    if let Some(excerpt) = &rejection.excerpt {
        assert!(excerpt.text.is_char_boundary(excerpt.at), "{excerpt:?}");
        assert!(!excerpt.text.contains('\n'), "{excerpt:?}");
    }
}

/// A session that was read from any bytes goes through every format that can carry it.
///
/// # Panics
/// Where it comes back with another meaning, or cannot be read back.
pub fn convert(bytes: &[u8]) {
    let Some((format, bytes)) = choose(FORMATS, bytes) else { return };
    let Ok(session) = Session::of(format, bytes, ReadOptions::default()) else { return };
    let Ok(expected) = read(format, &mut { bytes }, STRICT) else { panic!("read once and not again") };
    every_format_says(&session, &expected.text);
}

/// A session that was made goes through every format that can carry it.
///
/// # Panics
/// Where its meaning is not the one it was made with.
pub fn equivalence(bytes: &[u8]) {
    let Ok(known) = KnownSession::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    match known.session() {
        Ok(session) => every_format_says(&session, &known.meaning()),
        Err(refusal) => panic!("{refusal:?} of a message that was made"),
    }
}

/// The formats whose writer can carry this session.
pub fn carriers(session: &Session) -> impl Iterator<Item = &'static Format> {
    formats::written().filter(|format| session.losses(format).iter().all(|loss| loss.clause.is_none()))
}

/// The session in this format.
///
/// # Panics
/// Where a write to memory fails.
pub fn written(session: &Session, format: &Format) -> Vec<u8> {
    let mut out = Vec::new();
    if let Err(error) = format.write(session, &mut out) {
        panic!("memory can be written: {error}");
    }
    out
}

fn every_format_says(session: &Session, expected: &str) {
    for format in carriers(session) {
        let text = written(session, format);
        match read(format, &mut &text[..], STRICT) {
            Ok(meaning) => {
                assert_eq!(meaning.text, expected, "as {}:\n{}", format.name, String::from_utf8_lossy(&text));
            }
            Err(error) => panic!("as {}: {error}\n{}", format.name, String::from_utf8_lossy(&text)),
        }
    }
}

/// Our JSON beside serde_json's, which looks no closer at numbers and surrogates than ours where it keeps raw text.
///
/// # Panics
/// Where they differ on what JSON is, or a value is not equal to its own compact form.
pub fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let value = match (Json::parse(text), serde_json::from_str::<&RawValue>(text)) {
        (Ok(value), Ok(raw)) => {
            assert_eq!(value.text(), raw.get());
            value
        }
        (Err(fault), Err(_)) => {
            assert!(fault.at <= text.len() && text.is_char_boundary(fault.at), "{fault:?}");
            return;
        }
        (ours, theirs) => panic!("ours: {ours:?}, theirs: {theirs:?}"),
    };
    let compact = compact(value);
    let Ok(again) = Json::parse(&compact) else { panic!("no JSON any more: {compact}") };
    assert!(value.same(again) && again.same(value), "{text} and {compact}");
    assert_eq!(first(value, again, &DiffOptions::default()).difference, None);
    assert_eq!(value.kind(), again.kind());
    // An object's children in a tree are name, value, name, value.
    let children = value.items().count() + 2 * value.members().count();
    let tree = Tree::new(again);
    if matches!(value.kind(), JsonKind::Array | JsonKind::Object) {
        assert_eq!(tree.items(0).count(), children, "{text}");
    }
}

/// An event stream over any bytes: the same blocks however the bytes arrive.
///
/// # Panics
/// Where they are not.
pub fn sse(bytes: &[u8]) {
    let blocks = |size: usize| {
        let mut blocks = Vec::new();
        let mut parser = SseParser::default();
        let mut each = |event: formats::sse::SseBlock<'_>| blocks.push(format!("{event:?}"));
        bytes.chunks(size).for_each(|chunk| parser.feed(chunk, &mut each));
        parser.finish(&mut each);
        blocks
    };
    let whole = blocks(bytes.len().max(1));
    for size in [1, 2, 3, 1 + bytes.len() / 2] {
        assert_eq!(whole, blocks(size), "in pieces of {size}");
    }
}
