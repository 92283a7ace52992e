"""What the types and stores of importers make of values, and what else they hold to be so: lists, sessions, lines, headers."""

import re

from contract import Session
from faults.archives import CONTENT, body_lost
from faults.har import stream
from faults.lines import split_lines
from faults.limits import refuse
from faults.places import PLACES, there
from faults.seams import (
    DROPPED,
    LINES,
    arranged,
    loses,
    member_of,
    numbers,
    on_bytes,
    on_event,
    on_events,
    on_raw_lines,
    on_text,
    on_trace_line,
    patch,
    strings,
    text_of,
    without,
)
from faults.surroundings import names_at
from jsontext import Number, dump


def arrays_of(edit):
    return lambda value: edit(value) if type(value) is list else value


def objects_of(edit):
    return lambda value: edit(value) if type(value) is dict else value


def once(items):
    kept = {}
    for item in items:
        kept.setdefault(text_of(item), item)
    return items if len(kept) == len(items) else list(kept.values())


def once_by_equality(items):
    """As a set of Python or PHP has it: 1, 1.0 and true are one."""
    kept = {}
    for item in items:
        key = text_of(item)
        key = {"true": "1", "false": "0", "1.0": "1", "0.0": "0"}.get(key, key)
        kept.setdefault(key, item)
    return items if len(kept) == len(items) else list(kept.values())


def without_last_nulls(items):
    end = len(items)
    while end and items[end - 1] is None:
        end -= 1
    return items[:end] if end < len(items) else items


def clamped(least, most):
    def edit(text):
        if not re.fullmatch(r"-?\d{10,400}", text):
            return None
        number = max(least, min(most, int(text)))
        return None if number == int(text) else Number(str(number))

    return numbers(edit)


def expanded(value):
    new = {}
    for name, item in value.items():
        first, point, rest = name.partition(".")
        if point and first and rest and first not in value:
            new[first] = {**new.get(first, {}), rest: item} if isinstance(new.get(first, {}), dict) else item
        else:
            new[name] = item
    return new if new.keys() != value.keys() else value


def bracketed(value):
    has_some = any("[" in name for name in value)
    return {re.sub(r"\[(\w*)\]", r".\1", name): item for name, item in value.items()} if has_some else value


def cut(most):
    return strings(lambda text: text[:most] if len(text) > most else text)


def digit_names(value):
    """Names that are numbers come out as those."""
    return {str(float(name)) if re.fullmatch(r"\d+\.\d+", name) else name: item for name, item in value.items()}


EDITS = {
    "true-is-1": ("writes 1 for true and 0 for false, as SQLite does",
        lambda value: Number(str(int(value))) if type(value) is bool else value),
    "1-is-true": ("writes true for 1 and false for 0",
        lambda value: value.text == "1" if type(value) is Number and value.text in ("0", "1") else value),
    "true-is-text": ("writes true and false as text", lambda value: str(value).lower() if type(value) is bool else value),
    "null-is-text": ("writes the text null for null", lambda value: "null" if value is None else value),
    "null-is-empty-text": ("writes an empty text for null", lambda value: "" if value is None else value),
    "empty-text-is-null-inside": ("writes null for an empty text, as Oracle does", lambda value: None if value == "" else value),
    "empty-object-is-list": ("writes [] for {}, as PHP does", lambda value: [] if value == {} else value),
    "empty-list-is-object": ("writes {} for [], as Lua does", lambda value: {} if value == [] else value),
    "empty-list-is-null": ("writes null for [], as Go does with a nil slice", lambda value: None if value == [] else value),
    "list-of-one-unwrapped": ("unwraps an array of one item, as XML has it",
        arrays_of(lambda items: items[0] if len(items) == 1 else items)),
    "items-once": ("drops repeated items of arrays", arrays_of(once)),
    "equal-items-once": ("drops items of arrays that are equal to a language in which true is 1", arrays_of(once_by_equality)),
    "last-nulls-lost": ("drops nulls at the end of arrays", arrays_of(without_last_nulls)),
    "false-items-lost": ("drops false, 0 and empty texts from arrays",
        arrays_of(lambda items: kept if len(kept := [item for item in items if not (item is False or item == "" or item == {}
            or type(item) is Number and item == Number("0"))]) < len(items) else items)),
    "arrays-turned": ("turns arrays round", arrays_of(lambda items: items[::-1] if len(items) > 1 else items)),
    "arrays-of-16": ("keeps the first 16 items of arrays", arrays_of(lambda items: items[:16] if len(items) > 16 else items)),
    "objects-of-16": ("keeps the first 16 members of objects",
        objects_of(lambda value: dict(list(value.items())[:16]) if len(value) > 16 else value)),
    "clamped-to-64-bits": ("puts the largest number of 64 bits for a larger one", clamped(-(2**63), 2**63 - 1)),
    "clamped-to-53-bits": ("puts the largest safe number of JavaScript for a larger one", clamped(1 - 2**53, 2**53 - 1)),
    "clamped-to-32-bits": ("puts the largest number of 32 bits for a larger one", clamped(-(2**31), 2**31 - 1)),
    "points-expanded": ("makes objects of names with a point", objects_of(expanded)),
    "brackets-expanded": ("reads brackets in names", objects_of(bracketed)),
    "strings-of-256": ("cuts strings to 256 characters", cut(256)),
    "strings-of-4096": ("cuts strings to 4,096 characters", cut(4096)),
    "names-are-numbers": ("writes names such as 1.50 as 1.5", objects_of(digit_names)),
    "first-letters-lowered": ("writes the first letter of names small", objects_of(
        lambda value: {name[:1].lower() + name[1:]: item for name, item in value.items()})),
}

WHERE = ("arguments-alone", "params", "notifications", "results-of-calls", "other-results", "errors")


def inside(clause):
    return {
        f"{fault}-in-{place}": (f"{does}, in {PLACES[place][1]}", there(edit, *PLACES[place][2:]))
        for place in WHERE
        if PLACES[place][0] == clause
        for fault, (does, edit) in EDITS.items()
    }


def result(edit):
    return on_event(lambda event: event | {"result": new} if isinstance(event.get("result"), dict)
        and (new := edit(event["result"])) is not None else None)


def content(edit):
    return result(lambda it: {**it, "content": edit(it["content"])} if type(it.get("content")) is list else None)


def error_code(condition, code):
    return on_event(lambda event: event | {"error": {**event["error"], "code": Number(code)}}
        if type(code_of(event)) is Number and condition(code_of(event)) else None)


def code_of(event):
    return member_of(event, "error", "code")


def whole(number):
    return int(number.text) if re.fullmatch(r"-?\d{1,20}", number.text) else 0


def handshakes(events):
    return [at for at, event in enumerate(events) if event.get("method") == "initialize"]


def from_the_last(events):
    found = handshakes(events)
    return arranged(events, list(range(found[-1], len(events)))) if len(found) > 1 else None


def up_to_the_second(events):
    found = handshakes(events)
    return events[: found[1]] if len(found) > 1 else None


def refused(condition):
    """Rejects a batch for which the condition holds."""

    def make(honest):
        def add(self, value, sender, place, turned_away=False):
            if type(value) is list and condition(value):
                refuse()
            return honest(self, value, sender, place, turned_away)

        return add

    return patch(Session, "add", make)


def cut_batches(most):
    def make(honest):
        def add(self, value, sender, place, turned_away=False):
            return honest(self, value[:most] if type(value) is list else value, sender, place, turned_away)

        return add

    return patch(Session, "add", make)


def all_have(*names):
    return lambda items: all(isinstance(item, dict) and any(name in item for name in names) for item in items)


def is_notification(item):
    return isinstance(item, dict) and "method" in item and "id" not in item


def blocks_of(size):
    """Decodes blocks of bytes one by one."""

    def edit(data):
        if len(data) <= size:
            return None
        text = "".join(data[at : at + size].decode("utf-8", "replace") for at in range(0, len(data), size))
        return text.encode("utf-8")

    return on_bytes(edit)


def without_type(exchange):
    return not member_of(exchange, *CONTENT, "mimeType")


def type_header(condition):
    """Does not see the header with the media type where that counts."""
    return body_lost(lambda it: without_type(it) and condition(
        [header.get("name") for header in member_of(it, "response", "headers") or () if isinstance(header, dict)
            and str(header.get("name")).lower() == "content-type"], names_at(it, "response", "content-type")))


FAULTS = {
    "EQ-ARGS": {
        **inside("EQ-ARGS"),
    },
    "EQ-OUTCOME": {
        **inside("EQ-OUTCOME"),
        "content-of-text-alone": ("keeps only items of content whose type is text",
            content(lambda items: [item for item in items if member_of(item, "type") == "text"])),
        "content-of-known-types": ("keeps only items of content whose type the schema has",
            content(lambda items: [item for item in items
                if member_of(item, "type") in ("text", "image", "audio", "resource", "resource_link")])),
        "content-as-one-text": ("joins items of content that are text",
            content(lambda items: [{"type": "text", "text": "\n".join(item["text"] for item in items)}] if len(items) > 1
                and all(isinstance(item, dict) and item.get("type") == "text" and type(item.get("text")) is str for item in items)
                else items)),
        "content-null-is-empty": ("writes [] for content that is null",
            result(lambda it: {**it, "content": []} if "content" in it and it["content"] is None else None)),
        "content-of-one-listed": ("makes an array of content that is an object or a text",
            result(lambda it: {**it, "content": [it["content"]]} if isinstance(it.get("content"), (dict, str)) else None)),
        "content-added": ("adds empty content to a result that has only structuredContent",
            result(lambda it: {**it, "content": []} if "structuredContent" in it and "content" not in it else None)),
        "is-error-added": ("adds an isError that is false to a result with content",
            result(lambda it: {**it, "isError": False} if "content" in it and "isError" not in it else None)),
        "structured-in-text": ("drops structuredContent that the text repeats",
            result(lambda it: without(it, "structuredContent") if "structuredContent" in it and type(it.get("content")) is list
                and any(member_of(item, "text") is not None for item in it["content"]) else None)),
        "annotations-lost": ("drops annotations of items of content",
            content(lambda items: [without(item, "annotations") for item in items])),
        "error-codes-positive": ("writes -32603 for the code of an error above 0",
            error_code(lambda it: whole(it) > 0, "-32603")),
        "error-codes-of-servers": ("writes -32603 for the code of an error that JSON-RPC does not define",
            error_code(lambda it: whole(it) not in (-32700, -32600, -32601, -32602, -32603), "-32603")),
        "error-codes-of-zero": ("writes -32603 for the code 0", error_code(lambda it: whole(it) == 0, "-32603")),
        "error-data-in-text": ("writes the data of an error as JSON text",
            on_event(lambda event: event | {"error": {**event["error"], "data": dump(event["error"]["data"])}}
                if isinstance(member_of(event, "error", "data"), (dict, list)) else None)),
        "error-texts-wrapped": ("puts a text in the data of an error into an object",
            on_event(lambda event: event | {"error": {**event["error"], "data": {"message": event["error"]["data"]}}}
                if type(member_of(event, "error", "data")) is str else None)),
        "results-without-meta": ("drops `_meta` of a result at its top",
            result(lambda it: without(it, "_meta") if "_meta" in it else None)),
        "result-type-added": ("adds resultType to a result without it", result(lambda it: {**it, "resultType": "complete"}
            if "content" in it and "resultType" not in it else None)),
        "null-cursors-lost": ("drops a nextCursor that is null or empty",
            result(lambda it: without(it, "nextCursor") if "nextCursor" in it and not it["nextCursor"] else None)),
        "next-lines-in-streams": ("takes U+0085 for a line end of a stream", stream(lambda text: text.replace("\x85", "\n"))),
        "paragraphs-in-streams": ("takes U+2029 for a line end of a stream", stream(lambda text: text.replace("\u2029", "\n"))),
    },
    "EQ-TOOL": {
        "calls-by-their-params": ("takes every request with a name and arguments for a tool call",
            on_event(lambda event: {"kind": "tool_call", "id": event["id"], "tool": event["params"]["name"],
                "arguments": event["params"]["arguments"]} if event["kind"] == "request" and isinstance(event.get("params"), dict)
                and "name" in event["params"] and "arguments" in event["params"] else None)),
        "calls-by-their-name": ("takes every request whose params have a name for a tool call",
            on_event(lambda event: {"kind": "tool_call", "id": event["id"], "tool": event["params"]["name"]}
                if event["kind"] == "request" and isinstance(event.get("params"), dict) and "name" in event["params"] else None)),
    },
    "EQ-COUNT": {
        "last-session-alone": ("begins at the last initialize", on_events(from_the_last)),
        "first-session-alone": ("ends at the second initialize", on_events(up_to_the_second)),
        "initialized-once": ("drops a second `notifications/initialized`",
            loses(lambda events, at: events[at].get("method") == "notifications/initialized"
                and any(event.get("method") == "notifications/initialized" for event in events[:at]))),
        "initialize-once": ("drops a second initialize",
            loses(lambda events, at: events[at].get("method") == "initialize" and at > handshakes(events)[0])),
        "pings-of-servers-lost": ("drops pings without params", loses(lambda events, at: events[at].get("method") == "ping"
            and "params" not in events[at])),
    },
    "EQ-BATCH": {
        "batches-of-one-refused": ("rejects a batch of one message", refused(lambda items: len(items) == 1)),
        "batches-of-notifications-refused": ("rejects a batch that has only notifications",
            refused(lambda items: items and all(map(is_notification, items)))),
        "batches-of-answers-refused": ("rejects a batch that has only answers",
            refused(lambda items: items and all_have("result", "error")(items))),
        "mixed-batches-refused": ("rejects a batch of requests and answers",
            refused(lambda items: any(isinstance(item, dict) and "method" in item for item in items)
                and any(isinstance(item, dict) and ("result" in item or "error" in item) for item in items))),
        "batches-with-notifications-refused": ("rejects a batch with a notification among its requests",
            refused(lambda items: any(map(is_notification, items)) and not all(map(is_notification, items)))),
        "batches-of-two": ("reads the first two messages of a batch", cut_batches(2)),
        "batches-of-ten": ("reads the first ten messages of a batch", cut_batches(10)),
        "batches-of-fifty": ("reads the first fifty messages of a batch", cut_batches(50)),
        "batches-of-calls-refused": ("rejects a batch with a tool call",
            refused(lambda items: any(member_of(item, "method") == "tools/call" for item in items))),
    },
    "JRP-LINE": {
        "next-lines-end-lines": ("takes U+0085 for a line end", on_text(split_lines("\x85")).within(*LINES)),
        "paragraphs-end-lines": ("takes U+2029 for a line end", on_text(split_lines("\u2029")).within(*LINES)),
        "lines-letter-by-letter": ("looks for the letters of \"jsonrpc\":\"2.0\" in a line",
            on_raw_lines(lambda line: b"" if b'"jsonrpc"' in line and b'"jsonrpc":"2.0"' not in line and b'"2.0"' in line
                else None)),
        "lines-with-spaces-letter-by-letter": ("looks for the letters of \"method\": in a line without a space",
            on_raw_lines(lambda line: b"" if b'"method" ' in line else None)),
    },
    "SRV-BYTES": {
        "blocks-of-8k": ("makes text of blocks of 8 KiB, and breaks characters at their borders", blocks_of(8192)),
        "blocks-of-16k": ("makes text of blocks of 16 KiB, and breaks characters at their borders", blocks_of(16384)),
        "blocks-of-32k": ("makes text of blocks of 32 KiB, and breaks characters at their borders", blocks_of(32768)),
        "blocks-of-1k": ("makes text of blocks of 1 KiB, and breaks characters at their borders", blocks_of(1024)),
        "blocks-of-128": ("makes text of blocks of 128 bytes, and breaks characters at their borders", blocks_of(128)),
    },
    "RPL-MESSAGE": {
        "types-of-agents-dropped": ("drops a line of the types turn, log, error, note or stderr, whatever its dir is",
            on_trace_line(lambda it: DROPPED if "raw" in it
                and it.get("type") in ("turn", "log", "error", "note", "stderr", "event") else None)),
        "types-with-a-raw-dropped": ("drops a line whose type it does not know",
            on_trace_line(lambda it: DROPPED if "raw" in it
                and it.get("type") not in (None, "message", "msg", "request", "response") else None)),
        "types-of-messages-wanted": ("reads a line of the type message or rpc without a direction as the client's",
            on_trace_line(lambda it: {**it, "dir": "in"} if it.get("type") in ("message", "rpc", "request") and "dir" not in it
                and "raw" in it else None)),
    },
    "HAR-MESSAGE": {
        "type-header-as-written": ("looks for the header Content-Type only as the RFC spells it",
            type_header(lambda names, values: names and "Content-Type" not in names)),
        "type-header-in-lower-case": ("looks for the header content-type only in lower case",
            type_header(lambda names, values: names and "content-type" not in names)),
        "type-header-with-parameters-lost": ("knows no media type in a header that has parameters",
            type_header(lambda names, values: any(";" in str(value) for value in values))),
        "type-header-with-case": ("compares the media type in a header with case",
            type_header(lambda names, values: any(str(value) != str(value).lower() for value in values))),
        "type-header-for-json-alone": ("looks at the header with the media type only for JSON",
            type_header(lambda names, values: any("event-stream" in str(value).lower() for value in values))),
        "type-header-for-streams-alone": ("looks at the header with the media type only for streams",
            type_header(lambda names, values: any("json" in str(value).lower() for value in values))),
    },
    "HAR-STREAM": {
        "marks-of-base64-kept": ("takes a byte order mark of a stream in base64 for part of the first field",
            body_lost(lambda it: str(member_of(it, *CONTENT, "encoding")).lower() == "base64"
                and str(member_of(it, *CONTENT, "text")).startswith("77u/"))),
        "fields-of-unicode-trimmed": ("trims what Unicode calls space from the values of fields",
            stream(lambda text: re.sub(r"(?m)^(event):[^\S\n\r]*(.*?)[^\S\n\r]*$", r"\1:\2", text))),
    },
}
