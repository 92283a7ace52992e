"""Damaged, deep and odd files."""

import json
import re

import concord_reader
from contract import Rejection, Session
from faults.choices_of_files import too_deep
from faults.lines import is_text
from faults.seams import (
    LINES,
    Change,
    deep,
    on_bytes,
    on_entry,
    on_event,
    on_events,
    on_message,
    on_parse,
    on_raw_lines,
    on_text,
    patch,
)
from formats import mcp_replay
from jsontext import JsonError, TwiceNamed, parse

EMPTY = {"jsonrpc": b"", "inspector": b"[]", "har": b'{"log":{"entries":[]}}'}
EMPTY |= {name: b'{"transport":"%s","entries":[]}' % name.encode() for name in ("streamable-http", "http-sse")}
EMPTY["mcp-replay"] = b'{"v":1,"type":"meta","startedAt":"","label":"","command":[]}'


def empty_if(condition):
    """Takes a file for an empty session."""
    return Change(edit=lambda name, data: EMPTY[name] if condition(name, data) else None)


def is_broken(text):
    try:
        parse(text)
    except JsonError:
        return True
    return False


def documents(edit):
    """The text of a file that is one document, and no JSON."""
    return on_text(lambda text: edit(text) if is_broken(text) else None).within("inspector", "har", "streamable-http", "http-sse")


def depth(text):
    level = most = 0
    for mark in re.findall(r"[\[\]{}]", text):
        level += 1 if mark in "[{" else -1
        most = max(most, level)
    return most


def first_document(text):
    start = text.lstrip()
    try:
        return start[: json.JSONDecoder().raw_decode(start)[1]]
    except (ValueError, RecursionError):
        return None


def closed(text):
    """The text with what a cut file leaves open."""
    open_, quoted, escaped = [], False, False
    for char in text:
        if escaped:
            escaped = False
        elif char == "\\" and quoted:
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "[{":
            open_.append("]" if char == "[" else "}")
        elif not quoted and char in "]}" and open_:
            open_.pop()
    return text + '"' * quoted + "".join(reversed(open_)) if 0 < len(open_) < 64 else None


def other_bracket(text):
    text = text.rstrip()
    other = text[:-1] + {"]": "}", "}": "]"}.get(text[-1:], "")
    return None if is_broken(other) else other


def overlong(data):
    return re.sub(rb"\xc0([\x80-\xbf])|\xc1([\x80-\xbf])", lambda two: bytes([(two[0][0] & 1) << 6 | two[0][1] & 0x3F]), data)


def utf_16(data):
    return data.decode("utf-16", "replace").encode() if data[:2] in (b"\xff\xfe", b"\xfe\xff") else None


def on_failure(answer):
    """What the reader does instead of rejecting: answer(session, rejection) or raises."""

    def make(honest):
        def read(file, format_name, dialect):
            reader = concord_reader.READERS[concord_reader.ALIASES.get(format_name, format_name)]
            session = Session(concord_reader.DIALECTS[dialect])
            try:
                reader(file, session)
            except Rejection as rejection:
                answer(session, rejection)
            return concord_reader.Reading(session.meaning(), session.notes)

        return read

    return patch(concord_reader, "_read", make)


def partial(session, rejection):
    """What was read so far."""


def partial_when_cut(session, rejection):
    if rejection.code != "truncated":
        raise rejection


def nothing(session, rejection):
    session.events, session.discovery = [], None


def crash_on(*codes):
    def answer(session, rejection):
        if rejection.code in codes:
            raise RuntimeError("a fault of this reader")
        raise rejection

    return on_failure(answer)


def crash_on_nothing(honest):
    def meaning(self):
        if not self.events:
            raise RuntimeError("a fault of this reader")
        return honest(self)

    return meaning


def recursive(honest):
    """As a parser that recurses."""

    def parse(text):
        if depth(text) > 1000:
            raise RecursionError("a fault of this reader")
        return honest(text)

    return parse


class Whims:
    """Drops the first notification every other time."""

    def __init__(self):
        self.again = False

    def __call__(self, events):
        self.again = not self.again
        first = next((at for at, event in enumerate(events) if event["kind"] == "notification"), None)
        return events if first is None or not self.again else events[:first] + events[first + 1 :]


def repeats_read(*names, keep=-1):
    """Takes the last of two members with one of these names."""

    def edit(item):
        if type(item) is not TwiceNamed or not any(name in item.twice() for name in names):
            return None
        seen, pairs = set(), item.pairs if keep == 0 else item.pairs[::-1]
        kept = [(name, value) for name, value in pairs if not (name in names and name in seen or seen.add(name))]
        return TwiceNamed(kept if keep == 0 else kept[::-1])

    return edit


def in_params(edit):
    def apply(message):
        new = edit(message["params"]) if isinstance(message.get("params"), dict) else None
        return None if new is None else {**message, "params": new}

    return apply


def last_of_twice(value):
    return dict(value) if type(value) is TwiceNamed else value


def last_members(event):
    return {name: deep(value, last_of_twice) for name, value in event.items()}


def mark(edit):
    return on_bytes(lambda data: edit(data) if data.startswith(b"\xef\xbb\xbf") else None)


def lone_surrogates(text):
    return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text) if type(text) is str else text


FAULTS = {
    "SRV-BYTES": {
        "rejects-nothing": ("takes what it cannot read for an empty session", on_failure(nothing)),
        "partial": ("gives what it read before an error as the whole session", on_failure(partial)),
        "partial-when-cut": ("gives what it read of a file that was cut off as the whole session", on_failure(partial_when_cut)),
        "bad-bytes-replaced": ("puts U+FFFD for bytes that are not UTF-8",
            on_bytes(lambda data: data.decode("utf-8", "replace").encode())),
        "bad-bytes-skipped": ("drops bytes that are not UTF-8", on_bytes(lambda data: data.decode("utf-8", "ignore").encode())),
        "latin-1": ("reads bytes that are not UTF-8 as Latin-1",
            on_bytes(lambda data: None if data == data.decode("utf-8", "ignore").encode() else data.decode("latin-1").encode())),
        "surrogate-bytes": ("takes the bytes of a surrogate for UTF-8",
            on_bytes(lambda data: re.sub(rb"\xed[\xa0-\xbf][\x80-\xbf]", b"?", data))),
        "overlong": ("takes overlong forms for UTF-8", on_bytes(overlong)),
        "utf-16": ("reads UTF-16 where a file begins with its mark", on_bytes(utf_16)),
        "padding": ("drops NUL bytes at the end of a file", on_bytes(lambda data: data.rstrip(b"\0"))),
        "c-file": ("ends a file at its first NUL", on_bytes(lambda data: data.partition(b"\0")[0])),
        "empty-file": ("takes an empty file for an empty session", empty_if(lambda name, data: name not in LINES and not data)),
        "blank-file": ("takes a file of white space for an empty session",
            empty_if(lambda name, data: name not in LINES and data and not data.strip())),
        "rest-ignored": ("does not look at what follows the document", documents(first_document)),
        "any-bracket-closes": ("takes either closing bracket for the other at the end of a document", documents(other_bracket)),
        "closed-for-it": ("closes the brackets that a cut file leaves open", documents(closed)),
        "last-line-forgiven": (
            "passes over a last line that is not JSON",
            on_text(
                lambda text: text[: text.rstrip().rfind("\n") + 1] if is_broken(text.rstrip().rpartition("\n")[2]) else None
            ).within(*LINES),
        ),
        "odd-lines-passed": ("passes over a line of a trace that is JSON and not an object",
            patch(mcp_replay, "lines", lambda honest: lambda file: (pair for pair in honest(file) if isinstance(pair[1], dict)))),
        "crashes-on-types": ("dies where a member has a type that it did not expect", crash_on("wrong-type", "wrong-document")),
        "crashes-on-nothing": ("dies of a session without messages", patch(Session, "meaning", crash_on_nothing)),
        "unmarked-passed": ("looks for `jsonrpc` in text, and passes over a line without it",
            on_raw_lines(lambda line: None if b"jsonrpc" in line or not is_text(line) else b"").within("jsonrpc")),
        "crashes-on-entries": ("dies of an entry that is not an object", crash_on("invalid-entry")),
    },
    "ENV-SINGLE": {
        "crashes-on-arrays": ("dies of an array where a message belongs", crash_on("batch")),
    },
    "SRV-DEPTH": {
        "depth-of-64": ("rejects more than 64 levels of nesting, as a parser of .NET does", too_deep(64)),
        "small-stack": ("dies of 1,000 levels of nesting", on_parse(recursive)),
    },
    "SRV-SAME": {
        "whims": ("drops the first notification every other time", on_events(Whims())),
    },
    "SRV-TWICE": {
        "last-of-two-ids-in-lines": ("takes the last of two members called `id`, only in lines",
            on_message(repeats_read("id")).within("jsonrpc")),
        "first-of-two-ids-in-lines": ("takes the first of two, only in lines",
            on_message(repeats_read("id", keep=0)).within("jsonrpc")),
        "last-of-two-methods-in-lines": ("takes the last of two members called `method`, only in lines",
            on_message(repeats_read("method")).within("jsonrpc")),
        "last-of-two-names-in-lines": ("takes the last of two members called `name` in params, only in lines",
            on_message(in_params(repeats_read("name"))).within("jsonrpc")),
        "last-of-two-slots-in-one": ("takes the last of two members of one name in an entry, only in http-sse",
            on_entry(repeats_read("request", "response", "sse")).within("http-sse")),
        "last-of-two-in-lines": ("keeps the last of two members of one name in lines, and both elsewhere",
            on_event(last_members).within("jsonrpc")),
        "mark-rejected-in-lines": ("rejects a byte order mark, only in lines", mark(lambda data: b"?" + data).within("jsonrpc")),
        "mark-costs-a-line": ("loses the line with a byte order mark", mark(lambda data: data.partition(b"\n")[2] or data)),
        "surrogates-replaced-in-lines": ("puts U+FFFD for half of a surrogate pair, only in lines",
            on_event(lambda event: {name: deep(value, lone_surrogates) for name, value in event.items()}).within("jsonrpc")),
    },
}
