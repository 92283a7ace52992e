#!/usr/bin/env bash
# Converts every transcript of the cases to every format, and prints by pair how many conversions were made, refused, and lossy,
# and how many added a fault, changed the meaning, left something out without a note, or did not come back as they were.
set -euo pipefail
cd "$(dirname "$0")/.."
CONVERSION=all cargo test --quiet -p mcp-concord-rules --test conversion -- --nocapture
