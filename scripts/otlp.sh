#!/usr/bin/env bash
# Reads the output of `convert --to otlp-json` for every recording of the suite with the published classes of the OpenTelemetry Protocol,
# and sends it through a collector (rotel), which must return the same spans. Needs PyPI. If PyPI has no collector for this machine, that
# part is left out, and the last line says so.
#
#   scripts/otlp.sh [FILE]...      by default every recording under cases/ and docs/examples
#
# The program is target/release/mcp-concord, or the one that MCP_CONCORD names. VENV is kept where it is named.
set -euo pipefail
cd "$(dirname "$0")/.."
export MCP_CONCORD=${MCP_CONCORD:-target/release/mcp-concord}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${VENV:-$work/venv}
[ -d "$venv" ] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check 'opentelemetry-proto==1.*'
mkdir "$work/otlp"
[ $# -gt 0 ] || scripts/cases.py unpack "$work/cases"
CASES=$work/cases "$venv/bin/python" scripts/otlp/spans.py "$work/otlp" "$@"
if ! "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --pre rotel 2> "$work/pip.log"; then
  echo "no collector: $(tail -1 "$work/pip.log")"
  exit 0
fi
code=0
"$venv/bin/python" scripts/otlp/collector.py "$work" "$work"/otlp/*.json || code=$?
[ "$code" = 4 ] || exit "$code"
