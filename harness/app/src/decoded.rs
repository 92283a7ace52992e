//! A recording as the text it was, where it was compressed with gzip, is in a bundle, or was written as UTF-16.

use crate::bundle::{self, SIGN};
use crate::unpacker::Unpacker;
use std::io::{self, Cursor, ErrorKind, Read};

/// What gzip begins with, and no text.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a page begins with, which may be a bundle.
const PAGE: &[u8] = b"<!";

/// The byte order marks of UTF-16: the little end first, the big end first.
const UTF16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Whether these first bytes are those of something that is decoded.
pub fn is_coded(start: &[u8]) -> bool {
    start.starts_with(&GZIP) || start.starts_with(PAGE) || UTF16.iter().any(|mark| start.starts_with(mark))
}

/// Bytes, unpacked where they begin as gzip or a bundle does, and UTF-8 where they begin as UTF-16 does. Nothing is read before somebody asks.
/// Memory: a block of each coding.
pub struct Decoded<'a> {
    reader: Box<dyn Read + Send + 'a>,
    /// It is not yet known what it is; then, which file to name.
    fresh: Option<String>,
    note: Box<dyn FnMut(&str) + Send + 'a>,
    is_packed: bool,
}

impl<'a> Decoded<'a> {
    /// What a reader has, in errors and notes called `name`. `note` is shown a sentence where it is UTF-16.
    pub fn new(name: &str, reader: impl Read + Send + 'a, note: impl FnMut(&str) + Send + 'a) -> Self {
        let name = if name == "<stdin>" { "FILE" } else { name };
        Self {
            reader: Box::new(reader),
            fresh: Some(name.to_owned()),
            note: Box::new(note),
            is_packed: false,
        }
    }

    /// The same, as it is.
    pub(crate) fn exact(reader: impl Read + Send + 'a) -> Self {
        Self { reader: Box::new(reader), fresh: None, note: Box::new(|_| {}), is_packed: false }
    }

    /// Unpacks the rest. Only the end of gzip shows whether the text before it is what was packed: where it is not, nothing that
    /// is wrong with the text is the recording's fault.
    pub(crate) fn prove(&mut self) -> io::Result<()> {
        if self.is_packed {
            io::copy(self, &mut io::sink())?;
        }
        Ok(())
    }

    /// Looks at its beginning, and at what comes out of it. How many bytes come before the others.
    fn open(&mut self, name: &str) -> io::Result<usize> {
        let mut start = self.look()?;
        let mut what = "gzip data";
        if start == SIGN {
            let page = std::mem::replace(&mut self.reader, Box::new(io::empty()));
            self.reader = Box::new(bundle::recording(page)?);
            what = "bundle";
            start = self.look().map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => io::Error::other(format!("the {what} is cut off")),
                _ => io::Error::other(format!("the {what} is damaged")),
            })?;
        }
        let mut convert = format!("iconv -f UTF-16 -t UTF-8 {name}");
        if start.starts_with(&GZIP) {
            let packed = std::mem::replace(&mut self.reader, Box::new(io::empty()));
            let packed = Cursor::new(start).chain(packed);
            self.reader = Box::new(Unpacker::new(packed, what, name));
            self.is_packed = true;
            start = self.look()?;
            convert = format!("gzip -dc {name} | iconv -f UTF-16 -t UTF-8");
        }
        let looked = start.len();
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = match UTF16.iter().position(|mark| start.starts_with(mark)) {
            None => Box::new(Cursor::new(start).chain(rest)),
            Some(end) => {
                (self.note)(&format!(
                    "{name} is UTF-16, as Windows PowerShell's > writes it; read as UTF-8. To convert it: {convert} > NEW"
                ));
                Box::new(Utf16 {
                    reader: rest,
                    is_big: end == 1,
                    half: None,
                    high: None,
                    at: 0,
                    text: Cursor::default(),
                })
            }
        };
        Ok(looked)
    }

    /// The first two bytes, or those of a bundle; fewer where there are no more, or where one shows that it is none of these.
    fn look(&mut self) -> io::Result<Vec<u8>> {
        let mut start = Vec::with_capacity(SIGN.len());
        let is_open = |start: &[u8]| match start {
            [] | [0x1f | 0xff | 0xfe] => true,
            start => start.len() < SIGN.len() && SIGN.starts_with(start),
        };
        while is_open(&start) {
            let mut byte = [0];
            match self.reader.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => start.extend(byte),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(start)
    }
}

impl Read for Decoded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(name) = self.fresh.take() else { return self.reader.read(buffer) };
        let looked = self.open(&name)?;
        // The bytes that were looked at come first, and a caller may look at no more than one reading.
        match self.reader.read(buffer)? {
            read if read > 0 && read <= looked => Ok(read + self.reader.read(&mut buffer[read..])?),
            read => Ok(read),
        }
    }
}

/// UTF-16 without its mark, as UTF-8.
struct Utf16<R> {
    reader: R,
    is_big: bool,
    /// Half of a unit.
    half: Option<u8>,
    /// The first half of a pair.
    high: Option<u16>,
    /// How many bytes were decoded, with the mark.
    at: u64,
    /// What is decoded and was not taken.
    text: Cursor<Vec<u8>>,
}

impl<R: Read> Utf16<R> {
    fn decode(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut text = String::with_capacity(bytes.len());
        for &byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            let pair = [first, byte];
            let unit = if self.is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
            if self.at == 0 && unit == 0 {
                return Err(io::Error::other("it is UTF-32; only UTF-8 and UTF-16 are read"));
            }
            self.at += 2;
            match (self.high.take(), unit) {
                (None, 0xd800..=0xdbff) => self.high = Some(unit),
                (high, _) => {
                    let units = high.into_iter().chain([unit]);
                    for char in char::decode_utf16(units) {
                        text.push(char.map_err(|error| {
                            let unit = error.unpaired_surrogate();
                            // That a first half has no second one is seen when the next unit has come.
                            let at = self.at - if high.is_some() { 2 } else { 0 };
                            io::Error::other(format!(
                                "it is UTF-16 with half of a surrogate pair, {unit:04X}, at byte {at}"
                            ))
                        })?);
                    }
                }
            }
        }
        self.text = Cursor::new(text.into_bytes());
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let mut block = [0; 1 << 13];
            let read = self.reader.read(&mut block)?;
            if read == 0 {
                let cut = match (self.half, self.high) {
                    (Some(_), _) => "a code unit",
                    (_, Some(_)) => "a surrogate pair",
                    _ => return Ok(0),
                };
                return Err(io::Error::other(format!("its UTF-16 is cut off within {cut}")));
            }
            self.decode(&block[..read])?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decoded;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use formats::unpacking::LEAST;
    use std::io::{self, Read as _, Write as _};

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    /// With and without the big end first, and the mark.
    fn utf16(text: &str) -> [Vec<u8>; 2] {
        let units = || "\u{feff}".encode_utf16().chain(text.encode_utf16());
        [units().flat_map(u16::to_le_bytes).collect(), units().flat_map(u16::to_be_bytes).collect()]
    }

    fn read(bytes: &[u8]) -> Result<String, String> {
        io::read_to_string(Decoded::new("a.gz", bytes, |_| {})).map_err(|error| error.to_string())
    }

    #[test]
    fn gzip_is_read_as_what_it_was_and_all_else_as_it_is() {
        for text in ["", "{", "{}", "{}\n{}\n"] {
            assert_eq!(read(text.as_bytes()).as_deref(), Ok(text));
            assert_eq!(read(&packed(text.as_bytes())).as_deref(), Ok(text));
        }
        assert_eq!(read(&[packed(b"a"), packed(b"b")].concat()).as_deref(), Ok("ab"));
        let whole = packed(b"{}\n");
        for cut in 2..whole.len() {
            let said = read(&whole[..cut]).unwrap_err();
            assert_eq!(said, "the gzip data is cut off; `gzip -dc a.gz > NEW` keeps what is whole");
        }
        for behind in ["\n", "ab", "\0\0\0\0\0\0\0\0\0\0\0\0", "{\"jsonrpc\":\"2.0\"}\n"] {
            let said = read(&[&whole, behind.as_bytes()].concat()).unwrap_err();
            assert_eq!(
                said,
                "the gzip data has other bytes after it; `gzip -dc a.gz > NEW` keeps what is whole"
            );
        }
        let mut damaged = whole.clone();
        damaged[whole.len() - 5] ^= 1;
        assert!(read(&damaged).unwrap_err().contains("damaged"));
    }

    #[test]
    fn what_is_unpacked_is_bounded() {
        let unpacked =
            |size: u64| read(&packed(&vec![b' '; usize::try_from(size).unwrap()])).map(|text| text.len());
        assert!(unpacked(LEAST).is_ok());
        let error = unpacked(LEAST + 1).unwrap_err();
        assert_eq!(error, format!("the gzip data holds more than {} MiB; unpack it first", LEAST >> 20));
    }

    #[test]
    fn utf_16_is_read_as_utf_8_and_said_once() {
        let long = "{\"é\": \"𝄞\"}\r\n".repeat(2000);
        for text in ["", "{}", "é𝄞\u{fffd}", &long] {
            for bytes in utf16(text) {
                let mut notes = Vec::new();
                let said = io::read_to_string(Decoded::new("<stdin>", &bytes[..], |note| {
                    notes.push(note.to_owned())
                }));
                assert_eq!(said.unwrap(), text);
                assert_eq!(notes.len(), 1);
                assert!(notes[0].ends_with("iconv -f UTF-16 -t UTF-8 FILE > NEW"), "{notes:?}");
                assert_eq!(read(&packed(&bytes)).as_deref(), Ok(text));
            }
        }
        // A byte at a time, and so amid units and pairs.
        let [little, _] = utf16("a𝄞");
        let slow = little
            .chunks(1)
            .fold(Box::new(io::empty()) as Box<dyn io::Read + Send>, |all, byte| Box::new(all.chain(byte)));
        assert_eq!(io::read_to_string(Decoded::new("a", slow, |_| {})).unwrap(), "a𝄞");
    }

    #[test]
    fn the_first_reading_has_more_than_what_was_looked_at() {
        let mut buffer = [0; 64];
        for bytes in [b"{\"a\": 1}".to_vec(), packed(b"{\"a\": 1}")] {
            assert_eq!(Decoded::new("a", &bytes[..], |_| {}).read(&mut buffer).unwrap(), 8);
        }
    }

    #[test]
    fn recordings_in_memory_are_decoded() {
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let meaning = |bytes: &[u8]| {
            let read = crate::answer(&crate::ReadOptions::default(), [crate::Recording::new("a", bytes)]);
            read.map(|answer| answer.text().to_owned()).map_err(|error| error.to_string())
        };
        let expected = meaning(line.as_bytes());
        assert!(expected.is_ok());
        for bytes in utf16(line).into_iter().chain([packed(line.as_bytes())]) {
            assert_eq!(meaning(&bytes), expected);
            let exact = crate::Recording { exact: true, ..crate::Recording::new("a", &bytes) };
            assert!(crate::answer(&crate::ReadOptions::default(), [exact]).is_err());
        }
        assert!(meaning(&packed(line.as_bytes())[..20]).unwrap_err().contains("gzip data is cut off"));
        // What damage made of the text is not the recording's fault.
        for text in ["no recording", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\nno JSON\n"] {
            let mut damaged = packed(text.as_bytes());
            assert!(!meaning(&damaged).unwrap_err().contains("damaged"));
            let check = damaged.len() - 5;
            damaged[check] ^= 1;
            assert!(meaning(&damaged).unwrap_err().contains("gzip data is damaged"));
        }
    }

    #[test]
    fn utf_16_that_is_not_whole_is_refused() {
        let [little, big] = utf16("𝄞a");
        let half = |bytes: &[u8], unit: &[u8]| [&bytes[..2], unit].concat();
        for (bytes, why) in [
            (little[..3].to_vec(), "its UTF-16 is cut off within a code unit"),
            (big[..4].to_vec(), "its UTF-16 is cut off within a surrogate pair"),
            (half(&little, b"a\0\x34\xd8b\0"), "it is UTF-16 with half of a surrogate pair, D834, at byte 4"),
            (half(&big, b"\0a\xdd\x1e"), "it is UTF-16 with half of a surrogate pair, DD1E, at byte 4"),
            (half(&little, b"\0\0a\0\0\0"), "it is UTF-32; only UTF-8 and UTF-16 are read"),
        ] {
            assert_eq!(read(&bytes).unwrap_err(), why);
        }
    }
}
