#!/usr/bin/env python3
"""Checks that `check` has a finding for everything that `read` rejects, and that `read` accepts everything without a finding.

usage: scripts/agreement.py FOLDER...    with the program that MCP_CONCORD names, or target/release/mcp-concord

Tries every recording below the folders.
"""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NO_RECORDING = {"case.toml", "meaning.json"}
# The files of a case are named after their formats.
FORMATS = {
    "vscode.log": "vscode-log",
    "claude-desktop.log": "claude-desktop-log",
    "marked.txt": "marked-text",
    "directed.jsonl": "directed-jsonl",
    "go-sdk.txtar": "txtar",
} | {
    f"{name}.{ending}": name
    for ending, names in {
        "jsonl": "jsonrpc mcp-replay mcp-rec mcporter",
        "json": "streamable-http http-sse inspector mcp-recorder inspector-network mcp-cassette agent-vcr",
        "har": "har",
    }.items()
    for name in names.split()
}

program = os.environ.get("MCP_CONCORD", "target/release/mcp-concord")


def run(*words):
    return subprocess.run([program, *words], capture_output=True, text=True)


def named(path):
    return ["--format", FORMATS[path.name]] if path.name in FORMATS else []


def read(path):
    """Why it is rejected; none where it is read, or is not a recording of a known format."""
    done = run("--quiet", "read", *named(path), str(path))
    if done.returncode not in (0, 1) and "cannot be detected" not in done.stderr:
        sys.exit(f"{path}: {done.stderr}")
    return done.stderr.strip() if done.returncode == 1 else None


def findings(paths):
    """How many findings each file has."""
    counts = {}
    for name in sorted({path.name if named(path) else "" for path in paths}):
        some = [path for path in paths if name == (path.name if named(path) else "")]
        for start in range(0, len(some), 1000):
            done = run("check", "--output", "json", *named(some[0]), *map(str, some[start : start + 1000]))
            for line in json.loads(done.stdout or "[]"):
                counts[line["file"]] = counts.get(line["file"], 0) + (line["verdict"] in ("fail", "warn", "info"))
    return counts


def main():
    files = (path for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*")))
    paths = [path for path in files if path.suffix in (".jsonl", ".json", ".har", ".log", ".txt", ".txtar") and path.name not in NO_RECORDING]
    found = findings(paths)
    with ThreadPoolExecutor() as pool:
        whys = list(pool.map(read, paths))
    # What is not text from its first byte on `check` refuses aloud, without a finding.
    silent = [(path, why) for path, why in zip(paths, whys) if why and found.get(str(path)) == 0]
    for path, why in silent:
        print(f"{path}: read rejects it, and check has no finding\n  {why}")
    print(f"{len(paths)} recordings: {sum(map(bool, whys))} rejected, {len(silent)} of them in silence")
    return 1 if silent or not found else 0


if __name__ == "__main__":
    sys.exit(main())
