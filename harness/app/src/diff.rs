//! Are two recordings the same session: `diff`.

use crate::answer::{Command, Outcome, Output, Remark, options};
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::Format;
use reports::diff::{Json, Kinds, Side, SideOptions, notes};
use reports::plain::{counted, cut, plain};
use std::cell::Cell;
use std::io::{self, Write};
use std::iter;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use transcript::align::{AlignOptions, Counts, IdMatching, Mismatch, OwnedEvent, compare};
use transcript::diff::{MOST_OTHERS, PointerPattern};
use transcript::session::SinkError;

/// How many events travel together from a reader to the comparison, and how many such parcels may wait.
const PARCEL: usize = 256;
const WAITING: usize = 4;

options! {
    /// How two recordings are compared.
    DiffOptions {
        /// The capture format of A; none where the content shows it.
        left_format: Option<String> = None,
        /// The capture format of B; none where the content shows it.
        right_format: Option<String> = None,
        /// A string that contains this marker equals any value.
        redacted: Option<String> = None,
        /// Whether ids must be equal (`exact`), or may be renamed one to one (`renumbered`).
        ids: String = "exact".to_owned(),
        /// JSON pointers into the events that are left out; `*` matches any member or item.
        ignore: Vec<String> = Vec::new(),
        /// The order in which answers come is left out.
        unordered_answers: bool = false,
        /// Requests that were turned away are left out.
        ignore_refusals: bool = false,
        /// Who sent an event is left out.
        ignore_senders: bool = false,
        /// An SSE event that was delivered again counts once.
        fold_redelivered: bool = false,
        /// At most this many differences are listed; all are counted.
        show: u64 = 20,
        /// For people, instead of JSON, and with the counts unless it is [`Text::Brief`].
        #[serde(skip)]
        text: Option<Text> = None,
        /// Each recording is read on a thread of its own, which bounds memory: a few hundred events of each wait. Otherwise one is
        /// read after the other, and all events of both are held.
        #[serde(skip)]
        threads: bool = false,
    }
}

/// How much text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Only the differences.
    Brief,
    /// The counts as well.
    Full,
}

/// Compares two recordings.
impl Command for DiffOptions {
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error> {
        let ids = match self.ids.as_str() {
            "exact" => IdMatching::Exact,
            "renumbered" => IdMatching::Renumbered,
            other => return Err(Error::option("ids", format!("`{other}` must be exact or renumbered"))),
        };
        let senders = self.ignore_senders.then_some("/sender");
        let ignore = self.ignore.iter().map(String::as_str).chain(senders).map(PointerPattern::parse);
        let ignore = ignore.collect::<Result<_, _>>().map_err(|why| Error::option("ignore", why))?;
        let values = transcript::diff::DiffOptions { ignore, redacted: self.redacted.clone() };
        let align = AlignOptions { values, ids, unordered_answers: self.unordered_answers };
        let formats = [
            format("left_format", self.left_format.as_deref())?,
            format("right_format", self.right_format.as_deref())?,
        ];
        let [a, b] = recordings else { return Err(Error::failed("two recordings are compared")) };
        let names = [a.name.clone(), b.name.clone()];
        let names = [names[0].as_str(), names[1].as_str()];
        let mut written = match self.text {
            None => Written::Json(Json::new(self.show)),
            Some(_) => Written::Text(Listing::new(names, self.show, output.bytes())),
        };
        let (counts, sides) = match self.threads {
            true => self.beside_each_other([a, b], formats, &align, &mut written),
            false => {
                let (one, first) = self.events(a, formats[0])?;
                let (other, second) = self.events(b, formats[1])?;
                written.begin([first.is_empty(), second.is_empty()]);
                let report = &mut |mismatch: Mismatch<'_>| written.mismatch(&mismatch);
                let counts = compare(first.into_iter(), second.into_iter(), &align, report);
                (counts, [Ok(one), Ok(other)])
            }
        };
        let sides = match sides {
            [Ok(a), Ok(b)] => [a, b],
            [Err(first), Err(second)] => {
                drop(written);
                output.remark(Remark::Error(&first));
                return Err(second);
            }
            [Err(error), _] | [_, Err(error)] => return Err(error),
        };
        let sides = [&sides[0], &sides[1]];
        let done = match written {
            Written::Json(json) => output.bytes().write_all(json.finish(&counts, sides, names).as_bytes()),
            Written::Text(listing) => listing.finish(&counts, sides, self.text == Some(Text::Full)),
        };
        for note in notes(sides, names, &counts) {
            output.remark(Remark::Note(&note));
        }
        done.map_err(Cause::Output)?;
        Ok(Outcome::well_if(counts.same()))
    }
}

impl DiffOptions {
    /// Reads each recording on a thread of its own; the comparison takes their events as they come.
    fn beside_each_other(
        &self,
        [a, b]: [&mut Recording<'_>; 2],
        formats: [Option<&'static Format>; 2],
        align: &AlignOptions,
        written: &mut Written<'_>,
    ) -> (Counts, [Result<Side, Error>; 2]) {
        thread::scope(|scope| {
            let [(left_sender, left), (right_sender, right)] = [(); 2].map(|()| sync_channel(WAITING));
            let readers = [(a, formats[0], left_sender), (b, formats[1], right_sender)]
                .map(|(it, format, sender)| scope.spawn(move || self.send_events(it, format, &sender)));
            let broken = Cell::new(false);
            let [mut left, mut right] = [left, right].map(|parcels| events(parcels, &broken).peekable());
            let empty = [&mut left, &mut right].map(|events| events.peek().is_none());
            if !broken.get() {
                written.begin(empty);
            }
            // What one side lacks because it could not be read on is not a difference.
            let mut report = |mismatch: Mismatch<'_>| {
                if !broken.get() {
                    written.mismatch(&mismatch);
                }
            };
            let counts = compare(left, right, align, &mut report);
            let ended = |reader: thread::ScopedJoinHandle<'_, Result<Side, Error>>| {
                reader.join().unwrap_or_else(|_| Err(Error::failed("a reader of the program failed")))
            };
            (counts, readers.map(ended))
        })
    }

    fn send_events(
        &self,
        recording: &mut Recording<'_>,
        asked: Option<&'static Format>,
        events: &SyncSender<Vec<OwnedEvent>>,
    ) -> Result<Side, Error> {
        let mut parcel = Vec::with_capacity(PARCEL);
        let side = self.side(recording, asked, &mut |event| {
            parcel.push(event);
            if parcel.len() == PARCEL {
                let full = std::mem::replace(&mut parcel, Vec::with_capacity(PARCEL));
                events.send(full).map_err(|_| SinkError::Stop)?;
            }
            Ok(())
        })?;
        // The comparison ends early only where the other side failed, and that is reported.
        let _ = events.send(parcel);
        Ok(side)
    }

    fn events(
        &self,
        recording: &mut Recording<'_>,
        asked: Option<&'static Format>,
    ) -> Result<(Side, Vec<OwnedEvent>), Error> {
        let mut events = Vec::new();
        let side = self.side(recording, asked, &mut |event| {
            events.push(event);
            Ok(())
        })?;
        Ok((side, events))
    }

    fn side(
        &self,
        recording: &mut Recording<'_>,
        asked: Option<&'static Format>,
        take: &mut dyn FnMut(OwnedEvent) -> Result<(), SinkError>,
    ) -> Result<Side, Error> {
        let Self { ignore_refusals, fold_redelivered, .. } = *self;
        let options = SideOptions { ignore_refusals, fold_redelivered };
        let (_, side) = recording.reading(asked, |format, input| Side::read(format, input, options, take))?;
        Ok(side)
    }
}

/// The events of the parcels. It is `broken` where the last one does not come: only that one is not full.
fn events(parcels: Receiver<Vec<OwnedEvent>>, broken: &Cell<bool>) -> impl Iterator<Item = OwnedEvent> {
    let mut is_whole = false;
    let next = move || {
        let parcel = parcels.recv();
        match &parcel {
            Ok(parcel) => is_whole = parcel.len() < PARCEL,
            Err(_) if !is_whole => broken.set(true),
            Err(_) => {}
        }
        parcel.ok()
    };
    iter::from_fn(next).flatten()
}

/// What takes the differences.
enum Written<'w> {
    Json(Json),
    Text(Listing<'w>),
}

impl Written<'_> {
    /// Learns which side has nothing to compare.
    fn begin(&mut self, empty: [bool; 2]) {
        if let Self::Text(listing) = self {
            listing.begin(empty);
        }
    }

    fn mismatch(&mut self, mismatch: &Mismatch<'_>) {
        match self {
            Self::Json(json) => json.mismatch(mismatch),
            Self::Text(listing) => listing.mismatch(mismatch),
        }
    }
}

/// Differences in text. Beside a side that holds nothing none is listed. The first error of the output is kept for the end.
struct Listing<'w> {
    names: [&'w str; 2],
    out: &'w mut dyn Write,
    left: u64,
    hidden: u64,
    /// Whether one side holds nothing.
    one_sided: bool,
    kinds: Kinds,
    broken: Option<io::Error>,
}

impl<'w> Listing<'w> {
    fn new(names: [&'w str; 2], show: u64, out: &'w mut dyn Write) -> Self {
        Self { names, out, left: show, hidden: 0, one_sided: false, kinds: Kinds::default(), broken: None }
    }

    fn begin(&mut self, empty: [bool; 2]) {
        for (name, _) in self.names.into_iter().zip(empty).filter(|(_, empty)| *empty) {
            self.one_sided = true;
            let said = writeln!(self.out, "{name} holds no message to compare");
            self.broken = self.broken.take().or(said.err());
        }
    }

    fn mismatch(&mut self, mismatch: &Mismatch<'_>) {
        self.kinds.count(mismatch);
        if self.one_sided {
            return;
        }
        if self.left == 0 || self.broken.is_some() {
            self.hidden += 1;
            return;
        }
        self.left -= 1;
        self.broken = self.write(mismatch).err();
    }

    fn write(&mut self, mismatch: &Mismatch<'_>) -> io::Result<()> {
        let [a, b] = self.names;
        match mismatch {
            Mismatch::Differs(left, right, difference, others) => {
                let at = if difference.pointer.is_empty() { "/" } else { &difference.pointer };
                writeln!(self.out, "event {} differs at {}{}", left.index, plain(at), also(others))?;
                let value = |value: &Option<String>| {
                    value.as_deref().map_or("(nothing there)".to_owned(), |text| cut(text, 160))
                };
                writeln!(self.out, "  - {}", value(&difference.left))?;
                writeln!(self.out, "  + {}", value(&difference.right))?;
                writeln!(self.out, "  - {}", line(a, left))?;
                writeln!(self.out, "  + {}", line(b, right))?;
            }
            Mismatch::OnlyLeft(event) => {
                writeln!(self.out, "event {} is only in A\n  - {}", event.index, line(a, event))?;
            }
            Mismatch::OnlyRight(event) => {
                writeln!(self.out, "event {} is only in B\n  + {}", event.index, line(b, event))?;
            }
        }
        writeln!(self.out)
    }

    fn finish(mut self, counts: &Counts, sides: [&Side; 2], full: bool) -> io::Result<()> {
        if full {
            self.counts(counts, sides)?;
        }
        self.broken.map_or(Ok(()), Err)
    }

    fn counts(&mut self, counts: &Counts, [a, b]: [&Side; 2]) -> io::Result<()> {
        if self.hidden > 0 {
            writeln!(self.out, "{} more differ but are not shown (--show N)\n", self.hidden)?;
        }
        let verdict = if counts.same() { "the same session" } else { "different sessions" };
        writeln!(
            self.out,
            "{verdict}: {} equal, {} differ, {} only in A, {} only in B ({} and {})",
            counted(counts.equal, "event"),
            counts.differing,
            counts.only_left,
            counts.only_right,
            a.format.name,
            b.format.name
        )?;
        self.kinds.write(&mut self.out)?;
        if counts.redacted > 0 {
            let values = counted(counts.redacted, "value");
            writeln!(self.out, "{values} taken as equal because one side is redacted (RPL-REDACT)")?;
        }
        if counts.ignored > 0 {
            writeln!(self.out, "{} ignored", counted(counts.ignored, "place"))?;
        }
        Ok(())
    }
}

/// In how many other places an event differs, and the first of them.
fn also(others: &[String]) -> String {
    let first: Vec<String> = others.iter().take(3).map(|other| plain(other)).collect();
    let (more, end) = (others.len() == MOST_OTHERS, if others.len() > 3 { ", …" } else { "" });
    let count = counted(others.len() as u64, "other place") + if more { " or more" } else { "" };
    if others.is_empty() { String::new() } else { format!(", and in {count}: {}{end}", first.join(", ")) }
}

/// A place and its event.
fn line(name: &str, event: &OwnedEvent) -> String {
    let pointer = event.location.pointer();
    let pointer = if pointer.is_empty() { String::new() } else { format!(" {pointer}") };
    format!("{name}:{}{}  {}", event.location.line, plain(&pointer), cut(&event.to_json(), 160))
}
