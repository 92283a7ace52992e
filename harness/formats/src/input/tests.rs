use super::{Input, Read};
use std::cell::Cell;
use std::io;

/// A pipe that brings no more than so many bytes at a time.
struct Parts<'b>(&'b [u8], usize);

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (part, rest) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
        buffer[..part.len()].copy_from_slice(part);
        self.0 = rest;
        Ok(part.len())
    }
}

#[test]
fn an_item_in_small_parts_is_scanned_a_few_times() {
    let text = format!("[{}1]", "1,".repeat(10_000));
    for size in [1, 7, 4096] {
        let (mut parts, times) = (Parts(text.as_bytes(), size), Cell::new(0));
        let mut input = Input::new(&mut parts).unwrap();
        let scanned = input.scan(|scanner| {
            times.set(times.get() + 1);
            scanner.value()
        });
        assert_eq!(scanned.unwrap(), text.len());
        assert!(times.get() < 20, "{} times in parts of {size}", times.get());
    }
}
