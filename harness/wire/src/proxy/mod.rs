//! A recorder between an MCP client and a server that speaks HTTP: it forwards, and keeps what it forwards as HAR 1.2.
//!
//! Knows: how the parts stand to each other. One side forwards (`forward`) and tells a queue what passes (`queue`);
//! a thread of its own takes from the queue, gathers exchanges (`exchange`) and keeps the file whole (`archive`).
//! Refuses to know: JSON-RPC. A recorder that understands what it forwards loses what it does not understand.
//!
//! Traffic never waits for the file. What the file is behind with is bounded by `queue::BOUND`; beyond it content is
//! counted and left out, the archive says of which exchange, and the summary says how much.

mod archive;
mod exchange;
mod forward;
mod headers;
mod kept;
mod order;
mod queue;
mod redact;
mod server;
mod target;
mod tee;
mod veil;

pub(crate) use forward::reasons;
pub(crate) use headers::listed;
pub use order::{put_in_order, put_in_order_if_timed};
pub use server::{Proxy, StartError};
pub use target::Target;

use std::fmt;
use std::time::Duration;

/// What came of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many exchanges stand in the archive.
    pub exchanges: u64,
    /// How many of them had not ended when the recorder was told to.
    pub open: u64,
    /// How many sessions the answers named with `Mcp-Session-Id`; counted up to 1,000.
    pub sessions: usize,
    /// How many connections were refused, since what came on them is no HTTP. Nothing of them was forwarded.
    pub refused: u64,
    /// Bytes that passed and are not in the archive.
    pub lost: u64,
    /// Why the archive could not be written to its end.
    pub fault: Option<String>,
}

impl Summary {
    /// Whether all that passed stands in the archive.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost == 0 && self.fault.is_none()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural =
            |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        write!(out, "{}", plural(self.exchanges, "exchange", "exchanges"))?;
        if self.open > 0 {
            write!(out, ", {} of them cut off by the end of the recording", self.open)?;
        }
        if self.sessions > 1 {
            write!(out, ", of {} sessions", self.sessions)?;
        }
        if self.refused > 0 {
            let connections = plural(self.refused, "connection", "connections");
            write!(out, "; {connections} refused, on which something came that is no HTTP")?;
        }
        if self.lost > 0 {
            write!(out, "; {} passed and could not be kept", plural(self.lost, "byte", "bytes"))?;
        }
        Ok(())
    }
}

/// A time since the recording began, in milliseconds with three decimals, as HAR counts.
fn milliseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_millis(), time.as_micros() % 1000)
}
