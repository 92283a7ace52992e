#!/usr/bin/env bash
# Lists what is built into what is published, as CycloneDX: scripts/release/sbom.sh OUT
#
# For the program, the Python module and the module for JavaScript each, from Cargo.lock. cargo-cyclonedx does it, and is installed
# beside what cargo builds where it is absent.
set -euo pipefail
[ $# = 1 ] || { sed -n 2p "$0"; exit 2; }
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
tools=${CARGO_TARGET_DIR:-$PWD/target}/tools
PATH=$PATH:$tools/bin
command -v cargo-cyclonedx >/dev/null || cargo install --quiet --locked --version 0.5.9 --root "$tools" cargo-cyclonedx
for crate in harness/cli bindings/python bindings/wasm; do
  # It writes beside the manifest of each member.
  SOURCE_DATE_EPOCH=0 cargo cyclonedx --quiet --format json --spec-version 1.5 --all --manifest-path "$crate/Cargo.toml"
  mv "$crate"/*.cdx.json "$out"
done
git ls-files --others '*.cdx.json' | xargs -r rm
python3 - "$out" <<'END'
import json, pathlib, re, sys

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.cdx.json")):
    # Where this machine keeps the sources is nobody's business, and would make each list another.
    text = path.read_text().replace(pathlib.Path.cwd().as_uri(), "file:///mcp-concord")
    text = re.sub(r"\?download_url=file://[^\"#]*", "", text)
    path.write_text(text)
    bom = json.loads(text)
    assert bom["bomFormat"] == "CycloneDX" and bom["components"], path
    unlicensed = [it["name"] for it in bom["components"] if not it.get("licenses")]
    print(f"{path.name}: {len(bom['components'])} components, without a licence: {', '.join(unlicensed) or 'none'}")
END
