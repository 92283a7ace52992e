//! Two recordings compared: each is read into events, and what differs is rendered.
//!
//! [`side`] reads one recording; the events of two are compared by [`transcript::align::compare`], which reports to [`json::Json`]
//! or to the caller that prints a text.

pub mod json;
mod kinds;
pub mod side;

pub use kinds::Kinds;
