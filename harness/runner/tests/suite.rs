//! The built-in reader over the repository's cases: a trial for each case and format.

use runner::builtin::Builtin;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    runner::harness(Builtin, cases)
}
