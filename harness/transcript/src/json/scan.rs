//! One pass over JSON text: is it JSON, and where does each value end?
//!
//! Iterative, so that depth costs a bit a level and never the stack.

use super::string::JsonString;
use super::value::Json;
use super::word;

/// The place where a text stops being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset into the scanned text.
    pub at: usize,
    /// What would have had to stand there, as the end of a sentence that begins with "expected".
    pub expected: &'static str,
    /// The text ended there: with more input it might still become JSON.
    pub ended: bool,
}

/// Somebody who is shown each value that a scanner moves past, and what it is called.
pub(super) trait Watch {
    /// A member's name, by the places of its content, and whether something in it is escaped.
    fn name(&mut self, _start: usize, _end: usize, _escaped: bool) {}
    /// A value that holds no others.
    fn scalar(&mut self, _start: usize, _end: usize) {}
    /// An object or a list begins.
    fn open(&mut self, _at: usize) {}
    /// The object or list that began last, and is not over, ends before this place.
    fn close(&mut self, _end: usize) {}
}

/// Nobody.
impl Watch for () {}

/// A cursor over JSON text. Each step either moves past what it names or returns the [`SyntaxError`].
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// A cursor at the beginning of `text`.
    #[must_use]
    #[inline]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// A cursor at byte `at` of `text`, which must be a place where a token may begin.
    #[must_use]
    #[inline]
    pub fn starting(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Where the cursor stands, in bytes.
    #[must_use]
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// The byte under the cursor.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves past white space.
    #[inline]
    pub fn space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Moves past white space to the end of the text.
    ///
    /// # Errors
    /// Where anything else follows.
    pub fn end(&mut self) -> Result<(), SyntaxError> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { Err(self.fault("the end of the text")) }
    }

    /// Moves past the opening byte under the cursor and says whether a first member or item follows; where
    /// `close` follows instead, moves past that too.
    ///
    /// # Errors
    /// Where the text ends.
    #[inline]
    pub fn open(&mut self, close: u8) -> Result<bool, SyntaxError> {
        self.at += 1;
        self.space();
        match self.peek() {
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.fault("a value")),
        }
    }

    /// Moves past a comma to the next member or item (true), or past `close` (false).
    ///
    /// # Errors
    /// Where neither follows.
    #[inline]
    pub fn more(&mut self, close: u8) -> Result<bool, SyntaxError> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.space();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ if close == b'}' => Err(self.fault("a comma or a closing brace")),
            _ => Err(self.fault("a comma or a closing bracket")),
        }
    }

    /// Moves past a member's name and colon, to its value.
    ///
    /// # Errors
    /// Where the text has something else.
    #[inline]
    pub fn key(&mut self) -> Result<JsonString<'a>, SyntaxError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.fault("a member name in double quotes"));
        }
        self.string()?;
        let key = JsonString::quoted(&self.text[start..self.at]);
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.fault("a colon"));
        }
        self.at += 1;
        self.space();
        Ok(key)
    }

    /// Moves past one value and returns it.
    ///
    /// # Errors
    /// Where the text is not a value.
    #[inline]
    pub fn take(&mut self) -> Result<Json<'a>, SyntaxError> {
        let start = self.at;
        self.value()?;
        Ok(Json::scanned(&self.text[start..self.at]))
    }

    /// Moves past one value, however deep it is.
    ///
    /// # Errors
    /// Where the text is not a value.
    #[inline]
    pub fn value(&mut self) -> Result<(), SyntaxError> {
        self.watched(&mut ())
    }

    /// The same, and shows what it is and what is inside of it.
    #[inline]
    pub(super) fn watched(&mut self, watch: &mut impl Watch) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'{' | b'[') => self.container(watch),
            _ => self.scalar(watch),
        }
    }

    /// A fault at the cursor.
    #[must_use]
    pub fn fault(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { at: self.at, expected, ended: self.at >= self.text.len() }
    }

    fn container(&mut self, watch: &mut impl Watch) -> Result<(), SyntaxError> {
        let mut nest = Nest::default();
        'open: loop {
            let object = self.peek() == Some(b'{');
            watch.open(self.at);
            if self.open(if object { b'}' } else { b']' })? {
                nest.push(object);
                if object {
                    self.skip_key(watch)?;
                }
            } else {
                watch.close(self.at);
                if !self.close(&mut nest, watch)? {
                    return Ok(());
                }
            }
            loop {
                match self.peek() {
                    Some(b'{' | b'[') => continue 'open,
                    _ => self.scalar(watch)?,
                }
                if !self.close(&mut nest, watch)? {
                    return Ok(());
                }
            }
        }
    }

    /// After a value: closes as many containers as end here, and moves to the next value (true) or past the
    /// outermost end (false).
    #[inline]
    fn close(&mut self, nest: &mut Nest, watch: &mut impl Watch) -> Result<bool, SyntaxError> {
        while let Some(object) = nest.top() {
            if self.more(if object { b'}' } else { b']' })? {
                if object {
                    self.skip_key(watch)?;
                }
                return Ok(true);
            }
            watch.close(self.at);
            nest.pop();
        }
        Ok(false)
    }

    /// Never a call of its own: it stands at two places of the loop, and runs at every member.
    #[inline(always)]
    fn skip_key(&mut self, watch: &mut impl Watch) -> Result<(), SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("a member name in double quotes"));
        }
        let start = self.at + 1;
        let escaped = self.string()?;
        watch.name(start, self.at - 1, escaped);
        if self.peek() != Some(b':') {
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.fault("a colon"));
            }
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    #[inline]
    fn scalar(&mut self, watch: &mut impl Watch) -> Result<(), SyntaxError> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.string().map(|_| ())?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            _ => return Err(self.fault("a JSON value")),
        }
        watch.scalar(start, self.at);
        Ok(())
    }

    fn word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        for byte in word.bytes() {
            if self.peek() != Some(byte) {
                return Err(self.fault("true, false or null"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.fault("a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// Moves past a string, its quotes included, and says whether something in it is escaped. Eight bytes at a time, since
    /// most of a recording is strings.
    #[inline]
    fn string(&mut self) -> Result<bool, SyntaxError> {
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        self.at += 1;
        loop {
            while let Some(chunk) = bytes.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
                let special = word::special(u64::from_le_bytes(*chunk));
                if special != 0 {
                    self.at += special.trailing_zeros() as usize / 8;
                    break;
                }
                self.at += 8;
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0..=0x1f) => return Err(self.fault("a character other than a raw control character")),
                Some(_) => self.at += 1,
                None => return Err(self.fault("a closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.fault("four hexadecimal digits"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.fault("a valid escape")),
        }
        Ok(())
    }
}

/// Which of the open containers are objects: a bit a level.
#[derive(Default)]
struct Nest {
    bits: u64,
    depth: u32,
    below: Vec<u64>,
}

impl Nest {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth == 64 {
            self.below.push(self.bits);
            self.depth = 0;
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.bits & 1 == 1)
    }

    #[inline]
    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth == 0
            && let Some(bits) = self.below.pop()
        {
            self.bits = bits;
            self.depth = 64;
        }
    }
}

#[cfg(test)]
mod tests;
