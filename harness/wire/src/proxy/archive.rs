//! The file of a recording, which is a complete HAR after every exchange, and soon after every event.
//!
//! Exchanges are in the order in which they ended; their start times strictly increase in the order in which they
//! began, and readers sort by them. Open exchanges are written behind the others again and again: a killed recorder
//! loses the last [`PATIENCE`]. Memory: what [`super::body`] holds for each open exchange. Of open exchanges no more
//! than [`OPEN`] bytes are written before they end.

use super::events::{Event, Receiver, Sent};
use super::exchange::Exchange;
use super::summary::Summary;
use crate::queue::Next;
use crate::record::Redaction;
use jiff::{Timestamp, tz::TimeZone};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long what is open may stand unwritten.
const PATIENCE: Duration = Duration::from_millis(200);

/// How much text of open exchanges is written before they end.
const OPEN: u64 = 1 << 20;

/// How many sessions are told apart.
pub(super) const SESSIONS: usize = 1000;

/// So much is gathered for one write: an exchange of this size is in the file wholly or not at all.
const BLOCK: usize = 256 << 10;

const TAIL: &[u8] = b"\n]}}\n";

/// Writes what comes until nobody sends any more. `report` is told at once what cannot be kept.
pub(super) fn write_archive(
    receiver: &Receiver,
    file: File,
    origin: Timestamp,
    redaction: &Arc<Redaction>,
    report: &dyn Fn(&str),
) -> Summary {
    let mut archive = Archive { file, receiver, end: 0, count: 0, origin };
    let mut keeping = Bookkeeping {
        summary: Summary::default(),
        sessions: BTreeSet::new(),
        reasons: BTreeSet::new(),
        spool_failed: false,
        report,
    };
    let begun = archive.begin();
    keeping.heed(begun);
    let mut open: BTreeMap<u64, Exchange> = BTreeMap::new();
    let (mut changed, mut written, mut started) = (false, Instant::now(), Duration::ZERO);
    loop {
        let sent = match receiver.next(PATIENCE) {
            Next::Item(sent) => Some(sent),
            Next::Nothing => None,
            Next::Closed => break,
        };
        if let Some(Sent { exchange: number, at, event }) = sent {
            changed = true;
            match event {
                Event::NotHttp(why) => keeping.refused(why),
                Event::Request(head) => {
                    started = at.max(started + Duration::from_micros(1));
                    open.insert(number, Exchange::new(*head, started, redaction));
                }
                event => {
                    if let Some(exchange) = open.get_mut(&number) {
                        let taken = receiver.in_file(|| exchange.take(event, at));
                        keeping.spooled(taken);
                        if exchange.is_over()
                            && let Some(exchange) = open.remove(&number)
                        {
                            keeping.add(&mut archive, exchange);
                        }
                    }
                }
            }
        }
        if changed && keeping.summary.fault.is_none() && written.elapsed() >= PATIENCE {
            let done = archive.show_open(&mut open);
            keeping.heed(done);
            (changed, written) = (false, Instant::now());
        }
    }
    keeping.summary.open = open.len() as u64;
    for exchange in open.into_values() {
        keeping.add(&mut archive, exchange);
    }
    keeping.summary.exchanges = archive.count;
    keeping.summary.sessions = keeping.sessions.len();
    keeping.summary
}

struct Bookkeeping<'s> {
    summary: Summary,
    sessions: BTreeSet<String>,
    /// Why connections were refused, each reason once. Hyper has a dozen.
    reasons: BTreeSet<String>,
    spool_failed: bool,
    report: &'s dyn Fn(&str),
}

impl Bookkeeping<'_> {
    fn add(&mut self, archive: &mut Archive<'_>, mut exchange: Exchange) {
        let closed = exchange.close();
        self.spooled(closed);
        self.summary.lost += exchange.lost();
        if let Some(id) = exchange.session().filter(|_| self.sessions.len() < SESSIONS) {
            self.sessions.insert(id.to_owned());
        }
        if self.summary.fault.is_none() {
            let added = archive.add(&mut exchange);
            self.heed(added);
        }
    }

    /// A connection on which something came that is no HTTP: counted, and said once for each reason.
    fn refused(&mut self, why: String) {
        self.summary.refused += 1;
        if !self.reasons.contains(&why) {
            (self.report)(&format!("refused a connection that is not HTTP: {why}"));
            self.reasons.insert(why);
        }
    }

    /// From its first fault on nothing is written any more: what stands in the file stands.
    fn heed(&mut self, done: io::Result<()>) {
        if let Err(error) = done
            && self.summary.fault.is_none()
        {
            self.summary.fault = Some(error.to_string());
            (self.report)(&format!("the recording ends here, forwarding continues: {error}"));
        }
    }

    fn spooled(&mut self, taken: io::Result<()>) {
        if let Err(error) = taken
            && !std::mem::replace(&mut self.spool_failed, true)
        {
            (self.report)(&format!("a body cannot be kept, forwarding continues: {error}"));
        }
    }
}

struct Archive<'t> {
    file: File,
    receiver: &'t Receiver,
    /// Where the next exchange goes: over the tail.
    end: u64,
    count: u64,
    origin: Timestamp,
}

impl Archive<'_> {
    fn begin(&mut self) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let head = format!(
            "{{\"log\": {{\"version\": \"1.2\", \"creator\": {{\"name\": \"mcp-concord\", \"version\": \"{version}\"}}, \
             \"entries\": ["
        );
        self.file.write_all(&[head.as_bytes(), TAIL].concat())?;
        self.end = head.len() as u64;
        Ok(())
    }

    fn add(&mut self, exchange: &mut Exchange) -> io::Result<()> {
        let mut out = self.behind()?;
        self.put(exchange, self.count == 0, true, &mut out)?;
        let end = close(out)?;
        (self.end, self.count) = (end, self.count + 1);
        Ok(())
    }

    /// Writes the open exchanges behind the others, for whoever reads the file before they end.
    fn show_open(&self, open: &mut BTreeMap<u64, Exchange>) -> io::Result<()> {
        let mut left = OPEN;
        let mut out = self.behind()?;
        for (index, exchange) in open.values_mut().enumerate() {
            let fits = exchange.size() <= left;
            left -= if fits { exchange.size() } else { 0 };
            self.put(exchange, self.count == 0 && index == 0, fits, &mut out)?;
        }
        close(out).map(drop)
    }

    fn behind(&self) -> io::Result<BufWriter<TimedFile<'_>>> {
        let Self { file, receiver, .. } = self;
        let mut out = BufWriter::with_capacity(BLOCK, TimedFile { file, receiver });
        out.seek(SeekFrom::Start(self.end))?;
        Ok(out)
    }

    fn put(
        &self,
        exchange: &mut Exchange,
        first: bool,
        bodies: bool,
        out: &mut impl Write,
    ) -> io::Result<()> {
        out.write_all(if first { b"\n" } else { b",\n" })?;
        exchange.write(&self.date(exchange.started), bodies, out)
    }

    /// ISO 8601 in UTC, to the microsecond.
    fn date(&self, at: Duration) -> String {
        let time = self.origin.saturating_add(at).unwrap_or(self.origin).to_zoned(TimeZone::UTC);
        format!("{:.6}Z", time.datetime())
    }
}

/// The file, whose time is receiver apart from that of this program.
struct TimedFile<'w> {
    file: &'w File,
    receiver: &'w Receiver,
}

impl Write for TimedFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.receiver.in_file(|| self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for TimedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes the tail, cuts off what stood behind it, and tells where it begins.
fn close(mut out: BufWriter<TimedFile<'_>>) -> io::Result<u64> {
    let end = out.stream_position()?;
    out.write_all(TAIL)?;
    out.flush()?;
    out.get_ref().file.set_len(end + TAIL.len() as u64)?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE, write_archive};
    use crate::proxy::Summary;
    use crate::proxy::events::{End, Event, RequestHead, ResponseHead, Sender, Side, queue};
    use jiff::Timestamp;
    use serde_json::Value;
    use std::cell::RefCell;
    use std::fs::{self, File};
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};

    fn ask(sender: &Sender, exchange: u64) {
        let (method, url, version) = ("GET".into(), "http://h/".into(), "HTTP/1.1".into());
        sender.send(
            exchange,
            Event::Request(Box::new(RequestHead { method, url, version, headers: Vec::new() })),
        );
        sender.send(exchange, Event::Ended(Side::Request, End::Complete));
        let headers = vec![("mcp-session-id".to_owned(), format!("s{exchange}"))];
        let answered = ResponseHead { status: 200, reason: String::new(), version: String::new(), headers };
        sender.send(exchange, Event::Response(Box::new(answered)));
    }

    fn say(sender: &Sender, exchange: u64, text: &str) {
        sender.send(exchange, Event::Part(Side::Response, text.as_bytes().to_vec()));
    }

    fn end(sender: &Sender, exchange: u64) {
        sender.send(exchange, Event::Ended(Side::Response, End::Complete));
    }

    /// How long the file may be behind before something is wrong.
    const LIMIT: Duration = Duration::from_secs(20);

    /// The answers' texts in the order of their starts; none where the file is just being written.
    fn texts(file: &str) -> Option<Vec<String>> {
        let har: Value = serde_json::from_str(file).ok()?;
        let entries = har["log"]["entries"].as_array().unwrap();
        let mut found: Vec<_> = entries
            .iter()
            .map(|entry| {
                let text = entry["response"]["content"]["text"].as_str().unwrap_or_default();
                (entry["startedDateTime"].as_str().unwrap().to_owned(), text.to_owned())
            })
            .collect();
        found.sort();
        assert!(found.windows(2).all(|pair| pair[0].0 != pair[1].0), "{found:?}");
        Some(found.into_iter().map(|(_, text)| text).collect())
    }

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
                let file = fs::read_to_string(&path).unwrap();
                match texts(&file) {
                    Some(found) if found == expected => break,
                    found => assert!(begin.elapsed() < LIMIT, "{found:?} instead of {expected:?}: {file}"),
                }
                thread::sleep(PATIENCE / 10);
            }
        };
        let long = "2".repeat(1000);
        holds(&[]);
        ask(&sender, 1);
        say(&sender, 1, "one");
        ask(&sender, 2);
        say(&sender, 2, &"2".repeat(1000));
        holds(&["one", &long]);
        end(&sender, 2);
        say(&sender, 1, ", more");
        holds(&["one, more", &long]);
        drop(sender);
        let summary = keeping.join().unwrap();
        assert_eq!(summary, Summary { exchanges: 2, open: 1, sessions: 2, ..Summary::default() });
        holds(&["one, more", &long]);
        assert!(fs::read_to_string(&path).unwrap().contains("\"_ended\": \"the recording ended\""));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_once_and_stops_nobody() {
        let (sender, receiver) = queue();
        for exchange in 0..3 {
            ask(&sender, exchange);
            end(&sender, exchange);
        }
        drop(sender);
        let said = RefCell::new(Vec::new());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let summary = write_archive(&receiver, full, Timestamp::now(), &Arc::default(), &|text| {
            said.borrow_mut().push(text.to_owned())
        });
        assert!(summary.fault.is_some() && !summary.is_whole());
        assert_eq!(said.borrow().len(), 1, "{said:?}");
    }
}
