//! The program from the outside: each module runs the built binary as a person or a script would.
//!
//! They are one binary, because most of them wait for other processes: so the waits overlap, and the program's libraries are
//! linked once. One of them alone: `cargo test -p mcp-concord --test cli drive::`.

mod adapter;
mod bridge;
mod chain;
mod check;
mod diff;
mod docs;
mod drive;
mod fuzz;
mod identify;
mod interrupt;
mod kill;
mod library;
mod listen;
mod new;
mod play;
mod proxy;
mod readme;
mod record;
mod redact;
mod report;
mod scale;
mod secrets;
mod selfcheck;
mod show;
mod summary;
mod support;
mod surface;
mod survival;
mod terminal;
