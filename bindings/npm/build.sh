#!/usr/bin/env bash
# Builds the npm package @mcp-concord/core into bindings/npm/core/dist: the WebAssembly module, and JavaScript around it.
#
#   bindings/npm/build.sh            builds both
#   bindings/npm/build.sh module     builds only the module
#   bindings/npm/build.sh DIR        and packs it, and the program for this machine, into this folder; it tests nothing
#
# The program is the one that MCP_CONCORD names, or is built.
#
# Rust's library for wasm32-unknown-unknown comes from rustup; where that has none, it is built with Debian's packages rustc-web
# and rust-web-src, which are installed if this user may do so. WASM_FROM=debian takes that way at once. WASM_PROFILE is the profile
# that the module is built with, instead of `web`. Exit code 4: what is needed cannot be had, the last line says what, and nothing was
# built.
set -euo pipefail
packed=
[ -z "${1:-}" ] || [ "$1" = module ] || { mkdir -p "$1" && packed=$(cd "$1" && pwd); }
concord=${MCP_CONCORD:+$(realpath "$MCP_CONCORD")}
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
target=wasm32-unknown-unknown
profile=${WASM_PROFILE:-web}
module=$CARGO_TARGET_DIR/$target/${profile/#dev/debug}/concord_wasm.wasm
lacking() { echo "the package for JavaScript was not built: $*"; exit 4; }

# JavaScript chooses how large the memory may become, so it makes it.
flags="--cfg getrandom_backend=\"custom\" -Clink-arg=--import-memory -Clink-arg=--initial-memory=8388608"
build=(cargo build --quiet --locked --profile "$profile" --target "$target" -p mcp-concord-wasm)
sysroot=$(rustc --print sysroot)

has_library() { [ -d "$sysroot/lib/rustlib/$target/lib" ]; }
from_rustup() {
  has_library || { command -v rustup >/dev/null && timeout 300 rustup target add "$target" >/dev/null 2>&1 && has_library; }
}
from_debian() {
  [ -x /usr/bin/rustc ] && [ -d /usr/lib/rustlib/src/rust/library ] && return
  command -v apt-get >/dev/null || lacking "rustup has no library for $target, and there is no apt-get"
  [ "$(id -u)" = 0 ] || lacking "rustup has no library for $target: apt-get install rustc-web rust-web-src, as root"
  { apt-get update -qq && timeout 600 apt-get install -y -qq --no-install-recommends rustc-web rust-web-src; } >/dev/null 2>&1 ||
    lacking "rustup has no library for $target, and Debian's rustc-web and rust-web-src cannot be installed"
}

if [ "${WASM_FROM:-}" != debian ] && from_rustup; then
  RUSTFLAGS=$flags "${build[@]}"
else
  from_debian
  linker=$(find "$sysroot" -name rust-lld | head -1)
  [ -n "$linker" ] || lacking "the Rust toolchain has no rust-lld"
  # The library's sources are those of Debian's compiler, which calls the same unstable option of cargo.
  module=${module/"$CARGO_TARGET_DIR"/"$CARGO_TARGET_DIR/debian"}
  CARGO_TARGET_DIR=$CARGO_TARGET_DIR/debian RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags -Clinker=$linker" \
    "${build[@]}" -Z build-std=std,panic_abort
fi
mkdir -p bindings/npm/core/dist
cp "$module" bindings/npm/core/dist/concord.wasm
[ "${1:-}" != module ] || exit 0

command -v npm >/dev/null || lacking "npm is not here"
cd bindings/npm
timeout 600 npm ci --silent --no-audit --no-fund --ignore-scripts --prefer-offline || lacking "npm cannot install what builds it"
npm run --silent build
[ -n "$packed" ] || exit 0
if [ -z "$concord" ]; then
  echo "building the program"
  (cd ../.. && cargo build --release --quiet -p mcp-concord)
  concord=$CARGO_TARGET_DIR/release/mcp-concord
fi
node pack.mjs "$packed" "$(node -p 'process.platform + "-" + process.arch')=$concord"
(cd "$packed" && du -k ./*.tgz)
