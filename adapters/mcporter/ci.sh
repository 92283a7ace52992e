#!/usr/bin/env bash
# Puts mcporter on a bench of its own: an MCP client from npm that writes down what it says while a command runs.
#
#   adapters/mcporter/ci.sh [FOLDER]
#
# It stands between nobody's client and server, so that there is nothing to pass on, and `mcp-concord drive` cannot drive
# it. Its recordings are held against the truth all the same: our server says each of the sessions beside this script,
# writes down what really passed, and `diff` compares. What is known of this version stands in known.txt with the reasons;
# a known difference passes, and one that is mended fails until its line is taken out. Recordings and journals stay in
# FOLDER, a new one, if one is named. It is installed once under target/. Set MCP_CONCORD where the program is not on the PATH.
#
# Exit code 0: all as known; 1: something is otherwise; 2: FOLDER is not empty; 3: it cannot be installed.
set -euo pipefail

version=0.12.3 node=22.23.3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$(realpath -m "$here/../../../target/strangers/mcporter-$version")
concord=$(realpath "$(command -v "${MCP_CONCORD:-mcp-concord}")")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
kept=$(realpath -m "${1:-$temporary}")
mkdir -p "$home" "$kept"
[ -z "$(ls -A "$kept")" ] || { echo "$kept is not empty" >&2; exit 2; }

# It needs Node 22, which npm has where an older one is here.
if [ ! -e "$home/node_modules/mcporter" ]; then
  platform=$(node -p '`node-${process.platform}-${process.arch}`')
  npm install --prefix "$home" --no-audit --no-fund --ignore-scripts "mcporter@$version" "$platform@$node" \
    >"$temporary/npm.log" 2>&1 || { echo "mcporter cannot be installed: $(tail -1 "$temporary/npm.log")" >&2; exit 3; }
  ln -sf "../$platform/bin/node" "$home/node_modules/.bin/node"
fi
export PATH=$home/node_modules/.bin:$PATH

# Records calls of the played tool, one after the other, each of them with its own journal: folder, number, flags of `play`.
recorded() {
  local folder=$1 calls=$2
  mkdir -p "$folder"
  # It keeps its recordings and its settings in the home folder.
  HOME=$folder timeout 60 mcporter record session -- bash -c '
    for call in $(seq "$1"); do
      mcporter call --stdio "$2 play --as server $3 --journal $4/journal-$call ${*:5}" ask --output raw
    done' calls "$calls" "$concord" "$here/sessions/$session.jsonl" "$folder" "${@:3}" >"$folder/said.txt" 2>&1 || true
  for call in $(seq "$calls"); do node "$here/truth.mjs" "$folder/journal-$call"; done >"$folder/truth.jsonl"
}
# Says whether the recording is what passed, and whether that was known.
judged() {
  local code=0 known passed kept recording=$2/.mcporter/recordings/session.ndjson
  # Calls of several sessions have the same ids, so that they are counted before they are compared.
  passed=$(grep -c '"tools/call"' "$2/truth.jsonl") kept=$(grep -c '"tools/call"' "$recording")
  echo "$passed calls passed, $kept in the recording" >"$2/diff.txt"
  [ "$passed" = "$kept" ] &&
    "$concord" diff --left-format jsonrpc --right-format mcporter "$2/truth.jsonl" "$recording" >"$2/diff.txt" 2>&1 || code=$?
  if grep -L '"mismatches":0}' "$2"/journal-* | grep -q .; then
    wrong=$((wrong + 1))
    echo "PARTED    $1: mcporter said something else than the session has; its words are in said.txt"
    return
  fi
  known=$(sed -n "s/^$1: *//p" "$here/known.txt")
  case $code:$known in
    0:) same=$((same + 1)); echo "same      $1" ;;
    0:*) wrong=$((wrong + 1)); echo "SAME      $1: known.txt says otherwise" ;;
    *:) wrong=$((wrong + 1)); echo "DIFFERS   $1, which is not known"; sed 's/^/          /' "$2/diff.txt" ;;
    *) differ=$((differ + 1)); echo "differs   $1: $known"; sed -n '1,3{/./s/^/          /p}' "$2/diff.txt" ;;
  esac
}

same=0 differ=0 wrong=0
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

echo "$((same + differ + wrong)) sessions: $same the same, $differ differ as known, $wrong otherwise"
[ "$wrong" = 0 ]
