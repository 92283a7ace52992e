#!/usr/bin/env bash
# Kills recorders at hundreds of random moments, and runs them on disks that are full at various sizes, for each format that
# `record` writes, over stdio and over HTTP; prints tables of the files that were left. Fails if one cannot be read, or if a loss
# was not reported.
#
#   scripts/kill.sh [TRIES]   how often each live format is killed [default: 400]; converted ones an eighth of that
set -euo pipefail
cd "$(dirname "$0")/.."
MCP_CONCORD_KILLS=${1:-400} cargo test --quiet -p mcp-concord --test cli kill:: -- --nocapture --test-threads 1 | grep -E '^\||panicked|FAILED|test result'
