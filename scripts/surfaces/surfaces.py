"""Compares the recordings of scripts/surfaces.sh with `surface`, and prints its verdicts by class and kind.

    python surfaces.py PROGRAM FOLDER PAGE

The verdicts must equal the block of PAGE that begins with the script's own command, and must cover all differences between the
two recordings, which are found here independently, member by member. Exit code 1 if either does not hold.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

SERVERS = ["filesystem", "everything", "git"]
CLASSES = ["breaking", "review", "additive"]
COMMAND = "$ scripts/surfaces.sh\n"
# The list of a result, the member that names an item, and what `surface` calls one.
LISTS = [
    ("tools", "name", "tool"),
    ("resources", "uri", "resource"),
    ("resourceTemplates", "uriTemplate", "template"),
    ("prompts", "name", "prompt"),
]
HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}


def offer(file):
    """What a recording shows, by what `surface` calls it: the answer to `initialize` as `server`, and every item."""
    found = {}
    for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        message = line.get("raw", {})
        result = message.get("result", {}) if line.get("dir") == "out" else {}
        if "serverInfo" in result:
            found["server"] = result
            continue
        for member, name, kind in LISTS:
            found |= {f"{kind} {item[name]}": item for item in result.get(member, [])}
    return found


def leaves(value, pointer=""):
    """Each value that has no members, by its pointer; an empty object or array is one, too."""
    if isinstance(value, (dict, list)) and value:
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")
    else:
        yield pointer, value


def means_nothing(pointer, before, after, item):
    """Why no client can tell, or a false value where it can. Both values are None where they are absent."""
    *_, name = pointer.split("/")
    if pointer in ("/serverInfo/name", "/serverInfo/version"):
        return "the first two lines name the server and its version"
    if pointer.startswith("/capabilities/"):
        return (before or None) == (after or None) and "a flag that is false, or an object of nothing, is as good as none"
    if pointer.startswith("/annotations/") and name in HINTS:
        if item.get("annotations", {}).get("readOnlyHint") and name in ("destructiveHint", "idempotentHint"):
            return "it has no meaning of a tool that only reads"
        said = [HINTS[name] if value is None else value for value in (before, after)]
        return said[0] == said[1] and "what holds by default is said now"
    if pointer == "/execution/taskSupport":
        return {before, after} <= {None, "forbidden"} and "what holds by default is said now"
    if name == "required":
        return (before or None) == (after or None) and "to require nothing is as good as to say nothing"
    return name == "$schema" and "the dialect is named"


def unreported(old, new, changes):
    """What differs and was not reported: of what, where, and both values."""
    reported = {}
    for change in changes:
        reported.setdefault(change["subject"], []).append(change["pointer"])
    for subject in sorted(old.keys() | new.keys()):
        if subject not in old or subject not in new:
            if "" not in reported.get(subject, []):
                yield subject, "", subject in old, subject in new
            continue
        before, after = (dict(leaves(side[subject])) for side in (old, new))
        for pointer in sorted(before.keys() | after.keys()):
            pair = before.get(pointer), after.get(pointer)
            # A whole item is only reported as gone or new; what is reported of a place holds for all below it, and of a list
            # like `required` or `anyOf` for the schema in which it stands.
            places = [place.removesuffix("/anyOf") for place in reported.get(subject, []) if place]
            if subject == "server" and pointer == "/protocolVersion":
                places += [pointer for change in changes if change["kind"] == "revision"]
            covered = any(pointer == place or pointer.startswith(place + "/") for place in places)
            if pair[0] != pair[1] and not covered and not means_nothing(pointer, *pair, new[subject]):
                yield subject, pointer, *pair


def main(program, folder, page):
    rows, wrong, differing = [], [], 0
    for server in SERVERS:
        for version in (1, 2):
            files = [folder / f"{server}-{number}.jsonl" for number in (version, version + 1)]
            ran = subprocess.run([program, "surface", *files, "--output", "json"], capture_output=True, encoding="utf-8")
            if ran.returncode not in (0, 1):
                raise SystemExit(f"surface ended with {ran.returncode}: {ran.stderr}")
            text = subprocess.run([program, "surface", *files], capture_output=True, encoding="utf-8").stdout
            (folder / f"{server}-{version}-{version + 1}.txt").write_text(text, encoding="utf-8")
            said = json.loads(ran.stdout)
            wrong += [f"{server} {version}: a note: {note}" for note in said["notes"]]
            old, new = map(offer, files)
            differing += sum(old.get(subject) != new.get(subject) for subject in old.keys() | new.keys())
            wrong += [f"{server} {version}: not reported: {' '.join(map(str, one))}" for one in unreported(old, new, said["changes"])]
            counts = Counter((change["class"], change["kind"]) for change in said["changes"])
            for grave in CLASSES:
                kinds = ", ".join(f"{count} {kind}" for (other, kind), count in sorted(counts.items()) if other == grave)
                rows.append((f"{server}-{version}", grave, said["totals"][grave], kinds))
    table = "".join(f"{pair:<13}{grave:<9}{total:>4}  {kinds}".rstrip() + "\n" for pair, grave, total, kinds in rows)
    print(table, end="")
    if not differing:
        wrong.append("nothing differs in any two recordings")
    blocks = re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
    if COMMAND + table not in blocks:
        wrong.append(f"{page} has another table than the one above")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(Path, sys.argv[2:])))
