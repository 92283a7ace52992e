#!/usr/bin/env bash
# Installs one version of Assay for adapter.py, by default the newest that has a baseline here.
#
#   adapters/assay/install.sh [VERSION [ROOT]]      the program is then ROOT/bin/assay
#
# It builds some 350 crates, which takes long: the optional features are left out, since `import` needs none of them, and
# the optimiser does little, since the suite asks for small files.
set -euo pipefail

version=${1:-6.21.0}
root=${2:-${TMPDIR:-/tmp}/assay-$version}

export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
cargo install --locked --version "$version" --no-default-features --root "$root" assay-cli

"$root/bin/assay" --version
echo "mcp-concord run --adapter \"python3 adapters/assay/adapter.py $root/bin/assay\" --baseline adapters/assay/baseline-$version.toml"
