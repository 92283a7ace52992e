#!/usr/bin/env bash
# What the suite starts in place of its client: a recorder before the suite's server, and the client before that.
#
#   CONCORD=mcp-concord RECORDING=session.har through.sh CLIENT… URL
#
# The suite gives the URL as the last word. The exit code is the client's, or 99 where the recorder fell short.
set -euo pipefail
client=("${@:1:$#-1}") said=$(mktemp)

"$CONCORD" record -o "$RECORDING" --listen 127.0.0.1:0 --to "${!#}" 2>"$said" &
recorder=$!
trap 'kill -KILL "$recorder" 2>/dev/null || true; rm -f "$said"' EXIT
until url=$(sed -n 's/^note: Proxying \(http[^ ]*\) to .*/\1/p' "$said") && [ -n "$url" ]; do
  kill -0 "$recorder" 2>/dev/null || { cat "$said" >&2; exit 99; }
  sleep 0.05
done

code=0
timeout --kill-after=5 20 "${client[@]}" "$url" || code=$?
kill -INT "$recorder"
wait "$recorder" || { cat "$said" >&2; code=99; }
exit "$code"
