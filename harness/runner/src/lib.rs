//! The harness as a program and as a library: the only crate of the house that touches the world.

pub mod command;
pub mod exit;
pub mod show;
pub mod source;
