//! The built-in reader over the repository's cases: a trial for each case and format.

use mcp_concord_suite::builtin::Builtin;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    mcp_concord_suite::harness(Builtin::default(), cases)
}
