//! What tests start beside the program: Python, and this test binary as the adapter of its own tests. The program under test starts
//! that again, at a test that is ignored otherwise.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::env;
use std::fs::File;
use std::process::{self, Command};
use std::sync::LazyLock;

/// Stands in no word.
const SEPARATOR: &str = ";;";
const WORDS: &str = "CONCORD_TEST_ADAPTER";

/// The command that starts a test of this binary with these words. What libtest prints is thrown away; the real
/// standard output waits as descriptor 3.
pub(crate) fn command(test: &str, words: &[&str]) -> String {
    let me = env::current_exe().unwrap();
    // Readers go as deep as a session does, so they need a deep stack.
    let script = r#"RUST_MIN_STACK=268435456 exec "$0" --ignored --exact "$1" --nocapture 3>&1 >/dev/null"#;
    let words = words.join(SEPARATOR);
    format!("env '{WORDS}={words}' sh -c '{script}' '{}' {test}", me.display())
}

/// Runs the adapter with the words of its command, and ends the process.
pub(crate) fn run(serve: impl FnOnce(&[&str])) -> ! {
    let words = env::var(WORDS).unwrap();
    let out = File::options().write(true).open("/dev/fd/3").unwrap();
    rustix::stdio::dup2_stdout(out).unwrap();
    serve(&words.split(SEPARATOR).collect::<Vec<_>>());
    process::exit(0);
}

/// Python's own path: a version manager's stand-in takes longer to start than Python, and tests that look at times start it.
pub(crate) fn python() -> &'static str {
    static PYTHON: LazyLock<String> = LazyLock::new(|| {
        let asked = ["-c", "import sys; print(sys.executable, end='')"];
        String::from_utf8(Command::new("python3").args(asked).output().unwrap().stdout).unwrap()
    });
    &PYTHON
}
