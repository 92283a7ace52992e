#!/usr/bin/env bash
# Writes again what is derived: from the rules the list in docs/rules.md, below its seam, and the frozen sets in
# docs/require (a set that was released stays as it is: do not commit a change of one); and the pictures in docs/examples.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet -p mcp-concord
concord=${CARGO_TARGET_DIR:-target}/debug/mcp-concord

list=$(mktemp)
trap 'rm -f "$list"' EXIT
"$concord" explain --output markdown > "$list"
{ sed '/^<!-- From here on the page/q' docs/rules.md; cat "$list"; } > docs/rules.md.new
mv docs/rules.md.new docs/rules.md

for set in docs/require/*.toml; do
  "$concord" check --print-require "$(basename "$set" .toml)" > "$set.new"
  mv "$set.new" "$set"
done

"$concord" -q show --output svg docs/examples/null-id.jsonl > docs/examples/null-id.svg
"$concord" -q show --output svg cases/recorded/everything-http-interrupted/har.har > docs/examples/interrupted.svg
