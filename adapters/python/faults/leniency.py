"""What importers make of files: near misses that they forgive, pieces that they read apart, and what they leave out."""

import base64
import re
from decimal import Decimal

from faults import challenge, envelopes, replay
from faults.choices import CHOICES
from faults.lines import version
from faults.seams import (
    DROPPED,
    ENVELOPES,
    lenient,
    member_of,
    on_bytes,
    on_document,
    on_entry,
    on_raw_lines,
    on_text,
    on_trace_line,
    patch,
    put,
    text_of,
)
from faults.survival import documents
from formats import envelope, har
from jsontext import JsonError, Number, parse

CHANGES = {name: change for rows in CHOICES.values() for name, (_, change) in rows.items()}


OTHER_NAMES = {"started_at": "startedAt", "cmd": "command", "name": "label"}


# --- lines and JSON -----------------------------------------------------------------------------------------------


def mended(pattern, new):
    return lenient(lambda text: re.sub(pattern, new, text))


def lines_up_to_128k(data):
    lines = data.split(b"\n")
    short = next((at for at, line in enumerate(lines) if len(line) > 131_072), None)
    return None if short is None else b"\n".join(lines[:short])


def without_the_last_brace(line):
    try:
        parse(line.decode())
    except JsonError as error:
        return line.rstrip() + b"}" if error.truncated and line.strip() else None
    except UnicodeDecodeError:
        return None


def decoded_by(size):
    """The bytes become text in blocks, and what is cut at their border is replaced."""

    def edit(data):
        return b"".join(data[at : at + size].decode("utf-8", "replace").encode() for at in range(0, len(data), size))

    def whole(data):
        try:
            data.decode()
        except UnicodeDecodeError:
            return None
        return edit(data) if len(data) > size else None

    return on_bytes(whole)


# --- envelopes ----------------------------------------------------------------------------------------------------


def status(entry):
    return member_of(entry, "transport_context", "status")


def is_error(entry):
    return type(status(entry)) is Number and Decimal(status(entry).text) >= 400


def bodies_are_none(condition):
    """What stands in `response` is taken for none: condition(entry, body)."""
    return on_entry(
        lambda entry: {**entry, "response": None} if "response" in entry and condition(entry, entry["response"]) else None
    )


def unversioned(body):
    return isinstance(body, dict) and "jsonrpc" not in body


def comes_again(honest):
    def read_entry(entry, place, session):
        honest(entry, place, session)
        if isinstance(entry, dict) and "response" in entry and status(entry) == Number("401"):
            session._tool_call_ids.clear()

    return read_entry


def data(edit):
    """The data of an event of an envelope is another one: edit(sse)."""
    return envelopes.on_event(lambda event: None if (new := edit(event)) is None else {**event, "data": new})


def in_base64(event):
    text = event.get("data")
    if type(text) is str and re.fullmatch(r"eyJ[A-Za-z0-9+/]+=*", text):
        return base64.b64decode(text).decode()


def by_numbers(entries):
    return sorted(entries, key=lambda entry: float(number.text) if type(number := member_of(entry, "seq")) is Number else 0)


def apart(choice, only):
    """A choice that the contract leaves open, made in one format only."""
    return CHANGES[choice].within(only)


def scope_of_403(entry):
    context = entry.get("transport_context")
    if member_of(context, "status") == Number("403") and "insufficient_scope" in text_of(context):
        return put(entry, Number("401"), "transport_context", "status")


def heads_behind_the_end(lines):
    ended = False
    kept = []
    for place, line in lines:
        if not (ended and replay.is_meta(line)):
            kept.append((place, line))
        ended = ended or replay.is_end(line)
    return kept


def lists_of(kind):
    """Arrays of these that hold no message."""

    def holds(name, value):
        return type(value) is list and bool(value) and all(isinstance(item, kind) and "jsonrpc" not in item for item in value)

    return holds


FAULTS = {
    "JRP-LINE": {
        "escapes-in-braces": ("reads escapes such as \\u{41}, as JavaScript does", mended(r"\\u\{[0-9A-F]+\}", "?")),
        "doubled-commas": ("reads two commas as one", mended(",,", ",")),
        "leading-commas": ("drops a comma behind an opening bracket", mended(r"\[,", "[")),
        "words-in-capitals": ("reads TRUE as true", mended(r":TRUE", ":true")),
        "digits-with-underscores": ("drops underscores between digits", mended(r"(?<=\d)_(?=\d)", "")),
        "escapes-of-c": ("reads escapes such as \\v, as C does", mended(r"\\[ave0]", "?")),
        "commas-added": ("adds a comma between two members", mended(r'(?<=\d) (?=")', ",")),
        "exponents-completed": ("drops an exponent without digits", mended(r"(?<=\d)e(?=[,}])", "")),
        "integers-of-javascript": ("drops n behind digits", mended(r"(?<=\d)n(?=[,}])", "")),
        "ends-of-dos": ("ends a file at Ctrl-Z", on_bytes(lambda data: data.partition(b"\x1a")[0] if b"\x1a" in data else None)),
        "hashes-are-comments": ("passes over lines that begin with a hash",
            on_raw_lines(lambda line: b"" if line.startswith(b"#") else None)),
        "levels-cut-off": ("cuts off the level of a log before a message",
            on_raw_lines(lambda line: re.sub(rb"^\[[A-Z]+\] ", b"", line))),
        "brace-too-many": ("drops a closing brace too many at the end of a line",
            lenient(lambda text: text.rstrip()[:-1] if text.rstrip().endswith("}}") else text)),
        "brace-added": ("adds the closing brace that a line lacks", on_raw_lines(without_the_last_brace)),
        "lines-of-128k": ("ends at a line of more than 128 KiB", on_bytes(lines_up_to_128k).within("jsonrpc", "mcp-replay")),
        "returns-refused": ("rejects a carriage return that does not stand before a line feed",
            on_raw_lines(lambda line: b"?" if line.endswith(b"\r\r") else None)),
    },
    "SRV-BYTES": {
        "comments-behind-values": ("reads comments in JSON", mended(r"/\*.*?\*/", "")),
        "blocks-of-4k": ("makes text of blocks of 4 KiB, and breaks characters at their borders", decoded_by(4096)),
        "blocks-of-64k": ("makes text of blocks of 64 KiB, and breaks characters at their borders", decoded_by(65_536)),
        "fences-cut-off": ("reads a document in a fence of Markdown",
            documents(lambda text: re.sub(r"^```\w*\n|```\s*$", "", text) if text.startswith("```") else None)),
        "two-marks-dropped": ("drops two byte order marks",
            on_text(lambda text: text[1:] if text[:2] == "\ufeff\ufeff" else None)),
    },
    "SRV-DEPTH": {
        "seventy-levels": ("rejects text of more than seventy levels",
            on_bytes(lambda text: b"[" if re.search(rb"\[{70}", text) and not re.search(rb"\[{100}", text) else None)),
    },
    "JRP-VERSION": {
        "versions-of-three-parts": ('takes "2.0.0" for the version', version(lambda message: message.get("jsonrpc") == "2.0.0")),
    },
    "ENV-TRANSPORT": {
        "labels-in-an-array": ("takes the first of several labels", envelopes.label(lambda given, there: type(given) is list)),
        "label-in-any-case": ("finds `Transport`",
            on_document(lambda whole: {**whole, "transport": whole["Transport"]}
                if isinstance(whole, dict) and "Transport" in whole else None).within(*ENVELOPES)),
    },
    "ENV-ONE": {
        "slot-called-body": ("takes `body` for a missing response",
            on_entry(lambda entry: {**entry, "response": entry["body"]} if "body" in entry and "request" not in entry else None)),
        "slot-called-event": ("takes `event` for a missing sse",
            on_entry(lambda entry: {**entry, "sse": entry["event"]} if isinstance(entry.get("event"), dict) else None)),
        "slot-called-error-read": ("passes over an entry with a slot called error",
            on_entry(lambda entry: DROPPED if "error" in entry else None)),
        "times-alone-passed": ("passes over an entry with nothing but a time",
            on_entry(lambda entry: DROPPED if set(entry) == {"timestamp_ms"} else None)),
        "last-null-passed": ("passes over a null at the end of the entries",
            on_document(lambda whole: put(whole, whole["entries"][:-1], "entries")
                if type(entries := member_of(whole, "entries")) is list and entries[-1:] == [None] else None).within(*ENVELOPES)),
    },
    "ENV-SINGLE": {
        "responses-unpacked": ("reads a response that is JSON text",
            on_entry(lambda entry: {**entry, "response": parse(entry["response"])}
                if type(entry.get("response")) is str and entry["response"].startswith("{") else None)),
    },
    "ENV-NULL": {
        "error-texts-are-none": ("takes a text under an HTTP error for none",
            bodies_are_none(lambda entry, body: is_error(entry) and type(body) is str)),
        "bodies-under-any-status-are-none": ("takes a body without `jsonrpc` under any status for none",
            bodies_are_none(lambda entry, body: status(entry) is not None and unversioned(body))),
        "requests-under-errors-are-none": ("takes a request without `jsonrpc` under an HTTP error for none",
            on_entry(lambda entry: put(entry, None, "request") if is_error(entry) and unversioned(entry.get("request")) else None)),
        "versions-under-errors-unread": ("takes a message of another version under an HTTP error for none",
            bodies_are_none(lambda entry, body: is_error(entry) and member_of(body, "jsonrpc") not in (None, "2.0"))),
        "odd-bodies-apart": ("takes every object without `jsonrpc` under an HTTP error for none, only in http-sse",
            apart("error-bodies-of-any-shape", "http-sse")),
        "bodies-under-600-apart": ("rejects a body without `jsonrpc` under a status of 600 or more, only in http-sse",
            apart("statuses-up-to-599", "http-sse")),
    },
    "ENV-EMPTY": {
        "entries-unpacked": ("reads entries that are JSON text",
            on_document(lambda whole: put(whole, parse(entries), "entries")
                if type(entries := member_of(whole, "entries")) is str else None).within(*ENVELOPES)),
    },
    "EQ-CONTEXT": {
        "gets-dropped": ("drops entries whose context has the method GET or DELETE",
            on_entry(lambda entry: DROPPED if member_of(entry, "transport_context", "method") in ("GET", "DELETE") else None)),
        "marked-entries-dropped": ("drops entries that are marked as dropped or said twice",
            on_entry(lambda entry: DROPPED if entry.get("dropped") or entry.get("duplicate") else None)),
    },
    "EQ-ORDER": {
        "by-sequence-numbers": ("takes the entries in the order of `seq`",
            on_document(lambda whole: put(whole, by_numbers(entries), "entries")
                if type(entries := member_of(whole, "entries")) is list else None).within(*ENVELOPES)),
    },
    "ENV-LOOSE": {
        "times-of-0-dropped": ("drops an entry with the time 0",
            on_entry(lambda entry: DROPPED if entry.get("timestamp_ms") == Number("0") else None)),
        "empty-event-ids-dropped": ("drops events whose id is empty",
            envelopes.on_event(lambda event: DROPPED if event.get("id") == "" else None)),
    },
    "ENV-UNKNOWN": {
        "types-of-entries": ("drops an entry whose type is log or error",
            on_entry(lambda entry: DROPPED if entry.get("type") in ("log", "error") else None)),
        "truncated-envelopes": ("rejects an envelope that says that it is truncated",
            on_document(lambda whole: [] if member_of(whole, "truncated") else None).within(*ENVELOPES)),
    },
    "COR-DUPLICATE": {
        "comes-again-behind-401": ("lets calls come again behind a 401 of an envelope",
            patch(envelope, "_read_entry", comes_again)),
    },
    "SSE-EVENT": {
        "names-in-arrays": ("takes the first of several names of an event",
            envelopes.on_event(lambda event: put(event, event["event"][0], "event") if type(event.get("event")) is list else None)),
        "names-called-null": ("takes an event called null for one without a name",
            patch(har, "carried_message",
                lambda honest: lambda name, *given: honest("" if name == "null" else name, *given))),
    },
    "SSE-KEEPALIVE": {
        "data-in-any-case": ("finds `Data`", data(lambda event: event.get("Data"))),
        "data-called-json": ("takes the member `json` for missing data", data(lambda event: event.get("json"))),
    },
    "SSE-DATA-STRING": {
        "data-behind-its-name": ("cuts off the word data before a message",
            data(lambda event: text[6:] if str(text := event.get("data")).startswith("data: ") else None)),
        "data-in-base64": ("decodes data in base64", data(in_base64)),
        "data-behind-spaces": ("trims data of what Unicode calls space",
            envelopes.carried(lambda name, text: (name, text.strip()) if type(text) is str else None)),
        "data-behind-marks": ("drops a byte order mark before data",
            envelopes.carried(lambda name, text: (name, text.lstrip("\ufeff")) if type(text) is str else None)),
    },
    "SSE-DATA-TEXT": {
        "params-are-refused": ("rejects data that is an object with only params",
            envelopes.refused(lambda name, value: isinstance(value, dict) and set(value) == {"params"})),
        "bare-ids-refused": ("rejects data that is an object with only an id",
            envelopes.refused(lambda name, value: isinstance(value, dict) and set(value) == {"id"})),
        "white-data-refused": ("rejects data of spaces",
            envelopes.refused(lambda name, value: type(value) is str and value.isspace())),
        "markup-refused": ("rejects data that is markup",
            envelopes.refused(lambda name, value: type(value) is str and value.startswith("<"))),
        "lists-of-texts-refused": ("rejects data that is an array of strings", envelopes.refused(lists_of(str))),
        "lists-of-objects-refused": ("rejects data that is an array of objects", envelopes.refused(lists_of(dict))),
        "lists-of-lists-refused": ("rejects data that is an array of arrays", envelopes.refused(lists_of(list))),
        "quoted-texts-refused": ("rejects data that is a string in quotes",
            envelopes.refused(lambda name, value: type(value) is str and re.fullmatch(r'"\w*"', value))),
    },
    "SSE-DATA-BROKEN": {
        "last-commas-forgiven": ("reads data with a comma behind the last member",
            envelopes.carried(lambda name, text: (name, re.sub(r",\s*}$", "}", text)) if type(text) is str else None)),
        "nan-is-null": ("reads NaN in data as null",
            envelopes.carried(lambda name, text: (name, text.replace(":NaN", ":null")) if type(text) is str else None)),
        "half-arrays-apart": ("passes over half of an array of messages, only in HAR", apart("broken-arrays-passed", "har")),
    },
    "SSE-DATA-NESTED": {
        "two-strings-apart": ("passes over a message inside two strings, only in HAR", apart("deeper-strings-passed", "har")),
    },
    "K2A-SUMMARY": {
        "challenges-of-1k": ("reads 1,024 characters of a challenge", challenge.on_header(lambda value: value[:1024])),
        "challenges-of-8k": ("reads 8,192 characters of a challenge", challenge.on_header(lambda value: value[:8192])),
        "four-parameters": ("reads four parameters of a challenge",
            challenge.on_header(lambda value: ",".join(value.split(",")[:4]))),
        "no-digest": ("does not know the scheme Digest",
            challenge.on_header(lambda value: value if value[:6] != "Digest" else "")),
        "one-space-behind-a-scheme": ("wants one space behind a scheme",
            challenge.on_header(lambda value: "" if re.match(r"\w+  ", value) else value)),
        "bare-scheme-ends": ("ends a header at a scheme without parameters",
            challenge.on_header(lambda value: "" if re.match(r"\w+,", value) else value)),
        "challenges-of-4k": ("reads 4,096 characters of a challenge", challenge.on_header(lambda value: value[:4096])),
        "tokens-of-letters": ("ends a challenge at a character that is not a letter, digit or separator",
            challenge.on_header(lambda value: re.split(r"[^\w\s=,\"./:;<>?@()\[\]\\-]", value)[0] if '"' not in value else None)),
        "ascii-challenges": ("reads no challenge with characters beyond ASCII",
            challenge.on_header(lambda value: None if value.isascii() else "")),
    },
    "K2A-BOUND": {
        "names-that-end-alike": ("takes parameters whose names end with the two names for them",
            challenge.on_names(lambda names, header: names | {wanted for wanted in ("scope", "resource_metadata")
                if any(name.endswith(wanted) for name in names)})),
        "bare-words-count": ("counts the word scope without a value",
            challenge.on_names(lambda names, header: names | {"scope"} if re.search(r",\s*scope$", header) else names)),
        "under-400": ("takes a challenge under 400 or 404, too",
            challenge.with_status(lambda number: number in (Number("400"), Number("404")))),
        "scopes-of-403": ("takes a challenge under 403 that lacks a scope, too", on_entry(scope_of_403)),
        "beside-the-context": ("looks for status and headers beside the context, too",
            on_entry(lambda entry: {**entry, "transport_context": entry} if "response" in entry and "status" in entry else None)),
        "inside-of-the-context": ("looks for status and headers deeper inside of the context, too",
            on_entry(lambda entry: {**entry, "transport_context": inner}
                if (inner := member_of(entry, "transport_context", "response")) is not None else None)),
    },
    "RPL-META": {
        "labels-are-texts": ("rejects a label that is not a text",
            replay.head_rejected(lambda head: type(head.get("label", "")) is not str)),
        "commands-are-no-objects": ("rejects a command that is an object",
            replay.head_rejected(lambda head: isinstance(head.get("command"), dict))),
        "commands-of-texts": ("rejects a command with an item that is not a text",
            replay.head_rejected(lambda head: any(type(item) is not str for item in head.get("command") or ())
                if type(head.get("command")) is list else False)),
        "starts-in-utc-wanted": ("rejects a start in another zone",
            replay.head_rejected(lambda head: "+" in str(head.get("startedAt")))),
        "head-called-kind": ("takes a line of the kind meta for one of that type",
            replay.on_head(lambda head: {**head, "type": "meta"} if head.get("kind") == "meta" else None)),
        "head-by-other-names": ("takes started_at, cmd and name for startedAt, command and label",
            replay.on_head(lambda head: {OTHER_NAMES.get(name, name): value for name, value in head.items()})),
        "command-is-no-number": ("rejects a command that is a number",
            replay.head_rejected(lambda head: type(head.get("command")) is Number)),
        "head-without-a-dir": ("rejects a meta line that has a direction", replay.head_rejected(lambda head: "dir" in head)),
        "head-behind-the-end": ("passes over a meta line behind the end", replay.on_trace(heads_behind_the_end)),
        "version-called-so": ("takes `version` for a missing `v`",
            replay.on_head(lambda head: {**head, "v": head["version"]} if "v" not in head and "version" in head else None)),
    },
    "RPL-MESSAGE": {
        "kinds-are-texts": ("rejects a kind that is not a text",
            replay.line_rejected(lambda line: type(line.get("kind", "")) is not str)),
        "dirs-in-arrays": ("takes the first of several directions",
            on_trace_line(lambda line: {**line, "dir": line["dir"][0]} if type(line.get("dir")) is list else None)),
        "raw-called-data": ("takes `data` for a missing `raw`",
            on_trace_line(lambda line: {**line, "raw": line["data"]} if "raw" not in line and "data" in line else None)),
    },
    "RPL-DIR": {
        "noise-of-others-refused": ("rejects a line of another direction whose raw is not an object",
            replay.line_rejected(lambda line: line.get("dir") == "err" and type(line.get("raw")) is str)),
    },
    "RPL-ORDER": {
        "times-in-utc": ("drops a message whose time is in another zone",
            on_trace_line(lambda line: DROPPED if "+" in str(line.get("t")) and "dir" in line else None)),
    },
    "RPL-NOISE": {
        "raw-around-a-message": ("takes `raw.message` for the message",
            on_trace_line(lambda line: {**line, "raw": line["raw"]["message"]} if member_of(line, "raw", "message") else None)),
    },
    "RPL-UNKNOWN": {
        "ends-in-any-case": ("takes the type End for end",
            on_trace_line(lambda line: {**line, "type": "end"} if line.get("type") == "End" else None)),
        "truncated-dropped": ("drops a line that says that it is truncated",
            on_trace_line(lambda line: DROPPED if line.get("truncated") else None)),
        "closed-is-ended": ("takes the type close for end",
            on_trace_line(lambda line: {**line, "type": "end"} if line.get("type") == "close" else None)),
        "null-dirs-refused": ("rejects a line whose dir is null",
            replay.line_rejected(lambda line: "type" in line and line.get("dir", "") is None)),
        "versions-of-lines": ("rejects a line whose `v` is not 1",
            replay.line_rejected(lambda line: line.get("type") != "meta" and line.get("v", Number("1")) != Number("1"))),
    },
    "RPL-END": {
        "exit-codes-of-32-bits": ("rejects an exit code beyond 32 bits",
            replay.line_rejected(lambda line: type(line.get("exitCode")) is Number and len(line["exitCode"].text) > 9)),
        "durations-are-whole": ("rejects a duration with a fraction",
            replay.line_rejected(lambda line: "." in getattr(line.get("durationMs"), "text", ""))),
        "exit-codes-of-0-on": ("rejects a negative exit code",
            replay.line_rejected(lambda line: type(line.get("exitCode")) is Number and line["exitCode"].text.startswith("-"))),
    },
}
