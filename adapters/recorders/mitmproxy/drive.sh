#!/usr/bin/env bash
# Puts mitmproxy on the bench: an HTTP proxy that exports HAR, from PyPI.
#
#   adapters/recorders/mitmproxy/drive.sh [--whole] [FLAG…]      such as --filter 'conditions/*', --save DIR, --report DIR
#
# It is installed once, into a virtual environment under target/, and nothing else is touched. It runs without streaming,
# since it keeps no bodies of what it streams. Without flags, the conditions are played; --whole plays the suite but for the
# sessions in left-out.txt, which takes minutes. What is known of it stands in baseline.toml with the reasons.
# TRANSPORT=http-sse drives it over the older transport, of which only the conditions are known. Set MCP_CONCORD where the
# program is not on the PATH: MCP_CONCORD="cargo run -q --".
set -euo pipefail

version=11.0.2
transport=${TRANSPORT:-streamable-http}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$here/../../../target/strangers/mitmproxy-$version

if [ ! -x "$home/bin/mitmdump" ]; then
  python3 -m venv "$home"
  "$home/bin/pip" install --quiet "mitmproxy==$version"
fi
baseline=baseline.toml
[ "$transport" = streamable-http ] || baseline=baseline-$transport.toml
if [ "${1:-}" = --whole ]; then
  shift
  cases=$(mktemp -d)
  trap 'rm -rf "$cases"' EXIT
  "$here"/../../../scripts/cases.py unpack "$cases"
  (cd "$cases" && grep -v '^#' "$here/left-out.txt" | xargs rm -r)
  set -- --cases "$cases" "$@"
fi
[ $# -gt 0 ] || set -- --filter 'conditions/*'
# Unquoted, so that it may be several words.
${MCP_CONCORD:-mcp-concord} drive --transport "$transport" --recorder "'$home/bin/mitmdump' --quiet \
  --mode reverse:{origin} --listen-host 127.0.0.1 --listen-port {port} --set hardump={out}.har" \
  --format har --baseline "$here/$baseline" "$@"
