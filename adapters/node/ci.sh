#!/usr/bin/env bash
# The reader for Node: its types, its own tests, and every case of the suite.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm run build
npm test
node dist/check_cases.js ../../cases
