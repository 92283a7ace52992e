#!/usr/bin/env bash
# Has `fuzz` judge importers that choose otherwise where the contract leaves a choice: scripts/fair.sh [RUNS] [SEED]
#
# Each is the reader in Python with one of the choices in adapters/python/faults, and gets RUNS variants (300) of SEED (0). What
# accuses it is unfair, or the contract does not allow the choice. The findings stay in target/fair. Exit code 0: nothing was found;
# 1: something was; 2: the program is not there. MCP_CONCORD names it, where it is not target/release/mcp-concord.
set -euo pipefail
runs=${1:-300} seed=${2:-0}
cd "$(dirname "$0")/.."
program=$(realpath "${MCP_CONCORD:-target/release/mcp-concord}")
[ -x "$program" ] || { echo "there is no $program: build it, or name it in MCP_CONCORD"; exit 2; }
rm -rf target/fair
mkdir -p target/fair
choices=$(cd adapters/python && python3 -c 'import faults; print(*faults.CHOICES)')
accused=()
for name in $choices; do
  "$program" --quiet fuzz --adapter "python3 adapters/python/adapter.py --choice $name" --runs "$runs" --seed "$seed" \
    --out "target/fair/$name" > "target/fair/$name.log" 2>&1 || { accused+=("$name"); cat "target/fair/$name.log"; }
done
echo "$(wc -w <<< "$choices") choices, $runs variants each: ${#accused[@]} accused${accused[*]:+: ${accused[*]}}"
[ ${#accused[@]} = 0 ]
