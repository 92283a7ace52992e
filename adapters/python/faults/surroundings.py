"""What importers make of what stands around messages: entries, events, lines and headers that look odd and mean nothing."""

import re

from faults.archives import CONTENT, body_lost
from faults.envelopes import carried
from faults.har import stream
from faults.limits import refuse
from faults.seams import (
    DROPPED,
    loses,
    member_of,
    on_document,
    on_entry,
    on_exchange,
    on_message,
    on_trace_line,
    put,
    without,
)
from jsontext import Number


def dropped(condition):
    return on_entry(lambda entry: DROPPED if condition(entry) else None)


def rejected(condition):
    return on_entry(lambda entry: refuse() if condition(entry) else None)


def time(pattern):
    def has_time(entry):
        time = entry.get("timestamp_ms")
        return type(time) is Number and re.search(pattern, time.text) is not None

    return has_time


def context(*path):
    return lambda entry: member_of(entry, "transport_context", *path)


def event_dropped(condition):
    return dropped(lambda entry: isinstance(entry.get("sse"), dict) and condition(entry["sse"]))


def event_rejected(condition):
    return rejected(lambda entry: isinstance(entry.get("sse"), dict) and condition(entry["sse"]))


def data(edit):
    """The data of an event that is text is another text."""
    return carried(lambda name, data: (name, edit(data)) if type(data) is str and edit(data) != data else None)


def line_dropped(condition):
    return on_trace_line(lambda line: DROPPED if condition(line) else None)


def line_rejected(condition):
    return on_trace_line(lambda line: refuse() if condition(line) else None)


def direction(edit):
    """The direction of a line of a trace, where it is text, is another one."""
    return on_trace_line(lambda line: {**line, "dir": edit(line["dir"])} if is_text(line.get("dir")) else None)


def is_text(value):
    return type(value) is str


def depth_of(value):
    deepest, todo = 0, [(value, 1)]
    while todo:
        item, depth = todo.pop()
        deepest = max(deepest, depth)
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        todo.extend((child, depth + 1) for child in inner if isinstance(child, (dict, list)))
    return deepest


def deeper(levels):
    return on_message(lambda message: refuse() if depth_of(message) > levels else None)


def names_at(exchange, side, name):
    headers = member_of(exchange, side, "headers")
    found = [header for header in headers if isinstance(header, dict)] if type(headers) is list else []
    return [header.get("value") for header in found if str(header.get("name")).lower() == name]


def exchange_dropped(condition):
    return on_exchange(lambda exchange: DROPPED if condition(exchange) else None)


def overridden(exchange):
    found = names_at(exchange, "request", "x-http-method-override")
    return put(exchange, found[0], "request", "method") if found else None


def cut_at(length):
    """The text of an answer ends at this length, a text of digits."""

    def edit(exchange):
        text, most = member_of(exchange, *CONTENT, "text"), length(exchange)
        return put(exchange, text[: int(most)], *CONTENT, "text") if is_text(text) and str(most).isdigit() else None

    return on_exchange(edit)


FAULTS = {
    "ENV-UNKNOWN": {
        "entries-with-an-id-dropped": ("drops an entry with a member `id`", dropped(lambda entry: "id" in entry)),
        "entries-with-an-error-rejected": ("rejects an entry with a member `error`", rejected(lambda entry: "error" in entry)),
        "entries-with-a-type-dropped": ("drops an entry with a member `type` of its own", dropped(lambda entry: "type" in entry)),
        "entries-redacted-dropped": ("drops an entry that says that it is redacted",
            dropped(lambda entry: entry.get("redacted"))),
        "versions-of-envelopes": ("rejects an envelope with a version other than 1",
            on_document(lambda whole: refuse() if str(member_of(whole, "version") or "1") not in ("1", "Number('1')") else None)
            .within("streamable-http", "http-sse")),
        "messages-for-entries": ("reads `messages` where it stands beside `entries`",
            on_document(lambda whole: {**whole, "entries": whole["messages"]} if member_of(whole, "messages") else None)
            .within("streamable-http", "http-sse")),
    },
    "ENV-LOOSE": {
        "times-of-zero-dropped": ("drops an entry whose time is 0", dropped(time("^0$"))),
        "times-in-seconds-rejected": ("rejects a time of ten digits", rejected(time(r"^\d{10}$"))),
        "times-in-microseconds-rejected": ("rejects a time of sixteen digits", rejected(time(r"^\d{16}$"))),
    },
    "EQ-CONTEXT": {
        "context-null-rejected": ("rejects a context that is null",
            rejected(lambda entry: "transport_context" in entry and entry["transport_context"] is None)),
        "context-empty-rejected": ("rejects a context without a status",
            rejected(lambda entry: isinstance(context()(entry), dict) and "status" not in context()(entry))),
        "no-content-dropped": ("drops an answer under 204 or 304",
            dropped(lambda entry: context("status")(entry) in (Number("204"), Number("304")))),
        "redirections-of-entries-dropped": ("drops an answer under 301 to 308",
            dropped(lambda entry: context("status")(entry) in [Number(str(code)) for code in range(301, 309)])),
        "cached-answers-dropped": ("drops an answer under 203 or 226",
            dropped(lambda entry: context("status")(entry) in (Number("203"), Number("226")))),
        "methods-of-contexts": ("drops an entry whose context names DELETE",
            dropped(lambda entry: context("method")(entry) == "DELETE")),
        "context-headers-null-rejected": ("rejects headers that are null",
            rejected(lambda entry: "headers" in (entry.get("transport_context") or {}) and context("headers")(entry) is None)),
        "retries-drop": ("drops an event with a retry of 0", event_dropped(lambda sse: sse.get("retry") == Number("0"))),
        "retries-in-text-rejected": ("rejects a retry that is text", event_rejected(lambda sse: is_text(sse.get("retry")))),
        "comments-of-events-dropped": ("drops an event with a comment", event_dropped(lambda sse: sse.get("comment"))),
        "ids-of-events-again": ("drops an event whose id is empty", event_dropped(lambda sse: sse.get("id") == "")),
        "ids-with-spaces-dropped": ("drops an event whose id has a space in it",
            event_dropped(lambda sse: " " in str(sse.get("id")))),
    },
    "SSE-DATA-STRING": {
        "data-with-spaces-lost": ("passes over data that begins with a space",
            data(lambda text: "" if text[:1] == " " else text)),
        "data-with-tabs-lost": ("passes over data that begins with a tab", data(lambda text: "" if text[:1] == "\t" else text)),
        "data-with-line-ends-lost": ("passes over data that begins with a line end",
            data(lambda text: "" if text[:1] in "\r\n" and text else text)),
        "data-that-ends-in-line-ends-lost": ("passes over data that ends with a line end",
            data(lambda text: "" if text.endswith(("\n", "\r")) else text)),
        "data-over-lines-lost": ("reads the last line of data", data(lambda text: text.rpartition("\n")[2])),
        "data-said-again": ("reads data behind `data: `", data(lambda text: text.removeprefix("data: "))),
        "data-unescaped": ("reads entities of HTML in data", data(lambda text: text.replace("&quot;", '"'))),
        "data-percent-decoded": ("reads percent codes in data", data(lambda text: text.replace("%7B", "{"))),
        "data-with-jsonrpc-first": ("passes over data whose first member is not jsonrpc",
            data(lambda text: "" if text.startswith("{") and not re.match(r'\{\s*"jsonrpc"', text) else text)),
        "data-up-to-nul": ("reads data up to a NUL that is spelled", data(lambda text: text.partition("\\u0000")[0])),
        "data-without-version": ("looks for `\"jsonrpc\":\"2.0\"` in data, letter by letter",
            data(lambda text: text if '"jsonrpc":"2.0"' in text or not text.startswith("{") else "")),
        "data-with-version-spaced": ("looks for `\"jsonrpc\": \"2.0\"` in data, letter by letter",
            data(lambda text: text if '"jsonrpc": "2.0"' in text or not text.startswith("{") else "")),
    },
    "SSE-EVENT": {
        "names-with-spaces-read": ("reads an event named message with spaces around it",
            carried(lambda name, data: ("message", data) if is_text(name) and name != name.strip() == "message" else None)),
        "names-of-tools-read": ("reads an event named jsonrpc, mcp or data",
            carried(lambda name, data: ("message", data) if name in ("jsonrpc", "mcp", "data", "json") else None)),
        "names-of-errors-read": ("reads an event named error",
            carried(lambda name, data: ("message", data) if name == "error" else None)),
        "names-of-namespaces-read": ("reads an event named mcp.message or mcp/message",
            carried(lambda name, data: ("message", data) if name in ("mcp.message", "mcp/message", "mcp:message") else None)),
        "names-plural-read": ("reads an event named messages",
            carried(lambda name, data: ("message", data) if name == "messages" else None)),
        "names-notification-read": ("reads an event named notification, request or response",
            carried(lambda name, data: ("message", data) if name in ("notification", "request", "response") else None)),
        "names-prefixed-read": ("reads an event whose name begins with message",
            carried(lambda name, data: ("message", data) if is_text(name) and name.startswith("message") else None)),
    },
    "HAR-STREAM": {
        "vertical-tabs-end-lines": ("ends a line of a stream at a vertical tab", stream(lambda text: text.replace("\x0b", "\n"))),
        "separators-end-lines": ("ends a line of a stream at U+001C to U+001E",
            stream(lambda text: re.sub("[\x1c-\x1e]", "\n", text))),
        "tabs-behind-colons": ("drops a tab behind the colon", stream(lambda text: re.sub(r"(?m)^(\w+):\t", r"\1:", text))),
        "names-with-tabs": ("drops white space before the name of a field",
            stream(lambda text: re.sub(r"(?m)^[\t ]+(?=\w+:)", "", text))),
        "spaces-before-colons": ("drops a space before the colon",
            stream(lambda text: re.sub(r"(?m)^(data|event) :", r"\1:", text))),
        "equals-for-colons": ("reads = for the colon", stream(lambda text: re.sub(r"(?m)^(data|event)=", r"\1:", text))),
        "marks-anywhere": ("drops byte order marks anywhere", stream(lambda text: text.replace("\ufeff", ""))),
        "names-kept": ("keeps the name of an event for the next one", stream(lambda text: keep_names(text))),
        "names-of-last-event": ("forgets a name before a comment",
            stream(lambda text: re.sub(r"(?m)^event:.*\n(?=:)", "", text))),
        "names-behind-data-lost": ("reads no name behind the data",
            stream(lambda text: re.sub(r"(?m)(^data:.*\n)event:.*\n", r"\1", text))),
        "three-line-ends": ("loses an event behind two empty lines",
            stream(lambda text: re.sub(r"\n\n\n+(?:\w+:.*\n)+", "\n\n", text))),
        "retries-end-events": ("takes a retry for an event of its own",
            stream(lambda text: re.sub(r"(?m)^(retry:.*)$", r"\n\1\n", text))),
        "last-event-without-end": ("reads a last event that ends with one line end",
            stream(lambda text: text + "\n" if text.endswith("\n") and not text.endswith("\n\n") else text)),
        "last-event-half": ("reads a last event without a line end",
            stream(lambda text: text + "\n\n" if text and not text.endswith(("\n", "\r")) else text)),
    },
    "RPL-UNKNOWN": {
        "lines-with-a-level-dropped": ("drops a line with a member `level`", line_dropped(lambda line: "level" in line)),
        "lines-with-an-error-dropped": ("drops a line with a member `error`", line_dropped(lambda line: "error" in line)),
        "lines-truncated-dropped": ("drops a line with a member `truncated`", line_dropped(lambda line: "truncated" in line)),
        "lines-with-raw-text-preferred": ("reads `text` where it stands beside `raw`",
            on_trace_line(lambda line: {**line, "raw": line["message"]} if {"raw", "message"} <= line.keys() else None)),
        "lines-with-a-session-rejected": ("rejects a line that names another session",
            line_rejected(lambda line: line.get("session") not in (None, "1"))),
        "lines-of-type-message-dropped": ("drops a line of type message",
            line_dropped(lambda line: line.get("type") == "message")),
        "lines-of-type-null-rejected": ("rejects a line whose type is null",
            line_rejected(lambda line: "type" in line and line["type"] is None)),
        "lines-of-kind-null-rejected": ("rejects a line whose kind is null",
            line_rejected(lambda line: "kind" in line and line["kind"] is None)),
        "lines-of-kind-error-dropped": ("drops a line of kind error", line_dropped(lambda line: line.get("kind") == "error")),
    },
    "RPL-ORDER": {
        "lines-without-a-time-dropped": ("drops a line without a time",
            line_dropped(lambda line: "raw" in line and "t" not in line)),
    },
    "RPL-DIR": {
        "dirs-with-spaces-read": ("reads a direction with spaces around it",
            direction(str.strip)),
        "dirs-in-capitals-read": ("reads a direction in capitals",
            direction(str.lower)),
        "dirs-of-others-read": ("reads send and recv",
            direction(lambda said: {"send": "in", "recv": "out"}.get(said, said))),
        "dirs-empty-read": ("reads an empty direction as in",
            direction(lambda said: said or "in")),
        "dirs-err-read": ("reads err and stderr as out",
            direction(lambda said: "out" if said in ("err", "stderr") else said)),
    },
    "SRV-DEPTH": {
        "depth-of-32": ("rejects a message deeper than 32 levels", deeper(32)),
        "depth-of-70": ("rejects a message deeper than 70 levels", deeper(70)),
    },
    "HAR-MESSAGE": {
        "two-types-lost": ("drops an exchange with two headers Content-Type",
            exchange_dropped(lambda it: len(names_at(it, "response", "content-type")) > 1)),
        "chunked-lost": ("drops an exchange with Transfer-Encoding",
            exchange_dropped(lambda it: names_at(it, "response", "transfer-encoding"))),
        "websockets-lost": ("drops an exchange with WebSocket messages",
            exchange_dropped(lambda it: it.get("_webSocketMessages"))),
        "origins-lost": ("drops an exchange whose request has Origin",
            exchange_dropped(lambda it: names_at(it, "request", "origin"))),
        "referrers-lost": ("drops an exchange whose request has Referer",
            exchange_dropped(lambda it: names_at(it, "request", "referer"))),
        "expected-continue-lost": ("drops an exchange whose request has Expect",
            exchange_dropped(lambda it: names_at(it, "request", "expect"))),
        "overrides-followed": ("follows X-HTTP-Method-Override",
            on_exchange(overridden)),
        "lengths-followed": ("cuts a body at Content-Length in characters",
            cut_at(lambda it: next(iter(names_at(it, "response", "content-length")), None))),
        "sizes-followed": ("cuts a body at its size in characters",
            cut_at(lambda it: getattr(member_of(it, *CONTENT, "size"), "text", "").removeprefix("0"))),
        "charsets-in-utf-16": ("passes over a body whose charset is not UTF-8",
            body_lost(lambda it: re.search(r"charset=(?!\"?utf-?8)", str(member_of(it, *CONTENT, "mimeType")), re.I))),
    },
}


def keep_names(text):
    name, out = None, []
    for block in text.split("\n\n"):
        found = re.search(r"(?m)^event: ?(.+)$", block)
        out.append(block if found or name is None or not block.strip() else f"event: {name}\n{block}")
        name = found[1] if found else name
    return "\n\n".join(out)
