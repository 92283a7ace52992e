#!/bin/sh
# Has both of our readers judge generated variants: scripts/relations.sh [N] [SEED]
#
# The relation of every variant is declared and its meaning computed; the built-in reader and the one in Python were
# written apart from each other and from the generators. Whoever disagrees is wrong by the contract, and is mended.
set -eu
count=${1:-1000}
seed=${2:-1}
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
concord() { cargo run --quiet --release --package mcp-concord --bin mcp-concord -- "$@"; }
if [ -n "${MCP_CONCORD:-}" ]; then
  concord() { "$MCP_CONCORD" "$@"; }
fi
concord generate --seed "$seed" --count "$count" --out "$folder/variants"
failed=0
concord --quiet run --cases "$folder/variants" || failed=1
python3 adapters/python/check_cases.py "$folder/variants" || failed=1
exit $failed
