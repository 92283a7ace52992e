#!/usr/bin/env bash
# Puts mcp-recorder on the bench: a recording proxy for MCP over HTTP, from PyPI.
#
#   adapters/mcp-recorder/ci.sh [FLAG…]   such as --filter 'conditions/*', --save DIR, --report DIR
#
# It is installed once, into a virtual environment under target/, and nothing else is touched; with a starlette of before
# 1.0, which it needs and does not ask for. Without flags, the conditions are played; --filter '*' plays the whole suite,
# which takes minutes. What is known of it stands in baseline.toml with the reasons. TRANSPORT=http-sse drives it over the
# older transport, of which only the conditions are known. Set MCP_CONCORD where the program is not on the PATH:
# MCP_CONCORD="cargo run -q --".
set -euo pipefail

version=0.5.0
transport=${TRANSPORT:-streamable-http}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$here/../../../target/strangers/mcp-recorder-$version

if [ ! -x "$home/bin/mcp-recorder" ]; then
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet "mcp-recorder==$version" 'starlette<1'
fi
baseline=baseline.toml
[ "$transport" = streamable-http ] || baseline=baseline-$transport.toml
[ $# -gt 0 ] || set -- --filter 'conditions/*'
# Unquoted, so that it may be several words.
exec ${MCP_CONCORD:-mcp-concord} drive --transport "$transport" --recorder "'$home/bin/mcp-recorder' record \
  --target {origin} --port {port} --output {out}.json" \
  --format mcp-recorder --baseline "$here/$baseline" "$@"
