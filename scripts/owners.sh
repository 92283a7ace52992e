#!/usr/bin/env bash
# Loads what `convert` writes with the programs of the formats: scripts/owners.sh
#
# Every recorded session of the cases is converted to mcp-rec, mcp-recorder, mcporter and HAR, and loaded by the code of mcp-rec, mcp-recorder,
# mcporter and mitmproxy, which come from PyPI and npm into target/owners. Each has as many answers with their requests as the
# session, and mitmproxy as many exchanges as the archive. A session that a format cannot carry, or its program would not load, is
# refused, and counted. scripts/logs.sh does the same with mcp-cassette and agent-vcr, and scripts/otlp.sh with spans.
# Exit code 0: all load; 1: one does not; 4: the programs cannot be had. MCP_CONCORD names the program, where it is not
# target/release/mcp-concord.
set -euo pipefail
cd "$(dirname "$0")/.."
export MCP_CONCORD=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}") HOME_OF_OWNERS=$PWD/target/owners
home=$HOME_OF_OWNERS mcporter=0.12.3
lacking() { echo "the programs cannot be installed: $(tail -1 "$home.log")"; exit 4; }
mkdir -p "$home"
[ -e "$home/python" ] || {
  python3 -m venv "$home" &&
    timeout 600 "$home/bin/pip" install --quiet mcp-rec==0.1.1 mcp-recorder==0.5.0 &&
    # Their versions of one library do not go together.
    python3 -m venv "$home/mitmproxy" && timeout 600 "$home/mitmproxy/bin/pip" install --quiet mitmproxy==11.0.2 &&
    touch "$home/python"
} > "$home.log" 2>&1 || lacking
[ -d "$home/node_modules/mcporter" ] ||
  timeout 600 npm install --prefix "$home" --no-audit --no-fund --ignore-scripts "mcporter@$mcporter" > "$home.log" 2>&1 || lacking
exec "$home/bin/python" - <<'END'
import collections, glob, json, os, pathlib, subprocess, sys, tempfile
from mcp_rec.replayer import _build_index
from mcp_recorder._utils import load_cassette

PROGRAM, HOME = os.environ["MCP_CONCORD"], os.environ["HOME_OF_OWNERS"]
# Counts the answers that mcporter would replay for the one server of a file.
MCPORTER = """
import { readFileSync } from 'node:fs'
import { ReplayTransport } from './node_modules/mcporter/dist/runtime/replay-transport.js'
const recordPath = process.argv[1]
const { server } = JSON.parse(readFileSync(recordPath, 'utf8').split('\\n')[0])._meta
console.log(new ReplayTransport({ recordPath, server }).expectedSends.filter(sent => sent.response).length)
"""
# Counts the exchanges of an archive.
MITMPROXY = "import sys; from mitmproxy.io import FlowReader; print(sum(bool(it.response) for it in FlowReader(open(sys.argv[1], 'rb')).stream()))"


def counted(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=HOME)
    return int(done.stdout) if done.returncode == 0 else done.stderr.strip().split("\n")[-1]


LOADERS = {
    "mcp-rec": lambda path: sum(len(answers) for answers in _build_index(path)[0].values()),
    # What a server says of its own is an interaction without a request.
    "mcp-recorder": lambda path: sum(bool(it.request and "id" in it.request and it.response) for it in load_cassette(path).interactions),
    "mcporter": lambda path: counted("node", "--input-type=module", "--eval", MCPORTER, str(path)),
    "har": lambda path: counted("mitmproxy/bin/python", "-c", MITMPROXY, str(path)),
}


def answers(trace):
    """How many requests of the client a trace answers."""
    open_, count = set(), 0
    # Not splitlines, which ends a line at U+2028, too.
    for line in filter(None, trace.split("\n")):
        message, inward = json.loads(line).get("raw", {}), json.loads(line).get("dir") == "in"
        if inward and "method" in message and "id" in message:
            open_.add(json.dumps(message["id"]))
        elif not inward and "method" not in message and json.dumps(message.get("id")) in open_:
            open_.remove(json.dumps(message["id"]))
            count += 1
    return count


def convert(file, to):
    return subprocess.run([PROGRAM, "-q", "convert", file, "--to", to], capture_output=True, text=True)


counts, wrong = collections.Counter(), []
for file in sorted(glob.glob("cases/recorded/*/mcp-replay.jsonl") + glob.glob("cases/recorded/*/har.har")):
    of_trace = answers(convert(file, "mcp-replay").stdout)
    for name, load in LOADERS.items():
        done = convert(file, name)
        if done.returncode:
            counts[name, "refused"] += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "session")
            path.write_text(done.stdout)
            try:
                found = load(path)
            except Exception as error:
                found = f"{type(error).__name__}: {error}"
        counts[name, "loaded"] += 1
        expected = sum(entry["response"]["status"] > 0 for entry in json.loads(done.stdout)["log"]["entries"]) if name == "har" else of_trace
        if found != expected:
            wrong.append(f"{name} has {found} of {expected} answers of {file}")
print(*(f"{name}: {count} {what}" for (name, what), count in sorted(counts.items())), *wrong, sep="\n")
sys.exit(bool(wrong))
END
