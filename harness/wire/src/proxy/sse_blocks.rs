//! Where the blocks of an event stream end: with the end of an empty line, as WHATWG has it.

/// What a byte of a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    /// The last one of a block.
    BlockEnd,
    /// The line feed behind a carriage return that ended a line, and maybe a block.
    SecondHalf,
    Other,
}

/// Where in the lines of a stream the next byte is.
#[derive(Debug)]
pub(super) struct Scanner {
    line_is_empty: bool,
    after_cr: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        Self { line_is_empty: true, after_cr: false }
    }
}

impl Scanner {
    pub(super) fn next(&mut self, byte: u8) -> Byte {
        let follows = std::mem::replace(&mut self.after_cr, byte == b'\r') && byte == b'\n';
        if follows {
            return Byte::SecondHalf;
        }
        let ends_line = matches!(byte, b'\n' | b'\r');
        let was_empty = std::mem::replace(&mut self.line_is_empty, ends_line);
        if ends_line && was_empty { Byte::BlockEnd } else { Byte::Other }
    }
}
