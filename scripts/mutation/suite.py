#!/usr/bin/env python3
"""The suite as the test of a mutated reader: suite.py KEPT ADAPTER…; exit code 0 where nothing fails.

The first call judges the adapter as it is, by the whole suite in each dialect, with the codes of rejections, and keeps its answers
in the file KEPT. Later calls ask the mutant everything at once.
Whatever it answers as before is judged as before; only cases that it answers otherwise, or not at all, are put before the suite
again. This is what the suite by itself would come to, for less of the processor.

MCP_CONCORD names the program and CASES the folder of cases. A mutant that loops is ended by the processor time it took, however
busy the machine is.
"""

import json
import os
import resource
import shlex
import subprocess
import sys
import tomllib
from itertools import chain, repeat
from pathlib import Path

PROCESSOR_SECONDS = 20
FILES = {
    "jsonrpc": "jsonrpc.jsonl",
    "streamable-http": "streamable-http.json",
    "http-sse": "http-sse.json",
    "mcp-replay": "mcp-replay.jsonl",
    "inspector": "inspector.json",
    "har": "har.har",
}
DIALECT = "typed-ids"
MOST_FILTERS = 200  # where more than that differs, the whole suite is asked, to its first failure


def main(kept, adapter):
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    kept, questions = Path(kept), Path(f"{kept}.questions")
    rounds = [adapter, [*adapter, "--dialect", DIALECT]]
    if not kept.exists():
        readings = list(transcripts(Path(os.environ["CASES"])))
        asked = [{"cmd": "read", "seq": seq, "format": name, "path": path} for seq, (_, name, path) in enumerate(readings)]
        questions.write_text("".join(json.dumps(line) + "\n" for line in [{"cmd": "start", "protocol": 1}, *asked, {"cmd": "stop"}]))
        if not all(passes(command, []) for command in rounds):
            return 1
        names = [f"{case}/{name}" for case, name, _ in readings]
        kept.write_text(json.dumps([names, *(list(answers(command, questions)) for command in rounds)]))
        return 0
    names, *before = json.loads(kept.read_text())
    return 0 if all(map(survives, rounds, before, [names] * 2, [questions] * 2)) else 1


def transcripts(cases):
    """(case, format, path) of each that a reader is asked about."""
    for file in sorted(cases.rglob("case.toml")):
        if tomllib.loads(file.read_text())["expect"] in ("meaning", "rejection", "either"):
            for name, other in FILES.items():
                if file.with_name(other).exists():
                    yield file.parent.relative_to(cases).as_posix(), name, str(file.with_name(other))


def survives(adapter, before, names, questions):
    """The first answer that differs is judged at once, since it is mostly the last; those behind it together."""
    other = []
    for name, was, now in zip(names, before, chain(answers(adapter, questions), repeat(None))):
        if was != now:
            other.append(name)
            if len(other) == 1 and not passes(adapter, other):
                return False
    return len(other) < 2 or passes(adapter, other)


def answers(adapter, questions):
    """A line for each transcript; fewer where the adapter ends."""
    with open(questions, "rb") as asked, subprocess.Popen(adapter, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
        try:
            next(run.stdout, None)
            yield from (line.decode(errors="replace") for line in run.stdout)
        finally:
            run.kill()


def passes(adapter, names):
    names = names if len(names) <= MOST_FILTERS else []
    command = [os.environ["MCP_CONCORD"], "--quiet", "run", "--cases", os.environ["CASES"], "--adapter", shlex.join(adapter)]
    command += ["--jobs", "1", "--fail-fast", "--strict-codes", "--timeout", "600", "--memory", "1GiB"]
    return subprocess.run(command + [word for name in names for word in ("--filter", name)], check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
