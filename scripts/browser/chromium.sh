#!/usr/bin/env bash
# Prints the path of Chromium. Where it is absent it comes from Debian's packages, if this user may install them. Exit code 4: it
# cannot be had, and the line says why.
set -euo pipefail
lacking() { echo "$*"; exit 4; }
find_it() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
if ! find_it; then
  command -v apt-get >/dev/null || lacking "there is no chromium, and no apt-get to install it"
  [ "$(id -u)" = 0 ] || lacking "there is no chromium: apt-get install chromium, as root"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  # Two scripts may want it at the same time, and apt-get serves one.
  exec 9>"${TMPDIR:-/tmp}/mcp-concord-chromium.lock"
  command -v flock >/dev/null && flock 9
  find_it || {
    { apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } \
      >"$log" 2>&1 || lacking "chromium cannot be installed: $(tail -1 "$log")"
    find_it
  }
fi
