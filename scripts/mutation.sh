#!/usr/bin/env bash
# Mutates our readers with other people's tools, with the suite as the only test, and prints the survivors and the score.
#
#   scripts/mutation.sh python [I/N]    the reader in Python, by cosmic-ray: all mutants, or each N-th from the I-th on, from 0
#   scripts/mutation.sh rust [I/N]      the crates transcript and formats, by cargo-mutants: all mutants, or each N-th
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names. MUTATION names the folder to work in; a run that was
# stopped resumes there (rust starts again). JOBS is how many mutants are judged in parallel (1). Both take long; the second builds
# the suite for each mutant. docs/mutation.md has the scores, and describes the survivors.
#
# Exit code 0: the score is printed; 1: the suite fails without any mutant; 2: wrong arguments, or no program; 4: the tool cannot be had.
set -euo pipefail
usage=$(sed -n '2,12s/^# \{0,1\}//p' "$0")
cd "$(dirname "$0")/.."
MCP_CONCORD=${MCP_CONCORD:-target/release/mcp-concord}
case ${1:-} in
  python)
    [ -f "$MCP_CONCORD" ] && [ -x "$MCP_CONCORD" ] || { echo "mutation.sh: there is no program $MCP_CONCORD: build it, or name it in MCP_CONCORD" >&2; exit 2; }
    MCP_CONCORD=$(realpath "$MCP_CONCORD")
    ;;
  rust) ;;
  *)
    echo "$usage"
    exit 2
    ;;
esac
export MCP_CONCORD PYTHONDONTWRITEBYTECODE=1
here=$PWD
if [ -n "${MUTATION:-}" ]; then
  mkdir -p "$MUTATION"
  work=$(realpath "$MUTATION")
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
# Two runs in one folder would take each other's mutants for their own.
exec 9> "$work/$1.lock"
flock -n 9 || { echo "mutation.sh: another run works in $work" >&2; exit 2; }
jobs=${JOBS:-1} venv=$work/venv
suite() { echo "python3 $here/scripts/mutation/suite.py $work/$1.answers"; }
export here work venv CASES=$work/cases
# The cases as they are now, for as long as the run takes.
[ -d "$CASES" ] || scripts/cases.py unpack "$CASES"
without() { echo "mutation.sh: $1 cannot be had: nothing was mutated" >&2; exit 4; }

# All that reads; what talks to the harness is the business of `run --verify`. A session for each module, in its own copy.
python() {
  [ -x "$venv/bin/cosmic-ray" ] ||
    { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check 'cosmic-ray==8.*'; } || without cosmic-ray
  export part=${1:-0/1}
  mkdir -p "$work/python"
  (cd adapters/python && $(suite python) python3 adapter.py) || exit 1
  printf '%s\n' jsontext formats/har formats/envelope clock contract sse discovery formats/{mcp_replay,source,inspector,jsonrpc} |
    xargs -P "$jobs" -I{} bash -c 'module {}'
  "$venv/bin/python" "$here/scripts/mutation/survivors.py" "$work"/python/*.session
}
module() {
  set -e
  local at=$work/python/${1/\//-}
  # Copied again where a run goes on: the stopped run may have left a mutant.
  rm -rf "$at"
  cp -r adapters/python "$at"
  cat > "$at.settings" <<END
[cosmic-ray]
module-path = "$1.py"
timeout = 3600.0
excluded-modules = []
test-command = "$(suite python) python3 adapter.py"

[cosmic-ray.distributor]
name = "local"

# One operator of arithmetic for each of the others, and no identity for equality or the other way round, which is the same of
# types and of None: of a place that a case looks at, one wrong operator says what ten do.
[cosmic-ray.filters.operators-filter]
exclude-operators = [
  "core/ReplaceBinaryOperator_.*_(Div|FloorDiv|Mod|Pow|LShift|RShift|BitOr|BitXor|BitAnd)",
  "core/ReplaceComparisonOperator_Is_(?!IsNot)",
  "core/ReplaceComparisonOperator_IsNot_(?!Is\$)",
  "core/ReplaceComparisonOperator_(?!Is_|IsNot_).*_(Is|IsNot)\$",
]
END
  cd "$at"
  if [ ! -f "$at.session" ]; then
    "$venv/bin/cosmic-ray" init "$at.settings" "$at.new"
    "$venv/bin/cr-filter-operators" "$at.new" "$at.settings"
    python3 "$here/scripts/mutation/sample.py" "$at.new" "${part:-0/1}"
    mv "$at.new" "$at.session"
  fi
  "$venv/bin/cosmic-ray" exec "$at.settings" "$at.session"
}

# What reads, and what decides the meaning: what writes, compares, salvages or identifies is not asked for by a reading.
rust() {
  command -v cargo-mutants > /dev/null || cargo install --quiet --locked cargo-mutants || without cargo-mutants
  # As its baseline cargo-mutants would run the crates' own tests, none of which has these names.
  cargo test --quiet -p mcp-concord-suite --test suite --test dialects > "$work/rust.log" 2>&1 || { tail -20 "$work/rust.log"; exit 1; }
  # Exit code 2 tells of survivors, 3 of mutants that hang. The test has no limit of processor time, but one of time.
  local code=0
  # In a target folder of its own, which goes with its copy: cargo would take a mutant's crates for those of the project.
  env -u CARGO_TARGET_DIR cargo mutants --output "$work/rust" -p mcp-concord-transcript -p mcp-concord-formats \
    --exclude '**/write.rs' --exclude '**/salvage.rs' --exclude '**/align*' --exclude '**/align/**' --exclude '**/diff.rs' --exclude '**/identify/**' \
    --test-package mcp-concord-suite --baseline skip --timeout 600 --jobs "$jobs" ${1:+--shard "$1" --sharding round-robin} \
    --no-times --colors never -- --test suite --test dialects || code=$?
  [ "$code" = 0 ] || [ "$code" = 2 ] || [ "$code" = 3 ] || exit 1
  python3 "$here/scripts/mutation/survivors.py" "$work/rust/mutants.out/outcomes.json"
}

export -f module suite
"$@"
