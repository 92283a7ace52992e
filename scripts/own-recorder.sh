#!/usr/bin/env bash
# Plays every session of the suite through `mcp-concord record`, over each transport, and compares failures and skips with
# docs/recorders.md. The program is target/release/mcp-concord, or the one that MCP_CONCORD names.
#
# Exit code 0: nothing fails, and the page has the number of skips; 1: otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
concord=$(realpath -e "${MCP_CONCORD:-target/release/mcp-concord}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
http="'$concord' record -o {out}.har --listen {port} --to {upstream}"
over() {
  # Patient, since the machine may be busy.
  "$concord" drive --transport "$1" --recorder "$3" --jobs 4 --timeout 30 --max-delay 4 --report "$folder/$1" > "$folder/$1.log" 2>&1 ||
    { cat "$folder/$1.log"; return 1; }
  tail -1 "$folder/$1.log"
  local skipped row
  skipped=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["totals"].get("skip", 0))' "$folder/$1/results.json")
  row=$(grep -F "| \`mcp-concord record\` | this one | $2 | everything |" docs/recorders.md)
  [[ $row == *" | 0 | $skipped | none |" ]] || { echo "docs/recorders.md is out of date: $row: $skipped are skipped"; return 1; }
}
# Each waits more than it works.
over stdio stdio "'$concord' record -o {out} -- {server}" &
over streamable-http "Streamable HTTP" "$http" &
over http-sse HTTP+SSE "$http" &
code=0
for job in $(jobs -p); do wait "$job" || code=1; done
exit $code
