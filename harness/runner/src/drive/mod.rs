//! Both ends of the wire around a recorder.

mod recorder;
mod recording;
mod truth;

pub use recorder::Recorder;
