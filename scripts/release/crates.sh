#!/usr/bin/env bash
# Packs every crate that is published and builds each from its package, as crates.io would: scripts/release/crates.sh [--publish]
#
# cargo takes them in the order of their dependencies; those that say publish = false are left out. --publish publishes them,
# --no-verify packs without building.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in
  --publish) exec cargo publish --workspace --locked ;;
  "" | --no-verify) ;;
  *) sed -n 2p "$0"; exit 2 ;;
esac
about() { cargo metadata --no-deps --format-version 1 | python3 -c "import json, sys; about = json.load(sys.stdin); print($1)"; }
packages=$(about 'about["target_directory"]')/package
rm -rf "$packages"
# shellcheck disable=SC2046 # a word for each
cargo package --workspace --locked --quiet "$@" $(about '*("--exclude=" + it["name"] for it in about["packages"] if it["publish"] == [])')
# crates.io takes 10 MiB.
! find "$packages" -maxdepth 1 -name '*.crate' -size +10M | grep . || { echo "too large for crates.io"; exit 1; }
(cd "$packages" && du -k ./*.crate)
