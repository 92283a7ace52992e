#!/usr/bin/env python3
"""Moves cases between folders and archives, which hold the files of several cases as Go's txtar does.

  scripts/cases.py unpack OUT [CASE]...   copies the cases into folders below OUT, all of them or those named, such as rules/http/plain
  scripts/cases.py pack FOLDER...         moves folders of rule cases into the archives of their first rules
"""
import re
import shutil
import sys
import tomllib
from pathlib import Path

CASES = Path(__file__).resolve().parent.parent / "cases"
MARKER = re.compile(rb"^-- (\S+/\S+) --\n", re.M)


def unpack(out, *wanted):
    for file in sorted(CASES.rglob("*")):
        folder = file.parent.relative_to(CASES)
        if (file.parent / "case.toml").exists():
            files = [(f"{folder}/{file.name}", file.read_bytes())]
        elif file.suffix == ".txtar":
            _, *parts = MARKER.split(file.read_bytes())
            files = [(f"{folder}/{name.decode()}", text) for name, text in zip(parts[::2], parts[1::2])]
        else:
            files = []
        for name, content in files:
            if not wanted or name.rpartition("/")[0] in wanted:
                path = Path(out, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def pack(*folders):
    for folder in map(Path, folders):
        name = folder.resolve().relative_to(CASES / "rules").as_posix()
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        for file, text in files.items():
            if MARKER.search(text) or text and not text.endswith(b"\n"):
                sys.exit(f"{folder}/{file} cannot be part of an archive, which is a text; leave the folder as it is")
        rule = tomllib.loads(files["case.toml"].decode())["clauses"][0]
        with open(CASES / "rules" / f"{rule}.txtar", "ab") as archive:
            for file in sorted(files, key=lambda file: (file != "case.toml", file)):
                archive.write(f"-- {name}/{file} --\n".encode() + files[file])
        shutil.rmtree(folder)


if __name__ == "__main__":
    commands = {"unpack": unpack, "pack": pack}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__.strip())
    commands[sys.argv[1]](*sys.argv[2:])
