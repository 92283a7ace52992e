//! What a session is converted to: a capture format, or what is only written.

use crate::session::otlp;
use formats::{Conversion, Format, Session};
use std::io::{self, Write};

/// What a session is written as.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    /// A capture format, which can be read again.
    Format(&'static Format),
    /// Spans of OpenTelemetry.
    Spans,
}

impl Target {
    /// The target that `name` asks for.
    ///
    /// # Errors
    /// A sentence that lists them.
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            otlp::NAME => Ok(Self::Spans),
            name => match formats::to_write(name) {
                Ok(format) => Ok(Self::Format(format)),
                Err(why) if why.starts_with("there is no format") => {
                    Err(format!("{why}; {} can only be written", otlp::NAME))
                }
                Err(why) => Err(why),
            },
        }
    }

    /// What becomes of a session that was read as `from`.
    pub fn conversion(self, session: &Session, from: &Format) -> Conversion {
        match self {
            Self::Format(to) => Conversion::new(session, from, to),
            Self::Spans => Conversion { notes: otlp::notes(session, from), ..Conversion::default() },
        }
    }

    /// Writes the session.
    ///
    /// # Errors
    /// Where the output cannot be written.
    pub fn write(self, session: &Session, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Format(to) => to.write(session, out),
            Self::Spans => otlp::write(session, out),
        }
    }
}
