use super::{Input, Read, ReadError};
use crate::excerpt::SHOWN;
use crate::{FORMATS, Format, ReadOptions, find, walk};
use std::cell::Cell;
use std::io;
use transcript::rejection::Rejection;

/// A pipe that brings at most this many bytes at a time.
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

/// The rejection of a reading in parts of this many bytes; none where it is read.
fn rejection(format: &Format, bytes: &[u8], size: usize) -> Option<Rejection> {
    let mut parts = Parts(bytes, size);
    let mut input = Input::new(&mut parts).ok()?;
    match walk(format, &mut input, ReadOptions::default(), &mut |_| Ok(())) {
        Err(ReadError::Rejected(rejection)) => Some(*rejection),
        _ => None,
    }
}

/// Every transcript of a case that is rejected, those that are cut short among them, whole and in small parts. Where the fault
/// stands at the edge of a part, no less is shown of it.
#[test]
fn a_rejection_is_the_same_however_the_bytes_come() {
    let mut rejected = 0;
    for (path, bytes) in cases::files() {
        let Some(format) = FORMATS.iter().find(|format| path.ends_with(format.file)) else { continue };
        let mut bytes = bytes.to_vec();
        // A line of its own would end what is shown where it ends.
        for one_line in [false, true] {
            if one_line && !format.is_lines() {
                bytes.retain(|byte| *byte != b'\n');
            }
            let Some(whole) = rejection(format, &bytes, bytes.len()).filter(|_| bytes.len() < 4096) else {
                continue;
            };
            rejected += 1;
            let fault = usize::try_from(whole.position.offset).unwrap();
            let edges = [fault.saturating_sub(1), fault, fault + 1, fault + SHOWN, fault + SHOWN + 1];
            for size in (1..8).chain([64, 101]).chain(edges).filter(|size| *size > 0) {
                let parts = rejection(format, &bytes, size);
                assert_eq!(parts.as_ref(), Some(&whole), "{path} in parts of {size}");
            }
        }
    }
    assert!(rejected > 300, "{rejected} rejections");
}

#[test]
fn a_second_document_is_told_from_other_text_behind_the_first() {
    let documents = [
        ("har", r#"{"log":{"entries":[]}}"#),
        ("inspector", "[]"),
        ("inspector", r#"{"events":[]}"#),
        ("inspector-network", "[]"),
        ("streamable-http", r#"{"transport":"streamable-http","entries":[]}"#),
        ("http-sse", r#"{"transport":"http-sse","entries":[]}"#),
        ("mcp-recorder", r#"{"version":"1.0","interactions":[]}"#),
        ("mcp-cassette", r#"{"version":1,"interactions":[]}"#),
        ("agent-vcr", r#"{"format_version":"1.0.0","metadata":{},"session":{"interactions":[]}}"#),
    ];
    for (name, document) in documents {
        let format = find(name).unwrap();
        for size in [1, 5, 1 << 20] {
            let said = |text: &str| {
                let found = rejection(format, text.as_bytes(), size).unwrap();
                assert_eq!((found.code.name(), found.clause), ("invalid-json", "SRV-BYTES"), "{name}");
                (found.message, found.position.line)
            };
            let (message, line) = said(&format!("\n{document}\n\n {document}\n"));
            assert!(
                message.starts_with("the document ends on line 2, and a second one begins on line 4;"),
                "{name}: {message}"
            );
            assert!(message.contains("(`jq -c . FILE` prints each"), "{name}: {message}");
            assert_eq!(line, 4, "{name}");
            let (message, _) = said(&format!("{document}{document}"));
            assert!(
                message.contains("ends on line 1, and a second one begins on line 1;"),
                "{name}: {message}"
            );
            let (message, line) = said(&format!("{document}\n,"));
            assert!(!message.contains("a second one") && line == 2, "{name}: {message}");
        }
    }
}
