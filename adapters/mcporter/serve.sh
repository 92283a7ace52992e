#!/usr/bin/env bash
# mcporter's bridge between a client and a server, with a recording: serve.sh OUT SERVER…
#
# Shows why `drive` cannot drive it: it answers the client itself, and starts the server when a tool of it is asked for.
#
#   mcp-concord drive --recorder 'adapters/mcporter/serve.sh {out} {server}' --format mcporter --filter conditions/plain
#
# Run ci.sh first, which installs mcporter.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$1 home=$1.home
shift
export PATH=$here/../../target/strangers/mcporter-0.12.3/node_modules/.bin:$PATH HOME=$home MCPORTER_RECORD=session
mkdir -p "$home"
node -e 'const [, command, ...args] = process.argv;
  console.log(JSON.stringify({ imports: [], mcpServers: { played: { command, args, lifecycle: "keep-alive" } } }))' \
  "$@" >"$home/mcporter.json"

code=0
mcporter --config "$home/mcporter.json" serve --stdio --servers played || code=$?
mcporter --config "$home/mcporter.json" daemon stop >/dev/null
[ ! -e "$home/.mcporter/recordings/session.ndjson" ] || cp "$home/.mcporter/recordings/session.ndjson" "$out"
exit "$code"
