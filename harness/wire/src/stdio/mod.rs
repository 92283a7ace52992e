//! The ground of everything over stdio: programs and their process groups, pipes, and lines.

pub mod group;
mod lines;
mod pipe;
mod process;
mod stderr;

pub use lines::HELD;
pub(crate) use lines::{Gap, LineSplitter, Piece};
pub(crate) use pipe::{Inbox, PipeEvent, Writer, listen};
pub use process::spawn_error;
pub(crate) use process::{LiveServer, pipe, pipes, standard_streams, start, start_shown};
pub use stderr::Stderr;
