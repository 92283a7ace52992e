//! A recording that was compressed with gzip, read as what it was.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;
use wire::interrupt;
use wire::unpacking::most_of;

/// What gzip begins with, and no text.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whether a file begins as gzip does.
pub(super) fn is_packed(path: &Path) -> bool {
    let mut begin = [0; GZIP.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == GZIP
}

/// Bytes, unpacked where they begin as gzip does. Nothing is read before somebody asks.
pub(super) enum Unpacked<R> {
    Fresh(Option<R>),
    Plain(R),
    /// With how many bytes came of it.
    Packed(Box<MultiGzDecoder<Counted<Whole<R>>>>, u64),
}

/// What was read to see what it is, and the rest.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// A reader, and how many bytes it gave.
pub(super) struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1 += read as u64;
        Ok(read)
    }
}

impl<R: Read> Unpacked<R> {
    pub(super) fn new(reader: R) -> Self {
        Self::Fresh(Some(reader))
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Fresh(reader) => {
                let Some(mut reader) = reader.take() else { return Ok(0) };
                let mut read = reader.read(buffer)?;
                if read == 1 && buffer[0] == GZIP[0] && buffer.len() > 1 {
                    read += reader.read(&mut buffer[1..])?;
                }
                if !buffer[..read].starts_with(&GZIP) {
                    *self = Self::Plain(reader);
                    return Ok(read);
                }
                let whole = Cursor::new(buffer[..read].to_vec()).chain(reader);
                *self = Self::Packed(Box::new(MultiGzDecoder::new(Counted(whole, 0))), 0);
                self.read(buffer)
            }
            Self::Plain(reader) => reader.read(buffer),
            Self::Packed(unpacker, unpacked) => {
                let read = unpacker.read(buffer)?;
                *unpacked += read as u64;
                let most = most_of(unpacker.get_ref().1);
                if *unpacked > most {
                    let why = format!("it is gzip of more than {} MiB; unpack it first", most >> 20);
                    return Err(io::Error::other(why));
                }
                if interrupt::is_overdue() {
                    return Err(io::Error::other("interrupted"));
                }
                Ok(read)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Unpacked;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::{self, Write as _};
    use wire::unpacking::LEAST;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn gzip_is_read_as_what_it_was_and_all_else_as_it_is() {
        let read = |bytes: &[u8]| io::read_to_string(Unpacked::new(bytes));
        for text in ["", "{", "{}", "{}\n{}\n"] {
            assert_eq!(read(text.as_bytes()).unwrap(), text);
            assert_eq!(read(&packed(text.as_bytes())).unwrap(), text);
        }
        assert_eq!(read(&[packed(b"a"), packed(b"b")].concat()).unwrap(), "ab");
        let whole = packed(b"{}\n");
        assert!((2..whole.len()).all(|cut| read(&whole[..cut]).is_err()));
    }

    #[test]
    fn what_is_unpacked_is_bounded() {
        let of = |size: usize| io::copy(&mut Unpacked::new(&packed(&vec![b' '; size])[..]), &mut io::sink());
        let least = usize::try_from(LEAST).unwrap();
        assert_eq!(of(least).unwrap(), LEAST);
        let error = of(least + 1).unwrap_err().to_string();
        assert!(error.contains("16 MiB; unpack it first"), "{error}");
    }
}
