#!/usr/bin/env bash
# Makes the published site: scripts/site.sh OUT
#
# The kept results with all their pages, and recording.html, which judges recordings. MCP_CONCORD names the program; the package for
# JavaScript is taken as bindings/npm/build.sh left it, or built.
set -euo pipefail
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
concord=${MCP_CONCORD:-target/release/mcp-concord}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -f bindings/npm/core/dist/concord.wasm ] && [ -f bindings/npm/core/dist/node/node.js ] || bindings/npm/build.sh
node bindings/npm/page.mjs "$work/recording.html"
"$concord" -q report docs/results/*.json --page "$work/recording.html" --out "$out"
