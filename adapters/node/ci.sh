#!/usr/bin/env bash
# Builds the small importer for Node.
set -euo pipefail
cd "$(dirname "$0")"
npm ci --no-audit --no-fund
npm run build
