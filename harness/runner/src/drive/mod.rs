//! Both ends of the wire around a recorder.

mod recorder;
mod recording;
mod scenario;
mod truth;

pub use recorder::Recorder;
pub use scenario::{Scenario, Transport, of_case};
