//! The ports that recorders listen at.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

/// Between a port's choice and the moment when the recorder listens there, the system may give it to another program
/// that asks for any free one. It gives none of these away: Linux begins at 32,768, others at 49,152.
const PORTS: Range<u16> = 20_000..32_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of 127.0.0.1 at which nobody listens, and which this process has not chosen lately.
pub(super) fn free() -> io::Result<u16> {
    for _ in PORTS {
        let port = chosen(std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    let message = format!("no port from {} to {} of 127.0.0.1 is free", PORTS.start, PORTS.end - 1);
    Err(io::Error::new(io::ErrorKind::AddrInUse, message))
}

/// Processes that run at the same time begin far from each other, since their ids are close.
fn chosen(process: u32, count: u16) -> u16 {
    let room = u32::from(PORTS.end - PORTS.start);
    let offset = (process % room * 97 + u32::from(count)) % room;
    PORTS.start + u16::try_from(offset).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_none_that_the_system_gives_away_and_nobody_has_it() {
        let first = free().unwrap();
        let taken: Vec<_> =
            (1..=3).map(|more| TcpListener::bind((Ipv4Addr::LOCALHOST, first + more))).collect();
        let next = free().unwrap();
        assert!(PORTS.contains(&first) && PORTS.contains(&next));
        let by_us = taken.iter().flatten().any(|it| it.local_addr().unwrap().port() == next);
        assert!(next != first && !by_us, "{first} {next}");
    }

    #[test]
    fn neighbours_choose_apart() {
        let of = |process| (0..90).map(move |count| chosen(process, count));
        assert!(of(4_711).all(|port| of(4_712).all(|other| other != port)));
        assert!(of(u32::MAX).all(|port| PORTS.contains(&port)));
    }
}
