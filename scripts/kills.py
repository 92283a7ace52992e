#!/usr/bin/env python3
"""Finds which cases of the suite find ("kill") which seeded faults of the reader in adapters/python; no case may fail a choice.

    scripts/kills.py               prints how many are found, and what is wrong with the suite or a fault
    scripts/kills.py --write       writes docs/kills.md, too
    scripts/kills.py --check       fails where that page is stale, too, but for its counts: tries on a case only the faults that the
                                   page says it finds, and others until one is found
    scripts/kills.py NAME…         prints every case that finds these faults, or the faults that these cases find; of a choice
                                   the cases that it reads otherwise

Exit code 1 where a fault survives without a reason, a clause has neither a fault nor a reason, there are fewer than 200
faults, a case finds none and is not marked `control = true`, the reader without a fault fails a case, a case fails a choice that
the contract leaves to importers, or a choice changes no reading of a case.
"""

import argparse
import gc
import multiprocessing
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "adapters" / "python"))

import cases as suite  # noqa: E402
import faults  # noqa: E402
from check_cases import TRANSCRIPTS, Expectation, asks_no_reader, judged  # noqa: E402
from comparing import difference  # noqa: E402
from concord_reader import Rejection, read_bytes  # noqa: E402
from faults import seams  # noqa: E402
from jsontext import JsonError, dump  # noqa: E402

PAGE = ROOT / "docs" / "kills.md"
FEWEST = 200


def use(folder, examples=None):
    """Lets this process find all cases below a folder, each as a folder of its own; and know examples of what each fault fails."""
    global CASES, EXAMPLES
    CASES, EXAMPLES = Path(folder), examples
    gc.freeze()  # what is there now stays, and a search for what may go need not look at it
    gc.set_threshold(100_000)


class Crash(Exception):
    """The reader ended otherwise than with a meaning or a rejection."""


def remembered(parse):
    """Parses each text once. No fault changes a value in its place."""
    known = {}

    def again(text):
        if text not in known:
            try:
                known[text] = parse(text)
            except JsonError as error:
                known[text] = error
        if isinstance(known[text], JsonError):
            raise known[text].with_traceback(None)
        return known[text]

    return again


def outcome(read, *given, **named):
    """A Reading, a Rejection or a Crash."""
    try:
        return read(*given, **named)
    except Rejection as rejection:
        return rejection.with_traceback(None)
    except Exception as error:  # a fault may crash in any way
        return Crash(error)


def is_same(one, other):
    if one is other:
        return True
    if isinstance(one, Exception) or isinstance(other, Exception):
        return type(one) is type(other)
    return difference(one.meaning, other.meaning) is None


def complaints(expectation, readings):
    """The formats in which something is wrong."""
    crashed = [name for name, found in readings.items() if isinstance(found, Crash)]
    meanings = {
        name: found if isinstance(found, Rejection) else found.meaning for name, found in readings.items() if name not in crashed
    }
    return crashed + [name for name, complaint in judged(expectation, meanings) if complaint]


def try_case(name):
    """(name, formats in which the reader without a fault fails, faults that the case finds, what it makes of choices)"""
    directory = CASES / name
    expectation = Expectation(directory, strict=False)
    texts = {name: (directory / file).read_bytes() for name, file in TRANSCRIPTS.items() if (directory / file).exists()}
    with seams.patched(seams.on_parse(remembered).patches):
        honest = {name: Honest(data, name) for name, data in texts.items()}
        readings = {name: one.found for name, one in honest.items()}
        failing = complaints(expectation, readings)
        killed = [] if failing else [fault.name for fault in found(name, expectation, honest)]
        chosen = {} if failing else {name: shown(choice, expectation, honest) for name, choice in faults.CHOICES.items()}
    return name, failing, killed, {choice: formats for choice, formats in chosen.items() if formats is not None}


def found(name, expectation, honest):
    """The faults that the case finds. By examples: those that have it as one, and others until it finds one that is not broad."""
    if EXAMPLES is None:
        return [fault for fault in faults.ALL.values() if is_killed(fault, expectation, honest)]
    is_named = {one: name in EXAMPLES.get(one, ()) or one in faults.SURVIVE for one in faults.ALL}
    killed = [fault for one, fault in faults.ALL.items() if is_named[one] and is_killed(fault, expectation, honest)]
    others = (fault for one, fault in faults.ALL.items() if not is_named[one] and one not in faults.BROAD)
    if all(fault.name in faults.BROAD for fault in killed):
        killed += next(([fault] for fault in others if is_killed(fault, expectation, honest)), [])
    return killed


def examples_of(page):
    """fault → the cases that a page gives as examples."""
    rows = re.findall(r"^\| `[^`]*` \| `([^`]*)` \| .* \| \d+ \| (.*) \|$", page, re.MULTILINE)
    return {name: set(re.findall(r"`([^`]*)`", cases)) for name, cases in rows}


def without_counts(page):
    return re.sub(r" \| \d+ \| ", " | ", page)


class Honest:
    """What the reader without a fault makes of a transcript."""

    def __init__(self, data, format_name):
        self.data, self.format_name = data, format_name
        with seams.noting(PATCHES) as self.called:
            self.found = outcome(read_bytes, data, format_name)
        self.spelled = spelled(self.found)

    def with_a(self, fault):
        """What a reader with this fault makes of it."""
        if fault.name not in SHOWN[self.format_name]:
            return self.found
        return outcome(seams.read, fault.change, self.data, self.format_name, honest=self.found, called=self.called)


KNOWN = (*faults.ALL.values(), *faults.CHOICES.values())
PATCHES = [patch for fault in KNOWN for patch in fault.change.patches]
SHOWN = {name: {fault.name for fault in KNOWN if fault.change.may_show(name)} for name in TRANSCRIPTS}


def shown(choice, expectation, honest):
    """The formats in which the choice fails the case, or None where it reads the case as the reader without it does."""
    readings = {name: one.with_a(choice) for name, one in honest.items()}
    if all(readings[name] is one.found or spelled(readings[name]) == one.spelled for name, one in honest.items()):
        return None
    return complaints(expectation, readings)


def spelled(found):
    return type(found).__name__ if isinstance(found, Exception) else dump(found.meaning)


def is_killed(fault, expectation, honest):
    if fault.clause == "SRV-SAME":
        return any(not is_same(one.with_a(fault), one.with_a(fault)) for one in honest.values())
    if expectation.expect == "either":  # the formats are compared with each other
        readings = {name: one.with_a(fault) for name, one in honest.items()}
        changed = any(not is_same(one.found, readings[name]) for name, one in honest.items())
        return changed and bool(complaints(expectation, readings))
    readings = ((one, one.with_a(fault)) for one in honest.values())
    return any(not is_same(one.found, found) and complaints(expectation, {one.format_name: found}) for one, found in readings)


def all_cases():
    """name → case.toml of the cases that ask a reader, and which of them have a format that the reader in Python has."""
    files = [file for file in sorted(CASES.rglob("case.toml")) if not asks_no_reader(file)]
    cases = {file.parent.relative_to(CASES).as_posix(): tomllib.loads(file.read_text(encoding="utf-8")) for file in files}
    return cases, [name for name in cases if any((CASES / name / file).exists() for file in TRANSCRIPTS.values())]


def all_clauses():
    text = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8").partition("## The clauses")[2]
    return re.findall(r"^\| `([A-Z0-9]+(?:-[A-Z0-9]+)+)` \| \*\*", text, re.MULTILINE)


def choices_of(clause):
    return [choice for choice in faults.CHOICES.values() if choice.clause == clause]


class Matrix:
    def __init__(self, jobs, examples=None):
        self.cases, self.read = all_cases()
        with multiprocessing.Pool(jobs, use, (CASES, examples)) as pool:
            tried = list(pool.imap(try_case, self.read, chunksize=4))
        honest = "the reader without a fault fails"
        self.failing = [f"{honest} {name}: {', '.join(failing)}" for name, failing, _, _ in tried if failing]
        self.kills = {name: killed for name, _, killed, _ in tried}
        self.chosen = {choice: {} for choice in faults.CHOICES}  # → case → formats in which it fails
        for name, _, _, chosen in tried:
            for choice, formats in chosen.items():
                self.chosen[choice][name] = formats
        self.killers = {fault: [] for fault in faults.ALL}
        for name, killed in self.kills.items():
            for fault in killed:
                self.killers[fault].append(name)
        for fault, killers in self.killers.items():
            killers.sort(key=lambda name: (faults.ALL[fault].clause not in self.cases[name]["clauses"], name))

    def findings(self):
        yield from self.failing
        if len(faults.ALL) < FEWEST:
            yield f"there are {len(faults.ALL)} faults, fewer than {FEWEST}"
        clauses, broken = all_clauses(), {fault.clause for fault in faults.ALL.values()}
        for clause in clauses:
            if clause not in broken and clause not in faults.UNBROKEN:
                yield f"no fault breaks {clause}; add one to adapters/python/faults, or a reason to UNBROKEN"
        for clause in sorted(broken - set(clauses)):
            yield f"there is no clause {clause}"
        for name, killers in self.killers.items():
            if not killers and name not in faults.SURVIVE:
                yield f"{name} survives: add a case that finds it, or a reason to SURVIVE"
            if killers and name in faults.SURVIVE:
                yield f"{name} is said to survive, and {killers[0]} finds it"
            if killers and faults.ALL[name].clause not in self.cases[killers[0]]["clauses"]:
                yield f"{name} is found, but by no case that names {faults.ALL[name].clause}"
        for name, killed in self.kills.items():
            sharp = [fault for fault in killed if fault not in faults.BROAD]
            if not sharp and not self.cases[name].get("control"):
                yield f"{name} finds no fault: add the one that it is there for, or mark it `control = true`"
            if sharp and self.cases[name].get("control"):
                yield f"{name} is marked as a control, and finds {sharp[0]}"
        yield from self.findings_of_choices(clauses)

    def findings_of_choices(self, clauses):
        for name, cases in self.chosen.items():
            clause = faults.CHOICES[name].clause
            if clause not in clauses:
                yield f"there is no clause {clause}"
            if not cases and name not in faults.IDLE:
                yield f"{name} changes no reading: add a case that leaves this part of {clause} open, or a reason to IDLE"
            if cases and name in faults.IDLE:
                yield f"{name} is said to change no reading, and changes that of {next(iter(cases))}"
            for case, formats in cases.items():
                if formats and (name, case) not in faults.UNFAIR:
                    where = ", ".join(formats)
                    yield f"{case} is unfair in {where}: {clause} allows {name}; let it expect either, or add a reason to UNFAIR"
        for name, case in faults.UNFAIR:
            if not self.chosen.get(name, {}).get(case):
                yield f"{case} is said to be unfair to {name}, and is not"

    def total(self):
        found = sum(map(bool, self.killers.values()))
        elsewhere = len(self.cases) - len(self.read)
        beside = f"; {elsewhere} more cases are in formats that it does not read" if elsewhere else ""
        return f"{found} of {len(faults.ALL)} faults are found by {len(self.read)} cases{beside}"

    def page(self):
        rows = [self.row(fault) for clause in all_clauses() for fault in faults.ALL.values() if fault.clause == clause]
        unfair = [f"- `{case}`, `{name}`: {why}" for (name, case), why in faults.UNFAIR.items()]
        unbroken = [f"- `{clause}`: {reason}" for clause, reason in faults.UNBROKEN.items()]
        return (
            HEAD.format(total=self.total())
            + "\n".join(rows)
            + "\n"
            + ("\n".join(["", UNBROKEN, "", *unbroken, ""]) if unbroken else "")
            + CHOSEN
            + "\n".join(self.row_of_choice(choice) for clause in all_clauses() for choice in choices_of(clause))
            + "\n"
            + ("\n".join(["", UNFAIR, "", *unfair, ""]) if unfair else "")
        )

    def row_of_choice(self, choice):
        cases = self.chosen[choice.name]
        first = sorted(cases, key=lambda name: (choice.clause not in self.cases[name]["clauses"], name))[:2]
        examples = ", ".join(f"`{name}`" for name in first) or f"none: {faults.IDLE.get(choice.name, 'no reason is known')}"
        return table_row(f"`{choice.clause}`", f"`{choice.name}`", choice.does, str(len(cases)), examples)

    def row(self, fault):
        killers = self.killers[fault.name]
        shown = (
            ", ".join(f"`{name}`" for name in killers[:2]) or f"survives: {faults.SURVIVE.get(fault.name, 'no reason is known')}"
        )
        return table_row(f"`{fault.clause}`", f"`{fault.name}`", fault.does, str(len(killers)), shown)

    def about(self, name):
        if name in faults.ALL:
            return f"{name}, {faults.ALL[name].clause}: it {faults.ALL[name].does}", self.killers[name]
        if name in faults.CHOICES:
            return f"{name}, {faults.CHOICES[name].clause}: it {faults.CHOICES[name].does}", self.chosen[name]
        return f"{name} finds", self.kills.get(name, [])


def table_row(*cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


HEAD = """# Which cases find which faults

The reader in [adapters/python](../adapters/python/README.md) has seeded faults, each in one condition of one clause of [the
contract](contract.md). `scripts/kills.py --write` runs every fault on every case and writes this page. A case that fails with a fault
finds ("kills") it. The examples are, if possible, cases that cite the clause.

```sh
scripts/kills.py                                            # the totals, and what is wrong with the suite or a fault
scripts/kills.py newest-first ids/null-request              # all cases that find a fault, all faults that a case finds
mcp-concord run --adapter 'python3 adapters/python/adapter.py --fault newest-first'
```

{total}.
Each of these cases finds a fault or has `control = true` in its case.toml; faults that spoil nearly every reading do not count.

| clause | fault | what the reader does | cases | examples, or why it survives |
| --- | --- | --- | ---: | --- |
"""
UNBROKEN = "## Clauses without a fault"
CHOSEN = """
## What no case may find

Some clauses leave a choice to importers. Each of these readers makes one choice differently from ours, and is right: no case may fail
it. The table counts the cases that it reads differently. `scripts/fair.sh` runs `fuzz` to look for a variant that accuses one of them.

```sh
mcp-concord run --adapter 'python3 adapters/python/adapter.py --choice noise-passed-over'
```

| clause | choice | what the reader does | cases | examples, or why there are none |
| --- | --- | --- | ---: | --- |
"""
UNFAIR = "These cases still accuse one of them:"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        suite.unpack(folder)
        use(folder)
        known = PAGE.read_text(encoding="utf-8") if args.check and PAGE.exists() else ""
        matrix = Matrix(args.jobs, examples_of(known) if args.check else None)
    for name in args.names:
        print(*((line := matrix.about(name))[0:1]), *(f"  {other}" for other in line[1]), sep="\n")
    if args.names:
        return 0
    findings = list(matrix.findings())
    if args.write:
        PAGE.write_text(matrix.page(), encoding="utf-8")
    if args.check and without_counts(known) != without_counts(matrix.page()):
        findings.append("docs/kills.md is stale: run scripts/kills.py --write")
    for finding in findings:
        print(f"finding: {finding}")
    print(matrix.total())
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
