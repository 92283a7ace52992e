#!/usr/bin/env python3
"""Who survived, and the score: survivors.py RESULT…

Reads the sessions of cosmic-ray (`*.session`), the reports of Stryker (`*.json`) and what cargo-mutants keeps (`outcomes.json`).
Of Stryker's mutants only the sample of the variable `part` was judged, by their numbers.
A mutant that hangs or cannot start is killed like any other; one that the tool could not build is no mutant.
"""

import json
import os
import sqlite3
import sys
from collections import Counter
from pathlib import Path

from sample import taken


def cosmic_ray(path):
    """(file, line, operator, outcome, change) of each mutant that was not filtered out."""
    rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
        "SELECT module_path, start_pos_row, operator_name, worker_outcome, test_outcome, diff FROM mutation_specs AS spec"
        " LEFT JOIN work_results AS result ON result.job_id = spec.job_id ORDER BY 1, 2, 3"
    )
    for file, line, operator, worker, test, diff in rows:
        if worker != "SKIPPED":
            outcome = "not run" if worker is None else "survived" if test == "SURVIVED" else "killed"
            change = [text for text in (diff or "").splitlines() if text[:1] in "+-" and text[:3] not in ("+++", "---")]
            yield file, line, operator.removeprefix("core/"), outcome, change


OUTCOMES_OF_STRYKER = {"Killed": "killed", "Timeout": "killed", "RuntimeError": "killed", "Survived": "survived"}


def stryker(report):
    for file, content in sorted(report["files"].items()):
        lines = content["source"].splitlines()
        for mutant in content["mutants"]:
            outcome = OUTCOMES_OF_STRYKER.get(mutant["status"])
            start, end = mutant["location"]["start"], mutant["location"]["end"]
            old = lines[start["line"] - 1][start["column"] - 1 : end["column"] - 1 if start["line"] == end["line"] else None]
            if outcome and taken(int(mutant["id"]), os.environ["part"]):
                yield file, start["line"], mutant["mutatorName"], outcome, [f"-{old}", f"+{mutant.get('replacement', '')}"]


OUTCOMES_OF_CARGO = {"CaughtMutant": "killed", "Timeout": "killed", "MissedMutant": "survived"}


def cargo_mutants(report):
    for outcome in report["outcomes"]:
        if isinstance(outcome["scenario"], dict) and outcome["summary"] in OUTCOMES_OF_CARGO:
            mutant = outcome["scenario"]["Mutant"]
            line = mutant["span"]["start"]["line"]
            yield mutant["file"], line, mutant["genre"], OUTCOMES_OF_CARGO[outcome["summary"]], [f"+{mutant['name']}"]


def mutants(path):
    if path.suffix == ".session":
        return cosmic_ray(path)
    report = json.loads(path.read_text())
    return cargo_mutants(report) if "outcomes" in report else stryker(report)


def main(paths):
    totals = {}
    for path in paths:
        for file, line, operator, outcome, change in mutants(Path(path)):
            totals.setdefault(file, Counter())[outcome] += 1
            if outcome == "survived":
                print(f"{file}:{line} {operator}", *(f"  {text}" for text in change), sep="\n")
    print("\n| file | mutants | judged | killed | survived |\n| --- | ---: | ---: | ---: | ---: |")
    for file, counts in (*totals.items(), ("all", sum(totals.values(), Counter()))):
        judged = counts["killed"] + counts["survived"]
        print(f"| `{file}` | {judged + counts['not run']} | {judged} | {counts['killed']} | {counts['survived']} |")


if __name__ == "__main__":
    main(sys.argv[1:])
