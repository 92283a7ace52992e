"""What importers take for granted: how texts look, what is there, who says what, and which values count as nothing."""

import re
from urllib.parse import urlsplit

from contract import CLIENT, SERVER, Session
from faults.correlation import open_requests
from faults.envelopes import entries
from faults.har import POST
from faults.limits import refuse
from faults.seams import (
    DROPPED,
    ENVELOPES,
    loses,
    member_of,
    on_added,
    on_bytes,
    on_document,
    on_entry,
    on_exchange,
    on_exported,
    on_item,
    on_message,
    on_parse,
    on_trace_line,
    patch,
    put,
    without,
)
from faults.shortcuts import exchanges_lost
from faults.strategies import inside, lost
from faults.surroundings import exchange_dropped
from formats import har, inspector
from jsontext import JsonError, Number, parse

# --- texts before they are JSON -----------------------------------------------------------------------------------


def before_parsing(edit):
    """The text of every JSON value is another one before it is parsed."""

    def wrap(honest):
        wrapped = lambda text: honest(edit(text))  # noqa: E731
        return wrapped

    wrap.keeps = lambda text: edit(text) == text
    return on_parse(wrap)


def in_text(pattern, new):
    found = re.compile(pattern)
    return before_parsing(lambda text: found.sub(new, text))


def spelled(text):
    """The character of an escape, whatever stands before it."""
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)


def braces_counted(text):
    """Ends a text where as many braces have closed as have opened, also those inside of strings."""
    depth = 0
    for found in re.finditer(r"[{}]", text):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[: found.end()]
    return text


def quotes_looked_back(text):
    """A quote behind a backslash ends no string, also where that is the second of two."""
    return text.replace('\\\\"', '\\\\\\"')


def depth_of_text(text):
    depth = deepest = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        depth += 1 if found[0] in "[{" else -1 if found[0] in "]}" else 0
        deepest = max(deepest, depth)
    return deepest


def levels(most):
    def limited(text):
        if depth_of_text(text) > most:
            raise JsonError("too deep", 0)
        return text

    return before_parsing(limited)


def documents(edit):
    return on_bytes(edit).within(*ENVELOPES, "har", "inspector")


# --- what counts as nothing ---------------------------------------------------------------------------------------


def is_zero(value):
    return type(value) is Number and value == Number("0")


def is_nothing(value):
    return value is False or value == "" or value == {} or is_zero(value)


def empty_list(name, *formats):
    """Takes a list that is false, 0 or empty text for an empty one."""
    change = on_document(
        lambda whole: {**whole, name: []} if isinstance(whole, dict) and name in whole and is_nothing(whole[name]) else None
    )
    return change.within(*formats)


def version_is(condition):
    return on_message(lambda it: {**it, "jsonrpc": "2.0"} if "jsonrpc" in it and condition(it["jsonrpc"]) else None)


def item_lost(name, condition):
    return on_exported(lambda it: without(it, name) if name in it and condition(it[name]) else None)


def label_is(condition):
    return {
        name: on_document(
            lambda whole, name=name: {**whole, "transport": name}
            if isinstance(whole, dict) and "transport" in whole and condition(whole["transport"]) else None
        ).within(name)
        for name in ENVELOPES
    }


def unpacked(name, make):
    """A member that is text is read as if it were an object."""
    return lambda it: {**it, name: make(it[name])} if isinstance(it, dict) and type(it.get(name)) is str else None


def epoch(exchange):
    start = exchange.get("startedDateTime")
    return type(start) is str and re.match(r"1970-01-01T00:00:00(\.0+)?Z", start) is not None


# --- who says what ------------------------------------------------------------------------------------------------


def sent(by, condition, new):
    return on_added(lambda message, sender: new(message, sender) if sender == by and condition(message) else None)


def is_method(*names):
    return lambda message: message.get("method") in names


def batches_of(side):
    """Rejects the batches of this side."""

    def make(honest):
        def add(self, value, sender, place, turned_away=False):
            if type(value) is list and sender == side:
                refuse()
            return honest(self, value, sender, place, turned_away)

        return add

    return patch(Session, "add", make)


def is_taken(more):
    """Finds more duplicates: more(session, id, key)."""
    return patch(Session, "_is_taken", lambda honest: lambda self, id_, key: honest(self, id_, key) or more(self, id_, key))


def answered_before(session, id_, key):
    return any(event.get("id") == id_ for event in session.events if event["kind"] in ("result", "error"))


def open_at_all(session, id_, key):
    return bool(open_requests(session, id_))


def asked_before(session, id_, key):
    return any(event.get("id") == id_ and event["kind"] == "request" for event in session.events)


# --- notifications ------------------------------------------------------------------------------------------------


def token_of(event):
    return member_of(event, "params", "progressToken")


def is_progress(event):
    return event.get("method") == "notifications/progress"


def tokens(events, upto):
    return [member_of(event, "params", "_meta", "progressToken") for event in events[:upto]]


def cancels(event):
    return member_of(event, "params", "requestId") if event.get("method") == "notifications/cancelled" else None


def text(value):
    return value.text if type(value) is Number else value


def asks_for(events, at):
    wanted = text(cancels(events[at]))
    return wanted is not None and any(event.get("id") == wanted for event in events[:at] if "answers" not in event)


def is_cancelled(events, at):
    return "answers" not in events[at] and "id" in events[at] and any(
        text(cancels(event)) == events[at]["id"] for event in events[at:] if event.get("method")
    )


# --- addresses ----------------------------------------------------------------------------------------------------


def at_address(condition):
    def has(exchange):
        url = member_of(exchange, "request", "url")
        return type(url) is str and condition(urlsplit(url))

    return exchanges_lost(has)


def marked(it):
    return isinstance(it, dict) and "_made_up" in it


def resource(*types):
    return exchange_dropped(lambda it: it.get("_resourceType") in types)


FAULTS = {
    "HAR-MESSAGE": {
        "addresses-with-queries-dropped": ("drops exchanges whose address has a query", at_address(lambda url: url.query)),
        "addresses-of-extensions-dropped": ("drops exchanges whose address is of a browser's extension",
            at_address(lambda url: url.scheme not in ("http", "https"))),
        "addresses-of-roots-dropped": ("drops exchanges with the root of a site", at_address(lambda url: url.path in ("", "/"))),
    },
    "SRV-DEPTH": {
        "levels-of-75": ("reads no text of more than 75 levels", levels(75)),
        "levels-of-79": ("reads no text of more than 79 levels", levels(79)),
    },
    "EQ-ARGS": {
        "braces-counted-in-text": ("counts braces to find the end of a text, also those inside of strings",
            before_parsing(braces_counted)),
        "quotes-looked-back-at": ("takes a quote behind two backslashes for an escaped one", before_parsing(quotes_looked_back)),
        "comments-cut-from-text": ("cuts off what stands behind two slashes, also inside of strings",
            in_text(r"(?m)(?<!:)//[^\n]*$", "")),
        "comments-cut-from-addresses": ("cuts off what stands behind two slashes, also in an address", in_text(r"//[^\n]*", "")),
        "comments-of-c-cut": ("cuts out what stands between /* and */, also inside of strings", in_text(r"/\*.*?\*/", "")),
        "hashes-cut-from-text": ("cuts off what stands behind a hash, also inside of strings", in_text(r"(?m)#[^\n]*$", "")),
        "last-commas-cut": ("drops a comma before a closing bracket, also inside of strings", in_text(r",(\s*[}\]])", r"\1")),
        "nan-in-strings": ("writes null for NaN, also inside of strings", in_text(r"\bNaN\b", "null")),
        "infinity-in-strings": ("writes null for Infinity, also inside of strings", in_text(r"-?\bInfinity\b", "null")),
        "undefined-in-strings": ("writes null for undefined, also inside of strings", in_text(r"\bundefined\b", "null")),
        "none-in-strings": ("writes null for None, also inside of strings", in_text(r"\bNone\b", "null")),
        "true-in-strings": ("writes true for True, also inside of strings", in_text(r"\bTrue\b", "true")),
        "colons-closed-up": ("drops a space behind a colon, also inside of strings", in_text(": ", ":")),
        "commas-closed-up": ("drops a space behind a comma, also inside of strings", in_text(", ", ",")),
        "braces-closed-up": ("drops spaces behind an opening brace, also inside of strings", in_text(r"\{ +", "{")),
        "double-spaces-in-text": ("writes one space for two in a text before it parses it", in_text("  ", " ")),
        "escaped-line-ends-dropped": ("drops the letters \\n and \\r of a text", in_text(r"(?<!\\)\\[nr]", "")),
        "escaped-line-ends-in-paths": ("drops the letters \\n of a text, also behind a backslash", in_text(r"\\n", "")),
        "escaped-nuls-dropped": ("drops the letters \\u0000 of a text, as for PostgreSQL", in_text(r"(?<!\\)\\u0000", "")),
        "escaped-nuls-in-paths": ("drops the letters \\u0000 of a text, also behind a backslash", in_text(r"\\u0000", "")),
        "escapes-read-first": ("reads the escapes of characters before it parses, also behind a backslash",
            before_parsing(spelled)),
        "doubled-backslashes-halved": ("writes one backslash for four", in_text(r"\\\\\\\\", r"\\\\")),
        "doubled-quotes-halved": ("writes one quote for two that are escaped", in_text(r'\\"\\"', r'\\"')),
        "brackets-in-strings-unquoted": ("takes the quotes off a string that begins with a brace",
            in_text(r'"(\{\})"', r"\1")),
    },
    "SRV-BYTES": {
        "posts-in-text": ("reads a postData that is text as its text",
            on_exchange(inside(unpacked("postData", lambda text: {"text": text}), "request"))),
        "contents-in-text": ("reads a content that is text as JSON",
            on_exchange(inside(unpacked("content", lambda text: {"text": text, "mimeType": "application/json"}), "response"))),
        "requests-in-text": ("reads a request that is text as what was posted",
            on_exchange(unpacked("request", lambda text: {"method": "POST", "postData": {"text": text}}))),
        "sse-in-text": ("reads an sse that is text as its data", on_entry(unpacked("sse", lambda text: {"data": text}))),
        "sse-in-lists": ("reads the first event of an sse that is an array",
            on_entry(lambda it: {**it, "sse": it["sse"][0]} if type(it.get("sse")) is list and it["sse"] else None)),
        "sse-of-nothing": ("passes over an sse that is false, 0 or empty text",
            on_entry(lambda it: DROPPED if "sse" in it and it["sse"] != {} and is_nothing(it["sse"]) else None)),
    },
    "ENV-EMPTY": {
        "entries-of-nothing": ("takes entries that are false, 0 or empty text for an empty array",
            empty_list("entries", *ENVELOPES)),
    },
    "INS-SHAPE": {
        "events-of-nothing": ("takes events that are false, 0 or empty text for an empty array",
            empty_list("events", "inspector")),
        "messages-of-nothing": ("passes over an item whose message is false, 0 or empty text",
            on_item(lambda it: [] if isinstance(it, dict) and "jsonrpc" not in it and "message" in it
                and is_nothing(it["message"]) else None)),
        "items-of-nothing": ("passes over an item that is false, 0 or empty text",
            on_item(lambda it: [] if it != {} and is_nothing(it) else None)),
    },
    "HAR-MISSING": {
        "list-of-nothing": ("takes entries of a log that are false, 0 or empty text for an empty array",
            on_document(lambda it: put(it, [], "log", "entries") if is_nothing(member_of(it, "log", "entries"))
                and "entries" in it["log"] else None).within("har")),
        "logs-of-nothing": ("takes a log that is false, 0 or an empty array for an empty session",
            on_document(lambda it: {**it, "log": {"entries": []}} if isinstance(it, dict) and "log" in it
                and (it["log"] == [] or it["log"] != {} and is_nothing(it["log"])) else None).within("har")),
        "log-in-text": ("reads a log that is JSON text",
            on_document(lambda it: {**it, "log": parse(it["log"])} if isinstance(it, dict) and type(it.get("log")) is str
                and it["log"].startswith("{") else None).within("har")),
    },
    "ENV-TRANSPORT": {
        "label-of-nothing": ("takes an empty label, false or 0 for the right one", label_is(is_nothing)["http-sse"]),
        "label-of-nothing-streamable": ("takes an empty label, false or 0 for streamable-http",
            label_is(is_nothing)["streamable-http"]),
    },
    "JRP-VERSION": {
        "version-of-nothing": ("takes a version that is empty, false or 0 for the right one", version_is(is_nothing)),
        "version-in-an-array": ("takes an array of the version for it", version_is(lambda it: it == ["2.0"])),
        "version-two-alone": ("takes the text 2 for the version", version_is(lambda it: it == "2")),
        "version-trimmed": ("trims the version", version_is(lambda it: type(it) is str and it != "2.0" == it.strip())),
        "version-with-v": ("takes v2.0 for the version", version_is(lambda it: it in ("v2.0", "V2.0"))),
    },
    "INS-EXPORT": {
        "answers-of-nothing": ("takes an answer that is 0 or empty text for none",
            item_lost("response", lambda it: it == "" or is_zero(it))),
        "times-of-0-missing": ("takes the time 0 for a missing one", item_lost("timestamp", is_zero)),
        "times-below-0-missing": ("takes a time below 0 for a missing one",
            item_lost("timestamp", lambda it: type(it) is Number and it.text.startswith("-"))),
        "starts-of-1970-missing": ("takes the first moment of 1970 for a missing time",
            item_lost("timestamp", lambda it: type(it) is str and it.startswith("1970-01-01T00:00:00"))),
        "durations-move-messages": ("moves a message by its duration where it has no answer",
            on_exported(lambda it: {**it, "timestamp": Number(str(int(it["timestamp"].text) + int(it["duration"].text)))}
                if "response" not in it and all(type(it.get(name)) is Number and it[name].text.isdigit()
                    for name in ("timestamp", "duration")) else None)),
        "origins-null-clients": ("takes an item without an origin for the client's",
            on_exported(lambda it: {**it, "origin": CLIENT} if it.get("origin") is None else None)),
        "origins-null-servers": ("takes an item without an origin for the server's",
            on_exported(lambda it: {**it, "origin": SERVER} if it.get("origin") is None else None)),
    },
    "HAR-ORDER": {
        "starts-of-1970-missing-in-har": ("takes the first moment of 1970 for a missing start",
            on_exchange(lambda it: without(it, "startedDateTime") if epoch(it) else None)),
        "events-all-timed-wanted": ("does not look at `_events` where an item has no time",
            on_exchange(lambda it: without(it, "_events") if type(it.get("_events")) is list
                and not all(type(member_of(item, "time")) is Number for item in it["_events"]) else None)),
    },
    "EQ-COUNT": {
        "servers-calls-are-requests": ("drops a tool call of the server",
            sent(SERVER, is_method("tools/call"), lambda message, sender: DROPPED)),
        "servers-handshakes-dropped": ("drops initialize from the server",
            sent(SERVER, is_method("initialize"), lambda message, sender: DROPPED)),
        "clients-samplings-dropped": ("drops sampling, roots and elicitation from the client",
            sent(CLIENT, is_method("sampling/createMessage", "roots/list", "elicitation/create"),
                lambda message, sender: DROPPED)),
        "clients-logs-dropped": ("drops log messages and changes of lists from the client",
            sent(CLIENT, is_method("notifications/message", "notifications/tools/list_changed"),
                lambda message, sender: DROPPED)),
        "servers-initialized-dropped": ("drops `notifications/initialized` from the server",
            sent(SERVER, is_method("notifications/initialized"), lambda message, sender: DROPPED)),
        "requests-need-an-id": ("drops a message without an id whose method does not begin with notifications/",
            loses(lambda events, at: events[at]["kind"] == "notification"
                and not events[at]["method"].startswith("notifications/"))),
        "progress-of-strangers-dropped": ("drops progress whose token no request gave",
            loses(lambda events, at: is_progress(events[at]) and token_of(events[at]) not in tokens(events, at))),
        "progress-without-a-token-dropped": ("drops progress without a token",
            loses(lambda events, at: is_progress(events[at]) and token_of(events[at]) is None)),
        "progress-again-dropped": ("drops progress that does not rise",
            loses(lambda events, at: is_progress(events[at]) and any(token_of(event) == token_of(events[at])
                and member_of(event, "params", "progress") == member_of(events[at], "params", "progress")
                for event in events[:at] if is_progress(event)))),
        "progress-of-a-call-kept-last": ("keeps the last progress of a token",
            loses(lambda events, at: is_progress(events[at]) and any(token_of(event) == token_of(events[at])
                for event in events[at + 1 :] if is_progress(event)))),
        "cancellations-of-strangers-dropped": ("drops a cancellation of a request that was never made",
            loses(lambda events, at: events[at].get("method") == "notifications/cancelled" and not asks_for(events, at))),
        "cancelled-calls-dropped": ("drops a request that is cancelled later", loses(is_cancelled)),
        "cancellations-dropped": ("drops cancellations",
            loses(lambda events, at: events[at].get("method") == "notifications/cancelled")),
        "methods-with-spaces-dropped": ("drops methods with a space in them",
            on_message(lost(lambda it: type(it.get("method")) is str and " " in it["method"]))),
        "methods-beyond-ascii-dropped": ("drops methods that are not ASCII",
            on_message(lost(lambda it: type(it.get("method")) is str and not it["method"].isascii()))),
        "methods-in-capitals-dropped": ("drops methods with a capital at the start",
            on_message(lost(lambda it: type(it.get("method")) is str and it["method"][:1].isupper()))),
        "methods-with-points-dropped": ("drops methods with a point in them",
            on_message(lost(lambda it: type(it.get("method")) is str and "." in it["method"]))),
        "methods-of-x-dropped": ("drops methods that begin with x- or _",
            on_message(lost(lambda it: type(it.get("method")) is str and it["method"].startswith(("x-", "_"))))),
    },
    "COR-DUPLICATE": {
        "duplicates-of-answers": ("rejects a tool call whose id an orphan had before", is_taken(answered_before)),
        "duplicates-of-requests": ("rejects a tool call whose id a request of another method had before", is_taken(asked_before)),
        "duplicates-of-open-ones": ("rejects a tool call whose id waits for an answer, of any method and side",
            is_taken(open_at_all)),
    },
    "EQ-BATCH": {
        "batches-of-clients-alone": ("rejects batches of the server", batches_of(SERVER)),
        "batches-of-servers-alone": ("rejects batches of the client", batches_of(CLIENT)),
    },
    "EQ-CONTEXT": {
        "made-up-entries-dropped": ("drops an entry that is marked as made up", on_entry(lost(marked))),
        "made-up-exchanges-dropped": ("drops an exchange that is marked as made up", on_exchange(lost(marked))),
        "made-up-requests-dropped": ("drops an exchange whose request or answer is marked as made up",
            on_exchange(lost(lambda it: marked(it.get("request")) or marked(it.get("response"))))),
        "made-up-lines-dropped": ("drops a line of a trace that is marked as made up",
            on_trace_line(lost(lambda it: marked(it) and "raw" in it))),
        "made-up-messages-dropped": ("drops a message that is marked as made up", on_message(lost(marked))),
        "made-up-documents-refused": ("rejects a document that is marked as made up",
            on_document(lambda it: refuse() if marked(it) or marked(member_of(it, "log")) else None)),
        "local-addresses-dropped": ("drops exchanges with localhost",
            at_address(lambda url: url.hostname in ("localhost", "127.0.0.1", "::1"))),
        "plain-addresses-dropped": ("drops exchanges whose address does not begin with https:",
            at_address(lambda url: url.scheme != "https")),
        "addresses-with-ports-dropped": ("drops exchanges whose address has a port", at_address(lambda url: ":" in url.netloc)),
        "resources-fetched-dropped": ("drops exchanges of the resource type fetch", resource("fetch")),
        "resources-of-xhr-dropped": ("drops exchanges of the resource type xhr", resource("xhr")),
        "resources-of-others-dropped": ("drops exchanges of the resource types other, ping and websocket",
            resource("other", "ping", "websocket")),
        "resources-of-scripts-dropped": ("drops exchanges of the resource types script, image and stylesheet",
            resource("script", "image", "stylesheet")),
        "documents-begin-with-a-brace": ("rejects a document that begins with white space",
            documents(lambda data: b"" if re.match(rb"\s", data) else None)),
        "documents-end-with-a-brace": ("rejects a document that ends with white space",
            documents(lambda data: b"" if re.search(rb"\s\n\Z|[^\S\n]\Z", data) else None)),
        "documents-without-tabs": ("rejects a document with a tab between values",
            documents(lambda data: b"" if re.search(rb"\n\t", data) else None)),
        "documents-without-returns": ("rejects a document whose lines end with CRLF",
            documents(lambda data: b"" if b"\r\n" in data else None)),
        "documents-of-one-line": ("reads the first line of a document",
            documents(lambda data: None if b"\n" not in data.rstrip() else data.partition(b"\n")[0])),
        "made-up-items-dropped": ("drops an item that is marked as made up",
            on_item(lambda it: [] if marked(it) and "message" in it else None)),
    },
}
