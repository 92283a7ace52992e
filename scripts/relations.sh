#!/bin/sh
# Runs both of our readers on generated variants: scripts/relations.sh [N] [SEED]
#
# Each variant declares its relation to the original, and its meaning is computed. The built-in reader, the one in Python and the
# generators were written independently; fix whichever disagrees with the contract. `check` must have a finding wherever the
# reader rejects.
set -eu
count=${1:-1000}
seed=${2:-1}
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ -z "${MCP_CONCORD:-}" ]; then
  cargo build --quiet --release --package mcp-concord --bin mcp-concord
  export MCP_CONCORD="${CARGO_TARGET_DIR:-target}/release/mcp-concord"
fi
"$MCP_CONCORD" generate --seed "$seed" --count "$count" --out "$folder/variants"
failed=0
"$MCP_CONCORD" --quiet run --cases "$folder/variants" || failed=1
python3 adapters/python/check_cases.py "$folder/variants" || failed=1
python3 scripts/agreement.py "$folder/variants" || failed=1
exit $failed
