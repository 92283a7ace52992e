"""Shortcuts of importers that look safe: in exchanges and their bodies, in batches, and in who is who."""

import json
import re

from contract import CLIENT, SERVER, Rejection, Session
from faults.exchanges import on_events_of_streams
from faults.seams import DROPPED, Change, loses, member_of, on_entry, on_exchange, patch, put
from formats import envelope, har
from jsontext import JsonError, Number, parse

POST, ANSWER = ("request", "postData", "text"), ("response", "content", "text")


def has_status(thing, path, statuses):
    return member_of(thing, *path) in [Number(status) for status in statuses]


def exchanges_lost(condition):
    return on_exchange(lambda exchange: DROPPED if condition(exchange) else None)


def statuses_lost(*statuses):
    return exchanges_lost(lambda exchange: has_status(exchange, ("response", "status"), statuses))


def entries_lost(*statuses):
    return on_entry(lambda entry: DROPPED if has_status(entry, ("transport_context", "status"), statuses) else None)


def exchanges_rejected(condition):
    def edit(exchange):
        if condition(exchange):
            raise Rejection("wrong-type", "", "a fault of this reader")

    return on_exchange(edit)


def method_in(event):
    return event.get("method", "")


def is_update(event):
    return method_in(event) == "notifications/resources/updated"


def dies():
    raise RuntimeError("a fault of this reader")


def has_null_headers(context):
    headers = context.get("headers", {}) if isinstance(context, dict) else {}
    return headers is None or isinstance(headers, dict) and None in headers.values()


def exchanges_crash(side, name):
    return on_exchange(lambda it: dies() if isinstance(it.get(side), dict) and name not in it[side] else None)


def answers_lost(condition):
    return on_exchange(lambda it: put(it, "", *ANSWER) if member_of(it, *ANSWER) and condition(it) else None)


def on_bodies(edit):
    def apply(exchange):
        new = exchange
        for path in (POST, ANSWER):
            text = member_of(exchange, *path)
            if type(text) is str and (other := edit(text)) is not None:
                new = put(new, other, *path)
        return None if new is exchange else new

    return on_exchange(apply)


def method_of(exchange):
    method = member_of(exchange, "request", "method")
    return method if type(method) is str else None


def posted(exchange):
    try:
        return parse(member_of(exchange, *POST) or "null")
    except (JsonError, TypeError):
        return None


def posts_no_request(exchange):
    value = posted(exchange)
    return isinstance(value, dict) and "jsonrpc" in value and not ("method" in value and value.get("id") is not None)


def with_the_id_of_the_post(exchange):
    asked, text = posted(exchange), member_of(exchange, *ANSWER)
    if not isinstance(asked, dict) or type(asked.get("id")) not in (str, Number) or type(text) is not str:
        return None
    if not re.match(r'\s*\{.*"(result|error)"', text, re.DOTALL) or '"method"' in text:
        return None
    shown = json.dumps(asked["id"]) if type(asked["id"]) is str else asked["id"].text
    other = re.sub(r'"id"\s*:\s*("[^"]*"|[^,}\s]+)', lambda _: f'"id":{shown}', text, count=1)
    return None if other == text else put(exchange, other, *ANSWER)


def refused(*_):
    raise Rejection("wrong-type", "", "a fault of this reader")




def other_encodings(edit):
    """edit(body, place) → another body where its encoding is neither empty nor base64."""

    def make(honest):
        def text(body, place):
            encoding = body.get("encoding")
            is_other = encoding is not None and str(encoding).lower() not in ("", "base64")
            return honest(edit(body, place) if is_other else body, place)

        return text

    return patch(har, "_text", make)


# --- several values in one text -----------------------------------------------------------------------------------


def first_value(text):
    """The text of its first JSON value, where more stands behind it; else None."""
    start = text.lstrip()
    try:
        at = json.JSONDecoder().raw_decode(start)[1]
    except (ValueError, RecursionError):
        return None
    return start[:at] if start.startswith("{") and start[at:].strip() else None


def values_of_lines(text):
    """Its lines where they are JSON and the whole is not; else the text alone."""
    lines = text.strip().split("\n")
    try:
        parse(text)
    except JsonError:
        return lines if len(lines) > 1 and all(line.startswith("{") for line in lines) else [text]
    return [text]


def bodies_by_line(honest):
    def add_json(text, *rest):
        for line in values_of_lines(text):
            honest(line, *rest)

    return add_json


def data_by_line(honest):
    def read_event(event, *rest):
        data = member_of(event, "data")
        for line in values_of_lines(data) if type(data) is str else [data]:
            honest({**event, "data": line} if type(line) is str else event, *rest)

    return read_event


def blocks_by_line(honest):
    def blocks(text):
        for block in honest(text):
            yield from [(block[0], line) for line in values_of_lines(block[1])] if block else [block]

    return blocks


def until_the_answer(honest):
    def blocks(text):
        for block in honest(text):
            yield block
            if block and re.search(r'"(result|error)"\s*:', block[1]) and '"method"' not in block[1]:
                return

    return blocks


# --- sides and batches --------------------------------------------------------------------------------------------


def clients_agree(honest):
    def asking(self, message, sender, *rest):
        event = honest(self, message, sender, *rest)
        if sender == SERVER:
            self._handshakes.discard(len(self.events))
        return event

    return asking


def sides_by_the_handshake(honest):
    def add(self, message, sender, *rest):
        clients = self.__dict__.setdefault("_clients", [])
        if isinstance(message, dict) and message.get("method") == "initialize":
            clients.append(sender)
        honest(self, message, CLIENT if sender in clients else SERVER if clients else sender, *rest)

    return add


def batches_by(rank):
    """Takes the messages of a batch in the order of a rank."""

    def make(honest):
        def add(self, value, *rest, **named):
            honest(self, sorted(value, key=rank) if type(value) is list else value, *rest, **named)

        return add

    return patch(Session, "add", make)


def part(item):
    """0 for a request, 1 for a notification, 2 for an answer, 3 for what is no message."""
    if not isinstance(item, dict):
        return 3
    return 2 if "method" not in item else 1 if item.get("id") is None else 0


def closed_at_a_handshake(honest):
    def asking(self, message, *rest):
        if message["method"] == "initialize":
            self._unanswered.clear()
        return honest(self, message, *rest)

    return asking


FAULTS = {
    "EQ-COUNT": {
        "updates-once": (
            "shows the first `notifications/resources/updated`",
            loses(lambda events, at: is_update(events[at]) and any(map(is_update, events[:at]))),
        ),
        "tasks-unknown": (
            "drops methods that came with tasks",
            loses(lambda events, at: method_in(events[at]).startswith("tasks/")),
        ),
    },
    "EQ-CONTEXT": {
        "entries-without-a-status-dropped": ("drops an entry of an envelope with the status 0", entries_lost("0")),
        "entries-without-content-dropped": (
            "drops an entry of an envelope with the status 202 or 204",
            entries_lost("202", "204"),
        ),
    },
    "ENV-ONE": {
        "null-contexts-crash": (
            "dies of a null context",
            on_entry(lambda entry: dies() if entry.get("transport_context", 0) is None else None),
        ),
        "null-headers-crash": (
            "dies of headers that are null, or of a header that is",
            on_entry(lambda entry: dies() if has_null_headers(entry.get("transport_context")) else None),
        ),
    },
    "EQ-BATCH": {
        "revision-of-clients-only": (
            "takes the revision only from a handshake that the client began",
            patch(Session, "_asking", clients_agree),
        ),
        "batch-requests-first": (
            "takes the requests of a batch before its other messages",
            batches_by(lambda item: part(item) != 0),
        ),
        "batch-notifications-first": ("takes the notifications of a batch first", batches_by(lambda item: part(item) != 1)),
        "batch-answers-first": ("takes the answers in a batch first", batches_by(lambda item: part(item) != 2)),
    },
    "COR-DIRECTION": {
        "sides-by-the-handshake": (
            "takes whoever sends `initialize` for the client from then on, and whoever never does for the server",
            patch(Session, "_add", sides_by_the_handshake),
        ),
    },
    "ID-MISSING": {
        "answers-of-requests-only": (
            "reads an answer to a POST only where that brought a request",
            answers_lost(lambda it: (method_of(it) or "").upper() == "POST" and posts_no_request(it)),
        ),
    },
    "COR-FIRST": {
        "closed-at-a-handshake": ("forgets at an `initialize` what is open", patch(Session, "_asking", closed_at_a_handshake)),
    },
    "HAR-MESSAGE": {
        "har-204-dropped": ("drops an exchange with the status 204 whole", statuses_lost("204")),
        "har-0-dropped": ("drops an exchange with the status 0 whole", statuses_lost("0")),
        "har-401-dropped": ("drops an exchange with the status 401 or 403 whole", statuses_lost("401", "403")),
        "har-4xx-dropped": (
            "drops an exchange with the status 400, 404, 405 or 406 whole",
            statuses_lost("400", "404", "405", "406"),
        ),
        "har-5xx-dropped": (
            "drops an exchange with the status 500, 502, 503 or 504 whole",
            statuses_lost("500", "502", "503", "504"),
        ),
        "bodies-by-line": ("reads a body of several messages line by line", patch(har, "_add_json", bodies_by_line)),
        "first-value-of-a-body": ("reads the first JSON value of a body, as one Decode does in Go", on_bodies(first_value)),
        "requestless-dropped": ("drops an exchange without a request", exchanges_lost(lambda it: it.get("request") is None)),
        "requestless-rejected": (
            "rejects an exchange without a request",
            exchanges_rejected(lambda it: it.get("request") is None),
        ),
        "methodless-dropped": ("drops an exchange that has a request without a method",
            exchanges_lost(lambda it: it.get("request") is not None and method_of(it) is None)),
        "timeless-dropped-in-har": (
            "drops an exchange whose `time` is missing or below 0",
            exchanges_lost(lambda it: type(it.get("time")) is not Number or it["time"].text.startswith("-")),
        ),
        "headerless-crashes": ("dies of an answer without headers", exchanges_crash("response", "headers")),
        "contentless-crashes": ("dies of an answer without content", exchanges_crash("response", "content")),
        "addressless-crashes": ("dies of a request without an address", exchanges_crash("request", "url")),
        "errors-of-browsers-dropped": (
            "drops an exchange with `_error`, by which Chromium says that it was broken off",
            exchanges_lost(lambda it: member_of(it, "response", "_error") is not None),
        ),
        "har-1xx-dropped": ("drops an exchange with the status 100, 101 or 103", statuses_lost("100", "101", "103")),
        "json-types-with-spaces-lost": (
            "reads a JSON answer only where its type has no white space",
            answers_lost(lambda it: re.search(r"json\s|^\s", str(member_of(it, "response", "content", "mimeType")))),
        ),
        "requests-in-json-answers-lost": (
            "passes over a JSON answer that is a request",
            answers_lost(lambda it: str(member_of(it, *ANSWER)).startswith("{") and '"method"' in member_of(it, *ANSWER)),
        ),
        "answerless-rejected": (
            "rejects an exchange without an answer",
            exchanges_rejected(lambda it: it.get("response") is None),
        ),
        "methods-as-written": (
            "knows POST only in capitals",
            on_exchange(
                lambda it: (
                    put(it, "none", "request", "method") if (method_of(it) or "").upper() == "POST" != method_of(it) else None
                )
            ),
        ),
        "answers-by-exchange": ("gives a JSON answer the id of what was posted", on_exchange(with_the_id_of_the_post)),
    },
    "HAR-STREAM": {
        "posts-in-base64-kept": (
            "does not decode a POST in base64",
            on_exchange(
                lambda it: (
                    put(it, None, "request", "postData", "encoding")
                    if member_of(it, "request", "postData", "encoding") == "base64"
                    else None
                )
            ),
        ),
        "other-encodings-lost": ("reads no body whose encoding it does not know", other_encodings(lambda body, place: {})),
        "other-encodings-rejected": ("rejects a body whose encoding it does not know", other_encodings(refused)),
        "other-encodings-base64": ("takes every encoding for base64",
            other_encodings(lambda body, place: {**body, "encoding": "base64"})),
        "streams-of-requests-only": (
            "reads no stream of an exchange without a method",
            answers_lost(
                lambda it: method_of(it) is None and "event-stream" in str(member_of(it, "response", "content", "mimeType"))
            ),
        ),
        "unknown-fields-end-events": (
            "takes a field of a stream that it does not know for an empty line",
            patch(
                har,
                "blocks",
                lambda honest: lambda text: honest(re.sub(r"(?m)^(?!data|event|id|retry|:)[a-z-]+:.*$", "", text)),
            ),
        ),
        "streams-up-to-the-answer": ("ends a stream at its first answer", patch(har, "blocks", until_the_answer)),
        "named-events-only": (
            "reads only events of a stream that give their name",
            patch(har, "carried_message", lambda honest: lambda name, *rest: honest(name or "none", *rest)),
        ),
    },
    "SSE-DATA-BROKEN": {
        "data-by-line": (
            "reads data of several messages line by line",
            Change(patches=((envelope, "_read_event", data_by_line), (har, "blocks", blocks_by_line))),
        ),
        "first-value-of-data": (
            "reads the first JSON value of data, as one Decode does in Go",
            on_events_of_streams(
                lambda honest: (
                    lambda name, data, place: honest(name, (first_value(data) or data) if type(data) is str else data, place)
                )
            ),
        ),
    },
}
