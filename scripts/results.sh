#!/usr/bin/env bash
# What is published in docs/results: a record of the suite against each importer that is on our bench.
#
#   scripts/results.sh             writes them all again; builds both versions of Assay first, which takes long
#   scripts/results.sh --check     runs what needs no building, and compares byte for byte
#   scripts/results.sh --site DIR  renders the site from what is kept
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names.
set -euo pipefail
cd "$(dirname "$0")/.."
concord=${MCP_CONCORD:-target/release/mcp-concord}
kept=docs/results

# A run against each importer, into the folder $1. Exit code 1 is a result like any other.
ours() {
  record "$1/mcp-concord.json"
  record "$1/python.json" --adapter 'python3 adapters/python/adapter.py'
  if [ -f adapters/node/dist/adapter.js ]; then
    record "$1/node.json" --adapter 'node adapters/node/dist/adapter.js'
  else
    echo "the reader for Node is not built (adapters/node/ci.sh builds it): it was left out" >&2
  fi
}
assay() {
  for version in 3.36.0 6.21.0; do
    root=target/assay-$version
    [ -x "$root/bin/assay" ] || adapters/assay/install.sh "$version" "$root"
    record "$1/assay-$version.json" --adapter "python3 adapters/assay/adapter.py $root/bin/assay" \
      --baseline "adapters/assay/baseline-$version.toml"
  done
}
record() {
  file=$1 code=0
  shift
  "$concord" --quiet run "$@" --results "$file" > /dev/null || code=$?
  [ "$code" -le 1 ] || exit "$code"
}
digest() { sed -n 's/^    "digest": "\(.*\)",$/\1/p' "$1"; }

case ${1:-} in
  "")
    ours "$kept"
    assay "$kept"
    ;;
  --check)
    new=$(mktemp -d)
    trap 'rm -rf "$new"' EXIT
    ours "$new"
    stale=0
    for file in "$new"/*.json; do
      cmp "$file" "$kept/$(basename "$file")" || stale=1
    done
    # Assay is not run here, but what is kept of it must be of the same suite.
    for file in "$kept"/*.json; do
      [ "$(digest "$file")" = "$(digest "$new/mcp-concord.json")" ] || { echo "$file is of another suite"; stale=1; }
    done
    [ $stale = 0 ] || { echo "docs/results is stale: run scripts/results.sh"; exit 1; }
    ;;
  --site)
    "$concord" report "$kept"/*.json --out "${2:?usage: scripts/results.sh --site DIR}"
    ;;
  *)
    sed -n '2,8s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
