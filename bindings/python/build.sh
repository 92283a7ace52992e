#!/usr/bin/env bash
# Builds the wheel of mcp-concord, which holds the Python module and the program, and tests nothing: bindings/python/build.sh DIR
#
# It needs Python 3.9 or later with venv, a Rust toolchain, and the registries of both. The program is the one that MCP_CONCORD names,
# or is built; WHEEL_PROFILE is the profile that the module is built with, instead of `release`. Exit code 4: Python, its venv or
# maturin cannot be had, the last line says what, and nothing was built.
set -euo pipefail
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
concord=${MCP_CONCORD:+$(realpath "$MCP_CONCORD")}
cd "$(dirname "$0")"
lacking() { echo "the Python package was not built: $*"; exit 4; }
command -v python3 >/dev/null || lacking "python3 is not here"
python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
  lacking "python3 here is older than 3.9 or has no venv"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target}

python3 -m venv "$work/build"
timeout 600 "$work/build/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9.4,<2' 2>"$work/pip.log" ||
  lacking "pip cannot install maturin: $(tail -1 "$work/pip.log")"
if [ -z "$concord" ]; then
  echo "building the program"
  cargo build --release --quiet -p mcp-concord
  concord=$CARGO_TARGET_DIR/release/mcp-concord
fi
# maturin puts what is here into the wheel as a script, and an installer beside the interpreter.
mkdir -p mcp_concord.data/scripts
install -m 755 "$concord" mcp_concord.data/scripts/mcp-concord
echo "building the module"
"$work/build/bin/maturin" build --profile "${WHEEL_PROFILE:-release}" --quiet --out "$work/wheels"
wheel=$(echo "$work"/wheels/*.whl)
cp "$wheel" "$out/"
echo "$(basename "$wheel"): $(($(stat -c %s "$wheel" 2>/dev/null || stat -f %z "$wheel") / 1000)) kB"
