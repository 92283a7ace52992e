//! `record --listen`: a transparent recorder between a client and a server that speak HTTP.

use super::context::{CommandContext, Failure};
use super::outcome::watch;
use crate::exit;
use std::net::SocketAddr;
use std::path::Path;
use wire::AllowedHosts;
use wire::interrupt;
use wire::proxy::{Proxy, Target};
use wire::record;
use wire::redaction::Redaction;

/// Whom a listener serves.
#[derive(Debug, clap::Args)]
pub(super) struct Hosts {
    /// Serve requests that name this host in Host or Origin, too. Without it a listener of a loopback address serves
    /// only this machine's own names, so that no web page reaches it under another. Repeatable.
    #[arg(long, value_name = "HOST", requires = "listen")]
    allow_host: Vec<String>,
}

impl Hosts {
    /// The hosts that a listener at `at` serves.
    pub(super) fn at(&self, at: SocketAddr) -> AllowedHosts {
        AllowedHosts::new(at, &self.allow_host)
    }
}

/// Records until Ctrl-C, the request to end that a service manager makes, or the end of the terminal, into a file that is
/// `called` so. Whether all that passed is in it.
///
/// # Errors
/// Where the address or the file cannot be used.
pub(super) fn run(
    (at, to): (SocketAddr, &Target),
    hosts: &Hosts,
    redaction: Redaction,
    (out, called): (&Path, &Path),
    force: bool,
    context: CommandContext,
) -> Result<bool, Failure> {
    // Whoever finds the port open may end the recording.
    watch()?;
    // First the address: a file that was made for nothing would be in the way the next time.
    let proxy = Proxy::listen(at, to.clone()).map_err(Failure::Unusable)?;
    let proxy = proxy.redacting(redaction.clone()).allowing(hosts.at(at));
    let file = record::create_in_place(out, force).map_err(Failure::Unusable)?;
    let path = redaction.text(to.path());
    let (at, origin) = (proxy.address()?, to.origin());
    context.terminal.note(&format!("Proxying http://{at}{path} to {origin}{path}; press Ctrl-C to stop"));
    warn_of_secrets(&redaction, called, context);
    let say = |text: &str| context.terminal.error(&format!("{}: {text}", called.display()));
    let summary = proxy.record(file, &interrupt::requested, &say).map_err(Failure::Unusable)?;
    let text = format!("{}: {summary}", called.display());
    if summary.is_whole() {
        context.terminal.note(&text)
    } else {
        context.terminal.error(&text)
    }
    Ok(summary.is_whole())
}

/// Says once that nothing is taken out, where that is so.
pub(super) fn warn_of_secrets(redaction: &Redaction, out: &Path, context: CommandContext) {
    if !redaction.is_asked() {
        context.terminal.note(&format!(
            "{} will hold everything that is sent, with all passwords and keys in it; --redact leaves them out",
            out.display()
        ));
    }
}

/// An address as `--listen` takes it: `127.0.0.1:0`, `[::1]:8080`, or only a port, of 127.0.0.1.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = || Some(SocketAddr::from(([127, 0, 0, 1], text.parse::<u16>().ok()?)));
    text.parse().ok().or_else(local).ok_or_else(|| {
        format!("`{text}` is not an address: write 127.0.0.1:PORT, or only the port; port 0 takes a free one")
    })
}

/// The exit code of a recording that is whole or not.
pub(super) fn code(whole: bool) -> u8 {
    if whole { exit::WELL } else { exit::FAILED }
}
