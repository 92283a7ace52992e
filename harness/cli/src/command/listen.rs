//! `record --listen`: a transparent recorder between a client and a server that speak HTTP.
//!
//! Knows: the address, the file, and what a person is told. Refuses to know: what passes.

use super::{Around, Failure};
use crate::{exit, interrupt};
use std::net::SocketAddr;
use std::path::Path;
use wire::proxy::{Proxy, StartError, Target};
use wire::record::{self, Redaction};

/// The format that is written while the session goes on.
pub(super) const NATIVE: &str = "har";

/// Records until Ctrl-C or the request to end that a service manager makes. Whether all that passed is in the file.
///
/// # Errors
/// Where the address or the file cannot be used.
pub(super) fn run(
    at: SocketAddr,
    to: &Target,
    redaction: Redaction,
    out: &Path,
    force: bool,
    around: Around,
) -> Result<bool, Failure> {
    let unusable = |refused: StartError| Failure::Unusable(refused.to_string());
    // First the address: a file that was made for nothing would be in the way the next time.
    let proxy = Proxy::listen(at, to.clone()).map_err(unusable)?.redacting(redaction);
    let file = record::create_in_place(out, force).map_err(Failure::Unusable)?;
    interrupt::watch()?;
    let (at, origin, path) = (proxy.address()?, to.origin(), to.path());
    around.voice.note(&format!("http://{at}{path} is {origin}{path} from now on; Ctrl-C ends the recording"));
    let say = |text: &str| around.voice.error(&format!("{}: {text}", out.display()));
    let summary = proxy.record(file, &interrupt::came, &say).map_err(unusable)?;
    let text = format!("{}: {summary}", out.display());
    if summary.is_whole() {
        around.voice.note(&text)
    } else {
        around.voice.error(&text)
    }
    Ok(summary.is_whole())
}

/// An address as `--listen` takes it: `127.0.0.1:0`, `[::1]:8080`, or a port of this machine alone.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = || Some(SocketAddr::from(([127, 0, 0, 1], text.parse::<u16>().ok()?)));
    text.parse().ok().or_else(local).ok_or_else(|| {
        format!(
            "`{text}` is no address: write 127.0.0.1:PORT, or the port alone; port 0 takes one that is free"
        )
    })
}

/// The exit code of a recording that is whole or not.
pub(super) fn code(whole: bool) -> u8 {
    if whole { exit::WELL } else { exit::FELL_SHORT }
}
