"""The other choices of `choices`, as far as they are about traces, lines, exports, archives and JSON."""

import base64
import re

import contract
from contract import CLIENT, SERVER, Rejection, looks_like_message
from faults.choices import BATCHES, all_of, arrays, each, is_body, refused
from faults.libraries import any_type
from faults.seams import (
    DROPPED,
    deep,
    member_of,
    on_bytes,
    on_exchange,
    on_lines,
    on_message,
    on_parse,
    patch,
    without,
)
from formats import har, inspector, mcp_replay
from jsontext import JsonError, Number, TwiceNamed, parse

# --- traces and lines ---------------------------------------------------------------------------------------------


def noise_passed(condition):
    """Passes over a `raw` that is not a message, where the condition holds for it."""

    def make(honest):
        def read_message(line, sender, ended, place, session):
            raw = line.get("raw")
            is_noise = "raw" in line and not looks_like_message(raw)
            if ended or not is_noise or (type(raw) is list and session._revision == BATCHES) or not condition(raw):
                honest(line, sender, ended, place, session)

        return read_message

    return patch(mcp_replay, "_read_message", make)


def is_end(line):
    return isinstance(line, dict) and line.get("type") == "end"


def on_trace(condition):
    """Rejects a trace for whose lines the condition holds."""

    def edit(lines):
        values = [value for _, value in lines]
        return refused("such a trace") if condition(values) else lines

    return on_lines(edit).within("mcp-replay")


def behind_the_end(values):
    return any(map(is_end, values[:-1]))


# --- messages -----------------------------------------------------------------------------------------------------


def has(*names):
    return lambda message: all(name in message for name in names)


def shape(condition, edit):
    """A message of this shape is another one, provided that what it calls a method is a text."""
    return on_message(
        lambda message: edit(message) if condition(message) and type(message.get("method", "")) is str else None
    )


def neither(message):
    return message.get("jsonrpc") == "2.0" and not any(name in message for name in ("method", "result", "error"))


# --- times --------------------------------------------------------------------------------------------------------

LOOSE = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?(Z|[+-]\d\d):?(\d\d)?", re.ASCII)
LEAP = re.compile(r"(.{10}.\d\d:\d\d:)60")


def on_times(edit, *modules):
    """edit(honest, value, place) in place of the time; durations are none."""

    def make(honest):
        return lambda value, place: honest(value, place) if place.endswith("duration") else edit(honest, value, place)

    return all_of(*(patch(module, "milliseconds", make) for module in modules))


def odd_is_missing(honest, value, place):
    try:
        return honest(value, place)
    except Rejection:
        return None


def in_digits(honest, value, place):
    return honest(Number(value) if type(value) is str and value.isdecimal() else value, place)


def spaces_refused(honest, value, place):
    return refused("such a time") if type(value) is str and " " in value else honest(value, place)


def loosely(honest, value, place):
    """A time in one of the forms that ISO 8601 has beside that of RFC 3339."""
    parts = LOOSE.fullmatch(value) if type(value) is str else None
    if not parts:
        return honest(value, place)
    day, minute, second, fraction, zone, minutes = parts.groups()
    zone = "Z" if zone == "Z" else f"{zone}:{minutes or '00'}"
    return honest(f"{day}T{minute}{second or ':00'}.{fraction or 0}{zone}", place)


def leap_seconds(edit):
    """edit(honest, text, place) where a time is a leap second."""
    return on_times(
        lambda honest, value, place: (
            edit(honest, value, place) if type(value) is str and LEAP.match(value) else honest(value, place)
        ),
        inspector,
        har,
    )


# --- exchanges ----------------------------------------------------------------------------------------------------


def numbers_refused(exchange):
    return refused("such a start") if type(exchange.get("startedDateTime")) is Number else None


def header_first(honest):
    def media_type(content, answer):
        named = next(har._header(answer, "content-type"), None)
        return honest({**content, "mimeType": named} if named else content, answer)

    return media_type


def says_json(kind):
    return type(kind) is str and kind.split(";")[0].strip().lower() == "application/json"


def broken_bodies(condition):
    """Rejects a body that says application/json, is not JSON, and for whose text the condition holds."""

    def is_broken(body, side):
        text = har._text(body, "")[0] if body else None
        kinds = [body.get("mimeType"), *har._header(side, "content-type")] if text else ()
        if not any(map(says_json, kinds)) or not text.strip() or not condition(text.strip()):
            return False
        try:
            parse(text.removeprefix("\ufeff"))
        except JsonError:
            return True
        return False

    def edit(exchange):
        request, answer = exchange.get("request"), exchange.get("response")
        sides = [(answer, "content")]
        if str(member_of(request, "method")).upper() == "POST":
            sides.append((request, "postData"))
        for side, name in sides:
            body = member_of(side, name)
            if isinstance(body, dict) and is_broken(body, side):
                refused("such a body")

    return on_exchange(edit)


def on_base64(edit):
    """A body in base64 has another text: edit(text)."""

    def make(honest):
        def text(body, place):
            encoding, said = body.get("encoding"), body.get("text")
            if type(encoding) is str and encoding.lower() == "base64" and type(said) is str:
                return honest({**body, "text": edit(said)}, place)
            return honest(body, place)

        return text

    return patch(har, "_text", make)


def padded(text):
    text = "".join(text.split())
    return text + "=" * (-len(text) % 4)


def bytes_replaced(honest):
    def read_answer(content, answer, place, session):
        if har._media_type(content, answer) == har._STREAM and str(content.get("encoding")).lower() == "base64":
            try:
                raw = base64.b64decode("".join(content["text"].split()), validate=True)
            except (KeyError, AttributeError, ValueError):
                pass
            else:
                content = {**content, "encoding": None, "text": raw.decode("utf-8", "replace")}
        return honest(content, answer, place, session)

    return read_answer


# --- JSON ---------------------------------------------------------------------------------------------------------


def on_json(edit):
    """Each value that is parsed is another one: edit(value, text)."""
    return on_parse(lambda honest: lambda text: edit(honest(text), text))


def inside(edit):
    """The same for the value and all values in it."""
    return on_json(lambda value, text: deep(value, edit))


def too_deep(limit):
    def edit(value, text):
        if text.count("[") + text.count("{") <= limit:
            return value
        level = 0
        for mark in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
            level += 1 if mark in "[{" else -1 if mark in "]}" else 0
            if level > limit:
                raise Rejection("limit", "", "this reader chooses not to read so deep a value")
        return value

    return on_json(edit)


def twice_refused(value):
    return refused("a member twice") if type(value) is TwiceNamed else value


def is_torn(text):
    return type(text) is str and any("\ud800" <= char <= "\udfff" for char in text)


def torn_refused(value):
    if is_torn(value) or isinstance(value, dict) and any(map(is_torn, value)):
        refused("half of a surrogate pair")
    return value


def first_of_two(value):
    return dict(reversed(value.pairs)) if type(value) is TwiceNamed else value


def last_of_two(value):
    return dict(value) if type(value) is TwiceNamed else value


def mark_refused(data):
    return refused("a byte order mark") if data.startswith(b"\xef\xbb\xbf") else None


CHOICES = {
    "RPL-NOISE": {
        "noise-passed-over": ("passes over a `raw` that is not a message", noise_passed(lambda raw: True)),
        "log-records-passed": (
            "passes over a `raw` that is an object and not a message, and rejects other noise",
            noise_passed(lambda raw: isinstance(raw, dict)),
        ),
        "log-texts-passed": (
            "passes over a `raw` that is not an object, and rejects an object that is not a message",
            noise_passed(lambda raw: not isinstance(raw, dict)),
        ),
    },
    "RPL-END": {
        "endless-refused": ("rejects a trace without `end`", on_trace(lambda values: not any(map(is_end, values)))),
        "ends-without-code-refused": (
            "rejects a trace whose `end` has no `exitCode`",
            on_trace(lambda values: any(is_end(value) and "exitCode" not in value for value in values)),
        ),
    },
    "RPL-UNKNOWN": {
        "lines-behind-end-refused": ("rejects each line behind `end`", on_trace(behind_the_end)),
    },
    "JRP-LINE": {
        "blank-files-refused": (
            "rejects a file without lines, or with blank ones only",
            on_lines(lambda lines: lines or refused("an empty file")).within("jsonrpc"),
        ),
    },
    "JRP-SHAPE": {
        "null-errors-left-out": (
            "takes an `error` that is null for none beside a result",
            shape(
                lambda it: has("result", "error")(it) and it["error"] is None, lambda message: without(message, "error")
            ),
        ),
        "null-results-left-out": (
            "takes whichever of `result` and `error` is null for none beside the other",
            shape(
                lambda it: has("result", "error")(it) and None in (it["result"], it["error"]),
                lambda message: without(message, "error" if message["error"] is None else "result"),
            ),
        ),
        "errors-win": (
            "reads a result beside an error as an error, unless that is null",
            shape(
                has("result", "error"),
                lambda message: without(message, "error" if message["error"] is None else "result"),
            ),
        ),
        "methods-win": (
            "reads a method beside a result or an error as a request",
            shape(
                lambda it: "method" in it and ("result" in it or "error" in it),
                lambda message: without(message, "result", "error"),
            ),
        ),
        "answers-win": (
            "reads a method beside a result or an error as an answer",
            shape(
                lambda it: "method" in it and ("result" in it) != ("error" in it), lambda message: without(message, "method")
            ),
        ),
        "neither-passed": (
            "passes over an object with `jsonrpc` and none of method, result and error",
            on_message(lambda message: DROPPED if neither(message) else None),
        ),
    },
    "INS-EXPORT": {
        "odd-times-missing": (
            "takes a timestamp in another form for a missing one",
            on_times(odd_is_missing, inspector),
        ),
        "timestamps-in-digits": (
            "reads a timestamp that is a text of digits",
            on_times(in_digits, inspector),
        ),
        "times-without-spaces": (
            "rejects a time with a space for the T",
            on_times(spaces_refused, inspector, har),
        ),
        "timestamps-of-iso": (
            "reads a timestamp with a comma, without seconds, or without a colon in its zone",
            on_times(loosely, inspector),
        ),
        "leap-seconds-before": (
            "takes a leap second for the second before it",
            leap_seconds(lambda honest, text, place: honest(LEAP.sub(r"\g<1>59", text), place)),
        ),
        "leap-seconds-refused": (
            "rejects a leap second",
            leap_seconds(lambda honest, text, place: refused("a leap second")),
        ),
        "leap-seconds-missing": (
            "takes a leap second for a missing time",
            leap_seconds(lambda honest, text, place: None),
        ),
        "senders-apart": (
            "pairs a message without a sender only with its own kind",
            patch(contract, "_ASKERS", lambda _: {CLIENT: (SERVER,), SERVER: (CLIENT,), None: (None,)}).within("inspector"),
        ),
    },
    "HAR-ORDER": {
        "odd-starts-missing": ("takes a start that is not a date of RFC 3339 for a missing one", on_times(odd_is_missing, har)),
        "starts-in-numbers-refused": ("rejects a start that is a number", on_exchange(numbers_refused)),
    },
    "HAR-MESSAGE": {
        "content-type-first": (
            "takes the media type of an answer from its header before `mimeType`",
            patch(har, "_media_type", header_first),
        ),
        "broken-bodies-refused": (
            "rejects a body that says application/json and is not JSON",
            broken_bodies(lambda text: True),
        ),
        "broken-messages-refused": (
            "rejects a body that says application/json, begins with a brace and is not JSON",
            broken_bodies(lambda text: text.startswith("{")),
        ),
        "body-arrays-read": ("reads an array of messages in a body message by message", arrays(is_body, each)),
    },
    "HAR-STREAM": {
        "padding-added": ("reads base64 without its padding", on_base64(padded)),
        "encodings-of-any-type": ("takes an encoding that is not a string for one that is not base64", any_type("encoding")),
        "stream-bytes-replaced": (
            "puts U+FFFD for bytes of a stream that are not UTF-8",
            patch(har, "_read_answer", bytes_replaced),
        ),
    },
    "SRV-DEPTH": {
        "depth-of-128": ("rejects more than 128 levels of nesting, as serde_json does", too_deep(128)),
    },
    "SRV-TWICE": {
        "twice-refused": ("rejects each object with a member twice", inside(twice_refused)),
        "last-of-two": ("reads the last of two members of one name", inside(last_of_two)),
        "first-of-two": ("reads the first of two members of one name", inside(first_of_two)),
        "lone-surrogates-refused": (
            "rejects half of a surrogate pair",
            on_json(lambda value, text: deep(value, torn_refused) if "\\u" in text else value),
        ),
        "marks-refused": ("rejects a byte order mark at the start of a file", on_bytes(mark_refused)),
    },
}
