#!/usr/bin/env python3
"""Derives the tables of docs/probe-in-the-wild.md from what was kept of the probes: scripts/wild.py [--check]

scripts/wild has what was seen, judged by hand, a row each:

    programs.tsv    what was probed or recorded, in which version, over which transport, and which revisions it spoke
    findings.tsv    what was found, and whether it is true by the specification's text, contested, or false
    checkers.tsv    what each checker reported of the servers that all of them can reach, and how long it took

Prints the page as it should be below its seam; with --check the exit code says whether it is so.
"""

import csv
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "probe-in-the-wild.md"
SEAM = "<!-- From here on the page is what scripts/wild.py prints. -->\n"
JUDGED = ["true", "contested", "false"]
NAMES = {"official": "official suite", "amagi": "amagi-mcp-probe", "mcp-conform": "mcp-conform", "concord": "`probe`"}


def rows(name):
    with open(HERE / "wild" / f"{name}.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def table(head, lines):
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    yield from ("| " + " | ".join(map(str, line)) + " |" for line in lines)


def count(found, level):
    """How many are true, contested and false."""
    of_level = [one["judged"] for one in found if one["level"] == level]
    return " / ".join(str(of_level.count(judged)) for judged in JUDGED)


def programs(all_programs, findings):
    for role, verb in [("server", "probed"), ("client", "recorded")]:
        ours = [one for one in all_programs if one["role"] == role]
        names = {one["program"] for one in ours}
        ids = {one["id"] for one in ours}
        found = [one for one in findings if one["id"] in ids]
        yield f"### {len(names)} {role}s"
        yield ""
        yield f"{len(ours)} times {verb}. Errors: {count(found, 'error')} (true / contested / false); warnings: {count(found, 'warning')}."
        yield ""
        lines = []
        for one in ours:
            found = [finding for finding in findings if finding["id"] == one["id"]]
            levels = [count(found, level) for level in ("error", "warning")]
            lines.append([one["program"], one["version"], one["registry"], one["transport"], one["revisions"].replace(" ", ", "), *levels])
        yield from table(["program", "version", "from", "transport", "revisions", "errors", "warnings"], lines)
        yield ""


def rules(all_programs, findings):
    name = {one["id"]: f"{one['program']} ({one['transport']})" for one in all_programs}
    order = ["error", "warning"]
    keys = sorted({(order.index(one["level"]), one["rule"]) for one in findings if one["level"] in order})
    lines = []
    for level, rule in keys:
        same = [one for one in findings if (order.index(one["level"]) if one["level"] in order else -1, one["rule"]) == (level, rule)]
        judged = "; ".join(f"{judged} {count}" for judged in JUDGED if (count := sum(one["judged"] == judged for one in same)))
        first = same[0]
        said = first["finding"].replace("|", "\\|")
        lines.append([order[level], f"`{rule}`", judged, f"{name[first['id']]}: {said}"])
    yield from table(["level", "rule", "judged", "first seen in"], lines)


def checkers(reports):
    lines = []
    ids = dict.fromkeys(one["id"] for one in reports)
    true = {id: set().union(*(one["true"].split() for one in reports if one["id"] == id)) for id in ids}
    totals = {}
    for one in reports:
        found = set(one["true"].split())
        numbers = [len(found), int(one["contested"]), int(one["false"]), len(true[one["id"]] - found), float(one["seconds"])]
        lines.append([one["id"], NAMES[one["checker"]], *numbers[:4], f"{numbers[4]:.1f} s"])
        total = totals.setdefault(one["checker"], [0] * 6)
        totals[one["checker"]] = [old + new for old, new in zip(total, [1, *numbers])]
    head = ["found", "contested", "false", "missed", "time"]
    yield from table(["checker", "servers", *head], [[NAMES[name], *map(int, total[:5]), f"{total[5]:.0f} s"] for name, total in totals.items()])
    yield ""
    yield from table(["server", "checker", *head], lines)


def page():
    all_programs, findings, reports = rows("programs"), rows("findings"), rows("checkers")
    wrong = [one for one in findings if one["level"] == "error" and one["judged"] == "false"]
    assert not wrong, f"false, and an error: {wrong}"
    yield "## What was probed and recorded"
    yield ""
    yield from programs(all_programs, findings)
    yield "### What was found"
    yield ""
    yield from rules(all_programs, findings)
    yield ""
    yield "## Side by side"
    yield ""
    yield from checkers(reports)


def main():
    derived = "\n".join(page()) + "\n"
    if sys.argv[1:] != ["--check"]:
        print(derived, end="")
        return 0
    if PAGE.read_text().partition(SEAM)[2].strip() == derived.strip():
        return 0
    print(f"{PAGE.name} is not what its data says: put what scripts/wild.py prints below its seam")
    return 1


if __name__ == "__main__":
    sys.exit(main())
