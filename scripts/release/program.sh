#!/usr/bin/env bash
# Builds the program for a target, and packs it: scripts/release/program.sh TARGET OUT
#
# Into OUT go TARGET/mcp-concord and mcp-concord-VERSION-TARGET.tar.gz (for Windows mcp-concord.exe and .zip), whose bytes depend on
# nothing but the files in it. A program for Linux is linked by zig, against glibc 2.17 or with all of musl in it, so that it runs on
# any Linux; pip brings zig and cargo-zigbuild into an environment of their own. PROFILE is the profile, `dist` unless set.
set -euo pipefail
[ $# = 2 ] || { sed -n 2p "$0"; exit 2; }
target=$1
out=$(mkdir -p "$2" && cd "$2" && pwd)
cd "$(dirname "$0")/../.."
python=$(command -v python3 || command -v python)
version=$("$python" scripts/release/version.py)
profile=${PROFILE:-dist}
folder=${CARGO_TARGET_DIR:-$PWD/target}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=0

build=(cargo build --locked --quiet --profile "$profile" -p mcp-concord)
case $target in
  *-linux-*)
    "$python" -m venv "$work/zig"
    "$work/zig/bin/pip" install --quiet --disable-pip-version-check 'cargo-zigbuild>=0.20,<1' 'ziglang>=0.13,<0.16'
    build[1]=zigbuild
    [ "${target##*-}" != gnu ] || oldest=.2.17
    PATH=$work/zig/bin:$PATH "${build[@]}" --target "$target${oldest:-}"
    ;;
  *) "${build[@]}" --target "$target" ;;
esac

name=mcp-concord
case $target in *-windows-*) name=mcp-concord.exe ;; esac
program=$folder/$target/${profile/%dev/debug}/$name
mkdir -p "$out/$target"
cp "$program" "$out/$target/$name"

# What it was built for is looked at in the file, wherever this machine can.
case $target in
  *-linux-gnu)
    needed=$(readelf --wide --version-info "$program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
    [ "$(printf '%s\n' GLIBC_2.17 "$needed" | sort -V | tail -1)" = GLIBC_2.17 ] || { echo "$target: it needs $needed"; exit 1; }
    echo "$target: it needs nothing newer than $needed"
    ;;
  *-linux-musl)
    ! readelf --wide --dynamic "$program" | grep NEEDED || { echo "$target: it needs libraries"; exit 1; }
    echo "$target: it needs no library"
    ;;
esac

"$python" - "$out" "$target" "$name" "$version" <<'END'
import gzip, io, pathlib, sys, tarfile, zipfile

out, target, name, version = sys.argv[1:]
out, folder = pathlib.Path(out), f"mcp-concord-{version}-{target}"
files = [(name, out / target / name, 0o755)]
files += [(path, pathlib.Path(path), 0o644) for path in ("CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md")]
if name.endswith(".exe"):
    with zipfile.ZipFile(out / f"{folder}.zip", "w") as archive:
        for called, path, mode in files:
            about = zipfile.ZipInfo(f"{folder}/{called}")
            about.external_attr = mode << 16
            archive.writestr(about, path.read_bytes(), zipfile.ZIP_DEFLATED)
else:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for called, path, mode in files:
            about = tarfile.TarInfo(f"{folder}/{called}")
            about.size, about.mode = path.stat().st_size, mode
            archive.addfile(about, path.open("rb"))
    (out / f"{folder}.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))
END
du -k "$out/$target/$name" "$out"/mcp-concord-"$version-$target".*
