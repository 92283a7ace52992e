"""What looks like the right exchange, event or entry and is its neighbour: another status, media type, name or time."""

import re
from decimal import Decimal

import discovery
import sse
from clock import milliseconds
from contract import Rejection
from formats import envelope, har, inspector
from jsontext import JsonError, Number, parse

from faults.seams import (
    DROPPED,
    Change,
    instead,
    member_of,
    on_entry,
    on_exchange,
    on_exported,
    patch,
    without,
)

ANSWER_TYPES = ("text/json", "application/json-rpc", "application/javascript", "application/octet-stream", "application/x-ndjson")


def status_loses(*statuses):
    return on_exchange(
        lambda exchange: (
            {**exchange, "response": without(exchange["response"], "content")}
            if member_of(exchange, "response", "status") in [Number(status) for status in statuses]
            else None
        )
    )


def media_type(edit):
    return patch(har, "_media_type", lambda honest: lambda content, answer: edit(honest(content, answer), content, answer))


def posts_without(condition):
    return on_exchange(
        lambda exchange: (
            {**exchange, "request": without(exchange["request"], "postData")}
            if isinstance(member_of(exchange, "request", "postData"), dict) and condition(exchange["request"]["postData"])
            else None
        )
    )


def whole_milliseconds(value, place):
    exact = milliseconds(value, place)
    return (
        exact
        if exact is None or type(value) is Number
        else exact.quantize(1)
        if exact == exact.to_integral()
        else exact.quantize(milliseconds(Number("0.001"), ""))
    )


def label(edit):
    """Takes another label for the one that is due."""
    return patch(
        envelope,
        "document",
        lambda honest: (
            lambda file: (
                {**whole, "transport": edit(whole["transport"])}
                if isinstance(whole := honest(file), dict) and type(whole.get("transport")) is str
                else whole
            )
        ),
    )


def on_header(edit):
    return patch(discovery, "parameter_names", lambda honest: lambda header: honest(edit(header)))


def lines_of_streams(edit):
    return patch(har, "blocks", lambda honest: lambda text: honest(edit(text)))


def on_events_of_streams(make):
    return Change(patches=((envelope, "carried_message", make), (har, "carried_message", make)))


def renamed(condition):
    """Takes events whose names fulfil the condition for those named message."""
    return on_events_of_streams(
        lambda honest: lambda name, data, place: honest("message" if name and condition(name) else name, data, place)
    )


def unwrapped(honest):
    def carried(name, data, place):
        found = honest(name, data, place)
        if found is sse.NOTHING and isinstance(data, dict):
            return next((data[name] for name in ("message", "data") if isinstance(data.get(name), dict)), found)
        return found

    return carried


def up_to_where_it_breaks(honest):
    def from_text(text, place):
        start = text.lstrip()
        if start.startswith("{"):
            try:
                return parse(start[: start.rindex("}") + 1])
            except (JsonError, ValueError):
                pass
        return honest(text, place)

    return from_text


FAULTS = {
    "INS-EXPORT": {
        "small-numbers-are-seconds": (
            "takes a small number at `timestamp` for seconds",
            patch(
                inspector,
                "milliseconds",
                lambda honest: (
                    lambda value, place: (
                        honest(value, place) * 1000
                        if type(value) is Number and place.endswith("timestamp") and abs(honest(value, place)) < 10**11
                        else honest(value, place)
                    )
                ),
            ),
        ),
        "microseconds-at-most": (
            "drops what a time says beyond a microsecond",
            instead(inspector, "milliseconds", whole_milliseconds),
        ),
        "messages-as-text": (
            "parses a `message` that is text",
            on_exported(lambda item: {**item, "message": parse(item["message"])} if type(item["message"]) is str else None),
        ),
        "null-messages-dropped": (
            "drops an item whose `message` is null",
            patch(
                inspector,
                "_timed",
                lambda honest: (
                    lambda items: honest(
                        [item for item in items if not (isinstance(item, dict) and item.get("message", 0) is None)]
                    )
                ),
            ),
        ),
        "answers-need-an-origin": (
            "drops the answer of an item that names no sender",
            on_exported(lambda item: without(item, "response") if "origin" not in item else None),
        ),
    },
    "HAR-ORDER": {
        "starts-as-text": (
            "sorts by the text of the start",
            patch(
                har,
                "milliseconds",
                lambda honest: (
                    lambda value, place: (
                        Decimal(int.from_bytes(value.encode()[:30].ljust(30))) if type(value) is str else honest(value, place)
                    )
                ),
            ),
        ),
        "times-of-blocks-rounded": (
            "rounds the times of blocks down",
            patch(
                har,
                "_times",
                lambda honest: lambda entry: None if (found := honest(entry)) is None else [time // 1 for time in found],
            ),
        ),
        "startless-rejected": (
            "rejects an exchange without a start",
            on_exchange(lambda exchange: exchange | {"startedDateTime": ""} if "startedDateTime" not in exchange else None),
        ),
    },
    "HAR-MESSAGE": {
        "any-json-type": (
            "reads answers of types that are nearly application/json",
            media_type(lambda kind, content, answer: "application/json" if kind in ANSWER_TYPES else kind),
        ),
        "type-of-the-content-only": (
            "looks for the type of an answer only in `content.mimeType`",
            media_type(lambda kind, content, answer: kind if content.get("mimeType") else ""),
        ),
        "forms-are-no-messages": (
            "passes over a POST body whose type is that of a form",
            posts_without(lambda body: "form" in str(body.get("mimeType"))),
        ),
        "posts-need-a-type": ("passes over a POST body without a type", posts_without(lambda body: not body.get("mimeType"))),
        "bodies-of-gets": (
            "reads the body of a GET or a DELETE as the client's",
            on_exchange(
                lambda exchange: (
                    {**exchange, "request": {**exchange["request"], "method": "POST"}}
                    if isinstance(member_of(exchange, "request", "postData"), dict)
                    and member_of(exchange, "request", "method") in ("GET", "DELETE")
                    else None
                )
            ),
        ),
        "unavailable-is-silent": ("reads no answer under 409, 429, 500 or 503", status_loses("409", "429", "500", "503")),
        "created-is-silent": ("reads no answer under 201, 202, 206, 300 or 304", status_loses("201", "202", "206", "300", "304")),
        "broken-off-is-silent": (
            "drops an exchange without an answer",
            on_exchange(lambda exchange: DROPPED if member_of(exchange, "response", "status") in (None, Number("0")) else None),
        ),
    },
    "HAR-STREAM": {
        "base64-letter-by-letter": (
            "knows base64 only in small letters",
            patch(
                har,
                "_text",
                lambda honest: (
                    lambda body, place: honest(
                        without(body, "encoding") if body.get("encoding") in ("Base64", "BASE64") else body, place
                    )
                ),
            ),
        ),
        "base64-without-space": (
            "rejects base64 with white space in it",
            patch(
                har,
                "_text",
                lambda honest: (
                    lambda body, place: honest(
                        {**body, "text": "!"} if body.get("encoding") == "base64" and " " in str(body.get("text")) else body,
                        place,
                    )
                ),
            ),
        ),
        "any-stream-type": (
            "reads streams of types that are nearly text/event-stream",
            media_type(lambda kind, content, answer: "text/event-stream" if "event-stream" in kind else kind),
        ),
        "cr-crlf-is-one-end": ("takes CR CR LF for one line end", lines_of_streams(lambda text: re.sub("\r+\n", "\n", text))),
        "space-is-an-empty-line": (
            "takes a line of spaces for an empty one",
            lines_of_streams(lambda text: re.sub(r"(?m)^ +$", "", text)),
        ),
    },
    "SSE-EVENT": {
        "error-events-read": (
            "reads messages from events named error, data or response",
            renamed(lambda name: name in ("error", "data", "response")),
        ),
        "names-that-begin-alike": (
            "reads messages from events whose names begin with message",
            renamed(lambda name: name.startswith("message")),
        ),
    },
    "SSE-DATA-TEXT": {
        "wrapped-messages": (
            "takes a message out of the member `message` or `data` of the data",
            on_events_of_streams(unwrapped),
        ),
    },
    "SSE-DATA-BROKEN": {
        "data-up-to-the-break": ("reads data up to where it breaks", patch(sse, "_from_text", up_to_where_it_breaks)),
    },
    "ENV-TRANSPORT": {
        "label-with-underscores-read": ("reads underscores in the label as hyphens", label(lambda text: text.replace("_", "-"))),
        "label-up-to-a-slash": ("reads the label up to a slash", label(lambda text: text.split("/")[0])),
    },
    "ENV-ONE": {
        "empty-entries-dropped": ("drops an empty entry", on_entry(lambda entry: None if entry else DROPPED)),
        "slot-of-notifications": (
            "knows a slot for notifications",
            on_entry(
                lambda entry: {**entry, "request": entry["notification"]} if "notification" in entry and len(entry) == 1 else None
            ),
        ),
    },
    "ENV-EMPTY": {
        "one-entry-is-a-list": (
            "takes one entry for a list of it",
            patch(
                envelope,
                "document",
                lambda honest: (
                    lambda file: (
                        {**whole, "entries": [whole["entries"]]}
                        if isinstance(whole := honest(file), dict)
                        and isinstance(whole.get("entries"), dict)
                        and "request" in whole["entries"]
                        else whole
                    )
                ),
            ),
        ),
    },
    "K2A-SUMMARY": {
        "apostrophes-quote": ("reads apostrophes as quotes", on_header(lambda header: re.sub(r"'[^']*'", "x", header))),
    },
    "K2A-BOUND": {
        "star-dropped": ("drops the star behind a parameter's name", on_header(lambda header: header.replace("*=", "="))),
        "headers-with-underscores": (
            "takes WWW_Authenticate for WWW-Authenticate",
            patch(
                envelope,
                "_header",
                lambda honest: (
                    lambda headers, wanted: honest(
                        {name.replace("_", "-"): value for name, value in headers.items()}
                        if isinstance(headers, dict)
                        else headers,
                        wanted,
                    )
                ),
            ),
        ),
    },
}
