#!/usr/bin/env python3
"""The version of everything that is published. Its source is `[workspace.package]` in Cargo.toml; repetitions are compared with it.

    scripts/release/version.py              checks every repetition and prints the version
    scripts/release/version.py v0.1.0       also compares it with a tag, and requires a heading for it in CHANGELOG.md
    scripts/release/version.py --set 0.2.0  writes it everywhere

Exit code 1 if a file has another version, with a line for each.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)"
SOURCE = ("Cargo.toml", rf'(?m)^\[workspace\.package\]\nversion = "{NUMBER}"')

#: Files that repeat it, as a glob, and the words around it. Each has to be somewhere.
REPEATED = [
    ("Cargo.toml", rf'(?m)^mcp-concord[\w-]* = \{{ path = "[^"]+", version = "{NUMBER}"'),
    ("adapters/rust-example/Cargo.toml", rf'mcp-concord-suite = \{{ path = "[^"]+", version = "{NUMBER}"'),
    ("README.md", rf"It is version {NUMBER}\."),
    ("docs/ci/*", rf"mcp-concord/mcp-concord@v{NUMBER}"),
    ("docs/ci/README.md", rf"releases/download/v{NUMBER}/"),
    ("docs/ci/README.md", rf"/mcp-concord-{NUMBER}-x86_64"),
    ("docs/ci/gitlab.yml", rf"key: mcp-concord-{NUMBER}"),
    ("docs/ci/gitlab.yml", rf"mcp-concord --tag v{NUMBER} mcp-concord"),
]


def places():
    """Each repetition, as its file and its match; and patterns that match nowhere."""
    for glob, pattern in REPEATED:
        found = [(path, match) for path in sorted(ROOT.glob(glob)) for match in re.finditer(pattern, path.read_text())]
        yield from found or [(ROOT / glob, None)]


def check(version):
    """What is not as it should be, a line each."""
    for path, match in places():
        if match is None:
            yield f"{path.relative_to(ROOT)}: nothing there repeats the version; mend scripts/release/version.py"
        elif match[1] != version:
            line = path.read_text().count("\n", 0, match.start(1)) + 1
            yield f"{path.relative_to(ROOT)}:{line}: {match[1]}, not {version}"
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    for package in json.loads(metadata.stdout)["packages"]:
        if package["version"] != version:
            yield f"{package['name']}: {package['version']}, not {version}: its Cargo.toml says version.workspace = true"
    # These take it from Cargo.toml as they are built.
    if 'dynamic = ["version"]' not in (ROOT / "bindings/python/pyproject.toml").read_text():
        yield "bindings/python/pyproject.toml: maturin takes the version from Cargo.toml, by dynamic = [\"version\"]"
    for name in ("core", "cli"):
        if json.loads((ROOT / f"bindings/npm/{name}/package.json").read_text())["version"] != "0.0.0":
            yield f"bindings/npm/{name}/package.json: bindings/npm/pack.mjs sets the version, in place of 0.0.0"


def write(new):
    for glob, pattern in [SOURCE, *REPEATED]:
        for path in sorted(ROOT.glob(glob)):
            text = path.read_text()
            written = re.sub(pattern, lambda match: match[0].replace(match[1], new), text)
            if written != text:
                path.write_text(written)
    subprocess.run(["cargo", "update", "--workspace", "--offline", "--quiet"], cwd=ROOT, check=True)


def main(words):
    if words[:1] == ["--set"] and len(words) == 2 and re.fullmatch(NUMBER, words[1]):
        write(words[1])
        words = []
    if len(words) > 1 or (words and words[0].startswith("-")):
        sys.exit(__doc__)
    version = re.search(SOURCE[1], (ROOT / SOURCE[0]).read_text())[1]
    faults = list(check(version))
    if words and words[0].removeprefix("v") != version:
        faults.append(f"the tag {words[0]} is not the version {version}")
    if words and not re.search(rf"(?m)^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text()):
        faults.append(f"CHANGELOG.md has no heading for {version}")
    if faults:
        sys.exit("\n".join(faults))
    print(version)


main(sys.argv[1:])
