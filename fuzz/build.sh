#!/bin/sh
# Builds every fuzz target for a runner, with its seeds and its dictionary: fuzz/build.sh OUT
#
# ClusterFuzzLite and OSS-Fuzz run it in their image for Rust, which says by its environment how to instrument. It runs
# anywhere with cargo-fuzz, a C++ compiler and a nightly toolchain as the default.
set -eu

out=${1:?usage: fuzz/build.sh OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."

# What fuzzing begins with comes from a plain program: no sanitizer, and no instrumented C in it.
env -u RUSTFLAGS -u CFLAGS -u CXXFLAGS CARGO_TARGET_DIR="${TMPDIR:-/tmp}/fuzz-seeds" scripts/fuzz-seeds.sh "$out"

# Named here, so that a wrapper around cargo builds into the same folder.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target/fuzz}"
# Link time counts for more than the last tenth of speed.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
cargo fuzz build -O --debug-assertions
for target in $(cargo fuzz list); do
    cp "$CARGO_TARGET_DIR/$(uname -m)-unknown-linux-gnu/release/$target" "$out/"
    # For every run of it: no input needs more, and what is longer finds no more.
    printf '[libfuzzer]\nmax_len = 16384\ntimeout = 20\nrss_limit_mb = 2048\n' > "$out/$target.options"
done
