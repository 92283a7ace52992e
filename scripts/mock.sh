#!/usr/bin/env bash
# Runs the tests of a client of the official SDK against a real server once, through `record`, and then against the mock of that
# recording: over stdio, Streamable HTTP and HTTP+SSE, in other orders than recorded, over HTTP with four clients at once.
#
# The SDK comes from PyPI into target/mock once, in the version that scripts/peers pins. Everything speaks over stdio and free
# ports of this machine. Exit code 0: all is well; 1: something fell short; 2: the program is not there; 4: Python cannot bring
# the SDK. MCP_CONCORD names the program, where it is not target/release/mcp-concord.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
[ -x "$program" ] || { echo "there is no $program: build it, or name it in MCP_CONCORD"; exit 2; }
here=scripts/mock home=target/mock wanted=scripts/peers/requirements-1.txt
mkdir -p "$home"
if ! cmp -s "$wanted" "$home/venv/installed.txt"; then
  rm -rf "$home/venv"
  { timeout 60 python3 -m venv "$home/venv" && timeout 600 "$home/venv/bin/pip" install --quiet -r "$wanted"; } \
    >"$home/pip.log" 2>&1 || { echo "Python cannot install the SDK: $(tail -1 "$home/pip.log")"; exit 4; }
  cp "$wanted" "$home/venv/installed.txt"
fi
python=$home/venv/bin/python
recording=$home/recording.jsonl
rm -f "$recording"

"$python" "$here/tests.py" forth stdio "$program" -q record -o "$recording" -- "$python" "$here/server.py"
for order in back 1 2 3; do
  "$python" "$here/tests.py" "$order" stdio "$program" -q play --as server --match request "$recording"
done
for transport in streamable-http http-sse; do
  "$program" play --as server --match request "$recording" --listen 0 --transport "$transport" 2> "$home/log" &
  mock=$!
  trap 'kill "$mock" 2>/dev/null || true' EXIT
  until url=$(sed -n 's/.*listening at //p' "$home/log") && [ -n "$url" ]; do
    kill -0 "$mock" || { cat "$home/log"; exit 1; }
    sleep 0.1
  done
  "$python" "$here/tests.py" 7 "$transport" "$url"
  kill -INT "$mock"
  code=0
  wait "$mock" || code=$?
  # 0: every request of the four clients was in the recording.
  [ "$code" = 0 ] || { cat "$home/log"; exit 1; }
done
