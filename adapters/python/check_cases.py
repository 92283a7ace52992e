"""Reads every transcript of every case under some directories, and says where this reader and the case part.

    python3 check_cases.py [--dialect NAME] DIR…
                                       exit 0 when all agree, 1 when any does not, 2 when there is nothing to check

A case is a directory with a `case.toml`. It expects a meaning (every format reads to `meaning.json`), a rejection (every
format rejects, with the code that the case names), or either (all formats agree, on one meaning or on rejecting). Where it says
`[dialects.NAME]`, it expects something else in that dialect: the code there, or `meaning.NAME.json`.
"""

import re
import sys
import tomllib
from pathlib import Path

from comparing import difference
from concord_reader import Rejection, read_file
from jsontext import Number, dump, parse

TRANSCRIPTS = {
    "jsonrpc": "jsonrpc.jsonl",
    "streamable-http": "streamable-http.json",
    "http-sse": "http-sse.json",
    "mcp-replay": "mcp-replay.jsonl",
    "inspector": "inspector.json",
    "har": "har.har",
}
CARRY_DISCOVERY = ("streamable-http", "http-sse", "har")


class Expectation:
    """What a case expects; `strict`: where it is a rejection, by its code, too."""

    def __init__(self, directory, dialect="default", strict=True):
        self.strict = strict
        with open(directory / "case.toml", "rb") as file:
            case = tomllib.load(file)
        self.expect = case["expect"]
        self.reject = case.get("reject")
        self.marker = case.get("redacted")
        written = directory / "meaning.json"
        other = case.get("dialects", {}).get(dialect)
        if other is not None:
            self.reject = other.get("reject")
            self.expect = "rejection" if self.reject else "meaning" if other.get("judged", True) else "unknown"
            written = directory / f"meaning.{dialect}.json"
        self.meaning = parse(written.read_bytes().decode("utf-8-sig")) if written.exists() else None
        if self.expect not in ("meaning", "rejection", "either", "unknown"):
            raise ValueError(f"expects {self.expect!r}, which is nothing to expect")
        if (self.expect == "meaning" and self.meaning is None) or (self.expect == "rejection" and self.reject is None):
            raise ValueError("its meaning.json, or the code it rejects with, is missing")

    def complaint(self, format_name, found):
        """What is wrong with one reading (a meaning, or the Rejection), or None."""
        if self.expect == "unknown":
            return None
        if isinstance(found, Rejection):
            if self.expect == "meaning":
                return f"rejected ({found.code}): {found}"
            if self.strict and self.expect == "rejection" and found.code != self.reject:
                return f"rejected as {found.code}, expected {self.reject}: {found}"
            return None
        if self.expect == "rejection":
            return f"read {len(found['events'])} events, expected a rejection ({self.reject})"
        return self.meaning and meanings_part(self.meaning, found, format_name, self.marker)


def meanings_part(expected, found, format_name, marker):
    """The first difference of two meanings in words, or None."""
    if format_name not in CARRY_DISCOVERY:
        expected = expected | {"authorization_discovery": None}
    due = expected.get("authorization_discovery")  # where a reading has no such member, it is not asked for it
    expected, found = expected | {"authorization_discovery": due}, {"authorization_discovery": due} | as_values(found)
    at = difference(expected, found, marker)
    if at is None:
        return None
    return f"at {at}: expected {excerpt(expected, at)}, read {excerpt(found, at)}"


def as_values(meaning):
    """Our own counts (`answers`) as the Numbers they are once written and read again."""
    events = [
        event | {"answers": Number(str(event["answers"]))} if type(event.get("answers")) is int else event
        for event in meaning["events"]
    ]
    return meaning | {"events": events}


def excerpt(value, pointer):
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(step)] if type(value) is list else value[step]
        except (KeyError, IndexError, TypeError):
            return "nothing"
    text = dump(value)
    return text if len(text) <= 160 else text[:157] + "..."


def reading(path, format_name, dialect):
    try:
        return read_file(path, format_name, dialect).meaning
    except Rejection as rejection:
        return rejection


def check(directory, dialect="default"):
    """(format, complaint or None) for each transcript of one case."""
    paths = {format_name: directory / file_name for format_name, file_name in TRANSCRIPTS.items()}
    readings = {name: reading(path, name, dialect) for name, path in paths.items() if path.exists()}
    yield from judged(Expectation(directory, dialect), readings)


def judged(expectation, readings):
    """(format, complaint or None) for each meaning, or Rejection, by the name of its format."""
    agreed = []  # what the formats before this one read, where a case may read either way
    for format_name, found in readings.items():
        complaint = expectation.complaint(format_name, found)
        if expectation.expect == "either" and complaint is None:
            complaints = (apart(*earlier, format_name, found, expectation.marker) for earlier in agreed)
            complaint = next(filter(None, complaints), None)
            agreed.append((format_name, found))
        yield format_name, complaint


def apart(first_format, first, format_name, found, marker):
    """How two formats of a case that may read either way differ, or None."""
    rejected = [isinstance(one, Rejection) for one in (first, found)]
    if all(rejected):
        return None
    if any(rejected):
        reads, rejects, why = (format_name, first_format, first) if rejected[0] else (first_format, format_name, found)
        return f"{reads} reads, {rejects} rejects ({why.code}): {why}"
    if format_name not in CARRY_DISCOVERY or first_format not in CARRY_DISCOVERY:
        first, found = (one | {"authorization_discovery": None} for one in (first, found))
    return meanings_part(as_values(first), found, format_name, marker)


def asks_no_reader(case):
    """Whether the case is about something else than a meaning."""
    try:
        return tomllib.loads(case.read_text(encoding="utf-8")).get("expect") in ("judgement", "identification", "unidentified")
    except (OSError, ValueError):
        return False


def main(roots):
    dialect = "default"
    if roots[:1] == ["--dialect"]:
        dialect, roots = roots[1], roots[2:]
    cases = transcripts = disagreements = unread = 0
    for root in map(Path, roots):
        for case in sorted(root.rglob("case.toml")):
            if asks_no_reader(case):
                continue
            cases += 1
            name = case.parent.relative_to(root)
            try:
                before = transcripts
                for format_name, complaint in check(case.parent, dialect):
                    transcripts += 1
                    if complaint:
                        disagreements += 1
                        print(f"{name}: {format_name}: {complaint}")
                if transcripts == before:
                    if all(re.fullmatch(r"case\.toml|meaning\..*json", file.name) for file in case.parent.iterdir()):
                        raise ValueError("it has no transcript")
                    cases, unread = cases - 1, unread + 1
            except (ValueError, KeyError, OSError) as error:
                disagreements += 1
                print(f"{name}: the case cannot be used: {error!r}")
    passed = f"; {unread} cases exist only in formats that this reader does not have" if unread else ""
    print(f"{cases} cases, {transcripts} transcripts, {disagreements} disagreements{passed}")
    if not cases:
        print("nothing to check", file=sys.stderr)
        return 2
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
