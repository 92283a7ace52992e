#!/usr/bin/env python3
"""Holds the answers of a binding to what the program prints, on the recordings of all cases.

    bindings/equal.py PROGRAM CASES COMMAND…

COMMAND answers in the binding's language. It reads a question a line, a JSON object with `function`, `path` and `other` (a second
recording of the same case), and writes an answer a line: an object with `text`, the function's answer, or with `error`, which has
`code`, `line` and `name`. Options are the usual ones, but that `convert` is lossy and to HAR. Recordings are named by their paths.

Answers that are text are equal byte for byte, others by value. Where the program refuses a recording, the error has the same code
and line. Exit code 1 where anything is unequal.

Where CONCORD_PRINTED names a folder, what a program printed of these recordings is kept there, for the next binding.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

#: What is asked of each recording: the program's words, and whether the answer is compared by its value.
EACH = {
    "read": (lambda path, other: ["read", path], False),
    "identify": (lambda path, other: ["identify", "--output", "json", path], True),
    "diff": (lambda path, other: ["diff", "--output", "json", other, path], False),
    "convert": (lambda path, other: ["convert", "--lossy", "--to", "har", path], False),
    "show": (lambda path, other: ["show", path], False),
}


def recordings(cases):
    """The recordings of each case, as paths below the cases."""
    for case in sorted(cases.rglob("case.toml")):
        files = (path for path in sorted(case.parent.iterdir()) if path.is_file())
        yield [str(path.relative_to(cases)) for path in files if not re.fullmatch(r"case\.toml|(meaning|identify)(\..+)?\.json", path.name)]


class Program:
    def __init__(self, path, cases):
        self.path, self.cases = path, cases

    def __call__(self, *words):
        done = subprocess.run([self.path, *words], cwd=self.cases, capture_output=True, env={**os.environ, "NO_COLOR": "1"})
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def of_all(self, command, paths, items):
        """What a command that takes many recordings says of each; of one that it does not speak of, nothing."""
        said = {path: [] for path in paths}
        _, stdout, _ = self(command, "--output", "json", *paths)
        for item in items(stdout):
            said[value(item)["file"]].append(item)
        return said


def printed_by(program, work):
    """What the program prints for each piece of work, in order; from the folder where the same was asked before."""
    kept = os.environ.get("CONCORD_PRINTED")
    if kept:
        state = [(path, os.stat(program.cases / path).st_mtime_ns) for _, path, _ in work]
        asked = hashlib.sha256(Path(program.path).read_bytes() + json.dumps([work, state]).encode())
        kept = Path(kept, asked.hexdigest() + ".json")
        if kept.is_file():
            return json.loads(kept.read_text())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        printed = list(pool.map(lambda one: program(*EACH[one[0]][0](*one[1:])), work))
    if kept:
        aside = kept.with_suffix(f".{os.getpid()}")
        aside.write_text(json.dumps(printed))
        aside.rename(kept)
    return printed


def findings(text):
    return [line.rstrip(",") for line in text.split("\n") if line.startswith("{")]


def overviews(text):
    return [json.dumps(overview) for overview in json.loads(text)]


def value(text):
    return json.loads(text, parse_float=Decimal)


def unequal(answer, printed, by_value):
    """What is unequal, in words; None where nothing is."""
    code, stdout, stderr = printed
    if "error" in answer:
        error = answer["error"]
        # Columns are not compared: those of the command line count the control characters of a line as it shows them.
        place = f"{error['name']}:{error['line']}:" if error["line"] else ""
        # A recording that shows no format is refused by the command line in other words, which name its flag.
        same = "format" in stderr if error["code"] == "unknown-format" else f"error[{error['code']}]" in stderr and place in stderr
        return None if code != 0 and same and not stdout else f"here  {error}\nthere {code} {stdout[:200]} {stderr}"
    if by_value and stdout:
        return None if value(answer["text"]) == value(stdout) else f"here  {answer['text']}\nthere {stdout}"
    return difference(answer["text"], stdout)


def difference(here, there):
    if here == there:
        return None
    at = len(os.path.commonprefix([here, there]))
    return f"from character {at} on\nhere  {here[at:at + 200]!r}\nthere {there[at:at + 200]!r}"


def main():
    program, cases, *command = sys.argv[1:]
    cases = Path(cases).resolve()
    program = Program(str(Path(program).resolve()), cases)
    cased = list(recordings(cases))
    paths = [path for of in cased for path in of]
    binding = subprocess.Popen([*command, str(cases)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    faults, asked = [], 0

    def answer(function, path, other):
        binding.stdin.write(json.dumps({"function": function, "path": path, "other": other}).encode() + b"\n")
        binding.stdin.flush()
        line = binding.stdout.readline()
        if not line:
            sys.exit(f"{function} {path}: {command[0]} answers no more; its exit code is {binding.wait()}")
        return json.loads(line)

    def told(function, path, fault):
        nonlocal asked
        asked += 1
        if fault:
            faults.append(f"{function} {path}: {fault}")

    # Commands that take many recordings are started once.
    checked = program.of_all("check", paths, findings)
    summed = program.of_all("summary", paths, overviews)
    for path in paths:
        found = answer("check", path, path)
        # What cannot be judged has no finding.
        told("check", path, difference("\n".join(findings(found.get("text", ""))), "\n".join(checked[path])))
        overview = answer("summary", path, path)
        same = [value(overview["text"])] if "text" in overview else []
        told("summary", path, None if same == [value(one) for one in summed[path]] else f"here  {overview}\nthere {summed[path]}")

    # The others start the program for each, so they are asked of one recording of each case, whose formats take turns.
    work = [(function, of[turn % len(of)], of[0]) for turn, of in enumerate(cased) for function in EACH]
    for (function, path, other), said in zip(work, printed_by(program, work)):
        told(function, path, unequal(answer(function, path, other), said, EACH[function][1]))
    binding.stdin.close()
    code = binding.wait()

    print("\n".join(faults[:10]), file=sys.stderr, end="\n" if faults else "")
    print(f"{asked} answers on {len(paths)} recordings of {len(cased)} cases: {len(faults)} are not what the program prints")
    sys.exit(0 if not faults and code == 0 and len(cased) > 100 else 1)


main()
