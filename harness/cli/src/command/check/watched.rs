//! A recording's bytes on their way to the reader: Ctrl-C ends them, and their digest is computed.

use hmac_sha256::Hash as Sha256;
use std::io::{self, Read};
use wire::interrupt;

/// Bytes that are watched.
pub(super) struct Watched<R> {
    inner: R,
    digest: Option<Sha256>,
}

impl<R: Read> Watched<R> {
    /// Watches `inner`, and computes a digest where one is wanted.
    pub(super) fn new(inner: R, digest: bool) -> Self {
        Self { inner, digest: digest.then(Sha256::new) }
    }

    /// The digest of everything, also of what nobody has read; none where none was wanted.
    pub(super) fn digest(mut self) -> io::Result<Option<[u8; 32]>> {
        if self.digest.is_some() {
            io::copy(&mut self, &mut io::sink())?;
        }
        Ok(self.digest.map(|digest| digest.finalize()))
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if interrupt::requested() {
            return Err(io::Error::other("interrupted"));
        }
        let read = self.inner.read(buffer)?;
        if let Some(digest) = &mut self.digest {
            digest.update(&buffer[..read]);
        }
        Ok(read)
    }
}
