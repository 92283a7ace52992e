#!/usr/bin/env bash
# Kills recorders at hundreds of random moments, and lets their disk be full at every size, for each format that `record`
# writes, over stdio and over HTTP; prints what was left as tables. Fails where something that is left cannot be read, or is
# not said.
#
#   scripts/kill.sh [TRIES]   how often each live format is killed [default: 400]; converted ones an eighth of that
set -euo pipefail
cd "$(dirname "$0")/.."
MCP_CONCORD_KILLS=${1:-400} cargo test --quiet -p mcp-concord --test cli kill:: -- --nocapture --test-threads 1 | grep -E '^\||panicked|FAILED|test result'
