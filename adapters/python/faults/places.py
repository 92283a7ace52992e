"""What becomes of values in the places where importers take less care: params of other methods, notifications, other answers."""

import unicodedata

from faults.habits import members, named, nfkc
from faults.seams import deep, numbers, on_events, strings
from faults.values import as_double, digits_are_numbers, sorted_items, unpacked
from jsontext import Number


def nothing(*kinds):
    return lambda name, value: any(value == kind and type(value) is type(kind) for kind in kinds)


EDITS = {
    "doubles": ("puts numbers through a double", numbers(as_double)),
    "big-numbers-in-text": ("writes numbers of more than 15 digits as strings",
        numbers(lambda text: text if len(text.lstrip("-")) > 15 and text.lstrip("-").isdigit() else None)),
    "digits-read": ("reads strings of digits as numbers", strings(digits_are_numbers)),
    "exponents-lost": ("writes null for a number that a double cannot hold",
        lambda value: None if type(value) is Number and "e" in value.text.lower() and abs(float(value.text)) == float("inf")
        else value),
    "ends-trimmed": ("trims strings", strings(str.strip)),
    "accents-composed": ("composes accents in strings (NFC)", strings(lambda text: unicodedata.normalize("NFC", text))),
    "letters-made-plain": ("writes ligatures and wide letters as plain ones (NFKC)", strings(nfkc)),
    "controls-lost": ("drops control characters",
        strings(lambda text: "".join(char for char in text if char >= " " or char in "\t\r\n"))),
    "nuls-end": ("ends a string at a NUL", strings(lambda text: text.partition("\0")[0])),
    "returns-lost": ("writes LF for CRLF", strings(lambda text: text.replace("\r\n", "\n"))),
    "separators-made-plain": ("writes LF for U+2028", strings(lambda text: text.replace("\u2028", "\n"))),
    "high-characters-asked": ("puts a question mark for a character beyond the basic plane",
        strings(lambda text: "".join("?" if char > "\uffff" else char for char in text))),
    "json-unpacked": ("reads a string that holds a JSON object as the object", strings(unpacked)),
    "nulls-lost": ("drops members that are null", members(nothing(None))),
    "empty-texts-lost": ("drops members that are an empty text", members(nothing(""))),
    "empty-lists-lost": ("drops members that are an empty array", members(nothing([]))),
    "empty-objects-lost": ("drops members that are an empty object", members(nothing({}))),
    "false-lost": ("drops members that are false", members(nothing(False))),
    "zeros-lost": ("drops members that are 0", members(nothing(Number("0")))),
    "meta-lost": ("drops `_meta`", members(lambda name, value: name == "_meta")),
    "proto-lost": ("drops members called `__proto__`", members(lambda name, value: name == "__proto__")),
    "empty-names-lost": ("drops members with an empty name", members(lambda name, value: name == "")),
    "names-in-lower-case": ("writes names in lower case", named(str.lower)),
    "arrays-sorted": ("sorts the items of arrays", sorted_items),
    "secrets-hidden": ("drops members called token or password", members(lambda name, value: name in ("token", "password"))),
}


def answered(event, events):
    return None if event.get("answers") is None else events[event["answers"]]["kind"]


PLACES = {
    "arguments-alone": ("EQ-ARGS", "the arguments of tool calls", "arguments", lambda event, events: True),
    "params": ("EQ-ARGS", "the params of requests", "params", lambda event, events: event["kind"] == "request"),
    "notifications": ("EQ-ARGS", "the params of notifications", "params", lambda event, events: event["kind"] == "notification"),
    "results-of-calls": ("EQ-OUTCOME", "the results of tool calls", "result",
        lambda event, events: answered(event, events) == "tool_call"),
    "other-results": ("EQ-OUTCOME", "the results of other requests", "result",
        lambda event, events: answered(event, events) == "request"),
    "orphans": ("EQ-OUTCOME", "results that are orphans", "result", lambda event, events: event.get("answers") is None),
    "errors": ("EQ-OUTCOME", "errors", "error", lambda event, events: True),
}


def there(edit, name, condition):
    """Edits the values of this member of the events for which the condition holds."""
    return on_events(
        lambda events: [
            event | {name: deep(event[name], edit)} if name in event and condition(event, events) else event for event in events
        ]
    )


FAULTS = {
    clause: {
        f"{fault}-in-{place}": (f"{does}, in {where}", there(edit, name, condition))
        for place, (of, where, name, condition) in PLACES.items()
        if of == clause
        for fault, (does, edit) in EDITS.items()
    }
    for clause in ("EQ-ARGS", "EQ-OUTCOME")
}
