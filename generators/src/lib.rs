//! Sessions and variants whose meaning is known by construction.
//!
//! So far: [`bulk`], long sessions for measurements. Knows how a session is spelled only through `formats`, and
//! nothing of processes.

pub mod bulk;
