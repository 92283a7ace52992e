//! Bytes of one side as lines, however they were cut on the way.
//!
//! Memory: the beginning of an unfinished line, up to [`HELD`].

/// Up to this size a line is held in memory; the rest of a longer one is handed on as it comes.
pub const HELD: usize = 4 << 20;

/// A line, or a part of one that is longer than [`HELD`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A whole line without its line feed, and whether it had one.
    Line(&'a [u8], bool),
    /// The next part of a long line.
    Part(&'a [u8]),
    /// The long line ends here, and whether with a line feed.
    LongEnds(bool),
    /// The long line is cut off by a gap.
    LongLost,
}

/// Bytes that are not there.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// How many line feeds were among them.
    pub(crate) line_feeds: u64,
    /// Whether the last of them was one.
    pub(crate) at_line_feed: bool,
}

#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    partial: Vec<u8>,
    in_long: bool,
    /// What comes up to the next line feed belongs to a line whose beginning was let go.
    headless: bool,
}

impl LineSplitter {
    pub(crate) fn take(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(Piece<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.headless {
                self.headless = false;
            } else if self.in_long {
                self.in_long = false;
                sink(Piece::Part(line));
                sink(Piece::LongEnds(true));
            } else if self.partial.is_empty() {
                sink(Piece::Line(line, true));
            } else {
                self.partial.extend_from_slice(line);
                sink(Piece::Line(&self.partial, true));
                self.forget();
            }
        }
        if self.headless || bytes.is_empty() {
            return;
        }
        if self.in_long {
            sink(Piece::Part(bytes));
        } else if self.partial.len() + bytes.len() > HELD {
            self.in_long = true;
            sink(Piece::Part(&self.partial));
            sink(Piece::Part(bytes));
            self.forget();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// Bytes are missing here. How many lines are lost by it.
    pub(crate) fn gap(&mut self, gap: Gap, sink: &mut dyn FnMut(Piece<'_>)) -> u64 {
        if self.in_long {
            sink(Piece::LongLost);
        }
        self.in_long = false;
        self.forget();
        self.headless = !gap.at_line_feed;
        gap.line_feeds + u64::from(self.headless)
    }

    /// Nothing more will come.
    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        if self.in_long {
            sink(Piece::LongEnds(false));
        } else if !self.partial.is_empty() {
            sink(Piece::Line(&self.partial, false));
        }
        self.in_long = false;
        self.forget();
    }

    /// Its room is kept: where one line was long, the next one is.
    fn forget(&mut self) {
        self.partial.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::{Gap, HELD, LineSplitter, Piece};
    use proptest::prelude::*;

    /// The lines that came out, each with whether a line feed ended it.
    fn lines(splitter: &mut LineSplitter, chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let (mut out, mut long) = (Vec::new(), Vec::new());
        let mut sink = |piece: Piece<'_>| match piece {
            Piece::Line(line, ended) => out.push((line.to_vec(), ended)),
            Piece::Part(part) => long.extend_from_slice(part),
            Piece::LongEnds(ended) => out.push((std::mem::take(&mut long), ended)),
            Piece::LongLost => long.clear(),
        };
        for chunk in chunks {
            splitter.take(chunk, &mut sink);
        }
        splitter.finish(&mut sink);
        out
    }

    #[test]
    fn a_long_line_comes_in_parts_and_whole() {
        let long = vec![b'x'; HELD * 2 + 7];
        let text = [b"a\n", &long[..], b"\nb"].concat();
        let chunks: Vec<&[u8]> = text.chunks(65_536).collect();
        let found = lines(&mut LineSplitter::default(), &chunks);
        assert_eq!(found, [(b"a".to_vec(), true), (long, true), (b"b".to_vec(), false)]);
    }

    #[test]
    fn a_gap_takes_the_lines_that_it_touches_and_no_other() {
        let gap = |line_feeds, at_line_feed| Gap { line_feeds, at_line_feed };
        for (before, gap, after, lost, expected) in [
            ("a\nb", gap(1, false), "c\nd\n", 2, vec!["d"]),
            ("a\nb", gap(1, true), "c\nd\n", 1, vec!["c", "d"]),
            ("a\n", gap(0, false), "c\nd\n", 1, vec!["d"]),
            ("a\n", gap(3, true), "c\n", 3, vec!["c"]),
        ] {
            let mut splitter = LineSplitter::default();
            splitter.take(before.as_bytes(), &mut |_| {});
            assert_eq!(splitter.gap(gap, &mut |_| {}), lost, "{before:?}");
            let found = lines(&mut splitter, &[after.as_bytes()]);
            let found: Vec<_> = found.iter().map(|(line, _)| String::from_utf8_lossy(line)).collect();
            assert_eq!(found, expected, "{before:?}");
        }
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(text in "[ab\n\r]{0,40}", cuts in prop::collection::vec(0usize..40, 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= text.len()).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            let expected: Vec<(Vec<u8>, bool)> = text
                .split_inclusive('\n')
                .map(|line| (line.trim_end_matches('\n').as_bytes().to_vec(), line.ends_with('\n')))
                .collect();
            prop_assert_eq!(lines(&mut LineSplitter::default(), &chunks), expected);
        }
    }
}
