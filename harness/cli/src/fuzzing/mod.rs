//! Black-box fuzzing of an importer.

mod campaign;
mod probe;
mod report;
mod shrink;
mod signature;

pub(crate) use campaign::{Event, Plan, fuzz};
pub(crate) use probe::Probe;
pub(crate) use report::Reporter;
pub(crate) use signature::{Kind, Ruling, Signature};
