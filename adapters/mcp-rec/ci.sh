#!/usr/bin/env bash
# Plays every session of the suite through mcp-rec, over stdio: ci.sh [OPTION of drive]...
#
# MCP_CONCORD names mcp-concord, where it is not on the path; MCP_REC the mcp-rec to judge, such as one of your checkout. Without
# that, the version below is installed from PyPI into target/strangers.
# Exit code 0: nothing fails but what baseline.toml lists, and all of that fails; 1: otherwise; 4: mcp-rec cannot be installed.
set -euo pipefail

version=0.1.1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${MCP_REC:-} name=mcp-rec
if [ -z "$program" ]; then
  home=$(realpath -m "$here/../../target/strangers/mcp-rec-$version")
  name+=@$version program=$home/bin/mcp-rec
  mkdir -p "$(dirname "$home")"
  [ -x "$program" ] ||
    { python3 -m venv "$home" && timeout 600 "$home/bin/pip" install --quiet "mcp-rec==$version"; } > "$home.log" 2>&1 ||
    { echo "mcp-rec $version cannot be installed: $(tail -n 1 "$home.log")"; exit 4; }
fi
exec "${MCP_CONCORD:-mcp-concord}" drive --name "$name" --recorder "'$program' record -o {out} -- {server}" --format mcp-rec \
  --baseline "$here/baseline.toml" "$@"
