#!/usr/bin/env bash
# Builds the wheel of mcp-concord, which holds the Python module and the program, installs it into an environment of its own, and
# tests it there. It needs Python 3.9 or later with venv, a Rust toolchain,
# and the registries of both.
#
#   bindings/python/ci.sh            builds and tests
#   bindings/python/ci.sh DIR        and leaves the wheel in DIR
#
# The program is the one that MCP_CONCORD names, or is built; WHEEL_PROFILE is the profile that the module is built with, instead of
# `release`. Exit code 4: Python, its venv or what pip brings cannot be had, the last line says what, and nothing was tested.
set -euo pipefail
kept=${1:+$(mkdir -p "$1" && cd "$1" && pwd)}
MCP_CONCORD=${MCP_CONCORD:+$(realpath "$MCP_CONCORD")}
export MCP_CONCORD
cd "$(dirname "$0")"
lacking() { echo "the Python package was not tested: $*"; exit 4; }
command -v python3 >/dev/null || lacking "python3 is not here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The environment stands before anything is built, since a network may lack what is in it.
python3 -m venv "$work/test" || lacking "python3 here has no venv"
timeout 600 "$work/test/bin/pip" install --quiet --disable-pip-version-check -r tests/requirements.txt 2>"$work/pip.log" ||
  lacking "pip cannot install what the tests need: $(tail -1 "$work/pip.log")"
./build.sh "$work/wheels"
wheel=$(echo "$work"/wheels/*.whl)

"$work/test/bin/pip" install --quiet --disable-pip-version-check --no-deps "$wheel"
"$work/test/bin/mcp-concord" --version
# Away from the sources, so that what is installed is tested.
cp -r tests "$work/tests"
export MCP_CONCORD_REPOSITORY=$(cd ../.. && pwd)
cd "$work"
"$work/test/bin/python" -m mypy --strict -p mcp_concord
"$work/test/bin/python" -m mypy.stubtest mcp_concord._core
"$work/test/bin/python" -m pytest -q -p no:cacheprovider "$work/tests"
[ -z "$kept" ] || cp "$wheel" "$kept/"
