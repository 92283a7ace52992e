"""Ids: which there are, and how they read as text."""


import re
import unicodedata

import contract
from contract import Session
from faults.correlation import last_open_without_id, null_calls, on_answer, only_open
from faults.seams import (
    DROPPED,
    GONE,
    instead,
    null_id,
    on_event,
    on_message,
    patch,
)
from jsontext import Number


def on_id(edit):
    """The id as text is another one: edit(message, id)."""

    def make(honest):
        def id_of(message, place):
            return edit(message, honest(message, place))

        return id_of

    make.keeps = lambda message, place: edit(message, id_ := contract.correlation_id(message, place)) == id_
    return patch(contract, "correlation_id", make)


def on_text_id(edit):
    return on_id(lambda message, id_: edit(id_) if type(message.get("id")) is str else id_)


def on_number_id(edit):
    return on_id(lambda message, id_: edit(id_) if type(message.get("id")) is Number else id_)


def bad_id(edit):
    """An id that is a boolean, an object or an array: other text, None for no id, or GONE where it is rejected."""

    def make(honest):
        def id_of(message, place):
            value = message.get("id")
            other = edit(message, value) if isinstance(value, (bool, dict, list)) else GONE
            return honest(message, place) if other is GONE else other

        return id_of

    make.keeps = lambda message, _: not isinstance(message.get("id"), (bool, dict, list))
    return patch(contract, "correlation_id", make)


def is_whole(text):
    return text.lstrip("-").isdigit()


def as_double(text):
    return str(int(float(text))) if is_whole(text) else text


def in_32_bits(text):
    return str((int(text) + 2**31) % 2**32 - 2**31) if is_whole(text) else text


def digits_of(text):
    return str(int(text)) if text.isascii() and text.isdigit() else text


def odd_form(text):
    return not is_whole(text) or text == "-0"


def refuses_odd_forms(honest):
    def correlation_id(message, place):
        if type(message.get("id")) is Number and odd_form(message["id"].text):
            raise contract.Rejection("invalid-id", place, "an id is a string or an integer")
        return honest(message, place)

    return correlation_id


def up_to(mark):
    return on_text_id(lambda id_: id_.partition(mark)[0])


def without(pattern):
    return on_text_id(lambda id_: re.sub(pattern, "", id_))


def in_base(pattern, base):
    return on_text_id(lambda id_: str(int(id_, base)) if re.fullmatch(pattern, id_) else id_)


FAULTS = {
    "ID-STRING": {
        "id-trimmed": ("trims string ids", on_text_id(str.strip)),
        "id-in-lower-case": ("writes string ids in lower case", on_text_id(str.lower)),
        "id-read-as-number": ("reads a string id of digits as a number", on_text_id(digits_of)),
        "id-empty-is-none": ("takes the empty string for no id", on_text_id(lambda id_: id_ or None)),
        "id-composed": ("composes accents in string ids (NFC)", on_text_id(lambda id_: unicodedata.normalize("NFC", id_))),
        "id-in-ascii": ("drops what is not ASCII from a string id",
            on_text_id(lambda id_: id_.encode("ascii", "ignore").decode())),
        "id-up-to-a-point": ("cuts a string id at a point", up_to(".")),
        "id-behind-a-point": ("keeps of a string id what stands behind the last point",
            on_text_id(lambda id_: id_.rpartition(".")[2])),
        "id-up-to-an-at": ("cuts a string id at an @", up_to("@")),
        "id-up-to-a-comma": ("cuts a string id at a comma", up_to(",")),
        "id-up-to-a-bar": ("cuts a string id at a bar", up_to("|")),
        "id-up-to-a-space": ("cuts a string id at a space", up_to(" ")),
        "id-of-one-line": ("cuts a string id at a line end", up_to("\n")),
        "id-without-spaces": ("drops spaces from a string id", without("\\s")),
        "id-without-controls": ("drops control characters from a string id", without("[\0-\x1f]")),
        "id-without-marks": ("drops byte order marks from a string id", without("\ufeff")),
        "id-without-bidi": ("drops characters that change the direction of text from a string id", without("\u202e")),
        "id-of-a-form": ("writes a space for a plus in a string id", on_text_id(lambda id_: id_.replace("+", " "))),
        "id-without-double-quotes": ("drops quotes around a string id", on_text_id(lambda id_: id_.strip('"'))),
        "id-without-brackets": ("drops brackets around a string id", on_text_id(lambda id_: id_.strip("{}[]()"))),
        "id-without-a-scheme": ("drops urn:uuid: before a string id", without("^urn:uuid:")),
        "id-without-zeros": ("drops zeros before the digits of a string id", without("^0+(?=\\d+$)")),
        "id-without-a-plus": ("drops a plus before the digits of a string id", without("^\\+(?=\\d+$)")),
        "id-without-a-fraction": ("drops .0 behind the digits of a string id", without("(?<=^\\d)\\.0$")),
        "id-with-an-exponent": ("reads a string id such as 1e0 as a number", without("(?<=^\\d)e0$")),
        "id-in-octal": ("reads a string id such as 017 as an octal number", in_base("0[0-7]+", 8)),
        "id-in-binary": ("reads a string id such as 0b11 as a binary number", in_base("0b[01]+", 2)),
        "id-of-javascript": ("drops n behind the digits of a string id", without("(?<=\\d)n$")),
        "id-with-thousands": ("drops the comma between thousands of a string id", without("(?<=^\\d),(?=\\d{3}$)")),
        "id-minus-one-is-none": ("takes the string id -1 for none", on_text_id(lambda id_: None if id_ == "-1" else id_)),
        "id-text-zero-is-none": ("takes the string id 0 for none, as PHP does",
            on_text_id(lambda id_: None if id_ == "0" else id_)),
        "id-true-is-none": ("takes the string id true for none", on_text_id(lambda id_: None if id_ == "true" else id_)),
        "id-printed-is-none": ("takes what prints for an object or an array for no id",
            on_text_id(lambda id_: None if id_ in ("{}", "[]", "[object Object]") else id_)),
        "id-uuid-without-dashes": ("drops the dashes of an id that is a UUID", without("-(?=[0-9a-f-]{12,}$)")),
        "id-without-padding": ("drops equals signs behind a string id", on_text_id(lambda id_: id_.rstrip("="))),
        "id-without-points": ("drops points behind a string id", on_text_id(lambda id_: id_.rstrip("."))),
        "id-trimmed-left": ("trims the start of a string id", on_text_id(str.lstrip)),
        "id-trimmed-right": ("trims the end of a string id", on_text_id(str.rstrip)),
        "id-without-a-line-end": ("drops a line end behind a string id", on_text_id(lambda id_: id_.rstrip("\n"))),
        "id-plain-spaces": ("writes a space for a no-break space in a string id",
            on_text_id(lambda id_: id_.replace("\u00a0", " "))),
        "id-in-turkish": ("takes the letters i with and without a dot for one",
            on_text_id(lambda id_: id_.translate({0x130: "i", 0x131: "i"}))),
        "id-letters-like-others": ("takes both small sigmas for one, and the Kelvin sign for K",
            on_text_id(lambda id_: id_.translate({0x3C2: "\u03c3", 0x212A: "K"}))),
        "id-quotes-halved": ("writes one apostrophe for two in a string id", on_text_id(lambda id_: id_.replace("''", "'"))),
        "id-of-500": ("cuts a string id to 500 characters", on_text_id(lambda id_: id_[:500])),
        "id-of-2000": ("cuts a string id to 2,000 characters", on_text_id(lambda id_: id_[:2000])),
        "id-of-the-last-1000": ("keeps the last 1,000 characters of a string id", on_text_id(lambda id_: id_[-1000:])),
        "id-cut": ("keeps the first 64 characters of a string id", on_text_id(lambda id_: id_[:64])),
    },
    "ID-NUMBER": {
        "id-is-a-double": ("puts number ids through a double", on_number_id(as_double)),
        "id-in-32-bits": ("keeps 32 bits of a number id", on_number_id(in_32_bits)),
        "id-typed": ('takes 1 and "1" for two ids',
            instead(Session, "_key", lambda self, message, id_: (type(message.get("id")), id_))),
        "id-sign-dropped": ("drops the sign of a number id", on_number_id(lambda id_: id_.lstrip("-"))),
        "id-zero-is-none": ("takes the id 0 for none", on_number_id(lambda id_: None if id_ == "0" else id_)),
        "id-numbers-are-none": ("knows only string ids", on_number_id(lambda id_: None)),
    },
    "ID-NUMBER-FORM": {
        "id-forms-never-meet": ("takes an id such as 1.0 for none, only in HAR",
            on_number_id(lambda id_: None if odd_form(id_) else id_).within("har")),
        "id-forms-in-one": (
            "writes 1.0 as 1, only in lines",
            on_number_id(lambda id_: str(int(float(id_))) if odd_form(id_) and float(id_).is_integer() else id_).within(
                "jsonrpc"
            ),
        ),
        "id-forms-refused": ("rejects an id that is spelled 1.0", patch(contract, "correlation_id", refuses_odd_forms)),
        "id-forms-unbound": (
            "does not bind an answer whose id is spelled 1.0",
            on_answer(
                lambda session, message, found: (
                    None if type(message.get("id")) is Number and odd_form(message["id"].text) else found
                )
            ),
        ),
    },
    "ID-NULL": {
        "null-pairs": ("lets an answer with a null id answer a call with a null id",
            on_id(lambda message, id_: "\0null" if null_id(message) else id_)),
        "null-answers-the-only-one": ("lets an answer with a null id answer the one request that is open", on_answer(only_open)),
        "null-rejected": ("rejects a message with a null id",
            on_message(lambda message: message | {"id": []} if null_id(message) else None)),
        "null-dropped": ("drops a message with a null id", on_message(lambda message: DROPPED if null_id(message) else None)),
        "null-calls-are-duplicates": ("rejects two tool calls with null ids as duplicates",
            patch(Session, "_tool_call", null_calls)),
    },
    "ID-MISSING": {
        "calls-are-notifications": (
            "takes a tool call without an id for a notification",
            on_event(
                lambda event: (
                    {"kind": "notification", "method": "tools/call"}
                    if event["kind"] == "tool_call" and "id" not in event
                    else None
                )
            ),
        ),
        "missing-answers-the-last": ("lets an answer without an id answer the last open request",
            on_answer(last_open_without_id)),
        "missing-is-undefined": (
            "writes `undefined` for the missing id of a tool call or an answer",
            on_id(
                lambda message, id_: (
                    "undefined" if "id" not in message and message.get("method", "tools/call") == "tools/call" else id_
                )
            ),
        ),
        "missing-answers-dropped": ("drops an answer without an id",
            on_message(lambda message: DROPPED if "id" not in message and "method" not in message else None)),
        "missing-is-a-request": ("numbers messages without an id, and so makes requests of notifications",
            on_event(lambda event: event | {"kind": "request", "id": "1"} if event["kind"] == "notification" else None)),
    },
    "ID-NULL-TEXT": {
        "null-is-text": ("takes null for the string `null`", on_id(lambda message, id_: "null" if null_id(message) else id_)),
        "text-null-is-null": ("takes the string `null` for null", on_text_id(lambda id_: None if id_ == "null" else id_)),
    },
    "ID-REJECT": {
        "id-booleans-printed": ("prints a boolean id as text",
            bad_id(lambda message, id_: str(id_).lower() if isinstance(id_, bool) else GONE)),
        "id-false-is-none": ("takes the id false for none", bad_id(lambda message, id_: None if id_ is False else GONE)),
        "id-arrays-joined": ("prints an array id as its items, joined",
            bad_id(lambda message, id_: ",".join(map(str, id_)) if isinstance(id_, list) else GONE)),
        "id-objects-printed": ("prints an object id as `[object Object]`",
            bad_id(lambda message, id_: "[object Object]" if isinstance(id_, dict) else GONE)),
        "id-checked-on-requests-only": ("takes a bad id of an answer for none",
            bad_id(lambda message, id_: GONE if "method" in message else None)),
        "id-checked-on-answers-only": ("takes a bad id of a request for none",
            bad_id(lambda message, id_: None if "method" in message else GONE)),
        "id-bad-passed-over": ("carries on without a message with a bad id",
            on_message(lambda message: DROPPED if isinstance(message.get("id"), (bool, dict, list)) else None)),
    },
}
