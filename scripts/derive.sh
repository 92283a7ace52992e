#!/usr/bin/env bash
# Writes the derived parts of docs/ again: the list in docs/rules.md, below its seam; the options in each command's page, below
# its seam; the sets of rules that this version is released with (an earlier version's stay as they are); and the pictures in
# docs/examples.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet -p mcp-concord
concord=${CARGO_TARGET_DIR:-target}/debug/mcp-concord

# Replaces what is below the seam of a page by the standard input.
below_seam() {
  { sed '/^<!-- From here on the page/q' "$1"; cat; } > "$1.new"
  mv "$1.new" "$1"
}

"$concord" explain --output markdown | below_seam docs/rules.md

"$concord" options | sed -n 's/^| `\([a-z]*\)`.*/\1/p' | while read -r command; do
  if [ -f "docs/$command.md" ]; then
    "$concord" options "$command" | below_seam "docs/$command.md"
  fi
done

for set in harness/rules/src/sets/*.toml; do
  "$concord" check --print-require "$(basename "$set" .toml)" > "$set.new"
  if [ "$(grep ^suite "$set")" = "$(grep ^suite "$set.new")" ]; then mv "$set.new" "$set"; else rm "$set.new"; fi
done

"$concord" -q show --output svg docs/examples/null-id.jsonl > docs/examples/null-id.svg
"$concord" -q show --output svg cases/recorded/everything-http-interrupted/har.har > docs/examples/interrupted.svg
