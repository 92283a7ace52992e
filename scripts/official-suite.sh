#!/usr/bin/env bash
# Puts our recorder into the official conformance suite, and judges what it recorded: scripts/official-suite.sh [FOLDER]
#
# The suite (from npm, versions in scripts/official-suite/package.json) tests a server, server-everything, and a small client on the
# TypeScript SDK: once directly, and once with `mcp-concord record` in between. Its verdicts must be the same both ways. The same server
# also runs over stdio, and so does server-filesystem, which speaks only stdio: `record --listen -- CMD` serves them over HTTP. Verdicts on
# the one server that differ between stdio and its own HTTP are listed. Then `check` judges the recordings, its findings are joined with
# the suite's, and the result is compared with docs/official-suite.md. The next version of the suite, which knows the revision 2026-07-28,
# tests the same server. Recordings and results stay in FOLDER, which must be new, if one is named. Everything is installed once under
# target/official-suite, and uses free ports of this machine.
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names.
# Exit code 0: the page is right; 1: it is not; 4: npm cannot install the suite, and the last line says why.
set -euo pipefail
kept=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/.."
concord=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
page=$PWD/docs/official-suite.md
temporary=$(mktemp -d)
kept=${kept:-$temporary/kept}
started=()
ended() {
  for pid in "${started[@]}"; do
    kill "$1" "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  started=()
}
trap 'ended -KILL; rm -rf "$temporary"' EXIT

wrong() { echo "official suite: $*" >&2; exit 1; }
lacking() { echo "no official suite: $*"; exit 4; }
[ -z "$(ls -A "$kept" 2>/dev/null)" ] || wrong "$kept is not empty"

# The suite needs Node 22. Where an older one is here, npm has that, too.
command -v npm >/dev/null || lacking "npm is not here"
home=$PWD/target/official-suite node=22.23.3
mkdir -p "$home"
cp scripts/official-suite/* "$home"
cd "$home"
refusal() { grep -m1 '^npm error' npm.log || tail -1 npm.log; }
if ! cmp -s package-lock.json installed; then
  timeout 600 npm ci --no-audit --no-fund --ignore-scripts >npm.log 2>&1 || lacking "npm cannot install it: $(refusal)"
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 22 ]; then
    platform=$(node -p '`node-${process.platform}-${process.arch}`')
    timeout 600 npm install --no-save --no-audit --no-fund --ignore-scripts "$platform@$node" >npm.log 2>&1 ||
      lacking "there is no Node 22, and npm cannot install it: $(refusal)"
    ln -sf "../$platform/bin/node" node_modules/.bin/node
  fi
  cp package-lock.json installed
fi
export PATH=$PWD/node_modules/.bin:$PATH CONCORD=$concord
mkdir -p "$kept"/{server,next,stdio,filesystem,client} "$temporary/files"
echo text >"$temporary/files/file.txt"

# Waits until a program has said where it listens: the pid $1, and a command that prints it and fails until then.
address_of() {
  for _ in $(seq 200); do
    kill -0 "$1" 2>/dev/null || wrong "a program ended before it listened; its words are in $kept"
    "${@:2}" 2>/dev/null && return
    sleep 0.1
  done
  wrong "a program did not listen within 20 seconds"
}
port() { [ -s "$temporary/port" ] && cat "$temporary/port"; }
recorder() { sed -n 's/^note: Proxying \(http[^ ]*\) to .*/\1/p; s/^note: Serving .* at \(http[^;]*\);.*/\1/p' "$1" | grep .; }

# A server of its own for each round, so that one round leaves nothing to the next.
server() {
  rm -f "$temporary/port"
  PORT=0 PORT_FILE=$temporary/port node --import ./loopback.mjs node_modules/.bin/mcp-server-everything streamableHttp \
    >"$kept/$1.txt" 2>&1 &
  started+=($!)
}
# The suite ends with 1 where a check fell short, which is a result like any other.
version=node_modules/@modelcontextprotocol/conformance
suite() {
  timeout --kill-after=5 "$1" node --import ./loopback.mjs "$version/dist/index.js" "${@:2}" || [ $? = 1 ] ||
    wrong "the suite did not come to its end: conformance ${*:2}"
}

server server/directly
url=http://127.0.0.1:$(address_of $! port)/mcp
suite 120 server --suite all --url "$url" -o "$kept/server/direct" >"$kept/server/direct.txt" 2>&1
ended -TERM

# A server over its own HTTP, by the name of its recordings.
over_http() {
  server "$1/itself"
  url=http://127.0.0.1:$(address_of $! port)/mcp
  # The suite plays a page of this host, to see whether the server refuses it; the recorder leaves that to the server.
  "$concord" record -o "$kept/$1.har" --listen 127.0.0.1:0 --to "$url" --allow-host evil.example.com \
    2>"$kept/$1/record.txt" &
  record=$!
  started+=("$record")
  suite 120 server --suite all --url "$(address_of "$record" recorder "$kept/$1/record.txt")" -o "$kept/$1/recorded" >"$kept/$1/recorded.txt" 2>&1
  kill -INT "$record"
  wait "$record" || wrong "the recorder fell short: $(tail -1 "$kept/$1/record.txt")"
  ended -TERM
}
over_http server
version=node_modules/next over_http next

# A server over stdio, by the name of its recordings and its command. The recorder refuses the page of another host itself.
over_stdio() {
  "$concord" record -o "$kept/$1.har" --listen 127.0.0.1:0 -- "${@:2}" 2>"$kept/$1/record.txt" &
  record=$!
  started+=("$record")
  url=$(address_of "$record" recorder "$kept/$1/record.txt")
  suite 120 server --suite all --url "$url" -o "$kept/$1/recorded" >"$kept/$1/recorded.txt" 2>&1
  kill -INT "$record"
  wait "$record" || wrong "the recorder fell short: $(tail -1 "$kept/$1/record.txt")"
  started=()
  node verdicts.mjs "$kept/$1/recorded" >"$kept/$1/recorded.verdicts"
}
over_stdio stdio node node_modules/.bin/mcp-server-everything stdio
over_stdio filesystem node node_modules/.bin/mcp-server-filesystem "$temporary/files"
! grep -l 'mcp-concord record: ' "$kept"/{stdio,filesystem}*.har || wrong "an answer is the recorder's, and not the server's"

# What asks for OAuth is left out: a client holds its token to the address that it knows, which is the recorder's.
for scenario in initialize tools_call elicitation-sep1034-client-defaults sse-retry; do
  suite 60 client --scenario $scenario --command "node client.mjs" -o "$kept/client/direct" \
    >"$kept/client/$scenario.txt" 2>&1
  RECORDING=$kept/$scenario.har suite 60 client --scenario $scenario --command "./through.sh node client.mjs" \
    -o "$kept/client/recorded" >"$kept/client/$scenario-recorded.txt" 2>&1
done

for side in server client; do
  for way in direct recorded; do node verdicts.mjs "$kept/$side/$way" >"$kept/$side/$way.verdicts"; done
  diff -u "$kept/$side/direct.verdicts" "$kept/$side/recorded.verdicts" ||
    wrong "the suite's verdicts on a $side are others with a recorder in between"
done
"$concord" check -q --profile recorder --strict "$kept"/*.har >"$kept/recorder.txt" 2>&1 ||
  { cat "$kept/recorder.txt" >&2; wrong "a recording is not as it was said"; }
"$concord" check -v "$kept"/*.har >"$kept/found.txt" 2>"$kept/found.notes" || [ $? = 1 ]

# The rows of each run, without the messages of each check.
rows() {
  echo "the suite tries $1:"
  "$concord" -q report --official "$2" "${@:3}" | awk '/^$/ { empty++ } empty < 2'
  echo
}
only() {
  printf 'only over %s:\n\n' "$1"
  comm -23 "$2" "$3" | sed 's/^/  /'
  echo
}
tried() { cd "$kept" && {
  rows "a server" server/recorded server*.har
  rows "the same server over stdio" stdio/recorded stdio*.har
  only "its own HTTP" {server,stdio}/recorded.verdicts
  only stdio {stdio,server}/recorded.verdicts
  rows "another server over stdio" filesystem/recorded filesystem*.har
  rows "a client" client/recorded {initialize,tools_call,elicitation-sep1034-client-defaults,sse-retry}.har
  rows "a server, in its next version" next/recorded next*.har | sed -n 1,2p
} }
(tried) | tee "$kept/side-by-side.txt"
for side in server next; do "$concord" -q report --official "$kept/$side/recorded" "$kept/$side"*.har --out "$kept/$side.site" >"$kept/$side.joined"; done
cat "$kept"/*/*.verdicts "$kept/found.txt" "$kept"/*.joined >"$kept/said.txt"
node page.mjs "$page" "$kept/side-by-side.txt" "$kept/said.txt" || wrong "the page says otherwise"
