//! The outcome of a recording.

use std::fmt;
use verdict::plain::counted;

/// The outcome of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many exchanges are in the archive.
    pub exchanges: u64,
    /// How many of them had not ended when the recorder was asked to stop.
    pub open: u64,
    /// How many sessions the answers named with `Mcp-Session-Id`; counted up to 1,000.
    pub sessions: usize,
    /// How many connections were refused, since they do not speak HTTP. Nothing of them was forwarded.
    pub refused: u64,
    /// How many exchanges passed that the archive lacks, since it could not be written.
    pub missing: u64,
    /// Bytes of bodies that passed and are not in the archive.
    pub lost: u64,
    /// Why the archive could not be written to its end.
    pub fault: Option<String>,
}

impl Summary {
    /// Whether all that passed is in the archive.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.lost == 0 && self.missing == 0 && self.fault.is_none()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&counted(self.exchanges, "exchange"))?;
        if self.open > 0 {
            write!(out, ", {} of them cut off by the end of the recording", self.open)?;
        }
        if self.sessions > 1 {
            write!(out, ", of {} sessions", self.sessions)?;
        }
        if self.refused > 0 {
            let connections = counted(self.refused, "connection");
            write!(out, "; {connections} refused, which did not speak HTTP")?;
        }
        if self.missing > 0 {
            write!(out, "; {} forwarded but not written", counted(self.missing, "exchange"))?;
        }
        if let Some(why) = &self.fault {
            write!(out, "; the archive is incomplete: {why}")?;
        }
        if self.lost > 0 {
            write!(out, "; {} forwarded but not kept", counted(self.lost, "byte"))?;
        }
        Ok(())
    }
}
