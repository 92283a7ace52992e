//! Writes what fuzzing begins with into a folder: `fuzz-seeds OUT`. See [`properties::seeds::Repository::lay_out`].

#![expect(clippy::print_stderr, reason = "a program says what it lacks")]

use properties::seeds::Repository;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(out) = std::env::args_os().nth(1) else {
        eprintln!("usage: fuzz-seeds OUT");
        return ExitCode::from(2);
    };
    match Repository::here().lay_out(Path::new(&out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", Path::new(&out).display());
            ExitCode::FAILURE
        }
    }
}
