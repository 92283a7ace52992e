"""What importers make of exports and archives: spellings that they do not know, streams in pieces, and bodies left out."""

import base64
import re
from decimal import Decimal
from itertools import islice

from contract import Rejection
from faults import challenge
from faults.har import started, stream
from faults.libraries import changed
from faults.seams import (
    DROPPED,
    Change,
    instead,
    member_of,
    on_document,
    on_event,
    on_exchange,
    on_exported,
    on_item,
    patch,
    put,
    text_of,
    without,
)
from faults.shortcuts import exchanges_lost, method_of, on_bodies
from formats import har, inspector
from jsontext import Number, parse

STATUS, CONTENT, TYPE = ("response", "status"), ("response", "content"), ("response", "content", "mimeType")
OTHER_METHODS = ("PUT", "PATCH", "OPTIONS", "HEAD", "CONNECT", "TRACE")


def texts_parsed(item):
    if type(item) is str:
        return [parse(item)]


def refuse():
    raise Rejection("wrong-type", "", "a fault of this reader")


def few_digits(time):
    """A fraction of one or two digits is taken for milliseconds."""
    if type(time) is str:
        return re.sub(r"\.(\d{1,2})(?=[zZ+-])", lambda found: f".{int(found[1]):03}", time)


def year_2038(time):
    return "2038-01-19T03:14:07Z" if type(time) is str and time[:4] > "2038" else None


def sum_of_doubles(start, milliseconds):
    return Decimal(repr(float(start) * 1000 + float(milliseconds))) / 1000


def folded_answer(item):
    if isinstance(item, dict) and "jsonrpc" in item and isinstance(item.get("response"), dict):
        return [without(item, "response"), item["response"]]


def body_lost(condition):
    return on_exchange(lambda exchange: put(exchange, "", *CONTENT, "text") if condition(exchange) else None)


def kind(exchange):
    return str(member_of(exchange, *TYPE)).partition(";")[0]


def has_status(exchange, least, most):
    number = member_of(exchange, *STATUS)
    return type(number) is Number and least <= Decimal(number.text) <= most


def streams_under(least, most):
    return body_lost(lambda exchange: kind(exchange) == "text/event-stream" and has_status(exchange, least, most))


def posted(*methods, trimmed=False):
    """Bodies of other methods are read, too."""

    def edit(exchange):
        method = method_of(exchange) or ""
        return put(exchange, "POST", "request", "method") if (method.strip() if trimmed else method) in methods else None

    return on_exchange(edit)


def pairs_within(member):
    """Binds only what has one value of a member of the exchange."""

    def make(honest):
        def read_exchange(entry, place, session):
            class Apart(type(session)):
                def add(self, value, *given):
                    if type(value) is dict and type(value.get("id")) in (str, Number):
                        id_ = value["id"] if type(value["id"]) is str else value["id"].text
                        SHOWN[apart := f"{entry.get(member)}\0{id_}"] = id_
                        value = {**value, "id": apart}
                    super().add(value, *given)

            session.__class__ = Apart if type(entry.get(member)) is str else type(session)
            return honest(entry, place, session)

        return read_exchange

    shown = on_event(lambda event: event | {"id": SHOWN[event["id"]]} if event.get("id") in SHOWN else None)
    return Change(patches=((har, "_read_exchange", make),), meaning=shown.meaning)


SHOWN = {}


def served(condition):
    """A call is not taken for turned away where this holds of its exchange."""

    def make(honest):
        def read_exchange(entry, place, session):
            class Served(type(session)):
                def add(self, value, sender, place, turned_away=False):
                    super().add(value, sender, place, False)

            session.__class__ = Served if condition(entry) else type(session)
            return honest(entry, place, session)

        return read_exchange

    return patch(har, "_read_exchange", make)


def form(exchange):
    first = next(iter(member_of(exchange, "request", "postData", "params") or ()), None)
    return put(exchange, member_of(first, "value"), "request", "postData", "text") if first else None


def skips_what_is_not_base64(exchange):
    text = member_of(exchange, *CONTENT, "text")
    if member_of(exchange, *CONTENT, "encoding") == "base64" and type(text) is str:
        return put(exchange, re.sub(r"[^A-Za-z0-9+/=]", "", text), *CONTENT, "text")


def one_value(exchange):
    text = member_of(exchange, *CONTENT, "text")
    return put(exchange, text_of(text), *CONTENT, "text") if isinstance(text, dict) else None


def latest_so_far(honest):
    def timed(entries):
        latest = None
        for now, said in honest(entries):
            latest = now if latest is None else max(latest, now)
            now = now if said[1] else latest
            yield now, (now, *said[1:])

    return timed


def next_start(honest):
    def timed(entries):
        starts = [member_of(entry, "startedDateTime") for entry in entries]
        for at in reversed(range(len(starts) - 1)):
            starts[at] = starts[at] or starts[at + 1]
        return honest([{**entry, "startedDateTime": start} if start else entry for entry, start in zip(entries, starts)])

    return timed


def times_as_they_are(honest):
    def times(entry):
        found = honest(entry)
        said = [member_of(item, "time") for item in entry["_events"]] if found else ()
        return found and [Decimal(time.text) if type(time) is Number else Decimal(0) for time in said]

    return times


def has_coding(exchange):
    headers = member_of(exchange, "response", "headers")
    return any(member_of(header, "name") == "Content-Encoding" for header in headers) if type(headers) is list else False


def header_of_posts(honest):
    def read_exchange(entry, place, session):
        other = entry if method_of(entry) == "POST" else put(entry, [], "request", "headers")
        return honest(other, place, session)

    return read_exchange


def unread_401(condition):
    return challenge.har_status(
        lambda exchange: member_of(exchange, *STATUS) == Number("401") and condition(method_of(exchange)), "402"
    )


def streams_by(size, join):
    """A stream is read in blocks: join(block)."""
    return stream(lambda text: "".join(join(text, at, size) for at in range(0, len(text), size)))


def two_ends(text, at, size):
    return text[at : at + size].replace("\r\n", "\n").replace("\r", "\n")


def decoded_streams(size):
    def edit(text):
        data = text.encode("utf-8", "surrogatepass")
        return "".join(data[at : at + size].decode("utf-8", "replace") for at in range(0, len(data), size))

    return stream(edit)


def other_answer(item):
    name = next((name for name in ("error", "result") if name in item), None)
    if name and "response" not in item:
        return {**item, "response": {"jsonrpc": "2.0", "id": member_of(item, "message", "id"), name: item[name]}}


def latin_1(exchange):
    text = member_of(exchange, *CONTENT, "text")
    if "8859-1" in str(member_of(exchange, *CONTENT, "mimeType")) and member_of(exchange, *CONTENT, "encoding") == "base64":
        return put(put(exchange, base64.b64decode(text).decode("latin-1"), *CONTENT, "text"), "", *CONTENT, "encoding")


FAULTS = {
    "INS-SHAPE": {
        "events-in-any-case": ("finds `Events`",
            on_document(lambda whole: {"events": whole["Events"]} if isinstance(whole, dict) and "Events" in whole else None)
            .within("inspector")),
        "events-under-data": ("finds `events` in an object under `data`",
            on_document(lambda whole: whole["data"] if member_of(whole, "data", "events") else None).within("inspector")),
        "items-unpacked": ("reads an item that is JSON text", on_item(texts_parsed)),
    },
    "INS-EXPORT": {
        "answers-called-error": ("takes `error` or `result` of an item for its answer", on_exported(other_answer)),
        "pending-dropped": ("drops an item that says that it is pending or failed",
            on_item(lambda item: [] if member_of(item, "status") in ("pending", "error") else None)),
        "empty-answers-are-none": ("takes an answer that is an empty object for none",
            on_exported(lambda item: without(item, "response") if item.get("response") == {} else None)),
        "tenths-are-milliseconds": ("reads the fraction .5 of a second as five milliseconds", changed("timestamp", few_digits)),
        "until-2038": ("takes a time after 2038 for the last second of 32 bits", changed("timestamp", year_2038)),
        "exponents-unread": ("drops the exponent of a duration",
            changed("duration", lambda took: Number(took.text.partition("e")[0]) if type(took) is Number else None)),
        "doubles-added": ("adds time and duration as doubles", instead(inspector, "later", sum_of_doubles)),
        "origins-checked": ("rejects an origin that is neither client nor server",
            on_exported(lambda item: refuse() if item.get("origin") not in (None, "client", "server") else None)),
        "bare-answers-folded": ("reads the answer that stands in a bare message", on_item(folded_answer)),
    },
    "HAR-ORDER": {
        "tenths-of-a-start": ("reads the fraction .5 of a start as five milliseconds", started(few_digits)),
        "starts-until-2038": ("takes a start after 2038 for the last second of 32 bits", started(year_2038)),
        "starts-from-1970": ("takes a start before 1970 for 1970",
            started(lambda time: "1970-01-01T00:00:00Z" if str(time)[:4] < "1970" else None)),
        "starts-of-microseconds": ("drops what is finer than a microsecond of a start",
            started(lambda time: re.sub(r"(\.\d{6})\d+", r"\1", time) if type(time) is str else None)),
        "latest-start-so-far": ("gives an exchange without a start the latest one so far", patch(har, "_timed", latest_so_far)),
        "start-of-the-next": ("gives an exchange without a start that of the next one", patch(har, "_timed", next_start)),
        "before-the-start": ("lets a block come before its exchange has started", patch(har, "_times", times_as_they_are)),
    },
    "HAR-MESSAGE": {
        "json-under-200-to-599": ("reads JSON answers only under 200 to 599",
            body_lost(lambda exchange: kind(exchange) == "application/json" and not has_status(exchange, 200, 599))),
        "logs-need-a-creator": ("rejects a log without a creator",
            on_document(lambda whole: [] if "creator" not in (member_of(whole, "log") or {"creator"}) else None).within("har")),
        "sizes-wanted": ("reads no content without a size",
            body_lost(lambda exchange: member_of(exchange, *CONTENT, "size") is None)),
        "comments-on-contents": ("reads no content with a comment",
            body_lost(lambda exchange: member_of(exchange, *CONTENT, "comment"))),
        "event-sources-dropped": ("drops exchanges of the resource type eventsource",
            exchanges_lost(lambda exchange: exchange.get("_resourceType") == "eventsource")),
        "service-workers-dropped": ("drops exchanges that a service worker answered",
            exchanges_lost(lambda exchange: exchange.get("_fromServiceWorker"))),
        "redirections-dropped": ("drops exchanges with an address for a redirection",
            exchanges_lost(lambda exchange: member_of(exchange, "response", "redirectURL"))),
        "json-rpc-types-lost": ("passes over what was posted as application/json-rpc",
            on_exchange(lambda exchange: put(exchange, "", "request", "postData", "text")
                if member_of(exchange, "request", "postData", "mimeType") == "application/json-rpc" else None)),
        "json-to-head-lost": ("reads no JSON answer to HEAD, OPTIONS or PATCH",
            body_lost(lambda it: kind(it) == "application/json" and method_of(it) in ("HEAD", "OPTIONS", "PATCH"))),
        "bodies-of-patch": ("reads the bodies of PATCH, too", posted("PATCH")),
        "methods-trimmed": ("trims the method", posted("POST", trimmed=True)),
        "addresses-of-mcp": ("reads only exchanges at addresses with mcp in them",
            exchanges_lost(lambda exchange: "mcp" not in str(member_of(exchange, "request", "url")))),
        "well-known-dropped": ("drops exchanges at /.well-known and /oauth",
            exchanges_lost(lambda exchange: re.search(r"/(\.well-known|oauth)/", str(member_of(exchange, "request", "url"))))),
        "coded-contents-lost": ("reads no body under a Content-Encoding", body_lost(lambda exchange: has_coding(exchange))),
        "forms-are-bodies": ("takes the first field of a form for the body", on_exchange(form)),
        "last-comma-of-a-body": ("reads a body with a comma behind the last member",
            on_bodies(lambda text: re.sub(r",\s*}$", "}", text))),
        "nan-in-a-body": ("reads NaN in a body as null", on_bodies(lambda text: text.replace(":NaN", ":null"))),
        "bodies-trimmed": ("trims bodies of what Unicode calls space", on_bodies(str.strip)),
    },
    "HAR-STREAM": {
        "streams-under-errors-lost": ("reads no stream under 400 and more", streams_under(400, 599)),
        "streams-under-2xx-alone": ("reads only streams under 200 to 299",
            body_lost(lambda it: kind(it) == "text/event-stream" and not has_status(it, 200, 299))),
        "streams-under-200-alone": ("reads no stream under 201 to 299", streams_under(201, 299)),
        "streams-to-get-and-post": ("reads only streams that answer GET and POST",
            body_lost(lambda it: kind(it) == "text/event-stream" and method_of(it) in OTHER_METHODS)),
        "charsets-believed": ("decodes base64 by the charset of the media type", on_exchange(latin_1)),
        "lines-continued": ("takes a line that begins with a space for more of the line before",
            stream(lambda text: text.replace("\n ", ""))),
        "names-of-fields-twice": ("reads `data:` behind `data:`", stream(lambda text: text.replace("data: data: ", "data: "))),
        "nuls-in-ids": ("drops an event whose id has a NUL", stream(lambda text: re.sub("id:.*\0.*\ndata:.*\n", "", text))),
        "spelled-line-ends": ("reads a backslash and an n in a stream as a line end",
            stream(lambda text: text.replace("\\n", "\n"))),
        "garbage-skipped": ("skips what is not base64", on_exchange(skips_what_is_not_base64)),
        "lines-of-base64-refused": ("rejects base64 with white space in what was posted",
            on_exchange(lambda it: refuse() if re.search(r"\s", str(member_of(it, "request", "postData", "text")))
                and member_of(it, "request", "postData", "encoding") == "base64" else None)),
        "crlf-in-blocks-of-64": ("takes a CRLF over the border of a block of 64 for two line ends", streams_by(64, two_ends)),
        "crlf-in-blocks-of-64k": ("takes a CRLF over the border of a block of 64 KiB for two line ends",
            streams_by(65_536, two_ends)),
        "characters-in-blocks-of-1k": ("breaks characters at the borders of blocks of 1 KiB", decoded_streams(1024)),
        "characters-in-blocks-of-64k": ("breaks characters at the borders of blocks of 64 KiB", decoded_streams(65_536)),
        "fields-with-equals": ("takes data= for data:", stream(lambda text: re.sub("(?m)^data=", "data:", text))),
        "fields-by-their-start": ("takes eventType: for event:", stream(lambda text: text.replace("eventType:", "event:"))),
        "nuls-dropped": ("drops NULs from a stream", stream(lambda text: text.replace("\0", ""))),
        "lines-at-form-feeds": ("ends lines of a stream at VT and FF, as Python's splitlines does",
            stream(lambda text: re.sub("[\x0b\x0c]", "\n", text))),
        "lines-at-separators": ("ends lines of a stream at U+001C, as Python's splitlines does",
            stream(lambda text: text.replace("\x1c", "\n"))),
        "white-lines-are-empty": ("takes a line of white space for an empty one",
            stream(lambda text: re.sub(r"(?m)^[^\S\r\n]+$", "", text))),
        "crlf-ends-an-event": ("takes one CRLF at the end of a stream for two ends",
            stream(lambda text: text + "\n" if text.endswith("\r\n") and not text.endswith("\n\r\n") else text)),
        "cr-ends-an-event": ("takes one CR at the end of a stream for two ends",
            stream(lambda text: text + "\r" if text.endswith("\r") else text)),
        "ids-end-events": ("ends an event at an id", stream(lambda text: re.sub("(?m)^id:.*$", "", text))),
        "a-hundred-events": ("reads the first hundred events of a stream",
            patch(har, "blocks", lambda honest: lambda text: islice(honest(text), 100))),
        "empty-data-is-none": ("reads nothing of an event whose first line of data is empty",
            stream(lambda text: re.sub(r"(?m)^data:\n(data:.*\n)+", "", text))),
    },
    "HAR-MISSING": {
        "null-entries-are-none": ("takes entries that are null for an empty list",
            on_document(lambda whole: put(whole, [], "log", "entries")
                if "entries" in (member_of(whole, "log") or ()) and whole["log"]["entries"] is None else None).within("har")),
    },
    "HAR-K2A": {
        "no-401-to-head": ("looks at no 401 to HEAD", unread_401(lambda method: method == "HEAD")),
        "no-401-without-a-request": ("looks at no 401 without its request", unread_401(lambda method: method is None)),
    },
    "EQ-CONTEXT": {
        "connections-apart": ("binds only what came on one connection", pairs_within("connection")),
        "preflights-dropped": ("drops exchanges that a preflight began",
            on_exchange(lambda exchange: DROPPED if member_of(exchange, "_initiator", "type") == "preflight" else None)),
        "nothing-transferred": ("drops an answer of which nothing was transferred",
            body_lost(lambda exchange: member_of(exchange, "response", "_transferSize") == Number("0"))),
    },
    "EQ-BATCH": {
        "headers-of-posts": ("looks only at the headers of posts for the revision",
            patch(har, "_read_exchange", header_of_posts)),
    },
    "COR-DUPLICATE": {
        "messages-are-served": ("takes a call for served where a message came under its 401",
            served(lambda entry: "jsonrpc" in str(member_of(entry, *CONTENT, "text")))),
    },
    "SRV-BYTES": {
        "null-exchanges-passed": ("passes over an exchange that is null",
            patch(har, "_timed", lambda honest: lambda entries: honest([entry for entry in entries if entry is not None]))),
        "texts-of-objects": ("reads the text of a body that is an object", on_exchange(one_value)),
    },
}
