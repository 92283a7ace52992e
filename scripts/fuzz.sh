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

# Transcripts go into the corpus of a target by format behind the byte that chooses theirs: the seeds, and the suite's.
by_format() {
    cargo run --quiet -p mcp-concord-properties --example format_bytes | while read -r byte format file; do
        find "fuzz/seeds/formats/$format" "fuzz/crashes/formats/$format" cases -type f -size -16k \
            \( -path "fuzz/*" -o -name "$file" \) 2>/dev/null | while read -r path; do
            { printf "\\$byte"; cat "$path"; } > "$1/$format-$(echo "$path" | tr / -)"
        done
    done
}

found=0
for target in "$@"; do
    corpus=fuzz/corpus/$target
    seeds=fuzz/seeds/$target
    mkdir -p "$corpus" "fuzz/crashes/$target"
    case $target in
    reader | convert)
        seeds=
        by_format "$corpus"
        ;;
    esac
    echo "$target: $seconds seconds"
    cargo +nightly fuzz run "$target" "$corpus" $seeds -- \
        -max_total_time="$seconds" -max_len=16384 -timeout=20 -rss_limit_mb=2048 \
        -dict=fuzz/dictionary.txt -artifact_prefix="fuzz/crashes/$target/" -print_final_stats=0 || found=1
    rmdir "fuzz/crashes/$target" 2>/dev/null || true
done
exit $found
