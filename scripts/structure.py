#!/usr/bin/env python3
"""Checks the structure of the workspace: which crates may use which, and no cycle between files in any crate.

A file depends on the file in which a name that it uses is defined; re-exports are followed, and are not a use by themselves.
Tests do not count. Exit code 1 on a forbidden dependency or a cycle, with the names that cause it.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Each crate with those of ours that it may use (dev-dependencies aside).
MAY_USE = {
    "transcript": set(),
    "cases": set(),
    "formats": {"transcript"},
    "verdict": {"transcript"},
    "schemas": {"transcript"},
    "rules": {"transcript", "formats", "schemas"},
    "suite": {"transcript", "formats", "verdict", "cases"},
    "surface": {"transcript", "formats", "verdict"},
    "wire": {"transcript", "formats", "verdict"},
    "reports": {"transcript", "formats", "verdict", "rules"},
    "app": {"transcript", "formats", "verdict", "rules", "reports", "surface"},
    "python": {"app"},
    "wasm": {"app"},
    "generators": {"transcript", "formats", "verdict"},
    "properties": {"cases", "transcript", "formats", "rules", "wire", "generators", "app"},
    "fuzz": {"properties"},
    "mcp-concord": {"app", "transcript", "formats", "verdict", "suite", "rules", "surface", "wire", "reports", "generators"},
}
# What the library for importers may pull in, counted as `cargo tree` does, itself included.
SUITE_PACKAGES = 60

DEFINITION = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+(?=fn)|default\s+)*"
    r"(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+(?:mut\s+)?(\w+)",
    re.M,
)
USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
PATH = re.compile(r"\b((?:crate|super|self)(?:::\w+)+)")
DOCUMENT = re.compile(r"document!\((\w+)")


def stripped(text):
    """The code without comments, and without its tests at the foot."""
    text = re.split(r"^#\[cfg\((?:all\()?test\b[^\]]*\]\s*\nmod \w+ \{", text, maxsplit=1, flags=re.M)[0]
    text = re.sub(r"#\[cfg\((?:all\()?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?(?:mod \w+;|use [^;]+;)", "", text)
    return re.sub(r"//[^\n]*", "", text)


def flat(tree, prefix=()):
    """The single paths of a `use`: a::{b, c::d as e} is a::b and a::c::d."""
    tree = tree.strip()
    depth, parts, start = 0, [], 0
    for at, char in enumerate(tree):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(tree[start:at])
            start = at + 1
    parts.append(tree[start:])
    if len(parts) > 1:
        for part in parts:
            yield from flat(part, prefix)
        return
    if "{" in tree:
        head, inner = tree.split("{", 1)
        names = tuple(name for name in head.replace(" ", "").split("::") if name)
        yield from flat(inner.rsplit("}", 1)[0], prefix + names)
    elif tree:
        path, _, alias = tree.partition(" as ")
        yield prefix + tuple(path.replace(" ", "").split("::")), alias.strip()


class Crate:
    def __init__(self, source):
        self.files, self.modules = {}, {}
        top = next(path for path in (source / "lib.rs", source / "main.rs") if path.exists())
        self.add(top, ())
        self.defined = {module: set(DEFINITION.findall(text)) | set(DOCUMENT.findall(text)) for module, text in self.files.items()}
        self.exports = {module: {} for module in self.files}
        for module, text in self.files.items():
            for public, tree in USE.findall(text):
                for path, alias in flat(tree):
                    self.exports[module][alias or path[-1]] = (path, bool(public))

    def add(self, path, module):
        text = stripped(path.read_text())
        self.files[module], self.modules[module] = text, path
        folder = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
        for attribute, name in re.findall(r'(#\[path = "[^"]*"\]\s*)?^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);', text, re.M):
            for file in (folder / f"{name}.rs", folder / name / "mod.rs"):
                if file.exists() and not attribute:
                    self.add(file, module + (name,))

    def resolve(self, module, path, seen=()):
        """The module that defines what `path` names when it is used in `module`; none where it is not of this crate."""
        if (module, path) in seen:
            return None
        seen += ((module, path),)
        here, rest = module, list(path)
        if rest[0] == "crate":
            here, rest = (), rest[1:]
        elif rest[0] in ("self", "super"):
            while rest and rest[0] in ("self", "super"):
                here = here[:-1] if rest.pop(0) == "super" else here
        elif module + (rest[0],) not in self.files and rest[0] not in self.exports[module]:
            return None
        while rest and here + (rest[0],) in self.files:
            here += (rest.pop(0),)
        if not rest or rest[0] in self.defined[here] or rest[0] == "*":
            return here
        if rest[0] in self.exports[here]:
            target, _ = self.exports[here][rest[0]]
            return self.resolve(here, target + tuple(rest[1:]), seen)
        return here

    def arrows(self):
        found = {}
        for module, text in self.files.items():
            paths = [path for public, tree in USE.findall(text) if not public.startswith("pub") for path, _ in flat(tree)]
            body = USE.sub("", text)
            paths += [tuple(path.split("::")) for path in PATH.findall(body)]
            # Names of modules at hand: `child::name`.
            paths += [tuple(path.split("::")) for path in re.findall(r"(?<![\w:])([a-z]\w*(?:::\w+)+)", body)]
            # A name that is re-exported here and used here too.
            for name, (path, public) in self.exports[module].items():
                if public and re.search(rf"\b{re.escape(name)}\b", body):
                    paths.append(path)
            for path in paths:
                target = self.resolve(module, path)
                if target is not None and target != module:
                    found.setdefault(module, {}).setdefault(target, set()).add(path[-1])
        return found


def circles(arrows):
    """Strongly connected parts of more than one module, by Tarjan's algorithm."""
    index, low, stack, on, out, count = {}, {}, [], set(), [], [0]

    def visit(node):
        index[node] = low[node] = count[0]
        count[0] += 1
        stack.append(node)
        on.add(node)
        for other in arrows.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while True:
                part.append(stack.pop())
                on.discard(part[-1])
                if part[-1] == node:
                    break
            if len(part) > 1:
                out.append(sorted(part))

    sys.setrecursionlimit(10_000)
    for node in list(arrows):
        if node not in index:
            visit(node)
    return out


def main():
    wrong = []
    text = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, capture_output=True).stdout
    packages = json.loads(text)["packages"]
    short = lambda name: name.removeprefix("mcp-concord-")
    ours = {package["name"] for package in packages}
    for package in sorted(packages, key=lambda package: package["name"]):
        name = short(package["name"])
        uses = {short(it["name"]) for it in package["dependencies"] if it["name"] in ours and it["kind"] is None}
        if name not in MAY_USE:
            wrong.append(f"{name} has no line in scripts/structure.py that says what it may use")
        wrong += [f"{name} uses {other}, which it may not" for other in sorted(uses - MAY_USE.get(name, uses))]
        source = Path(package["manifest_path"]).parent / "src"
        if not (source / "lib.rs").exists() and not (source / "main.rs").exists():
            continue
        crate = Crate(source)
        arrows = crate.arrows()
        file = lambda module: str(crate.modules[module].relative_to(ROOT))
        for circle in circles(arrows):
            lines = [f"a circle of {len(circle)} files in {name}:"]
            for module in circle:
                for target, names in sorted(arrows.get(module, {}).items()):
                    if target in circle:
                        lines.append(f"  {file(module)} uses {file(target)}: {', '.join(sorted(names))}")
            wrong.append("\n".join(lines))
    tree = subprocess.run(
        ["cargo", "tree", "-p", "mcp-concord-suite", "-e", "normal", "--prefix", "none"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    count = len({line.removesuffix(" (*)") for line in tree.splitlines() if line})
    if count > SUITE_PACKAGES:
        wrong.append(f"mcp-concord-suite pulls in {count} packages; at most {SUITE_PACKAGES} are allowed")
    for line in wrong:
        print(line)
    print(f"{len(packages)} crates, {len(wrong)} faults; mcp-concord-suite pulls in {count} packages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
