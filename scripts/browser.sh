#!/usr/bin/env bash
# Tests rendered reports in a real browser: scripts/browser.sh [SCREENSHOTS]
#
# Renders a site from the kept results, one from a made-up result of 5,000 cases, and the pages of an archive, of a hostile
# session and of two of 10,000 and 50,000 messages, and tests them in headless Chromium: filters, links, keyboard, console, network,
# axe-core, and how soon a page can be used. Screenshots go to the folder SCREENSHOTS. scripts/browser/chromium.sh installs Chromium;
# npm packages go to a folder that is removed again.
#
# Exit code 0: no fault; 1: a fault was found; 4: there is no browser to look with, and the last line says why.
set -euo pipefail
cd "$(dirname "$0")/.."
concord=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
shots=${1:-$folder/shots}
mkdir -p "$shots"

lacking() { echo "no browser check: $*"; exit 4; }

browser=$(scripts/browser/chromium.sh) || lacking "$browser"
command -v npm >/dev/null || lacking "npm is not here"
cp scripts/browser/* "$folder"
(cd "$folder" && timeout 300 npm ci --no-audit --no-fund --ignore-scripts) >"$folder/npm.log" 2>&1 ||
  lacking "npm cannot install what the check needs: $(tail -1 "$folder/npm.log")"

# What people will look at: the results that are kept, or else a run of now; and recordings that were checked.
mapfile -t kept < <(grep -rlF --include='*.json' '"planned":' docs/results 2>/dev/null | sort)
if [ ${#kept[@]} = 0 ]; then
  "$concord" -q run --results "$folder/builtin.json" >/dev/null
  kept=("$folder/builtin.json")
fi
"$concord" -q check --output json docs/examples >"$folder/found.json" || [ $? = 1 ]
node "$folder/made-up.js" "$folder"
"$concord" -q report "${kept[@]}" "$folder"/{other,clean,excused}.json "$folder/found.json" --out "$folder/kept"
"$concord" -q report "$folder/large.json" --compare "$folder/before.json" --out "$folder/large" >"$folder/changes.md" ||
  [ $? = 1 ]
official=harness/cli/tests/cmd/report/in/official
"$concord" -q report --official "$official/results" "$official/session.har" --out "$folder/official" >"$folder/official.txt"

node "$folder/sessions.js" "$folder"
mkdir "$folder/viewer"
for session in long medium; do
  "$concord" -q show --output html "$folder/$session.jsonl" >"$folder/viewer/$session.html"
done
"$concord" -q show --output html cases/recorded/everything-http-interrupted/har.har >"$folder/viewer/archive.html"
"$concord" -q check --output html "$folder/hostile.jsonl" >"$folder/viewer/hostile.html" || [ $? = 1 ]

CHROMIUM=$browser node "$folder/check.js" "$folder" "$shots"
