#!/usr/bin/env bash
# Tests `check` against the official schemas of MCP: scripts/shapes.sh [FLAG…]
#
#   --schemas DIR   a folder with the schema of each revision, as 2024-11-05.json or as 2024-11-05/schema.json, which is how
#                   the `schema` folder of a clone of modelcontextprotocol/modelcontextprotocol has them
#   --peers         also asks the Python and TypeScript SDKs about each fault, and prints where they and the schema differ
#   --write         writes the table again instead of comparing it
#
# Without --schemas they come out of the npm package @modelcontextprotocol/conformance, which holds all but the first; that
# one is fetched from the specification's repository. What is installed goes into a temporary folder and is removed.
#
# Exit code 0: the table is what the schemas give, and the differential test passes; 1: one of them is not so; 2: the command
# line is wrong; 4: npm, Python or the network cannot bring what is needed, and the last line says what.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD/scripts/shapes
conformance=@modelcontextprotocol/conformance@0.2.0-alpha.12
sdk=@modelcontextprotocol/sdk@1.32.2
first=https://raw.githubusercontent.com/modelcontextprotocol/modelcontextprotocol/main/schema/2024-11-05/schema.json

given='' peers='' write=''
while [ $# -gt 0 ]; do
  case $1 in
    --schemas) given=${2:-}; [ -d "$given" ] || { echo "shapes.sh: --schemas names no folder: '$given'"; exit 2; }; shift ;;
    --peers) peers=yes ;;
    --write) write=yes ;;
    *) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift
done

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
lacking() { echo "shapes.sh: $*"; exit 4; }
schemas=$home/schemas
mkdir "$schemas"

if [ -n "$given" ]; then
  for revision in 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
    for file in "$given/$revision.json" "$given/$revision/schema.json"; do
      if [ -f "$file" ]; then cp "$file" "$schemas/$revision.json"; fi
    done
  done
else
  (cd "$home" && npm install --silent --no-audit --no-fund --ignore-scripts "$conformance") >"$home/npm.log" 2>&1 ||
    lacking "npm cannot install $conformance: $(tail -1 "$home/npm.log")"
  node "$here/unpack.mjs" "$home/node_modules/@modelcontextprotocol/conformance/dist/index.js" "$schemas" ||
    lacking "the schemas are not where they were in $conformance"
  curl --silent --fail --location --max-time 60 --output "$schemas/2024-11-05.json" "$first" ||
    lacking "the schema of 2024-11-05 is in no package, and $first cannot be fetched; name a folder that has it by --schemas"
fi

if [ -n "$write" ]; then
  scripts/shapes.py "$schemas" >"$home/table"
  cp "$home/table" harness/rules/src/shapes/shapes.txt
else
  scripts/shapes.py --check "$schemas"
fi
[ -z "$peers" ] || export MCP_FAULTS=$home/faults
MCP_SCHEMAS=$schemas cargo test --quiet -p mcp-concord-rules --test shapes -- --ignored --nocapture

[ -n "$peers" ] || exit 0
(cd "$home" && npm install --silent --no-audit --no-fund --ignore-scripts "$sdk") >"$home/npm.log" 2>&1 ||
  lacking "npm cannot install $sdk: $(tail -1 "$home/npm.log")"
{ python3 -m venv "$home/venv" && "$home/venv/bin/pip" install --quiet -r "$here/requirements.txt"; } >"$home/pip.log" 2>&1 ||
  lacking "pip cannot install mcp: $(tail -1 "$home/pip.log")"
cp "$here/peer.mjs" "$home"
# The types of the SDKs are one set for all revisions with a session; what came later they do not have, or elsewhere.
rm "$home/faults/2026-07-28.jsonl"
for revision in "$home"/faults/*.jsonl; do
  node "$home/peer.mjs" <"$revision" >"$revision.typescript"
  "$home/venv/bin/python" "$here/peer.py" <"$revision" >"$revision.python"
done
python3 "$here/differences.py" "$home/faults"
