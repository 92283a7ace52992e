#!/usr/bin/env bash
# How much of the readers and of the judge the derived seeds of fuzzing reach: scripts/coverage.sh [TARGET…]
#
# Builds the workspace's own crates with counters, runs the targets (by default reader, convert and check) on all that their fuzzing
# begins with, and prints for each crate and each file how many lines are reached, and which are not. Fuzzing has to find its way
# to those by itself: a seed that reaches them saves it that. Tests at the end of a file are not built, and not counted.
#
# It needs llvm-profdata and llvm-cov of the LLVM that rustc is built with: of rustup's component llvm-tools, or of a package
# such as llvm-22. Exit code 0: printed; 1: a property does not hold; 2: there is no such target; 4: there are no such tools, and
# the last line says so.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- reader convert check

llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
host=$(rustc -vV | sed -n 's/^host: //p')
tool() {
  local place
  for place in "$(rustc --print sysroot)/lib/rustlib/$host/bin/$1" "$(command -v "$1-$llvm" || true)" "$(command -v "$1" || true)"; do
    if [ -x "$place" ] && "$place" --version 2>/dev/null | grep -q "version $llvm\."; then
      echo "$place"
      return
    fi
  done
  echo "coverage.sh: there is no $1 of LLVM $llvm: \`rustup component add llvm-tools\`, or a package such as llvm-$llvm, has it" >&2
  exit 4
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Counters only in this workspace's crates: what others reach is their tests' business. The wrapper stays where it is, since
# another one would have everything built again.
built=${CARGO_TARGET_DIR:-target}/coverage
mkdir -p "$built"
built=$(cd "$built" && pwd)
printf '#!/bin/sh\nexec "$@" -C instrument-coverage\n' > "$built/wrapper.new"
chmod +x "$built/wrapper.new"
cmp -s "$built/wrapper.new" "$built/wrapper" || mv "$built/wrapper.new" "$built/wrapper"
LLVM_PROFILE_FILE=$work/built-%p.profraw RUSTC_WORKSPACE_WRAPPER=$built/wrapper \
  cargo build --quiet --target-dir "$built" -p mcp-concord-properties --bin fuzz-seeds

for target; do
  LLVM_PROFILE_FILE=$work/run-$target.profraw "$built/debug/fuzz-seeds" --replay "$target" || exit $(($? == 2 ? 2 : 1))
done
"$profdata" merge -sparse "$work"/run-*.profraw -o "$work/all.profdata"
"$cov" export --format=lcov --instr-profile "$work/all.profdata" "$built/debug/fuzz-seeds" > "$work/lines"

python3 - "$work/lines" "$PWD" <<'END'
import pathlib, sys

lines, here = pathlib.Path(sys.argv[1]), sys.argv[2] + "/"
# The crates that read, and those that judge.
crates = ["harness/transcript/src", "harness/formats/src", "harness/schemas/src", "harness/rules/src"]
files, current = {}, None
for line in lines.read_text().splitlines():
    what, _, rest = line.partition(":")
    if what == "SF":
        current = files.setdefault(rest.removeprefix(here), {})
    elif what == "DA":
        number, count = rest.split(",")[:2]
        current[int(number)] = max(current.get(int(number), 0), int(count))


def ranges(numbers, known):
    """Lines that follow each other, as first-last; lines without code between them part nothing."""
    found = []
    for number in numbers:
        before = found[-1][1] if found else None
        if before is not None and not any(between in known for between in range(before + 1, number)):
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{one}" if one == last else f"{one}-{last}" for one, last in found)


def row(name, counts):
    reached = sum(1 for count in counts if count)
    print(f"{name:56} {reached:6} of {len(counts):6} lines{'' if reached < len(counts) else ', all'}")


for crate in crates:
    of_it = {name: counts for name, counts in sorted(files.items()) if name.startswith(crate + "/") and counts}
    row(crate, [count for counts in of_it.values() for count in counts.values()])
    for name, counts in of_it.items():
        row("  " + name.removeprefix(crate + "/"), counts.values())
    print()

print("not reached:")
for name, counts in sorted(files.items()):
    missed = [number for number, count in sorted(counts.items()) if not count]
    if missed and name.startswith(tuple(crates)):
        print(f"  {name}: {ranges(missed, counts)}")
END
