#!/usr/bin/env python3
"""Counts turns of phrase that read as if translated, in code and documents, and fails above a limit.

  scripts/words.py                 counts them by phrase and by folder
  scripts/words.py PATH...         lists each of them under these paths
"""
import collections
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 50
PHRASES = {
    "told": re.compile(r"\btold\b"),
    "so many": re.compile(r"\b[Ss]o (?:many|much)\b"),
    "a function named of": re.compile(r"\bfn of\b"),
    "is no X": re.compile(r"(?<![Tt]here )\b(?:is|are|was|were|be) no (?!longer|more|less|fewer|sooner|one|doubt|matter)\w+"),
    "whoever": re.compile(r"\b[Ww]hoever\b"),
    "alone for only": re.compile(r"(?<!leave )(?<!left )(?<!let )(?<!leaves )(?<!stand )(?<!-)\balone\b"),
}
FILES = ["*.rs", "*.md", "*.py", "*.sh", "*.js", "*.ts", "*.html", "*.toml", "harness/*/src/*.txt", "harness/*/src/*.tsv"]


def main():
    listed = subprocess.run(["git", "ls-files", "--", *(sys.argv[1:] or FILES)], cwd=ROOT, check=True, capture_output=True, text=True)
    by_phrase, by_folder = collections.Counter(), collections.Counter()
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path == Path(__file__).resolve() or not any(fnmatch(name, kind) for kind in FILES):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for phrase, pattern in PHRASES.items():
                for _ in pattern.finditer(line):
                    by_phrase[phrase] += 1
                    by_folder["/".join(name.split("/")[:2])] += 1
                    if sys.argv[1:]:
                        print(f"{name}:{number}: {phrase}: {line.strip()}")
    for counts in (by_phrase, by_folder):
        for name, count in counts.most_common(30):
            print(f"{count:6} {name}")
    total = sum(by_phrase.values())
    print(f"{total} in all; at most {LIMIT} are allowed")
    return 1 if total > LIMIT and not sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
