//! The archive of a recording: which exchanges are in its file when, and what is counted.
//!
//! Exchanges are in the order they ended; their start times strictly increase in the order they began, and
//! readers sort by them. Open exchanges are written behind the others again and again: a killed recorder
//! loses the last [`PATIENCE`]. Memory: what [`super::body`] holds for each open exchange, and for those that ended since
//! the last write; these are written when they are [`MANY`], or as large as [`OPEN`].

use super::events::{ProxyEvent, QueueEnd, Sent};
use super::exchange::Exchange;
use super::har_file::{HarFile, News, OPEN};
use crate::queue::NextItem;
use crate::redaction::Redaction;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use verdict::plain::counted;

/// How long what is open, or ended beside what is open, may stay unwritten.
const PATIENCE: Duration = Duration::from_millis(200);

/// How many ended exchanges may stay unwritten.
const MANY: usize = 256;

/// How many sessions are counted.
pub(super) const SESSIONS: usize = 1000;

/// The outcome of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many exchanges are in the archive.
    pub exchanges: u64,
    /// How many of them had not ended when the recorder was asked to stop.
    pub open: u64,
    /// How many sessions the answers named with `Mcp-Session-Id`; counted up to 1,000.
    pub sessions: usize,
    /// How many connections were refused, since they do not speak HTTP. Nothing of them was forwarded.
    pub refused: u64,
    /// How many exchanges passed that the archive lacks, since it could not be written.
    pub missing: u64,
    /// Bytes of bodies that passed and are not in the archive.
    pub lost: u64,
    /// Why the archive could not be written to its end.
    pub fault: Option<String>,
}

impl Summary {
    /// Whether all that passed is in the archive.
    pub fn is_whole(&self) -> bool {
        self.lost == 0 && self.missing == 0 && self.fault.is_none()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&counted(self.exchanges, "exchange"))?;
        if self.open > 0 {
            write!(out, ", {} of them cut off by the end of the recording", self.open)?;
        }
        if self.sessions > 1 {
            write!(out, ", of {} sessions", self.sessions)?;
        }
        if self.refused > 0 {
            let connections = counted(self.refused, "connection");
            write!(out, "; {connections} refused, which did not speak HTTP")?;
        }
        if self.missing > 0 {
            write!(out, "; {} forwarded but not written", counted(self.missing, "exchange"))?;
        }
        if let Some(why) = &self.fault {
            write!(out, "; the archive is incomplete: {why}")?;
        }
        if self.lost > 0 {
            write!(out, "; {} forwarded but not kept", counted(self.lost, "byte"))?;
        }
        Ok(())
    }
}

/// Writes what comes until nobody sends any more. What cannot be kept is reported at once.
pub(super) fn write_archive(
    receiver: &QueueEnd,
    file: File,
    origin: Timestamp,
    redaction: &Arc<Redaction>,
    report: &dyn Fn(&str),
) -> Summary {
    let mut archive = Archive {
        file: HarFile::new(&file, receiver, origin),
        finished: Vec::new(),
        summary: Summary::default(),
        sessions: BTreeSet::new(),
        reported: BTreeSet::new(),
        report,
    };
    let begun = archive.file.begin().map(drop);
    archive.note_write(begun);
    let mut open: BTreeMap<u64, Exchange> = BTreeMap::new();
    let (mut changed, mut written, mut started) = (false, Instant::now(), Duration::ZERO);
    loop {
        let sent = match receiver.next(PATIENCE) {
            NextItem::Item(sent) => Some(sent),
            NextItem::Nothing => None,
            NextItem::Closed => break,
        };
        if let Some(Sent { exchange: number, at, event }) = sent {
            changed = true;
            match event {
                ProxyEvent::NotHttp(why) => archive.refused(&why),
                ProxyEvent::Request(head) => {
                    started = at.max(started + Duration::from_micros(1));
                    open.insert(number, Exchange::new(*head, started, redaction));
                }
                event => {
                    if let Some(exchange) = open.get_mut(&number) {
                        let taken = receiver.in_file(|| exchange.take(event, at));
                        archive.spooled(taken);
                        if exchange.is_over()
                            && let Some(exchange) = open.remove(&number)
                        {
                            archive.add(exchange);
                        }
                    }
                }
            }
        }
        if changed && written.elapsed() >= PATIENCE || archive.is_due() {
            archive.write(open.values_mut().collect());
            (changed, written) = (false, Instant::now());
        }
    }
    archive.summary.open = open.len() as u64;
    for exchange in open.into_values() {
        archive.add(exchange);
    }
    archive.write(Vec::new());
    archive.end()
}

/// The file, and what is to be said of it.
struct Archive<'a> {
    file: HarFile<'a>,
    /// Exchanges that have ended and are not written.
    finished: Vec<Exchange>,
    summary: Summary,
    sessions: BTreeSet<String>,
    /// What was reported: why connections were refused, of which hyper has a dozen reasons, and what cannot be kept.
    reported: BTreeSet<String>,
    report: &'a dyn Fn(&str),
}

impl Archive<'_> {
    fn add(&mut self, mut exchange: Exchange) {
        let closed = exchange.close();
        self.spooled(closed);
        self.summary.lost += exchange.lost();
        if let Some(id) = exchange.session().filter(|_| self.sessions.len() < SESSIONS) {
            self.sessions.insert(id.to_owned());
        }
        self.finished.push(exchange);
    }

    /// Whether what has ended is to be written at once: where little that is open must be written anew behind it, or much
    /// waits.
    fn is_due(&self) -> bool {
        let size = || self.finished.iter().map(Exchange::size).sum::<u64>();
        !self.finished.is_empty()
            && (!self.file.shows_much() || self.finished.len() >= MANY || size() >= OPEN)
    }

    /// Writes what has ended, and what is open.
    fn write(&mut self, open: Vec<&mut Exchange>) {
        let mut finished = std::mem::take(&mut self.finished);
        let written = self.file.write(News { finished: &mut finished, open });
        let Err(error) = written else { return };
        self.note_write(Err(error));
        // Each that has room by itself is written.
        for mut exchange in finished {
            let single = News { finished: std::slice::from_mut(&mut exchange), open: Vec::new() };
            if self.file.write(single).is_err() {
                self.summary.missing += 1;
                self.summary.lost += exchange.size();
            }
        }
    }

    fn end(mut self) -> Summary {
        if let Err(error) = self.file.begin() {
            self.summary.fault = Some(error.to_string());
        }
        if let Some(exchanges) = self.file.cut {
            self.summary.missing += exchanges;
            self.summary.fault.get_or_insert_with(|| "another program has shortened it".to_owned());
        }
        self.summary.exchanges = self.file.count;
        self.summary.sessions = self.sessions.len();
        self.summary
    }

    /// A connection that does not speak HTTP: counted, and reported once for each reason.
    fn refused(&mut self, why: &str) {
        self.summary.refused += 1;
        self.report_once(why, &format!("refused a connection that is not HTTP: {why}"));
    }

    /// That the file cannot be written is reported once; it is tried again with whatever comes.
    fn note_write(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            let more = "forwarding continues, and missing exchanges are counted";
            self.report_once("archive", &format!("the archive cannot be written: {error}; {more}"));
        }
    }

    fn spooled(&mut self, taken: io::Result<()>) {
        if let Err(error) = taken {
            self.report_once("body", &format!("a body cannot be kept, forwarding continues: {error}"));
        }
    }

    fn report_once(&mut self, what: &str, text: &str) {
        if self.reported.insert(what.to_owned()) {
            (self.report)(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE, write_archive};
    use crate::http::End;
    use crate::proxy::Summary;
    use crate::proxy::events::{ProxyEvent, Sender, Side, queue};
    use crate::proxy::testing::{answered, asked, said, texts};
    use jiff::Timestamp;
    use std::cell::RefCell;
    use std::fs::{self, File};
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    fn begin(sender: &Sender, exchange: u64) {
        let whole = ProxyEvent::Ended(Side::Request, End::Complete);
        for event in [ProxyEvent::Request(Box::new(asked(""))), whole, answered("")] {
            sender.send(exchange, event);
        }
    }

    fn end(sender: &Sender, exchange: u64) {
        sender.send(exchange, ProxyEvent::Ended(Side::Response, End::Complete));
    }

    /// How long the file may be behind before something is wrong.
    const LIMIT: Duration = Duration::from_secs(20);

    #[test]
    fn the_file_is_a_whole_archive_at_any_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.har");
        let (sender, receiver) = queue();
        let file = File::create(&path).unwrap();
        let keeping =
            thread::spawn(move || write_archive(&receiver, file, Timestamp::now(), &Arc::default(), &|_| ()));
        // The file may be looked at while it is written; what it holds once it has been, it holds from then on.
        let holds = |expected: &[&str]| {
            let begin = Instant::now();
            loop {
                let file = fs::read(&path).unwrap();
                let found = texts(&file);
                if let Some(found) = &found {
                    assert!(found.windows(2).all(|pair| pair[0].0 != pair[1].0), "{found:?}");
                    if found.iter().map(|(_, text)| text).eq(expected) {
                        break;
                    }
                }
                assert!(begin.elapsed() < LIMIT, "{found:?} instead of {expected:?}");
                thread::sleep(PATIENCE / 10);
            }
        };
        let long = "2".repeat(1000);
        holds(&[]);
        begin(&sender, 1);
        sender.send(1, said("one"));
        begin(&sender, 2);
        sender.send(2, said(&long));
        holds(&["one", &long]);
        end(&sender, 2);
        sender.send(1, said(", more"));
        holds(&["one, more", &long]);
        drop(sender);
        let summary = keeping.join().unwrap();
        assert_eq!(summary, Summary { exchanges: 2, open: 1, ..Summary::default() });
        holds(&["one, more", &long]);
        assert!(fs::read_to_string(&path).unwrap().contains("\"_ended\": \"the recording ended\""));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_once_and_stops_nobody() {
        let (sender, receiver) = queue();
        for exchange in 0..3 {
            begin(&sender, exchange);
            end(&sender, exchange);
        }
        drop(sender);
        let reports = RefCell::new(0);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let report = |_: &str| *reports.borrow_mut() += 1;
        let summary = write_archive(&receiver, full, Timestamp::now(), &Arc::default(), &report);
        assert_eq!((summary.missing, summary.exchanges, reports.into_inner()), (3, 0, 1));
        assert!(summary.fault.is_some() && !summary.is_whole());
    }
}
