"""What becomes of the values in messages."""


import struct
import unicodedata

from faults.seams import (
    GONE,
    member_of,
    numbers,
    on_event,
    on_values,
    rejects,
    strings,
    text_of,
    without,
)
from jsontext import JsonError, Number, parse

ALL = ("tool", "arguments", "params", "result", "error")
ARGUMENTS, OUTCOME = ("arguments", "params"), ("result", "error")


def same_or(text, value):
    return None if Number(text) == Number(repr(value)) else Number(repr(value))


def as_double(text):
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else same_or(text, value)


def as_single(text):
    try:
        return same_or(text, struct.unpack("f", struct.pack("f", float(text)))[0])
    except OverflowError:
        return None


def significant(text):
    return any(digit in "123456789" for digit in text.lower().partition("e")[0])


def drop_characters(dropped, instead=""):
    return strings(lambda text: "".join(instead if dropped(char) else char for char in text))


def is_noncharacter(char):
    return ord(char) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(char) <= 0xFDEF


def unpacked(text):
    try:
        value = parse(text) if text.lstrip().startswith("{") else text
    except JsonError:
        return text
    return value


def digits_are_numbers(text):
    return Number(text) if text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") else text


def names_without_case(value):
    if not isinstance(value, dict):
        return value
    kept = {}
    for name in value:
        kept.setdefault(name.lower(), name)
    return {name: value[name] for name in kept.values()}


def sorted_items(value):
    return sorted(value, key=text_of) if type(value) is list and len(value) > 1 else value


def sixteen_levels(event, names):
    def cut(value, level):
        if isinstance(value, (dict, list)) and level > 16:
            return None
        if isinstance(value, dict):
            return {name: cut(inner, level + 1) for name, inner in value.items()}
        return [cut(inner, level + 1) for inner in value] if isinstance(value, list) else value

    return event | {name: cut(event[name], 0) for name in names if name in event}


BIDI = {*map(chr, (0x200E, 0x200F)), *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A))}
CONTROLS = {*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))} - {"\n", "\r", "\t"}

VALUES = {
    "doubles": ("puts numbers through a double", numbers(as_double)),
    "singles": ("puts numbers through a 32-bit float", numbers(as_single)),
    "truncated": ("drops what follows the decimal point",
        numbers(lambda text: Number(text.partition(".")[0]) if "." in text else None)),
    "huge-is-null": ("writes null for a number that a double cannot hold",
        lambda value: None if type(value) is Number and float(value.text) in (float("inf"), float("-inf")) else value),
    "tiny-is-zero": ("writes 0 for a number that is too small for a double",
        numbers(lambda text: Number("0") if float(text) == 0 and significant(text) else None)),
    "big-numbers-as-text": ("writes numbers of more than 15 digits as strings",
        numbers(lambda text: text if sum(map(str.isdigit, text)) > 15 else None)),
    "numbers-as-text": ("writes numbers as strings", numbers(lambda text: text)),
    "digits-are-numbers": ("reads strings of digits as numbers", strings(digits_are_numbers)),
    "unpacked": ("reads a string that holds a JSON object as the object", strings(unpacked)),
    "composed": ("composes accents in strings (NFC)", strings(lambda text: unicodedata.normalize("NFC", text))),
    "trimmed": ("trims strings", strings(str.strip)),
    "line-ends": ("writes LF for CRLF in strings", strings(lambda text: text.replace("\r\n", "\n"))),
    "separators": ("writes LF for U+2028 and U+2029", strings(lambda text: text.replace("\u2028", "\n").replace("\u2029", "\n"))),
    "no-controls": ("drops control characters other than line ends and tabs", drop_characters(lambda char: char in CONTROLS)),
    "c-strings": ("ends a string at a NUL", strings(lambda text: text.partition("\0")[0])),
    "no-bidi": ("drops characters that change the direction of text", drop_characters(lambda char: char in BIDI)),
    "basic-plane": ("puts a question mark for a character beyond the basic plane",
        drop_characters(lambda char: char > "\uffff", "?")),
    "no-noncharacters": ("puts U+FFFD for noncharacters such as U+FFFE", drop_characters(is_noncharacter, "\ufffd")),
    "cut-strings": ("keeps the first 32 KiB of a string", strings(lambda text: text[:32768])),
    "unescaped": ("reads HTML entities in strings",
        strings(lambda text: text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))),
    "empty-names": ("drops members with an empty name", lambda value: without(value, "")),
    "names-without-case": ("merges members whose names differ in case", names_without_case),
    "object-properties": ("drops members called `__proto__`", lambda value: without(value, "__proto__")),
    "sorted-arrays": ("sorts the items of arrays", sorted_items),
    "no-meta": ("drops `_meta`", lambda value: without(value, "_meta")),
}


def values(where, names, left_out):
    """The faults of a table for some members of events, but for those that no case shows there."""
    rows = {
        f"{name}-in-{where}": (f"{does}, in {where}", on_values(names, edit))
        for name, (does, edit) in VALUES.items()
        if name not in left_out
    }
    return rows


def tool(edit):
    return on_event(lambda event: event | {"tool": edit(event["tool"])} if type(event.get("tool")) is str else None)


def argument(condition, instead=GONE):
    def edit(event):
        if "arguments" in event and condition(event["arguments"]):
            return without(event, "arguments") if instead is GONE else event | {"arguments": instead}

    return on_event(edit)


def params(condition):
    return on_event(lambda event: without(event, "params") if "params" in event and condition(event["params"]) else None)


def as_call(event):
    given = event.get("params")
    given = given if isinstance(given, dict) else {}
    call = {"kind": "tool_call"} | ({"id": event["id"]} if "id" in event else {})
    return call | {to: given[name] for name, to in (("name", "tool"), ("arguments", "arguments")) if name in given}


def outcome(old, new, condition=lambda value: True):
    """Shows a result as an error or the other way round."""

    def edit(event):
        if event["kind"] == old and condition(event[old]):
            return without(event, old) | {"kind": new, new: event[old]}

    return on_event(edit)


FAULTS = {
    "EQ-TOOL": {
        "tools-are-calls": ("takes every method that begins with tools/ for a tool call",
            on_event(lambda event: as_call(event) if (event.get("method") or "").startswith("tools/") else None)),
        "methods-without-case": ("compares method names without case",
            on_event(lambda event: as_call(event) if (event.get("method") or "").lower() == "tools/call" else None)),
        "tool-trimmed": ("trims the name of a tool", tool(str.strip)),
        "tool-in-lower-case": ("writes the name of a tool in lower case", tool(str.lower)),
        "tool-composed": ("composes accents in the name of a tool (NFC)", tool(lambda name: unicodedata.normalize("NFC", name))),
        "tool-last-part": ("keeps the part of a tool name behind the last dot, slash or double underscore",
            tool(lambda name: name.replace("/", ".").replace("__", ".").rpartition(".")[2])),
        "tool-dashes": ("writes dashes for the underscores of a tool's name", tool(lambda name: name.replace("_", "-"))),
        "tool-prefixed": ("puts `mcp.` before the name of a tool", tool(lambda name: f"mcp.{name}")),
    },
    "EQ-ARGS": values("arguments", ARGUMENTS, ("cut-strings", "unescaped"))
    | {
        "absent-is-empty": (
            "puts {} for absent arguments",
            on_event(
                lambda event: event | {"arguments": {}} if event["kind"] == "tool_call" and "arguments" not in event else None
            ),
        ),
        "null-is-absent": ("drops null arguments", argument(lambda value: value is None)),
        "null-is-empty": ("puts {} for null arguments", argument(lambda value: value is None, {})),
        "empty-is-absent": ("drops empty arguments", argument(lambda value: value == {})),
        "arguments-are-objects": ("puts {} for arguments that are not an object",
            argument(lambda value: not isinstance(value, dict) and value is not None, {})),
        "null-params-dropped": ("drops null params", params(lambda value: value is None)),
        "empty-params-dropped": ("drops empty params", params(lambda value: value == {})),
        "sixteen-levels": ("puts null for what is nested deeper than sixteen levels",
            on_event(lambda event: sixteen_levels(event, ALL))),
    },
    "EQ-OUTCOME": values(
        "outcomes",
        OUTCOME,
        ("tiny-is-zero", "composed", "no-noncharacters", "empty-names", "names-without-case", "object-properties"),
    )
    | {
        "is-error-is-an-error": ("shows a result with isError as an error",
            outcome("result", "error", lambda value: member_of(value, "isError") is True)),
        "errors-are-results": ("shows an error as a result", outcome("error", "result")),
        "error-data-dropped": (
            "keeps only the code and message of an error",
            on_event(
                lambda event: (
                    event | {"error": {name: value for name, value in event["error"].items() if name in ("code", "message")}}
                    if isinstance(event.get("error"), dict)
                    else None
                )
            ),
        ),
        "structured-content-only": (
            "drops `content` where there is `structuredContent`",
            on_event(
                lambda event: (
                    event | {"result": without(event["result"], "content")}
                    if member_of(event, "result", "structuredContent") is not None
                    else None
                )
            ),
        ),
        "content-only": (
            "keeps only the `content` of a result that has it",
            on_event(
                lambda event: (
                    event | {"result": {"content": event["result"]["content"]}}
                    if member_of(event, "result", "content") is not None
                    else None
                )
            ),
        ),
        "null-result-is-none": ("takes a result that is null for none",
            rejects(lambda message: message.get("result", 0) is None, "not-a-message")),
    },
}
