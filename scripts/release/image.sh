#!/usr/bin/env bash
# Builds the image from the programs that scripts/release/program.sh left for musl: scripts/release/image.sh PROGRAMS IMAGE [--push]
#
# PROGRAMS has a folder for each target. buildah builds the image for this machine and tries it; no other image is needed for that.
# With --push docker builds it for both architectures and publishes it as IMAGE:VERSION and IMAGE:latest.
set -euo pipefail
[ $# = 2 ] || { [ $# = 3 ] && [ "$3" = --push ]; } || { sed -n 2p "$0"; exit 2; }
programs=$(cd "$1" && pwd)
image=$2
cd "$(dirname "$0")/../.."
version=$(scripts/release/version.py)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lay ARCHITECTURE PROCESSOR: what an image for it consists of. Some commands keep what they wait for in a temporary file.
lay() {
  install -d -m 1777 "$work/image/$1/tmp"
  install -m 755 "$programs/$2-unknown-linux-musl/mcp-concord" "$work/image/$1/"
}

if [ "${3:-}" = --push ]; then
  lay amd64 x86_64
  lay arm64 aarch64
  docker buildx create --use
  docker buildx build --push --platform linux/amd64,linux/arm64 --file Containerfile --tag "$image:$version" --tag "$image:latest" "$work/image"
  exit
fi

case $(uname -m) in x86_64) architecture=amd64 ;; *) architecture=arm64 ;; esac
lay "$architecture" "$(uname -m | sed s/arm64/aarch64/)"
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$work/root" --runroot "$work/run" "$@"; }
buildah bud --quiet --file Containerfile --build-arg "TARGETARCH=$architecture" --tag "$image:$version" "$work/image" >/dev/null
buildah images --format '{{.Name}}:{{.Tag}} {{.Size}}'

# As its user, who owns nothing in it: a finding is exit code 1, and a report is written whole.
container=$(buildah from "localhost/$image:$version" 2>/dev/null || buildah from "$image:$version")
install -D -m 644 docs/examples/null-id.jsonl "$work/recordings/null-id.jsonl"
code=0
buildah run --volume "$work/recordings:/work:ro" "$container" -- /mcp-concord check --output junit null-id.jsonl >"$work/report.xml" 2>"$work/said" || code=$?
buildah rm --all >/dev/null
[ "$code" = 1 ] && grep -q 'jsonrpc.id.null' "$work/report.xml" && grep -q '</testsuites>' "$work/report.xml" ||
  { cat "$work/report.xml" "$work/said"; echo "the program in the image ended with $code"; exit 1; }
echo "the program in the image judges a recording"
