#!/usr/bin/env bash
# The scripts of docs/at-scale.md on local engines: each must give what one process gives. Needs Java 17 for Spark, and PyPI.
#
#   scripts/engines.sh [spark|ray|shards]...      by default all of them; DuckDB reads what each one wrote
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names. VENV is kept where it is named.
set -euo pipefail
cd "$(dirname "$0")/.."
MCP_CONCORD=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
export MCP_CONCORD PYTHONPATH=$PWD/scripts/engines RAY_USAGE_STATS_ENABLED=0
[ $# -gt 0 ] || set -- spark ray shards
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

venv=${VENV:-$work/venv}
[ -d "$venv" ] || python3 -m venv "$venv"
pip() { "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }
pip 'duckdb==2.*' 'pandas==2.*' pyarrow
export PYSPARK_PYTHON=$venv/bin/python

# Every recording of the suite, one that is none, one that is not there, and names that are not plain.
scripts/cases.py unpack "$work/cases"
mkdir "$work/odd"
cp docs/examples/null-id.jsonl "$work/odd/null, 'id' %20 é.jsonl"
echo '# None' > "$work/odd/none.md"
cd "$work"
{ find cases odd -type f \( -name '*.jsonl' -o -name '*.har' -o -name '*.log' -o -name 'none.md' \); echo odd/gone.jsonl; } | LC_ALL=C sort > paths

# Exit code 2: two of the names cannot be judged.
run_one() {
  code=0
  "$MCP_CONCORD" check --quiet --output ndjson --files-from paths > one.ndjson 2> one.err || code=$?
  [ "$code" = 2 ] || { cat one.err; exit 1; }
}
run_one

# The same lines, whatever their order; and the same findings in a database, from lines and from Parquet.
compare() { # NAME: lines in findings/*.ndjson
  cat findings/*.ndjson | LC_ALL=C sort > "$1.sorted"
  LC_ALL=C sort one.ndjson | cmp - "$1.sorted"
  "$venv/bin/python" - "$here/scripts/engines/findings.sql" <<'PYTHON'
import collections, json, sys
import duckdb

database = duckdb.connect()
database.execute(open(sys.argv[1]).read())
expected = collections.Counter()
failed = 0
for line in map(json.loads, open("one.ndjson")):
    failed += line["failed"]
    for finding in line["findings"]:
        expected[finding["file"], finding["rule"], finding["verdict"], finding["line"], finding["message"]] += 1
assert expected and failed, "nothing was found, so nothing is shown"
for table in ("findings", "'findings.parquet'"):
    rows = database.execute(f"SELECT file, rule, verdict, line, message FROM {table}").fetchall()
    assert collections.Counter(rows) == expected, table
for table in ("lines", "'recordings.parquet'"):
    assert database.execute(f"SELECT count(*) FROM {table} WHERE failed").fetchone() == (failed,), table
print(f"{sum(expected.values())} findings in {failed} recordings that failed")
PYTHON
  rm -r findings
  echo "$1: the same as one process"
}

for engine in "$@"; do
  mkdir -p findings
  case $engine in
    spark)
      pip setuptools 'pyspark==3.5.*'
      "$venv/bin/python" "$here/scripts/engines/spark.py" paths out > spark.log 2>&1 || { tail -30 spark.log; exit 1; }
      for part in out/part-*; do cp "$part" "findings/$(basename "$part").ndjson"; done ;;
    ray)
      pip 'ray[data]==2.*'
      "$venv/bin/python" "$here/scripts/engines/on_ray.py" paths findings/ray.ndjson > ray.log 2>&1 || { tail -30 ray.log; exit 1; } ;;
    shards)
      for part in 1 2 3; do
        "$MCP_CONCORD" check --quiet --output ndjson --files-from paths --shard "$part/3" > "findings/$part.ndjson" 2> err || [ $? -le 2 ]
      done ;;
    *) echo "there is no engine $engine" >&2; exit 2 ;;
  esac
  compare "$engine"
done
