#!/bin/sh
# Runs fuzz targets one after the other: scripts/fuzz.sh SECONDS [TARGET…]
#
# Needs a nightly toolchain, for the coverage counters. What breaks a property is left under fuzz/crashes/<target>/,
# where a stable test replays it. Exit code 1 where anything was found.
set -eu

seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET…]}
shift
cd "$(dirname "$0")/.."

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)

# A target is built again after each change: link time counts for more than the last tenth of speed.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

found=0
for target in "$@"; do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus" "fuzz/crashes/$target"
    # A reader starts from every transcript of its format in the suite.
    find cases -name "$(echo "$target" | tr _ -).*" -size -16k | while read -r path; do
        cp "$path" "$corpus/$(echo "$path" | tr / -)"
    done
    echo "$target: $seconds seconds"
    cargo +nightly fuzz run "$target" "$corpus" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=2048 \
        -dict=fuzz/dictionary.txt -artifact_prefix="fuzz/crashes/$target/" -print_final_stats=0 || found=1
    rmdir "fuzz/crashes/$target" 2>/dev/null || true
done
exit $found
