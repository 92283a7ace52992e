"""`streamable-http` and `http-sse`: one JSON document with a list of entries, each a request, a response or an SSE event.

What goes from client to server stands in `request`, also a client's answer to a server's request; `response` and `sse`
come from the server. Times, headers and ids of the transport are context and change nothing, but for a 401 challenge.
"""

from contract import CLIENT, SERVER, Rejection, unambiguous
from discovery import merged
from formats.source import document
from jsontext import Number, TwiceNamed
from sse import NOTHING, carried_message

_SLOTS = ("request", "response", "sse")


def reader(label):
    def read(file, session):
        envelope = document(file)
        if not isinstance(envelope, dict):
            raise Rejection("wrong-document", "", "an envelope is a JSON object")
        unambiguous(envelope, "the envelope", ("transport", "entries"))
        if envelope.get("transport") != label:
            raise Rejection("wrong-transport", "/transport", f"the transport is not {label!r}")
        entries = envelope.get("entries")
        if type(entries) is not list:
            raise Rejection("missing-entries", "/entries", "no array of entries")
        for index, entry in enumerate(entries):
            _read_entry(entry, f"/entries/{index}", session)

    return read


def _read_entry(entry, place, session):
    if not isinstance(entry, dict):
        raise Rejection("invalid-entry", place, "an entry is a JSON object")
    unambiguous(entry, place, (*_SLOTS, "transport_context"))
    filled = [slot for slot in _SLOTS if slot in entry]
    if len(filled) != 1:
        raise Rejection("invalid-entry", place, f"one of {', '.join(_SLOTS)} is due; here are {len(filled)}")
    (slot,) = filled
    content, place = entry[slot], f"{place}/{slot}"

    context = entry.get("transport_context")
    status = None
    if slot == "response" and isinstance(context, dict):
        unambiguous(context, place, ("status", "headers"))
        status = context.get("status")
        if status == Number("401"):
            _read_challenges(context.get("headers"), session)

    if slot == "request" and isinstance(context, dict):
        session.named(next(_header(context.get("headers"), "mcp-protocol-version"), None))

    if content is None:
        return
    if slot == "sse":
        _read_event(content, place, session)
    elif not (slot == "response" and _is_plain_error_body(content, status)):
        session.add(content, CLIENT if slot == "request" else SERVER, place)


def _read_event(event, place, session):
    if not isinstance(event, dict):
        raise Rejection("wrong-type", place, "an SSE event is a JSON object")
    unambiguous(event, place, ("event", "data"))
    name = event.get("event")
    if name is not None and type(name) is not str:
        raise Rejection("wrong-type", f"{place}/event", "an event name is a string")
    message = carried_message(name, event.get("data"), f"{place}/data")
    if message is not NOTHING:
        session.add(message, SERVER, f"{place}/data")


def _is_plain_error_body(content, status):
    """A real 401 body is `{"error":"invalid_token"}`: HTTP's or OAuth's business, no JSON-RPC."""
    return (
        isinstance(content, dict)
        and type(status) is Number
        and _is_error_status(status)
        and "jsonrpc" not in content
        and "method" not in content
        and "result" not in content
        and not isinstance(content.get("error"), dict)
    )


def _is_error_status(status):
    """400 or more, by the digits: the number may be spelled in any way, and may be too large for an int."""
    negative, digits, exponent = status.decimal()
    before_the_point = len(digits) + exponent
    return not negative and (before_the_point > 3 or (before_the_point == 3 and digits >= "4"))


def _read_challenges(headers, session):
    for value in _header(headers, "www-authenticate"):
        session.discovery = merged(session.discovery, value)


def _header(headers, wanted):
    """The values that are text of the headers with this name, in any case."""
    if isinstance(headers, dict):
        for name, value in headers.pairs if type(headers) is TwiceNamed else headers.items():
            if name.lower() == wanted and type(value) is str:
                yield value
