#!/usr/bin/env bash
# Runs fuzz targets: scripts/fuzz.sh SECONDS [TARGET…]
#
# Needs a nightly toolchain, for the coverage counters. What breaks a property is left under fuzz/crashes/<target>/,
# where a stable test replays it. JOBS is how many targets run side by side (1); SECONDS are of the clock, for each. What libFuzzer
# says is in fuzz/artifacts/<target>.log; a line about each target goes to fuzz/runs.md. Exit code 1: something was found; 2: there is
# no such target.
set -euo pipefail

export seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET…]} jobs=${JOBS:-1}
shift
cd "$(dirname "$0")/.."

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
targets=$(cargo +nightly fuzz list)
for name in "$@"; do
    grep -qxF -- "$name" <<< "$targets" || { echo "fuzz.sh: there is no target $name" >&2; exit 2; }
done
[ $# -gt 0 ] || set -- $targets

# A target is built again after each change: link time counts for more than the last tenth of speed.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
# All that will run first, so that no change made meanwhile gets into it.
commit=$(git rev-parse --short HEAD)$([ -z "$(git status --porcelain -- ':!fuzz/runs.md')" ] || echo +)
for name in "$@"; do cargo +nightly fuzz build "$name"; done
programs=${CARGO_TARGET_DIR:-target}/$(rustc -vV | sed -n 's/^host: //p')/release

# What every target starts from, and its words; and what is known of it in the end.
start=$(mktemp -d)
ended() {
    cat "$start"/*.row >> fuzz/runs.md 2>/dev/null || true
    rm -rf "$start"
}
trap ended EXIT
cargo run --quiet -p mcp-concord-properties --bin fuzz-seeds -- "$start"
export commit programs start

target() {
    set -euo pipefail
    local target=$1 found=0
    local corpus=fuzz/corpus/$target crashes=fuzz/crashes/$target log=fuzz/artifacts/$target.log
    # A program that shares the processor takes longer by the clock, which is what libFuzzer reads.
    local limits=(-max_len=16384 -timeout=$((20 * jobs)) -report_slow_units=$((10 * jobs)) -rss_limit_mb=2048)
    mkdir -p "$corpus" "$crashes" fuzz/artifacts
    touch "$start/$target.began"
    echo "$target: $seconds seconds"
    "$programs/$target" "$corpus" "$start/$target" "${limits[@]}" -max_total_time="$seconds" \
        -dict="$start/$target.dict" -artifact_prefix="$crashes/" -print_final_stats=1 > "$log" 2>&1 || found=1
    # What is slow by the clock of a busy machine breaks nothing.
    row "$target" "$SECONDS" "$(find "$crashes" -type f ! -name 'slow-unit-*' -newer "$start/$target.began" | wc -l)" < "$log" | tee "$start/$target.row"
    [ $found = 0 ] || tail -40 "$log"
    # What is kept for the next run is what reaches something of its own.
    rm -rf "$corpus.new"
    mkdir "$corpus.new"
    if "$programs/$target" "$corpus.new" "$corpus" "$start/$target" "${limits[@]}" -merge=1 >> "$log" 2>&1; then
        rm -rf "$corpus"
        mv "$corpus.new" "$corpus"
    fi
    echo "$target: $(find "$corpus" -type f | wc -l) inputs in its corpus"
    rmdir "$crashes" 2>/dev/null || true
    return $found
}

# The target's line in fuzz/runs.md: what libFuzzer reached with what it was given, and in the end.
row() {
    awk -v date="$(date -u +%F)" -v commit="$commit" -v target="$1" -v seconds="$2" -v found="$3" '
        function value(name,    at) { for (at = 1; at < NF; at++) if ($at == name) return $(at + 1) + 0 }
        /^#[0-9]+\t/ && / cov: / {
            runs = substr($1, 2)
            inputs = value("corp:"); edges = value("cov:"); features = value("ft:")
        }
        /^#[0-9]+\tINITED/ { inputs0 = inputs; edges0 = edges; features0 = features }
        /^stat::number_of_executed_units:/ { runs = $2 }
        END {
            printf "| %s | %s | `%s` | %d | %d | %.1f | %d → %d | %d → %d | %d → %d | %d |\n", date, commit, target, seconds, runs,
                runs / (seconds ? seconds : 1), inputs0, inputs, edges0, edges, features0, features, found
        }'
}

export -f target row
printf '%s\n' "$@" | xargs -P "$jobs" -I{} bash -c 'target {}' || exit 1
