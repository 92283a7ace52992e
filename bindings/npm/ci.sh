#!/usr/bin/env bash
# Builds the npm packages, installs them into a fresh project, and tests them there: functions, matchers in vitest and jest with
# the official SDK, and types. Then the page, in headless Chromium.
#
#   bindings/npm/ci.sh            builds and tests
#   bindings/npm/ci.sh DIR        and leaves the packages in DIR
#
# The program is the one that MCP_CONCORD names, or is built. Exit code 4: what is needed cannot be had, the last line says what, and
# nothing was tested.
set -euo pipefail
kept=${1:+$(mkdir -p "$1" && cd "$1" && pwd)}
MCP_CONCORD=${MCP_CONCORD:+$(realpath "$MCP_CONCORD")}
export MCP_CONCORD
cd "$(dirname "$0")"
here=$PWD
lacking() { echo "the packages for JavaScript were not tested: $*"; exit 4; }
command -v npm >/dev/null || lacking "npm is not here"
node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || lacking "node here is older than 20"

./build.sh
if [ -z "$MCP_CONCORD" ]; then
  (cd ../.. && cargo build --release --quiet -p mcp-concord)
  MCP_CONCORD=${CARGO_TARGET_DIR:-$here/../../target}/release/mcp-concord
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node pack.mjs "$work" linux-x64="$MCP_CONCORD"
(cd "$work" && du -k ./*.tgz)

# A fresh project, with the tools in the versions that this folder pins.
cp package.json package-lock.json "$work"
cp -r tests "$work/tests"
cd "$work"
npm ci --silent --no-audit --no-fund --ignore-scripts --prefer-offline
npm install --silent --no-save --no-audit --no-fund --ignore-scripts ./*.tgz

node --test tests/core.test.mjs tests/cli.test.mjs >node.txt 2>&1 || { cat node.txt; exit 1; }
grep -E '^# (tests|pass)' node.txt
npx tsc --noEmit --strict --skipLibCheck --module NodeNext --target ES2022 --types node tests/types.mts

# Both frameworks: a suite that passes, and one whose failures show a person what is wrong.
vitest() { npx vitest run --testTimeout 120000 --hookTimeout 120000 --root tests/sdk --no-color "$1"; }
jest() { npx jest --testTimeout 120000 --rootDir tests/sdk --no-color --testMatch "**/$1"; }
failing() {
  if "$1" "$2" >failing.txt 2>&1; then echo "$1: what is wrong passes"; exit 1; fi
  for part in 'error\[jsonrpc.id.null\]: ' '"id":null,"method":"ping"' '2024-11-05' 'event [0-9]* differs at /result/structuredContent/sum' \
    'does not call subtract' 'does not call add with {"a":2}' 'calls add$' '  add {"a":1,"b":2}' \
    'does not call add with [A-Za-z]* {"a":9}' 'differs at /arguments/b: expected 2, got 5'; do
    grep -Eq -- "${part//\{/\\\{}" failing.txt || { cat failing.txt; echo "$1 does not say: $part"; exit 1; }
  done
  # Not one of them fails for another reason.
  ! grep -q 'TypeError\|ENOENT' failing.txt || { cat failing.txt; exit 1; }
}
for framework in "vitest passing.test.mts failing.test.mts" "jest passing.jest.cjs failing.jest.cjs"; do
  read -r name passing wrong <<<"$framework"
  "$name" "$passing" >passing.txt 2>&1 || { cat passing.txt; exit 1; }
  failing "$name" "$wrong"
  [ -z "$kept" ] || cp failing.txt "$kept/$name-failing.txt"
  echo "$name: passes, and fails in words"
done

[ -z "$kept" ] || cp ./*.tgz "$kept/"

"$here/../../scripts/site.sh" "$work/site"
grep -q 'href="recording.html">Look into a recording<' "$work/site/index.html" && [ -f "$work/site/recording.html" ] ||
  { echo "the site has no page that judges recordings"; exit 1; }

"$here/page.sh" "${kept:-$work}/concord.html" ${kept:+"$kept"} || { code=$?; [ "$code" = 4 ] || exit "$code"; }
