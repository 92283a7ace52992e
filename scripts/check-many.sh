#!/usr/bin/env bash
# Time and peak memory of one `check` of a folder of many small recordings, and of a process for each recording, one a processor.
# Prints the table in docs/check.md. Needs GNU time and about 5 KB of disk a recording.
#
#   scripts/check-many.sh [COUNT...]      by default 1000 10000 100000
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names. PROCESSES is for how many recordings a process
# each is measured (1000); their rate is what counts.
set -euo pipefail
cd "$(dirname "$0")/.."
concord=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
[ $# -gt 0 ] || set -- 1000 10000 100000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Recordings of 31 messages, each with another server's name and other texts; one in ten has an error of the client.
make() {
  python3 - "$1" "$2" <<'PYTHON'
import json, os, sys

folder, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    said = []
    say = lambda dir, **message: said.append((dir, {"jsonrpc": "2.0", **message}))
    name = {"name": f"server-{number}", "version": "1"}
    say("in", id=0, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
    say("out", id=0, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": name})
    say("in", method="notifications/initialized")
    tools = [{"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]
    say("in", id=1, method="tools/list")
    say("out", id=1, result={"tools": tools})
    for call in range(2, 15):
        text = f"{number} says {call} " * 5
        say("in", id=call, method="tools/call", params={"name": "echo", "arguments": {"text": text}})
        say("out", id=call, result={"content": [{"type": "text", "text": text}]})
    if number % 10 == 0:
        say("in", id=None, method="ping")
    at = lambda index: f"2026-01-01T00:00:00.{index:03}Z"
    lines = [{"v": 1, "type": "meta", "startedAt": at(0), "label": f"s{number}", "command": ["s"]}]
    lines += [{"t": at(index), "dir": dir, "raw": message} for index, (dir, message) in enumerate(said)]
    lines.append({"t": at(len(said)), "type": "end", "exitCode": 0, "durationMs": len(said)})
    place = os.path.join(folder, f"{number % 100:02}")
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, f"{number}.jsonl"), "w") as out:
        out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
PYTHON
}

# Seconds, processor seconds and KiB of a command, whose exit code 1 is a result like any other.
measured() {
  code=0
  /usr/bin/time -o "$work/time" -f '%e %U %S %M' "$@" > /dev/null 2> "$work/err" || code=$?
  [ "$code" -le 1 ] || [ "$code" -eq 123 ] || { cat "$work/err" >&2; exit "$code"; }
  tail -1 "$work/time"
}

row() { # name count seconds user system kib
  python3 - "$@" <<'PYTHON'
import sys
name, count, time, user, system, memory = sys.argv[1], *map(float, sys.argv[2:])
spent = max(user + system, 0.01)
print(f"| {name} | {count:,.0f} | {time:.1f} s | {spent:.1f} s | {count / spent:,.0f} | {memory / 1024:.0f} MiB |")
PYTHON
}

echo "| what runs | recordings | time | processor time | recordings a processor second | peak memory |"
echo "| --- | ---: | ---: | ---: | ---: | ---: |"
for count in "$@"; do
  mkdir "$work/$count"
  make "$work/$count" "$count"
  for output in ${OUTPUTS:-text ndjson json sarif junit}; do
    row "\`--output $output\`" "$count" $(measured "$concord" check --quiet --output "$output" "$work/$count")
  done
  [ "$count" -ge 100000 ] || rm -r "${work:?}/$count"
done
make "$work" "${PROCESSES:-1000}"
find "$work" -maxdepth 2 -path "$work/[0-9][0-9]/*.jsonl" -print0 > "$work/list"
row "a process each, one a processor" "${PROCESSES:-1000}" \
  $(measured xargs -0 -a "$work/list" -n 1 -P "$(nproc)" "$concord" check --quiet --jobs 1)
