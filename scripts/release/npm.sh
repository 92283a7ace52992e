#!/usr/bin/env bash
# Packs the npm packages from the programs that scripts/release/program.sh left: scripts/release/npm.sh PROGRAMS OUT
#
# PROGRAMS has a folder for each target. Every platform of bindings/npm/cli/platforms.json needs one; with PARTIAL=1, for a trial,
# those that are there are packed. npm then says of each package what it would publish.
set -euo pipefail
[ $# = 2 ] || { sed -n 2p "$0"; exit 2; }
programs=$(cd "$1" && pwd)
out=$(mkdir -p "$2" && cd "$2" && pwd)
cd "$(dirname "$0")/../../bindings/npm"
[ -f core/dist/concord.wasm ] && [ -f core/dist/node/node.js ] || ./build.sh

given=()
while read -r platform target; do
  program=
  for name in mcp-concord mcp-concord.exe; do [ ! -f "$programs/$target/$name" ] || program=$programs/$target/$name; done
  if [ -n "$program" ]; then given+=("$platform=$program"); else echo "there is no program for $target"; [ "${PARTIAL:-}" = 1 ] || exit 1; fi
done < <(node -p 'Object.entries(require("./cli/platforms.json")).map(([name, { target }]) => `${name} ${target}`).join("\n")')
node pack.mjs "$out" "${given[@]}"
for package in "$out"/*.tgz; do npm publish --dry-run --access public "$package" 2>&1 | grep -E 'name:|version:|unpacked size:|total files:'; done
