#!/usr/bin/env python3
"""Who survived, and the score: survivors.py RESULT…

Reads the sessions of cosmic-ray (`*.session`) and what cargo-mutants keeps (`outcomes.json`).
A mutant that hangs or cannot start is killed like any other; one that the tool could not build is not a mutant.
"""

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path


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
    return cargo_mutants(json.loads(path.read_text()))


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
