//! Ways for a peer to send the same: slowly, in pieces, all at once, with noise.
//!
//! Only the early close and the half line change what a correct reader receives.

use crate::journal::{Direction, Journal};
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// How a peer says and hears.
#[derive(Debug, Clone, Default)]
pub struct Variants {
    /// Wait so long before each write.
    pub delay: Duration,
    /// Cut each write into pieces of this number of bytes.
    pub chunk: Option<usize>,
    /// Say what can be said together in one write.
    pub merge: bool,
    /// Say no more after this number of messages, and close.
    pub close_after: Option<u64>,
    /// Say an event of a stream twice, with the same id, and break the stream in between where the client can come back.
    pub redeliver: bool,
    /// Say a line that is not a message before each message.
    pub noise: Option<String>,
    /// Wait so long before each read, and read little.
    pub slow_read: Duration,
    /// Say half a message, without the end of its line, before the end.
    pub half_line_at_end: bool,
}

impl Variants {
    /// A message as bytes of a pipe.
    pub(super) fn line(&self, text: &str, out: &mut Vec<u8>) {
        if let Some(noise) = &self.noise {
            out.extend_from_slice(noise.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
    }

    /// Half of a message, cut between two characters.
    pub(super) fn half(&self, text: &str) -> Option<Vec<u8>> {
        let middle = text.floor_char_boundary(text.len() / 2);
        self.half_line_at_end.then(|| text.as_bytes()[..middle].to_vec())
    }

    /// Writes to a pipe, notes what was taken, and reports how much as it goes.
    pub(super) fn write(
        &self,
        bytes: &[u8],
        to: &mut impl Write,
        journal: &Journal,
        moved: &mut dyn FnMut(usize),
    ) -> io::Result<()> {
        thread::sleep(self.delay);
        for mut piece in bytes.chunks(self.chunk.unwrap_or(bytes.len()).max(1)) {
            while !piece.is_empty() {
                let at = journal.now();
                match to.write(piece) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(count) => {
                        journal.bytes_at(at, Direction::Sent, None, &piece[..count]);
                        moved(count);
                        piece = &piece[count..];
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            to.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Journal, Variants};
    use std::io::{self, Write};

    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_write_is_cut_and_nothing_is_lost() {
        for (chunk, count) in [(None, 1), (Some(1), 6), (Some(4), 2), (Some(6), 1), (Some(100), 1)] {
            let variants = Variants { chunk, noise: Some("a".into()), ..Variants::default() };
            let (mut bytes, mut writes) = (Vec::new(), Writes::default());
            variants.line("{é", &mut bytes);
            let mut moved = 0;
            variants.write(&bytes, &mut writes, &Journal::default(), &mut |count| moved += count).unwrap();
            assert_eq!(moved, bytes.len());
            assert_eq!((writes.0.len(), writes.0.concat()), (count, "a\n{é\n".into()), "{chunk:?}");
        }
    }

    #[test]
    fn half_a_message_is_text() {
        let variants = Variants { half_line_at_end: true, ..Variants::default() };
        assert_eq!(variants.half("\"éé\"").unwrap(), "\"é".as_bytes());
        assert_eq!(variants.half("aé").unwrap(), b"a");
        assert_eq!(Variants::default().half("ab"), None);
    }
}
