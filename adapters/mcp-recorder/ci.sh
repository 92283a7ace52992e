#!/usr/bin/env bash
# Plays every session of the suite through mcp-recorder: ci.sh [OPTION of drive]...
#
# Over Streamable HTTP; TRANSPORT=http-sse plays the conditions over the older transport.
# MCP_CONCORD names mcp-concord, where it is not on the path; MCP_RECORDER the mcp-recorder to judge, such as one of your checkout.
# Without that, the version below is installed from PyPI into target/strangers, with a starlette of before 1.0: it does not start with
# a later one, which its requirements allow.
# Exit code 0: nothing fails but what the baseline lists, and all of that fails; 1: otherwise; 4: mcp-recorder cannot be installed.
set -euo pipefail

version=0.5.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${MCP_RECORDER:-} name=mcp-recorder
if [ -z "$program" ]; then
  home=$(realpath -m "$here/../../target/strangers/mcp-recorder-$version")
  name+=@$version program=$home/bin/mcp-recorder
  mkdir -p "$(dirname "$home")"
  [ -x "$program" ] ||
    { python3 -m venv "$home" && timeout 600 "$home/bin/pip" install --quiet "mcp-recorder==$version" 'starlette<1'; } > "$home.log" 2>&1 ||
    { echo "mcp-recorder $version cannot be installed: $(tail -n 1 "$home.log")"; exit 4; }
fi
baseline=baseline.toml
transport=${TRANSPORT:-streamable-http}
if [ "$transport" = http-sse ]; then
  baseline=baseline-http-sse.toml
  set -- --filter 'conditions/*' "$@"
elif [[ " $* " != *" --filter"* ]]; then
  # All but ids/number-and-string-open-together: two requests are under way at once, and chance decides which is first in the cassette.
  set -- --filter '[!i]*/*' --filter 'ids/[!n]*' --filter 'ids/null-*' \
    --filter 'ids/number-{answered,becomes}-*' "$@"
fi
# Its sessions wait more than they work.
exec "${MCP_CONCORD:-mcp-concord}" drive --name "$name" --transport "$transport" --recorder "'$program' record --target {origin} --port {port} \
  --output {out}.json" --format mcp-recorder --jobs 4 --max-delay 3 --baseline "$here/$baseline" "$@"
