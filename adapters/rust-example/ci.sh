#!/usr/bin/env bash
# The example as its reader would run it: under cargo's own test runner and under nextest.
set -euo pipefail
cd "$(dirname "$0")"
# The versions that the rest of the repository is built with; what only this crate needs is added.
cp ../../Cargo.lock Cargo.lock
cargo fmt --check
cargo clippy --all-targets -- -D warnings
cargo test
if cargo nextest --version >/dev/null 2>&1; then
  cargo nextest run
else
  echo "cargo-nextest is not here: the tests were only run by cargo test"
fi
