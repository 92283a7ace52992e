#!/usr/bin/env bash
# Makes the page that judges recordings in a browser, and tries it in headless Chromium: bindings/npm/page.sh FILE [SCREENSHOTS]
#
# It takes the package as bindings/npm/build.sh left it, and builds it where there is none. Exit code
# 4: the page was made, and there is nothing to try it with; the last line says what is lacking.
set -euo pipefail
[ $# -gt 0 ] || { sed -n 2p "$0"; exit 2; }
file=$(realpath -m "$1")
shots=${2:+$(mkdir -p "$2" && cd "$2" && pwd)}
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
[ -f core/dist/concord.wasm ] && [ -f core/dist/node/node.js ] || ./build.sh
node page.mjs "$file"
echo "$(basename "$file"): $(($(stat -c %s "$file") / 1000)) kB"

lacking() { echo "the page was not tried: $*"; exit 4; }
browser=$("$root/scripts/browser/chromium.sh") || lacking "$browser"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root"/scripts/browser/package*.json tests/page.mjs "$folder"
(cd "$folder" && timeout 300 npm ci --silent --no-audit --no-fund --ignore-scripts --prefer-offline) >"$folder/npm.log" 2>&1 ||
  lacking "npm cannot install what drives the browser: $(tail -1 "$folder/npm.log")"
node "$root/scripts/browser/sessions.js" "$folder" 100
CHROMIUM=$browser node "$folder/page.mjs" "$file" "$root" "$folder" || code=$?
[ -z "$shots" ] || cp "$folder"/*.png "$shots"
exit "${code:-0}"
