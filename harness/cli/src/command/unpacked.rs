//! A recording that was compressed with gzip, read as what it was.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Chain, Cursor, Read};
use std::path::Path;

/// What gzip begins with, and no text.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// More than this is not unpacked: 1 GiB, which a MiB of gzip may come to.
const MOST: u64 = 1 << 30;

/// Whether a file begins as gzip does.
pub(super) fn is_packed(path: &Path) -> bool {
    let mut begin = [0; GZIP.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == GZIP
}

/// Bytes, unpacked where they begin as gzip does. Nothing is read before somebody asks.
pub(super) enum Unpacked<R> {
    Fresh(Option<R>),
    Plain(R),
    /// With how many bytes more may come of it.
    Packed(Box<MultiGzDecoder<Chain<Cursor<Vec<u8>>, R>>>, u64),
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
                *self = Self::Packed(Box::new(MultiGzDecoder::new(whole)), MOST);
                self.read(buffer)
            }
            Self::Plain(reader) => reader.read(buffer),
            Self::Packed(unpacker, left) => {
                let read = unpacker.read(buffer)?;
                let too_much = || {
                    io::Error::other(format!("it is gzip of more than {} MiB; unpack it first", MOST >> 20))
                };
                *left = left.checked_sub(read as u64).ok_or_else(too_much)?;
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
    use std::io::{self, Read as _, Write as _};

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
        let bytes = packed(&[b' '; 100]);
        let mut unpacked = Unpacked::new(&bytes[..]);
        unpacked.read_exact(&mut [0; 2]).unwrap();
        let Unpacked::Packed(_, left) = &mut unpacked else { panic!() };
        assert_eq!(std::mem::replace(left, 97), super::MOST - 2);
        let error = unpacked.read_to_end(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("unpack it first"), "{error}");
    }
}
