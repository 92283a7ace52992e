//! An archive that is cut at every byte, and a disk that is full at every size.

use super::{HarFile, News, Store};
use crate::http::End;
use crate::proxy::events::{ProxyEvent, Side, queue};
use crate::proxy::exchange::Exchange;
use crate::proxy::testing::{answered, asked, said, texts};
use jiff::Timestamp;
use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

enum DiskWrite {
    Write(usize, Vec<u8>),
    Cut(usize),
}

/// A disk of this size, and all that was done to the file on it.
struct Disk {
    size: usize,
    steps: RefCell<Vec<DiskWrite>>,
    file: RefCell<Vec<u8>>,
}

impl Disk {
    fn new(size: usize) -> Self {
        Self { size, steps: RefCell::default(), file: RefCell::default() }
    }
}

fn apply(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if !bytes.is_empty() {
        file.resize(file.len().max(at + bytes.len()), 0);
        file[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

impl Store for Disk {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let at = usize::try_from(at).unwrap();
        let count = bytes.len().min(self.size.saturating_sub(at));
        if count == 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        apply(&mut self.file.borrow_mut(), at, &bytes[..count]);
        self.steps.borrow_mut().push(DiskWrite::Write(at, bytes[..count].to_vec()));
        Ok(count)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).unwrap();
        self.file.borrow_mut().resize(length, 0);
        self.steps.borrow_mut().push(DiskWrite::Cut(length));
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.borrow().len() as u64)
    }
}

/// An exchange that began at this microsecond of the recording.
fn exchange(started: u64) -> Exchange {
    let started = Duration::from_micros(started);
    let mut exchange = Exchange::new(asked(""), started, &Arc::default());
    for event in [ProxyEvent::Ended(Side::Request, End::Complete), answered("")] {
        exchange.take(event, started).unwrap();
    }
    exchange
}

fn say(exchange: &mut Exchange, text: &str) {
    exchange.take(said(text), Duration::from_secs(1)).unwrap();
}

/// Writes a session in which exchanges end while others are open, and calls `after` when each write is done, with
/// how many exchanges were not written.
fn session(disk: &Disk, mut after: impl FnMut(u64)) -> u64 {
    let (_sender, receiver) = queue();
    let mut file = HarFile::new(disk, &receiver, Timestamp::UNIX_EPOCH);
    let mut missing = 0;
    let mut write = |finished: &mut [Exchange], open: Vec<&mut Exchange>| {
        let many = finished.len() as u64;
        missing += if file.write(News { finished, open }).is_ok() { 0 } else { many };
        after(missing);
    };
    let [mut a, mut b, mut c, mut d] = [1, 2, 3, 4].map(exchange);
    write(&mut [], vec![&mut a]);
    say(&mut a, "first, ");
    write(&mut [], vec![&mut a, &mut b]);
    say(&mut b, &"b".repeat(40));
    write(&mut [b], vec![&mut a]);
    say(&mut a, "second");
    write(&mut [], vec![&mut a]);
    say(&mut c, "c");
    write(&mut [], vec![&mut a, &mut c]);
    write(&mut [a, c], Vec::new());
    say(&mut d, "d");
    write(&mut [d], Vec::new());
    assert_eq!(file.count + missing, 4);
    missing
}

#[test]
fn a_kill_at_any_byte_loses_nothing_that_stood_there() {
    let disk = Disk::new(usize::MAX);
    // After how many steps the file had what.
    let mut stood = Vec::new();
    session(&disk, |_| {
        let found = texts(&disk.file.borrow()).expect("a whole archive after every write");
        stood.push((disk.steps.borrow().len(), found));
    });
    assert_eq!(stood.last().unwrap().1.len(), 4);
    let steps = disk.steps.borrow();
    let (mut file, mut tries) = (Vec::new(), 0);
    let mut holds = |file: &[u8], done: usize| {
        let Some((_, before)) = stood.iter().rev().find(|(steps, _)| *steps <= done) else { return };
        let saved = formats::salvage(formats::find("har").unwrap(), file).unwrap();
        let found = texts(&saved.bytes).unwrap();
        for (start, text) in before {
            let now = found.iter().filter(|(other, _)| other == start).collect::<Vec<_>>();
            assert!(now.len() == 1 && now[0].1.starts_with(text), "step {done}: {start} {text}: {found:?}");
        }
        tries += 1;
    };
    for (done, step) in steps.iter().enumerate() {
        match step {
            DiskWrite::Write(at, bytes) => {
                for count in 0..=bytes.len() {
                    let mut torn = file.clone();
                    apply(&mut torn, *at, &bytes[..count]);
                    holds(&torn, done);
                }
                apply(&mut file, *at, bytes);
            }
            DiskWrite::Cut(length) => file.resize(*length, 0),
        }
    }
    assert!(tries > 1000, "{tries}");
}

#[test]
fn a_disk_that_is_full_at_any_size_leaves_a_whole_archive_and_a_count() {
    let whole = Disk::new(usize::MAX);
    session(&whole, |_| ());
    let most = whole.file.borrow().len() * 3;
    let mut counts = std::collections::BTreeSet::new();
    for size in 0..most {
        let disk = Disk::new(size);
        let missing = session(&disk, |_| {
            let file = disk.file.borrow();
            assert!(file.is_empty() || texts(&file).is_some(), "{size}: {}", String::from_utf8_lossy(&file));
        });
        let kept = texts(&disk.file.borrow()).map_or(0, |found| found.len() as u64);
        assert_eq!(kept + missing, 4, "{size}");
        counts.insert(missing);
    }
    assert_eq!(counts.first(), Some(&0));
    assert_eq!(counts.last(), Some(&4));
}

#[test]
fn a_file_that_somebody_empties_is_begun_anew_and_what_was_in_it_counted() {
    let disk = Disk::new(usize::MAX);
    let (_sender, receiver) = queue();
    let mut file = HarFile::new(&disk, &receiver, Timestamp::UNIX_EPOCH);
    file.write(News { finished: &mut [1, 2].map(exchange), open: Vec::new() }).unwrap();
    assert_eq!((file.count, file.cut), (2, None));
    disk.file.borrow_mut().clear();
    file.write(News { finished: &mut [exchange(3)], open: vec![&mut exchange(4)] }).unwrap();
    assert_eq!((file.count, file.cut), (1, Some(2)));
    assert_eq!(texts(&disk.file.borrow()).unwrap().len(), 2);
}
