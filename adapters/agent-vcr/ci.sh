#!/usr/bin/env bash
# Plays the sessions of the suite through agent-vcr's recorder, over stdio: ci.sh [OPTION of drive]...
#
# MCP_CONCORD names mcp-concord, where it is not on the path; AGENT_VCR_PYTHON a Python that has the agent-vcr to judge, such as one of
# your checkout. Without that, the version below is installed from PyPI into target/strangers.
# Exit code 0: nothing fails but what baseline.toml lists, and all of that fails; 1: otherwise; 4: agent-vcr cannot be installed.
set -euo pipefail

version=0.1.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${AGENT_VCR_PYTHON:-} name=agent-vcr
if [ -z "$python" ]; then
  home=$(realpath -m "$here/../../target/strangers/agent-vcr-$version")
  name+=@$version python=$home/bin/python
  mkdir -p "$(dirname "$home")"
  [ -x "$home/bin/agent-vcr" ] ||
    { python3 -m venv "$home" && timeout 600 "$home/bin/pip" install --quiet "agent-vcr==$version"; } > "$home.log" 2>&1 ||
    { echo "agent-vcr $version cannot be installed: $(tail -n 1 "$home.log")"; exit 4; }
fi
if [[ " $* " != *" --filter"* ]]; then
  # All but five sessions in which a message does not pass: our client and our server wait for each other, and chance decides which
  # gives up first.
  set -- --filter '{[!csv]*/*,correlation/*,conditions/{[!bv]*,back-pressure},sse/*,survival/[!d]*,values/[!h]*}' "$@"
fi
# record.py waits for a second before it ends.
exec "${MCP_CONCORD:-mcp-concord}" drive --name "$name" --recorder "'$python' '$here/record.py' {out}.vcr {server}" --format agent-vcr \
  --jobs 4 --max-delay 3 --baseline "$here/baseline.toml" "$@"
