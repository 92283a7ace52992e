#!/bin/sh -eu
cd "$SRC/mcp-concord"
fuzz/build.sh "$OUT"
