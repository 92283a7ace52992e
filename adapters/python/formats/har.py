"""`har` (1.2): HTTP exchanges, of which a POST body and the answers may carry messages, and most carry none.

Exchanges stand in order of `startedDateTime`. In one exchange the POST's message comes first, then the answer's: a JSON
body, or the events of a stream. An exchange with `_events` says when each block of its answer came, and there it stands. Bodies of other sites, and whatever is not JSON-RPC, carry nothing. Bodies that the
exporter dropped are counted in the session's notes, since what was in them is lost.
"""

import base64
import binascii
from decimal import Decimal

from clock import START, in_order_of_time, later, milliseconds
from contract import CLIENT, SERVER, Rejection, unambiguous
from discovery import merged
from formats.source import document
from jsontext import JsonError, Number, parse
from sse import NOTHING, blocks, carried_message

_JSON, _STREAM = "application/json", "text/event-stream"

# A token is wanted, or another address: the server of the session saw nothing yet.
_TURNED_AWAY = [Number(status) for status in ("401", "301", "302", "303", "307", "308")]


def read(file, session):
    whole = document(file)
    if not isinstance(whole, dict):
        raise Rejection("wrong-document", "", "a HAR is a JSON object")
    unambiguous(whole, "the document", ("log",))
    log = whole.get("log")
    if isinstance(log, dict):
        unambiguous(log, "/log", ("entries",))
    entries = log.get("entries") if isinstance(log, dict) else None
    if type(entries) is not list:
        raise Rejection("missing-entries", "/log/entries", "no array of entries")

    said = []
    missing = 0
    for started, dated, entry, place in in_order_of_time(_timed(entries)):
        times = _times(entry) if dated else None
        missing += _read_exchange(entry, place, _Exchange(session, started, times, said))
    for step, given in in_order_of_time(said):
        step(*given)
    if missing:
        session.notes.append(f"{missing} bodies are missing from this HAR; what they carried is not in the reading")


def _timed(entries):
    now = START
    for index, entry in enumerate(entries):
        place = f"/log/entries/{index}"
        if not isinstance(entry, dict):
            raise Rejection("invalid-entry", place, "an entry is a JSON object")
        unambiguous(entry, place, ("startedDateTime", "request", "response"))
        started = entry.get("startedDateTime")
        started = None if type(started) is Number else milliseconds(started, f"{place}/startedDateTime")
        now = now if started is None else started
        yield now, (now, started is not None, entry, place)


def _times(entry):
    """When each block of the answer came, in milliseconds since the start; None where the file does not say."""
    listed = entry.get("_events")
    if type(listed) is not list:
        return None
    times, last = [], Decimal(0)
    for item in listed:
        time = item.get("time") if isinstance(item, dict) else None
        last = max(last, Decimal(time.text)) if type(time) is Number else last
        times.append(last)
    return times


class _Exchange:
    """Takes what one exchange says, each message with its time: a block that has none comes with the one before it."""

    def __init__(self, session, started, times, said):
        self._session, self._said = session, said
        self._started = self._now = started
        self._times = iter(times or ())

    def next_block(self):
        time = next(self._times, None)
        if time is not None:
            self._now = later(self._started, time)

    def add(self, *said):
        self._said.append((self._now, (self._session.add, said)))

    def named(self, version):
        self._said.append((self._now, (self._session.named, (version,))))

    def challenged(self, value):
        self._session.discovery = merged(self._session.discovery, value)


def _read_exchange(entry, place, session):
    """Adds the exchange's messages; returns how many of its bodies the exporter left out."""
    request = _object(entry, "request", place, ("method", "headers", "postData"))
    for version in _header(request, "mcp-protocol-version"):
        session.named(version)
        break
    method = (_string(request, "method", f"{place}/request") or "").upper()
    answer = _object(entry, "response", place, ("status", "headers", "content"))
    for name, side in (("request", request), ("response", answer)):
        if type(side.get("headers") or []) is not list:
            raise Rejection("wrong-type", f"{place}/{name}/headers", "headers are an array")
    turned_away = any(answer.get("status") == status for status in _TURNED_AWAY)
    missing = 0
    if method == "POST":
        body = _object(request, "postData", f"{place}/request", ("text", "encoding"))
        missing += _read_post(body, request, f"{place}/request/postData", session, turned_away)

    if answer.get("status") == Number("401"):
        for value in _header(answer, "www-authenticate"):
            session.challenged(value)
    content = _object(answer, "content", f"{place}/response", ("text", "encoding", "mimeType"))
    return missing + _read_answer(content, answer, f"{place}/response/content", session)


def _read_post(body, request, place, session, turned_away):
    text, sound = _text(body, place)
    if not text:
        return _says_more_than_zero(request.get("bodySize"))
    _add_json(text, sound, CLIENT, place, session, turned_away)
    return 0


def _read_answer(content, answer, place, session):
    _string(content, "mimeType", place)
    kind = _media_type(content, answer)
    if kind not in (_JSON, _STREAM):
        return 0
    text, sound = _text(content, place)
    if not text:
        return _says_more_than_zero(content.get("size"))
    if kind == _JSON:
        session.next_block()
        _add_json(text, sound, SERVER, place, session)
        return 0
    if not sound:
        raise Rejection("invalid-utf8", place, "the stream is not UTF-8")
    for number, event in enumerate(blocks(text), 1):
        session.next_block()
        message = carried_message(*event, f"{place}, event {number}") if event else NOTHING
        if message is not NOTHING:
            session.add(message, SERVER, f"{place}, event {number}")
    return 0


def _add_json(text, sound, sender, place, session, turned_away=False):
    """Only an object with `jsonrpc` is a message here; whether an array of such is a batch, the session knows."""
    try:
        value = parse(text.removeprefix("\ufeff"))
    except JsonError:
        return
    items = value if type(value) is list else [value]
    if not any(isinstance(item, dict) and "jsonrpc" in item for item in items):
        return
    if not sound:
        raise Rejection("invalid-utf8", place, "the message is not UTF-8")
    session.add(value, sender, place, turned_away)


def _text(body, place):
    """(text, whether its bytes were UTF-8); no text where the exporter left it out."""
    text, encoding = _string(body, "text", place), _string(body, "encoding", place)
    if text is None or (encoding or "").lower() != "base64":
        return text, True
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise Rejection("wrong-type", f"{place}/text", "the text is not base64") from None
    try:
        return raw.decode("utf-8"), True
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), False


def _media_type(content, answer):
    named = content.get("mimeType")
    if type(named) is not str or named in ("", "x-unknown"):
        named = next(iter(_header(answer, "content-type")), "")
    return named.split(";")[0].strip().lower()


def _header(message, name):
    headers = message.get("headers")
    for header in headers if type(headers) is list else ():
        if isinstance(header, dict) and type(header.get("name")) is str and header["name"].lower() == name:
            if type(header.get("value")) is str:
                yield header["value"]


def _object(parent, name, place, deciding):
    """A member that is an object where it is there at all."""
    value = parent.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Rejection("wrong-type", f"{place}/{name}", f"{name} is a JSON object")
    unambiguous(value, f"{place}/{name}", deciding)
    return value


def _string(parent, name, place):
    """A member that is a string where it is there at all."""
    value = parent.get(name)
    if value is not None and type(value) is not str:
        raise Rejection("wrong-type", f"{place}/{name}", f"{name} is a string")
    return value


def _says_more_than_zero(size):
    """1 for a body that was there and is not in the file; a size of -1 means that nobody knows."""
    if type(size) is not Number:
        return 0
    negative, digits, _ = size.decimal()
    return int(digits != "" and not negative)
