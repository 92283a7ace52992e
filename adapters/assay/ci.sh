#!/usr/bin/env bash
# Asks `assay import` for every case of the suite: ci.sh [OPTION of run]...
#
# MCP_CONCORD names mcp-concord, where it is not on the path; ASSAY the assay to judge, such as one of your checkout. Without that, the
# version below is built from crates.io into target/assay-VERSION, which takes long.
# Exit code 0: nothing fails but what the baseline lists, and all of that fails; 1: otherwise; 4: assay-cli cannot be built.
set -euo pipefail

version=6.21.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${ASSAY:-}
if [ -z "$program" ]; then
  home=$(realpath -m "$here/../../target/assay-$version")
  program=$home/bin/assay
  mkdir -p "$(dirname "$home")"
  [ -x "$program" ] || "$here/install.sh" "$version" "$home" > "$home.log" 2>&1 ||
    { echo "assay-cli $version cannot be built: $(grep -m 1 ^error "$home.log" || tail -n 1 "$home.log")"; exit 4; }
fi
exec "${MCP_CONCORD:-mcp-concord}" run --adapter "python3 '$here/adapter.py' '$program'" --baseline "$here/baseline-$version.toml" "$@"
