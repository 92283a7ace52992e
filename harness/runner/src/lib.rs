//! The harness as a program and as a library: the only crate of the house that touches the world.

pub use judge::answer;

pub mod adapter;
pub mod adequacy;
pub mod builtin;
pub mod check;
pub mod command;
pub mod drawing;
pub mod drive;
pub mod exit;
pub mod faults;
pub mod fuzz;
pub mod importer;
pub mod interrupt;
mod place;
pub mod play;
pub mod proxy;
pub mod record;
pub mod recordings;
mod rules_page;
pub mod run;
pub mod selection;
pub mod show;
pub mod source;
pub mod suite;
pub mod trials;

pub use trials::{Harness, harness};
