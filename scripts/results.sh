#!/usr/bin/env bash
# Makes the compact records in docs/results, one for each importer that we test.
#
#   scripts/results.sh             makes all of them; builds both versions of Assay first, which takes long
#   scripts/results.sh --ours      makes those of our own importers, which need no other program
#   scripts/results.sh --check     runs our own importers and compares their records byte for byte
#   scripts/results.sh --site DIR  renders the site from the published records
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names.
set -euo pipefail
cd "$(dirname "$0")/.."
concord=${MCP_CONCORD:-target/release/mcp-concord}
kept=docs/results
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A run against each importer, into the folder $1. Exit code 1 is a result like any other.
ours() {
  record "$1/mcp-concord.json"
  record "$1/python.json" --adapter 'python3 adapters/python/adapter.py'
}
assay() {
  for version in 3.36.0 6.21.0; do
    root=target/assay-$version
    [ -x "$root/bin/assay" ] || adapters/assay/install.sh "$version" "$root"
    record "$1/assay-$version.json" --adapter "python3 adapters/assay/adapter.py $root/bin/assay" \
      --baseline "adapters/assay/baseline-$version.toml"
  done
  # The last one chose a dialect; this is what the contract itself makes of it.
  record "$1/assay-$version-default.json" --adapter "python3 adapters/assay/adapter.py $root/bin/assay" \
    --dialect default --baseline "adapters/assay/baseline-$version-default.toml"
}
record() {
  file=$1 code=0
  shift
  "$concord" --quiet run "$@" --results "$work/results.json" > /dev/null || code=$?
  [ "$code" -le 1 ] || exit "$code"
  compact "$work/results.json" "$file"
}
# The record $1 in its compact form, as $2.
compact() {
  "$concord" --quiet report "$1" --compact --out "$work/site"
  cp "$work/site/results.json" "$2"
}
digest() { sed -n 's/^ *"digest": "\(.*\)",$/\1/p' "$1"; }
# The table at the end of the page: of which suite each record is.
suites() {
  printf '\n| record | results | suite |\n| --- | ---: | --- |\n'
  for file in "$kept"/*.json; do
    suite="\`$(digest "$file" | cut -c 1-19)\`"
    [ "$(digest "$file")" = "$(digest "$kept/mcp-concord.json")" ] || suite="$suite, an earlier one"
    echo "| [\`$(basename "$file")\`]($(basename "$file")) | $(sed -n 's/^ "planned": \(.*\),$/\1/p' "$file") | $suite |"
  done
}
page() { sed '/^<!-- From here on the page/q' "$kept/README.md"; suites; }

case ${1:-} in
  "")
    ours "$kept"
    assay "$kept"
    page > "$work/page" && cp "$work/page" "$kept/README.md"
    ;;
  --ours)
    ours "$kept"
    page > "$work/page" && cp "$work/page" "$kept/README.md"
    ;;
  --check)
    mkdir "$work/new"
    ours "$work/new"
    stale=0
    for file in "$work"/new/*.json; do
      cmp "$file" "$kept/$(basename "$file")" || stale=1
    done
    [ $stale = 0 ] || { echo "docs/results is stale: run scripts/results.sh --ours"; exit 1; }
    # Foreign programs are not run here: their records must be readable, and say of which suite they are.
    for file in "$kept"/*.json; do
      [ ! -f "$work/new/$(basename "$file")" ] || continue
      compact "$file" "$work/again.json"
      cmp "$file" "$work/again.json"
      [ "$(digest "$file")" = "$(digest "$work/new/mcp-concord.json")" ] ||
        echo "note: $file is of an earlier suite, $(digest "$file")"
    done
    page | diff "$kept/README.md" - || { echo "docs/results/README.md is stale: run scripts/results.sh --ours"; exit 1; }
    ;;
  --site)
    "$concord" report "$kept"/*.json --out "${2:?usage: scripts/results.sh --site DIR}"
    ;;
  *)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
