#!/usr/bin/env bash
# What a change that is meant to change no behaviour must leave as it is: verdicts, findings and meanings, written down
# so that two builds can be compared.
#
#   scripts/held.sh DIR             writes them for the program that MCP_CONCORD names, or target/release/mcp-concord
#   scripts/held.sh --compare A B   compares two such folders; ids of rules in A are read by the table in
#                                   scripts/renamed-rules.tsv (old TAB new), so that a new name is not a change
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

renamed() {
  python3 - "$here/scripts/renamed-rules.tsv" "$1" << 'PY'
import os, re, sys
table, path = sys.argv[1:]
text = open(path, encoding="utf-8", errors="surrogateescape").read()
if os.path.exists(table):
    names = dict(line.rstrip("\n").split("\t") for line in open(table) if "\t" in line)
    if names:
        pattern = re.compile(r"(?<![\w.-])(" + "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) + r")(?![\w-]|\.\w)")
        text = pattern.sub(lambda found: names[found[1]], text)
    # Renaming moves a line of a sorted list.
    text = "\n".join(sorted(text.splitlines())) + "\n"
sys.stdout.write(text)
PY
}

if [ "${1:-}" = --compare ]; then
  code=0
  for file in "$2"/*; do
    name=$(basename "$file")
    if ! diff -q <(renamed "$file") <(renamed "$3/$name") > /dev/null; then
      echo "$name differs:"
      diff <(renamed "$file") <(renamed "$3/$name") | head -20
      code=1
    fi
  done
  [ $code = 0 ] && echo "nothing differs"
  exit $code
fi

out=${1:?usage: scripts/held.sh DIR, or scripts/held.sh --compare A B}
concord=$(realpath "${MCP_CONCORD:-$here/target/release/mcp-concord}")
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here"

# One verdict a line: case, format, verdict, and what differs where it falls short.
verdicts() {
  local name=$1 file code=0
  shift
  file=$(mktemp)
  "$concord" --quiet run "$@" --results "$file" > /dev/null 2>&1 || code=$?
  python3 - "$file" "$code" > "$out/$name.txt" << 'PY'
import json, sys
record = json.load(open(sys.argv[1]))
print("exit", sys.argv[2])
for line in record["results"]:
    print(line["case"], line["format"], line["verdict"], json.dumps(line.get("difference")), json.dumps(line.get("place")))
PY
  rm "$file"
}

verdicts ours
verdicts python --adapter 'python3 adapters/python/adapter.py'

# What `check` finds in every transcript of the suite and in the recordings of production servers beside the project.
findings() {
  local name=$1
  shift
  "$concord" check --output json "$@" 2> /dev/null | python3 -c '
import json, sys
for line in sys.stdin.read().split("\n"):
    print(line)
' > "$out/$name.txt" || true
}
scripts/cases.py unpack "$out/cases"
cd "$out"
findings check-cases cases
cd "$here"
rm -r "$out/cases"
[ ! -d ../shared/recordings ] || findings check-recordings ../shared/recordings

# What every recording means, and how it is shown.
find cases/recorded -type f \( -name '*.json' -o -name '*.jsonl' -o -name '*.har' -o -name '*.log' \) ! -name 'meaning*.json' | sort \
  | while read -r file; do
    echo "== $file"
    "$concord" --quiet read "$file" 2>&1 || true
    "$concord" --quiet identify --output json "$file" 2>&1 || true
  done > "$out/recorded.txt"
