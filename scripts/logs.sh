#!/usr/bin/env bash
# Records one session with each recorder of docs/logs.md that a registry has, and reads what it wrote.
#
#   scripts/logs.sh [NAME]...      by default all: mcp-vcr mcp-cassette agent-vcr
#
# A client (scripts/logs/client.py) talks to a real server (scripts/mock/server.py, of the official Python SDK) through `record` and
# the recorder. What the recorder wrote is detected, read, and compared with what `record` wrote of the same session: nothing
# differs but what docs/logs.md says. It is judged, and what `convert` writes is loaded by the recorder itself.
#
# The recorders come from PyPI into target/logs once. They ask for Python 3.12: PYTHON names one, where none is on the path.
# Exit code 0: all is well; 1: something fell short; 2: the program is not there; 4: there is no such Python, or it cannot bring the
# recorders. MCP_CONCORD names the program, where it is not target/release/mcp-concord.
set -euo pipefail
cd "$(dirname "$0")/.."
export MCP_CONCORD
MCP_CONCORD=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
[ -x "$MCP_CONCORD" ] || { echo "there is no $MCP_CONCORD: build it, or name it in MCP_CONCORD"; exit 2; }
home=target/logs wanted=scripts/logs/requirements.txt
mkdir -p "$home"
for python in ${PYTHON:-} python3.14 python3.13 python3.12 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python3; do
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null && break
  python=
done
[ -n "$python" ] || { echo "there is no Python 3.12 or later: name one in PYTHON"; exit 4; }
if ! cmp -s "$wanted" "$home/venv/installed.txt"; then
  rm -rf "$home/venv"
  { timeout 60 "$python" -m venv "$home/venv" && timeout 600 "$home/venv/bin/pip" install --quiet -r "$wanted"; } \
    > "$home/pip.log" 2>&1 || { echo "Python cannot install the recorders: $(tail -1 "$home/pip.log")"; exit 4; }
  cp "$wanted" "$home/venv/installed.txt"
fi
exec "$home/venv/bin/python" scripts/logs/recorders.py "$home" "$@"
