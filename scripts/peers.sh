#!/usr/bin/env bash
# Puts the program between real peers, and then replaces each of them: scripts/peers.sh [FLAG…]
#
#   --keep FOLDER        the folder for recordings and outputs, instead of target/peers/kept, which is emptied first
#   --client NAME        one client: typescript-1, typescript-2, python-1 or python-2
#   --transport NAME     one transport: stdio, streamable-http or http-sse
#
# The server is @modelcontextprotocol/server-everything, the clients are the official SDKs of TypeScript and Python, in the
# versions that scripts/peers pins. They come from npm and PyPI into target/peers once, and nothing else is touched. They
# talk over stdio and over free ports of this machine. scripts/peers/README.md describes what is tested.
#
# Exit code 0: all is well; 1: something fell short, and the lines below the table say what; 2: the program is not there;
# 4: npm or Python cannot bring the peers, and the last line says why. MCP_CONCORD names the program, where it is not
# target/release/mcp-concord; it may be several words.
set -euo pipefail
cd "$(dirname "$0")/.."
here=scripts/peers
home=target/peers

lacking() { echo "no peers: $*"; exit 4; }
# What the log $2 ends with, of a command that ended with $1; one that took too long says nothing.
why() { [ "$1" = 124 ] && echo "it took too long" || tail -1 "$2"; }

command -v npm >/dev/null || lacking "npm is not here"
command -v node >/dev/null || lacking "node is not here"
command -v python3 >/dev/null || lacking "python3 is not here"
mkdir -p "$home"

# The files that pin it say what was installed.
if ! cmp -s "$here/package-lock.json" "$home/installed.json"; then
  cp "$here"/package*.json "$home"
  (cd "$home" && timeout 600 npm ci --no-audit --no-fund --ignore-scripts) >"$home/npm.log" 2>&1 ||
    lacking "npm cannot install the server and the clients: $(grep '^npm err' "$home/npm.log" | sed -n 2p)"
  cp "$here/package-lock.json" "$home/installed.json"
fi
for line in 1 2; do
  wanted=$here/requirements-$line.txt venv=$home/python-$line
  if ! cmp -s "$wanted" "$venv/installed.txt"; then
    rm -rf "$venv"
    { timeout 300 python3 -m venv "$venv" && timeout 600 "$venv/bin/pip" install --quiet -r "$wanted"; } \
      >"$home/pip.log" 2>&1 || lacking "Python cannot install its client: $(why $? "$home/pip.log")"
    cp "$wanted" "$venv/installed.txt"
  fi
done
# Node looks for packages beside the script that asks for them.
cp "$here/client.mjs" "$here/loopback.mjs" "$home"

exec python3 "$here/peers.py" --home "$home" "$@"
