"""Server-sent events: the text of a stream as events (WHATWG), and what one event's data carries.

`events` reads a whole stream; `carried_message` judges one event, wherever it was recorded: in a HAR body, or as the
`sse` member of an envelope entry. It knows what a message looks like, not what it means.
"""

import re

from contract import Rejection, looks_like_message
from jsontext import JsonError, parse

_LINE_END = re.compile(r"\r\n|\n|\r")
_JSON_SPACE = " \t\n\r"

NOTHING = object()  # this event carries no message; None would be a JSON value


def events(text):
    """(name, data) of every event that the stream finished; the name is "" where the stream gave none."""
    return (event for event in blocks(text) if event)


def blocks(text):
    """What stands between empty lines: an event, or None where it is a comment or fields without data."""
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    lines.pop()  # what stands behind the last line end is not a line
    name, data, begun = "", [], False
    for line in lines:
        if not line:
            if begun:
                yield (name, "\n".join(data)) if data else None
            name, data, begun = "", [], False
            continue
        begun = True
        field, _, value = line.partition(":")  # a comment starts with the colon: its field has no name
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value


def carried_message(name, data, place):
    """The JSON value that claims to be a message, or an array of such, or NOTHING. Only events named `message` carry any."""
    if name not in (None, "", "message"):
        return NOTHING
    if type(data) is str:
        data = _from_text(data, place)
    claims = any(map(looks_like_message, data)) if type(data) is list else looks_like_message(data)
    return data if claims else NOTHING


def _from_text(text, place):
    start = text.lstrip(_JSON_SPACE)
    try:
        value = parse(start) if start[:1] in ("{", "[", '"') else None
    except JsonError as error:
        if start.startswith("{") or start[:1] == "[" and start[1:].lstrip(_JSON_SPACE).startswith("{"):
            raise Rejection("broken-data", place, f"the data starts like a message and is not JSON: {error}") from None
        return None
    if type(value) is str and _holds_message(value):
        raise Rejection("nested-data", place, "a message inside a JSON string inside the data")
    return value


def _holds_message(text):
    value = text
    while type(value) is str:
        try:
            value = parse(value)
        except JsonError:
            return False
    items = value if type(value) is list else [value]
    return any(looks_like_message(item) for item in items)
