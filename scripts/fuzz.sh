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

# What every target starts from, and its words.
start=$(mktemp -d)
trap 'rm -rf "$start"' EXIT
cargo run --quiet -p mcp-concord-properties --bin fuzz-seeds -- "$start"

found=0
for target in "$@"; do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus" "fuzz/crashes/$target"
    echo "$target: $seconds seconds"
    cargo +nightly fuzz run "$target" "$corpus" "$start/$target" -- \
        -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=2048 \
        -dict="$start/$target.dict" -artifact_prefix="fuzz/crashes/$target/" -print_final_stats=1 || found=1
    # What is kept for the next run is what reaches something of its own.
    mv "$corpus" "$corpus.all"
    mkdir "$corpus"
    cargo +nightly fuzz run "$target" "$corpus" "$corpus.all" "$start/$target" -- \
        -merge=1 -max_len=16384 -timeout=20 -rss_limit_mb=2048 || mv -f "$corpus.all"/* "$corpus"
    rm -rf "$corpus.all"
    echo "$target: $(ls "$corpus" | wc -l) inputs in its corpus"
    rmdir "fuzz/crashes/$target" 2>/dev/null || true
done
exit $found
