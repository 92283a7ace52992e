//! `record --listen`: a recorder between clients that speak HTTP and a server that speaks it, too, or is run over stdio.

use super::context::{CommandContext, Failure};
use super::outcome::watch;
use super::view::View;
use crate::exit;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use wire::files::identity;
use wire::interrupt;
use wire::proxy::{Proxy, Target};
use wire::record;
use wire::redaction::Redaction;
use wire::{AllowedHosts, Bridge, Conduct, StartError};

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

/// What is behind a listener.
pub(super) enum Behind<'a> {
    /// A server over HTTP.
    Http(&'a Target),
    /// A server's command, which is run for each session, or once for all.
    Stdio { command: &'a [String], shared: bool },
}

/// Records until Ctrl-C, the request to end that a service manager makes, or the end of the terminal, into a file that is
/// `called` so. Whether all that passed is in it, and no server ended before its sessions did; and what the file was when it was
/// made.
pub(super) fn run(
    (at, behind): (SocketAddr, &Behind<'_>),
    hosts: &Hosts,
    redaction: Redaction,
    (out, called): (&Path, &Path),
    force: bool,
    view: &dyn Fn() -> Option<View>,
    context: CommandContext,
) -> Result<(bool, Option<(u64, u64)>), Failure> {
    // A program that finds the port open may end the recording.
    watch()?;
    interrupt::be_gentle();
    // First the address: a file that was made for nothing would be in the way the next time.
    let mut proxy = match behind {
        Behind::Http(to) => Proxy::listen(at, (*to).clone())?,
        Behind::Stdio { command, shared } => {
            let mut proxy = Proxy::for_stdio(at)?;
            proxy.bridge = Some(start(command, *shared, &redaction, context)?);
            proxy
        }
    };
    let bridge = proxy.bridge.clone();
    (proxy.redaction, proxy.hosts) = (redaction.clone(), hosts.at(at));
    let file = record::create_in_place(out, force)?;
    let identity = identity(out);
    let at = proxy.address()?;
    let what = match behind {
        Behind::Http(to) => {
            let path = redaction.text(to.path());
            format!("Proxying http://{at}{path} to {}{path}", to.origin())
        }
        Behind::Stdio { command, .. } => {
            format!("Serving {} at http://{at}{}", name(command, &redaction), proxy.path())
        }
    };
    context.terminal.note(&format!("{what}; press Ctrl-C to stop"));
    warn_of_secrets(&redaction, called, context);
    let say = |text: &str| context.terminal.error(&format!("{}: {text}", called.display()));
    let view = view();
    let summary = proxy.record(file, &interrupt::requested, &say);
    view.into_iter().for_each(View::finish);
    let summary = summary?;
    let lived = bridge.is_none_or(|bridge| bridge.close());
    let text = format!("{}: {summary}", called.display());
    if summary.is_whole() {
        context.terminal.note(&text)
    } else {
        context.terminal.error(&text)
    }
    Ok((summary.is_whole() && lived, identity))
}

/// Starts a server over stdio.
fn start(
    command: &[String],
    shared: bool,
    redaction: &Redaction,
    context: CommandContext,
) -> Result<Arc<Bridge>, Failure> {
    Bridge::start(command, shared, Conduct::default(), Box::new(context.terminal)).map_err(|refused| {
        match refused {
            StartError::Unusable(why) => Failure::Unusable(why),
            StartError::CannotRun(why) => Failure::NotRun(redaction.text(&why).into_owned()),
        }
    })
}

/// What a command's program is called.
pub(super) fn name(command: &[String], redaction: &Redaction) -> String {
    redaction.command(command).into_iter().next().unwrap_or_default()
}

/// Says once that nothing is taken out, where that is so.
pub(super) fn warn_of_secrets(redaction: &Redaction, out: &Path, context: CommandContext) {
    if !redaction.is_asked() {
        context.terminal.note(&format!(
            "{} will hold everything that is sent, passwords and keys included; leave those out with --redact",
            out.display()
        ));
    }
}

/// An address as `--listen` takes it: `127.0.0.1:0`, `[::1]:8080`, or only a port, of 127.0.0.1.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = || Some(SocketAddr::from(([127, 0, 0, 1], text.parse::<u16>().ok()?)));
    text.parse().ok().or_else(local).ok_or_else(|| {
        format!("`{text}` is not an address: write 127.0.0.1:PORT, or only the port; port 0 picks a free one")
    })
}

/// The exit code of a recording that is whole or not.
pub(super) fn code(whole: bool) -> u8 {
    if whole { exit::WELL } else { exit::FAILED }
}
