//! A recorder that cannot be run.

use std::error::Error;
use std::fmt;

/// The recorder cannot be run at all, and why.
#[derive(Debug)]
pub struct NotRun(pub String);

impl fmt::Display for NotRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for NotRun {}
