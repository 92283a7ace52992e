"""Ids: which there are, and how they read as text."""


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


FAULTS = {
    "ID-STRING": {
        "id-trimmed": ("trims string ids", on_text_id(str.strip)),
        "id-in-lower-case": ("writes string ids in lower case", on_text_id(str.lower)),
        "id-read-as-number": ("reads a string id of digits as a number", on_text_id(digits_of)),
        "id-empty-is-none": ("takes the empty string for no id", on_text_id(lambda id_: id_ or None)),
        "id-composed": ("composes accents in string ids (NFC)", on_text_id(lambda id_: unicodedata.normalize("NFC", id_))),
        "id-in-ascii": ("drops what is not ASCII from a string id",
            on_text_id(lambda id_: id_.encode("ascii", "ignore").decode())),
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
