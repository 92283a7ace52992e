#!/usr/bin/env bash
# How the work of each command grows with a recording, in counted instructions: see growth.py. Needs Python 3.9 or later with venv, and its
# registry; and what bindings/npm/build.sh needs to build the module.
#
#   scripts/growth.sh              every shape in every format
#   scripts/growth.sh --some       each shape in one format and by an eighth of the commands, in turn, as .ci/run does
#   scripts/growth.sh SHAPE ...    only these shapes
#
# MODULE names a module that is built already. Exit code 1: something grows faster than the size to the power of 1.2. Exit code 4: what is
# needed cannot be had, the last line says what, and nothing was measured.
set -euo pipefail
cd "$(dirname "$0")/.."
lacking() { echo "how work grows was not measured: $*"; exit 4; }
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
  lacking "python3 is not here, is older than 3.9, or has no venv"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
timeout 300 "$work/venv/bin/pip" install --quiet --disable-pip-version-check 'wasmtime>=40,<60' 2>"$work/pip.log" ||
  lacking "pip cannot install wasmtime: $(tail -1 "$work/pip.log")"
module=${MODULE:-}
if [ -z "$module" ]; then
  bindings/npm/build.sh module
  module=bindings/npm/core/dist/concord.wasm
fi
nice "$work/venv/bin/python" scripts/growth.py "$module" "$@"
