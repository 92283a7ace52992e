//! What fuzzing begins with: `fuzz-seeds OUT` writes it into a folder ([`Repository::lay_out`]), and `fuzz-seeds --replay TARGET…`
//! runs targets on it, as [`scripts/coverage.sh`](../../../../scripts/coverage.sh) does.

#![expect(clippy::print_stderr, reason = "a program says what it lacks")]

use properties::seeds::Repository;
use properties::{TARGETS, run};
use std::io;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: fuzz-seeds OUT, or fuzz-seeds --replay TARGET…";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (done, place) = match &words[..] {
        [option, targets @ ..] if option == "--replay" && !targets.is_empty() => {
            let unknown = targets.iter().find(|name| TARGETS.iter().all(|(target, _)| target != name));
            if let Some(name) = unknown {
                eprintln!("there is no target {name}");
                return ExitCode::from(2);
            }
            (replay(targets), "the seeds")
        }
        [out] if !out.starts_with("--") => (Repository::here().lay_out(Path::new(out)), &**out),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{place}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs each target on all that its fuzzing begins with. What breaks a property panics.
fn replay(targets: &[String]) -> io::Result<()> {
    for target in targets {
        let seeds = Repository::here().seeds(target)?;
        seeds.iter().for_each(|(_, bytes)| run(target, bytes));
        eprintln!("{target}: {} seeds", seeds.len());
    }
    Ok(())
}
