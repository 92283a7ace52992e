#!/usr/bin/env bash
# How time and memory of each importer grow with a session: `run --scale` for those of this repository and, where ASSAY names
# the program, for Assay. Prints the table in docs/importers.md.
#
#   scripts/scale.sh [SIZE]      transcripts up to SIZE, by default 1MiB
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names.
set -euo pipefail
cd "$(dirname "$0")/.."
concord=${MCP_CONCORD:-target/release/mcp-concord}
size=${1:-1MiB}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Exit code 1 is a result like any other.
measure() {
  code=0
  "$concord" --quiet run --scale "$size" --results "$work/$1.json" "${@:2}" > /dev/null || code=$?
  [ "$code" -le 1 ] || exit "$code"
}
measure 1
measure 2 --adapter 'python3 adapters/python/adapter.py'
if [ -n "${ASSAY:-}" ]; then
  measure 3 --adapter "python3 adapters/assay/adapter.py $ASSAY"
fi

# For each dimension the format that took longest at its largest size, and whatever failed or was refused.
python3 - "$work"/*.json <<'PYTHON'
import json, sys

power = lambda it: "-" if it is None else f"n^{it:.2f}"
print("| importer | what grows | slowest format | largest session | time | memory | time grows as | memory grows as |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
remarks = []
for path in sys.argv[1:]:
    kept = json.load(open(path))
    name = " ".join([f"`{kept['implementation']['name']}`", kept["implementation"]["version"]]).replace(" unknown", "")
    grown = {}
    for series in kept["series"]:
        grown.setdefault(series["dimension"], []).append(series)
        for why in (series["failure"], series["refused"]):
            if why:
                remarks.append(f"- {name}, {series['dimension']} in {series['format']}: {why.splitlines()[0][:160]}")
    for dimension, all_of_it in grown.items():
        measured = [series for series in all_of_it if series["steps"]]
        if not measured:
            continue
        slowest = max(measured, key=lambda series: series["steps"][-1]["seconds"])
        last = slowest["steps"][-1]
        memory = "-" if last["memory"] is None else f"{last['memory'] / 2**20:.0f} MiB"
        print(f"| {name} | {dimension} | `{slowest['format']}` | {last['size']:,} {slowest['unit']}, {last['bytes'] / 2**10:.0f} KiB"
              f" | {last['seconds']:.2f} s | {memory} | {power(slowest['time_exponent'])} | {power(slowest['memory_exponent'])} |")
print()
print("\n".join(remarks) if remarks else "None failed, and none refused to read on.")
PYTHON
