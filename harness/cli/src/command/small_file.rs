//! Files that options name and that are read whole. A device may never end, and a wrong name may be that of a disk image.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most that is read of a file which people write, such as a baseline or a client's configuration.
const WRITTEN: u64 = 16 << 20;

/// The most that is read of a file which programs write, such as the record of a run, or a recording to make others from.
const MADE: u64 = 1 << 30;

/// The text of a file that people write.
pub(super) fn written(path: &Path) -> io::Result<String> {
    whole(File::open(path)?, WRITTEN)
}

/// The text of a file that programs write.
pub(super) fn made(path: &Path) -> io::Result<String> {
    whole(File::open(path)?, MADE)
}

/// The rest of what a program wrote.
pub(super) fn rest(reader: impl Read) -> io::Result<String> {
    whole(reader, MADE)
}

/// The bytes of a recording that is held as a whole.
pub(super) fn bytes(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MADE + 1).read_to_end(&mut bytes).and_then(|size| within(size, MADE))?;
    Ok(bytes)
}

fn whole(reader: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    reader.take(most + 1).read_to_string(&mut text).and_then(|size| within(size, most))?;
    Ok(text)
}

fn within(size: usize, most: u64) -> io::Result<()> {
    if size as u64 <= most {
        return Ok(());
    }
    let limit = if most == MADE { "1 GiB" } else { "16 MiB" };
    let why = format!("it is larger than {limit}, the limit for such a file");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, why))
}

#[cfg(test)]
mod tests {
    use super::{WRITTEN, whole};
    use std::io::{self, Read as _};

    #[test]
    fn what_is_longer_than_the_limit_is_refused_and_not_read_to_its_end() {
        let of = |size| whole(io::repeat(b' ').take(size), WRITTEN);
        assert_eq!(of(WRITTEN).unwrap().len() as u64, WRITTEN);
        let why = of(u64::MAX).unwrap_err().to_string();
        assert_eq!(why, "it is larger than 16 MiB, the limit for such a file");
    }
}
