"""From messages to meaning: what one JSON-RPC message is, and which request a response answers.

`Session.add` takes the messages in transcript order, each with its sender where the format tells, and keeps the events of
the meaning. Everything a transcript can do wrong is a `Rejection`: a code, a sentence, and the place it is about.

This module knows nothing of capture formats, files or HTTP.
"""

from collections import deque
from dataclasses import dataclass

from jsontext import Number, TwiceNamed

CLIENT, SERVER = "client", "server"
OTHER_SIDE = {CLIENT: SERVER, SERVER: CLIENT, None: None}

# Whose requests a sender's response may answer. A sender that the format does not tell may be either.
_ASKERS = {CLIENT: (SERVER, None), SERVER: (CLIENT, None), None: (None, CLIENT, SERVER)}

_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
_HAS_BATCHES = "2025-03-26"

_MESSAGE_MEMBERS = ("jsonrpc", "id", "method", "params", "result", "error")


@dataclass(frozen=True)
class Dialect:
    """What ids are to a reading; by default what the contract says."""

    typed: bool = False  # a number and a string are two ids
    required: bool = False  # tool calls and results have an id, and only an error has the id null
    reusable: bool = False  # a tool call may have the id of another one that is no longer open, or of the other side's


DIALECTS = {"default": Dialect(), "typed-ids": Dialect(typed=True, required=True, reusable=True)}


class Rejection(Exception):
    """The transcript has no meaning, and this is why."""

    def __init__(self, code, place, why):
        super().__init__(f"{place}: {why}" if place else why)
        self.code = code


def unambiguous(item, place, names):
    """Rejects an object that names one of the members twice that decide what it means."""
    if type(item) is TwiceNamed:
        for name in names:
            if name in item.twice():
                raise Rejection("ambiguous-member", place, f"the member {name!r} stands twice")


def looks_like_message(value):
    """Whether a value claims to be a JSON-RPC message, right or wrong."""
    return isinstance(value, dict) and any(name in value for name in ("jsonrpc", "method", "result", "error"))


def correlation_id(message, place):
    """The id as a string, or None where the message has none. A number keeps its own spelling."""
    value = message.get("id")
    if value is None or type(value) is str:
        return value
    if type(value) is Number:
        return value.text
    raise Rejection("invalid-id", place, "an id is a string, a number or null")


class Session:
    """The events so far. `discovery` is set by the formats that can see a 401 challenge."""

    def __init__(self, dialect=DIALECTS["default"]):
        self._dialect = dialect
        self.events = []
        self.discovery = None
        self.notes = []  # what the person at the terminal should hear; never part of the meaning
        self._unanswered = {}  # (asker, key of the id) → indices of the requests that wait, oldest first
        self._tool_call_ids = set()
        self._turned_away = set()  # indices of tool calls that HTTP turned away
        self._revision = None  # as far as the session has shown it
        self._handshakes = set()  # indices of the initialize requests that wait

    def meaning(self):
        return {"events": self.events, "authorization_discovery": self.discovery}

    def named(self, version):
        """The header MCP-Protocol-Version of a request says which revision this is, until the session has shown it."""
        if self._revision is None and version in _REVISIONS:
            self._revision = version

    def add(self, value, sender, place, turned_away=False):
        """One carried message becomes one event, or the transcript is rejected. A batch is its messages, in order.

        `turned_away`: HTTP answered in the server's stead, so that the same request may come again.
        """
        if type(value) is list and value and self._revision == _HAS_BATCHES:
            for index, item in enumerate(value):
                self._add(item, sender, f"{place}, item {index}", turned_away)
        else:
            self._add(value, sender, place, turned_away)

    def _add(self, message, sender, place, turned_away):
        if not isinstance(message, dict):
            if type(message) is list:
                raise Rejection("batch", place, "an array stands where one message belongs")
            raise Rejection("not-a-message", place, "a message is a JSON object")
        unambiguous(message, place, _MESSAGE_MEMBERS)
        if not looks_like_message(message):
            raise Rejection("not-a-message", place, "no method, no result and no error")
        if message.get("jsonrpc") != "2.0":
            raise Rejection("invalid-version", place, 'jsonrpc is not "2.0"')

        if "method" in message:
            event = self._asking(message, sender, place, turned_away)
        else:
            event = self._answering(message, sender, place)
        self.events.append(event)

    def _asking(self, message, sender, place, turned_away):
        method = message["method"]
        if "result" in message or "error" in message:
            raise Rejection("ambiguous-message", place, "a method stands beside a result or an error")
        if type(method) is not str:
            raise Rejection("invalid-method", place, "method is not a string")
        id_ = correlation_id(message, place)
        self._require_id(message, place, may_lack=method != "tools/call")
        key = (sender, self._key(message, id_))

        if method == "tools/call":
            event = self._tool_call(message, id_, key, place, turned_away)
        else:
            event = {"kind": "notification" if id_ is None else "request"}
            if id_ is not None:
                event["id"] = id_
            event["method"] = method
            if "params" in message:
                event["params"] = message["params"]
        if id_ is not None:
            self._unanswered.setdefault(key, deque()).append(len(self.events))
            if method == "initialize":
                self._handshakes.add(len(self.events))
        return event

    def _require_id(self, message, place, may_lack):
        if self._dialect.required and message.get("id") is None and not (may_lack and "id" not in message):
            raise Rejection("invalid-id", place, "a request and a result need an id that is not null")

    def _key(self, message, id_):
        """What two ids have in common that are one."""
        return (type(message.get("id")), id_) if self._dialect.typed else id_

    def _is_taken(self, id_, key):
        if self._dialect.reusable:
            calls = (index for index in self._unanswered.get(key, ()) if self.events[index]["kind"] == "tool_call")
            return any(index not in self._turned_away for index in calls)
        return id_ in self._tool_call_ids

    def _tool_call(self, message, id_, key, place, turned_away):
        event = {"kind": "tool_call"}
        if id_ is not None:
            if self._is_taken(id_, key):
                raise Rejection("duplicate-call-id", place, f"a second tools/call with the id {id_!r}")
            if turned_away:
                self._turned_away.add(len(self.events))
            else:
                self._tool_call_ids.add(id_)
            event["id"] = id_
        params = message.get("params")
        if isinstance(params, dict):
            unambiguous(params, f"{place}, params", ("name", "arguments"))
            if "name" in params:
                event["tool"] = params["name"]
            if "arguments" in params:
                event["arguments"] = params["arguments"]
        return event

    def _answering(self, message, sender, place):
        if "result" in message and "error" in message:
            raise Rejection("ambiguous-message", place, "a result stands beside an error")
        kind = "result" if "result" in message else "error"
        if kind not in message:
            raise Rejection("not-a-message", place, "no method, no result and no error")
        id_ = correlation_id(message, place)
        if kind == "result":
            self._require_id(message, place, may_lack=False)
        event = {"kind": kind}
        if id_ is not None:
            event["id"] = id_
        event["answers"] = None if id_ is None else self._request_for(self._key(message, id_), sender)
        event[kind] = message[kind]
        if event["answers"] in self._handshakes:
            self._handshakes.remove(event["answers"])
            if kind == "result" and isinstance(event["result"], dict):
                agreed = event["result"].get("protocolVersion")
                self._revision = agreed if type(agreed) is str and agreed in _REVISIONS else self._revision
        return event

    def _request_for(self, id_, sender):
        """The oldest request with this id that waits for an answer of this sender; None makes an orphan."""
        waiting = [key for key in ((asker, id_) for asker in _ASKERS[sender]) if key in self._unanswered]
        if not waiting:
            return None
        key = min(waiting, key=lambda key: self._unanswered[key][0])
        index = self._unanswered[key].popleft()
        if not self._unanswered[key]:
            del self._unanswered[key]
        return index
