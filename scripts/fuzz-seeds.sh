#!/bin/sh
# Lays out what fuzzing begins with: scripts/fuzz-seeds.sh OUT
#
# For each target OUT/TARGET_seed_corpus.zip and OUT/TARGET.dict, as libFuzzer's runners look for them; for each format
# OUT/formats/FORMAT_seed_corpus.zip and OUT/formats/FORMAT.dict, for fuzzers of other readers. All of it is derived from the
# cases, fuzz/seeds and fuzz/crashes. FUZZ_SEEDS is the program that does so, where it is built already.
set -eu

out=${1:?usage: scripts/fuzz-seeds.sh OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${FUZZ_SEEDS:-cargo run --quiet -p mcp-concord-properties --bin fuzz-seeds --} "$work"

# Many files: their folder is named, not each of them.
python3 - "$work" "$out" <<'EOF'
import pathlib, shutil, sys, zipfile

work, out = map(pathlib.Path, sys.argv[1:])
for dictionary in sorted(work.rglob("*.dict")):
    place = out / dictionary.relative_to(work).parent
    place.mkdir(parents=True, exist_ok=True)
    shutil.copy(dictionary, place)
    with zipfile.ZipFile(place / f"{dictionary.stem}_seed_corpus.zip", "w", zipfile.ZIP_DEFLATED) as corpus:
        for file in sorted(dictionary.with_suffix("").iterdir()):
            # The same bytes whenever it is made.
            corpus.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)
EOF
