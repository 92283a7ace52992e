#!/usr/bin/env bash
# Compares the recordings of mcporter, an MCP client, with what was really said: ci.sh [FOLDER]
#
# Nothing passes through mcporter, so `mcp-concord drive` cannot drive it. Instead our server (`play`) says each of the sessions beside
# this script, byte for byte, and logs what really passed; `diff` compares the recording with that. FOLDER, a new one, keeps both.
#
# MCP_CONCORD names mcp-concord, where it is not on the path; MCPORTER the mcporter to judge, such as one of your checkout. Without
# that, the version below is installed from npm into target/strangers, with the Node that it asks for.
# Exit code 0: nothing differs but what baseline.toml lists, and all of that does; 1: otherwise; 2: FOLDER is not empty; 4: mcporter
# cannot be installed.
set -euo pipefail

version=0.12.3 node=24.21.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
concord=$(realpath "$(command -v "${MCP_CONCORD:-mcp-concord}")")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
kept=$(realpath -m "${1:-$temporary/sessions}")
mkdir -p "$kept"
[ -z "$(ls -A "$kept")" ] || { echo "$kept is not empty" >&2; exit 2; }

if [ -n "${MCPORTER:-}" ]; then
  mkdir "$temporary/bin"
  ln -s "$(realpath "$(command -v "$MCPORTER")")" "$temporary/bin/mcporter"
  export PATH=$temporary/bin:$PATH
else
  home=$(realpath -m "$here/../../target/strangers/mcporter-$version")
  if [ ! -e "$home/node_modules/.bin/node" ]; then
    mkdir -p "$home"
    platform=$(node -p '`node-${process.platform}-${process.arch}`')
    timeout 600 npm install --prefix "$home" --no-audit --no-fund --ignore-scripts "mcporter@$version" "$platform@$node" \
      > "$temporary/npm.log" 2>&1 || { echo "mcporter $version cannot be installed: $(grep -m 1 error "$temporary/npm.log")"; exit 4; }
    ln -sf "../$platform/bin/node" "$home/node_modules/.bin/node"
  fi
  export PATH=$home/node_modules/.bin:$PATH
fi

# Records calls of the played tool, one after the other, each of them with its own journal: folder, number, flags of `play`.
recorded() {
  local folder=$1 calls=$2
  mkdir -p "$folder"
  # It keeps its recordings and its settings in the home folder.
  HOME=$folder timeout 60 mcporter record session -- bash -c '
    for call in $(seq "$1"); do
      mcporter call --stdio "$2 play --as server $3 --journal $4/journal-$call ${*:5}" ask --output raw
    done' calls "$calls" "$concord" "$here/sessions/$session.jsonl" "$folder" "${@:3}" > "$folder/said.txt" 2>&1 || true
  for call in $(seq "$calls"); do node "$here/truth.mjs" "$folder/journal-$call"; done > "$folder/truth.jsonl"
}

# The reason of the entry that names a session, from baseline.toml.
reason() {
  awk -F'"' -v name="$1" '/^case = /{ hit = $2 ~ "(^|[{,])" name "([,}]|$)" } hit && /^reason = /{ print $2; exit }' "$here/baseline.toml"
}

# Says whether the recording is what passed, and whether that was known.
judged() {
  local code=0 known passed written recording=$2/.mcporter/recordings/session.ndjson
  names+=("$1")
  # Calls of several sessions have the same ids, so they are counted before they are compared.
  passed=$(grep -c '"tools/call"' "$2/truth.jsonl") || true
  written=$(grep -sc '"tools/call"' "$recording") || true
  echo "$passed calls passed, ${written:-0} in the recording" > "$2/diff.txt"
  [ "$passed" = "$written" ] &&
    "$concord" diff --left-format jsonrpc --right-format mcporter "$2/truth.jsonl" "$recording" > "$2/diff.txt" 2>&1 || code=$?
  if grep -L '"mismatches":0}' "$2"/journal-* | grep -q .; then
    wrong=$((wrong + 1))
    echo "PARTED    $1: mcporter said something else than the session has; its words are in said.txt"
    return
  fi
  known=$(reason "$1")
  case $code:$known in
    0:) same=$((same + 1)); echo "same      $1" ;;
    0:*) wrong=$((wrong + 1)); echo "SAME      $1: remove it from baseline.toml" ;;
    *:) wrong=$((wrong + 1)); echo "DIFFERS   $1, which is not in baseline.toml"; sed 's/^/          /' "$2/diff.txt" ;;
    *) differ=$((differ + 1)); echo "differs   $1: $known"; sed -n '1,3{/./s/^/          /p}' "$2/diff.txt" ;;
  esac
}

same=0 differ=0 wrong=0 names=()
for session in $(basename -s .jsonl "$here"/sessions/*.jsonl); do
  recorded "$kept/$session" 1
  judged "$session" "$kept/$session"
done
session=plain
recorded "$kept/noise" 1 --noise warming-up
judged noise "$kept/noise"
recorded "$kept/in-single-bytes" 1 --chunk 1
judged in-single-bytes "$kept/in-single-bytes"
recorded "$kept/two-calls" 2
judged two-calls "$kept/two-calls"

for name in $(sed -n 's/^case = "{\{0,1\}\([^"}]*\)}\{0,1\}"/\1/p' "$here/baseline.toml" | tr , '\n'); do
  [[ " ${names[*]} " == *" $name "* ]] || { wrong=$((wrong + 1)); echo "STALE     $name: baseline.toml names no session"; }
done
echo "${#names[@]} sessions: $same the same, $differ differ as known, $wrong otherwise"
[ "$wrong" = 0 ]
