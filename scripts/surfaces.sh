#!/usr/bin/env bash
# Compares published versions of real servers with `surface`, and the result with docs/surface.md: scripts/surfaces.sh [FOLDER]
#
# The servers are server-filesystem and server-everything from npm and mcp-server-git from PyPI, in three versions each, which
# scripts/surfaces pins. A small client requests everything that each one offers, with `record` in between, and `surface` compares each
# version with the one before. Its verdicts by class and kind must be those of the page. A plain comparison, which knows nothing about
# schemas, checks it: every difference between the two recordings must have been reported, or be among the few that
# scripts/surfaces/surfaces.py names, each with the reason why it does not matter.
#
# Everything is installed once under target/surfaces. Recordings and the output of `surface` stay in FOLDER, which must be new, if one
# is named.
#
# Exit code 0: all as the page says; 1: something is not; 2: the program is not there, or the folder is not empty; 4: npm or
# Python cannot bring the servers, and the last line says why. MCP_CONCORD names the program, where it is not
# target/release/mcp-concord.
set -euo pipefail
kept=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/.."
concord=$(realpath -m "${MCP_CONCORD:-target/release/mcp-concord}")
here=scripts/surfaces home=target/surfaces

refused() { echo "surfaces: $*" >&2; exit 2; }
lacking() { echo "no surfaces: $*"; exit 4; }
[ -x "$concord" ] || refused "there is no $concord: build it, or name it in MCP_CONCORD"
[ -z "$(ls -A "$kept" 2>/dev/null)" ] || refused "$kept is not empty"
for program in npm node git python3; do
  command -v $program >/dev/null || lacking "$program is not here"
done
mkdir -p "$home"

# The files that pin it say what was installed.
if ! cmp -s "$here/package-lock.json" "$home/installed.json"; then
  cp "$here"/package*.json "$home"
  (cd "$home" && timeout 600 npm ci --no-audit --no-fund --ignore-scripts) >"$home/npm.log" 2>&1 ||
    lacking "npm cannot install the servers: $(grep -m1 '^npm err' "$home/npm.log" || tail -1 "$home/npm.log")"
  cp "$here/package-lock.json" "$home/installed.json"
fi
for version in 1 2 3; do
  wanted=$here/requirements-$version.txt venv=$home/git-$version
  if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    { timeout 300 python3 -m venv "$venv" && timeout 600 "$venv/bin/pip" install --quiet -r "$wanted"; } \
      >"$home/pip.log" 2>&1 || lacking "Python cannot install the servers: $(tail -1 "$home/pip.log")"
    cp "$wanted" "$venv/installed.txt"
  fi
done

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
kept=${kept:-$temporary/kept}
mkdir -p "$kept" "$temporary/files"
git init --quiet "$temporary/repository"

recorded() {
  timeout 120 python3 "$here/client.py" "$concord" record -q -o "$kept/$1.jsonl" -- "${@:2}" 2>"$kept/$1.txt" ||
    { echo "surfaces: $1 did not say what it offers: $(tail -1 "$kept/$1.txt")" >&2; exit 1; }
}
for version in 1 2 3; do
  recorded "filesystem-$version" node "$home/node_modules/filesystem-$version/dist/index.js" "$temporary/files"
  recorded "everything-$version" node "$home/node_modules/everything-$version/dist/index.js" stdio
  recorded "git-$version" "$home/git-$version/bin/mcp-server-git" --repository "$temporary/repository"
done
python3 "$here/surfaces.py" "$concord" "$kept" docs/surface.md
