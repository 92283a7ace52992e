#!/usr/bin/env bash
# Builds the wheel for a target around a built program: scripts/release/wheel.sh TARGET PROGRAM OUT
#
# A wheel for Linux is linked by zig and is manylinux2014 (glibc 2.17) or musllinux_1_2, which auditwheel confirms. pip brings
# maturin, zig and auditwheel into an environment of their own.
set -euo pipefail
[ $# = 3 ] || { sed -n 2p "$0"; exit 2; }
target=$1
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
out=$(mkdir -p "$3" && cd "$3" && pwd)
cd "$(dirname "$0")/../../bindings/python"
python=$(command -v python3 || command -v python)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$(cd ../.. && pwd)/target} SOURCE_DATE_EPOCH=315532800

"$python" -m venv "$work/build"
bin=$work/build/bin
[ -d "$bin" ] || bin=$work/build/Scripts
pip() { "$bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }
options=()
case $target in
  *-linux-gnu) options=(--zig --compatibility manylinux2014) ;;
  *-linux-musl) options=(--zig --compatibility musllinux_1_2) ;;
esac
if [ ${#options[@]} = 0 ]; then pip 'maturin>=1.9.4,<2'; else pip 'maturin>=1.9.4,<2' 'ziglang>=0.13,<0.16' 'auditwheel>=6,<7'; fi

rm -rf mcp_concord.data
mkdir -p mcp_concord.data/scripts
cp "$program" mcp_concord.data/scripts/
chmod 755 mcp_concord.data/scripts/*
PATH=$bin:$PATH "$bin/maturin" build --profile "${PROFILE:-dist}" --quiet --target "$target" --out "$work/wheels" ${options[@]+"${options[@]}"}
wheel=$(echo "$work"/wheels/*.whl)
if [ ${#options[@]} != 0 ]; then
  "$bin/auditwheel" show "$wheel" >"$work/audit.txt"
  # It names the oldest policy that the wheel keeps.
  grep -Eq '"(many|musl)linux_(2_17|2_12|2_5|1_[12])_' "$work/audit.txt" || { cat "$work/audit.txt"; exit 1; }
fi
[ "$("$bin/python" -m zipfile -l "$wheel" | grep -c 'licenses/LICENSE-')" = 2 ] || { echo "$wheel is without its licences"; exit 1; }
cp "$wheel" "$out"
du -k "$out/$(basename "$wheel")"
