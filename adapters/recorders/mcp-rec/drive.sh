#!/usr/bin/env bash
# Puts mcp-rec on the bench: a recorder for stdio servers, from PyPI.
#
#   adapters/recorders/mcp-rec/drive.sh [FLAG…]        such as --filter 'conditions/*', --save DIR, --report DIR
#
# It is installed once, into a virtual environment under target/, and nothing else is touched. What is known of it stands in
# baseline.toml with the reasons. Set MCP_CONCORD where the program is not on the PATH: MCP_CONCORD="cargo run -q --".
set -euo pipefail

version=0.1.1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$here/../../../target/strangers/mcp-rec-$version

if [ ! -x "$home/bin/mcp-rec" ]; then
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet "mcp-rec==$version"
fi
# Unquoted, so that it may be several words.
exec ${MCP_CONCORD:-mcp-concord} drive --recorder "'$home/bin/mcp-rec' record -o {out} -- {server}" \
  --format mcp-rec --baseline "$here/baseline.toml" "$@"
