"""What becomes of messages: how many there are, in which order, and what batches are."""


import contract
from contract import _REVISIONS, Session, looks_like_message
from faults import seams
from faults.seams import (
    DROPPED,
    ENVELOPES,
    arranged,
    instead,
    is_answered,
    is_response,
    loses,
    member_of,
    on_added,
    on_document,
    on_entry,
    on_event,
    on_events,
    on_lines,
    patch,
    rejects,
    sorts,
    text_of,
    without,
)
from faults.values import params
from formats import envelope, har
from jsontext import JsonError, Number, parse
from sse import NOTHING


def method(event):
    return "tools/call" if event["kind"] == "tool_call" else event.get("method")


def is_ping(events, at):
    return method(events[at]) == "ping" or (
        events[at].get("answers") is not None and method(events[events[at]["answers"]]) == "ping"
    )


def is_handshake(events, at):
    asked = events[at].get("answers")
    return method(events[at] if asked is None else events[asked]) in ("initialize", "notifications/initialized")


def first_of_equals(events, at):
    return any(text_of(events[at]) == text_of(before) for before in events[:at])


def before_the_handshake(events, at):
    starts = [index for index, event in enumerate(events) if method(event) == "initialize"]
    return bool(starts) and at < starts[0]


def inner_messages(events):
    hidden = [event for event in events if isinstance(event.get("arguments"), dict) and "jsonrpc" in text_of(event["arguments"])]
    return events + [{"kind": "notification", "method": "inner"} for _ in hidden] if hidden else None


# --- batches ------------------------------------------------------------------------------------------------------


def on_batch(edit):
    """What stands in the place of a message, where the session has batches: another value, or DROPPED."""

    def make(honest):
        def add(self, value, *rest, **named):
            known = type(value) is list and self._revision == contract._HAS_BATCHES
            other = edit(value) if known else value
            if other is not DROPPED:
                honest(self, other, *rest, **named)

        return add

    return patch(Session, "add", make)


def flattened(batch):
    return [message for item in batch for message in (item if type(item) is list else [item])]


def array_by_array(believes):
    """Reads arrays as batches where it believes that it may: a function of the session."""

    def make(honest):
        def add(self, value, *rest, **named):
            for item in value if type(value) is list and value and believes(self) else [value]:
                honest(self, item, *rest, **named)

        return add

    return patch(Session, "add", make)


def batch_from_nobody(honest):
    def add(self, value, sender, place, turned_away=False):
        batch = type(value) is list and self._revision == contract._HAS_BATCHES
        honest(self, value, None if batch else sender, place, turned_away)

    return add


def after_asking(notice):
    def make(honest):
        def asking(self, message, *rest):
            event = honest(self, message, *rest)
            notice(self, message)
            return event

        return asking

    return patch(Session, "_asking", make)


def after_answering(notice):
    """notice(session, message, what it answers, revision before)"""

    def make(honest):
        def answering(self, message, *rest):
            before = self._revision
            event = honest(self, message, *rest)
            asked = event["answers"]
            notice(self, message, None if asked is None else self.events[asked], before)
            return event

        return answering

    return patch(Session, "_answering", make)


def believes_the_wish(session, message):
    if message["method"] == "initialize":
        session._revision = member_of(message, "params", "protocolVersion") or session._revision


def keeps_the_first(session, message, asked, before):
    if session._revision != before:
        if getattr(session, "_agreed", False):
            session._revision = before
        session._agreed = True


def forgets(session, message, asked, before):
    if asked and method(asked) == "initialize" and "result" in message:
        agreed = member_of(message, "result", "protocolVersion")
        session._revision = agreed if agreed in _REVISIONS else None


def believes_any_result(session, message, asked, before):
    version = member_of(message, "result", "protocolVersion")
    if type(version) is str and version in _REVISIONS:
        session._revision = version


def first_header_only(honest):
    def named(self, version):
        if version is not None and not getattr(self, "_named", False):
            self._named = True
            honest(self, version)

    return named


def last_header_decides(_):
    def named(self, version):
        if version in _REVISIONS and self._revision in (None, getattr(self, "_by_header", None)):
            self._revision = self._by_header = version

    return named


def headers_decide(_):
    def named(self, version):
        self._revision = version if version in _REVISIONS else self._revision

    return named


def any_header(_):
    def named(self, version):
        self._revision = self._revision or version

    return named


def looks_ahead(lines):
    agreed = any(member_of(value, "result", "protocolVersion") == contract._HAS_BATCHES for _, value in lines)
    return [(place, item) for place, value in lines for item in (value if agreed and type(value) is list and value else [value])]


def claimed_arrays(honest):
    def carried(name, data, place):
        found = honest(name, data, place)
        try:
            value = parse(data) if type(data) is str else data
        except JsonError:
            return found
        return value if type(value) is list and value and name in (None, "", "message") else found

    return carried


def no_arrays(honest):
    def carried(name, data, place):
        found = honest(name, data, place)
        if type(found) is list:
            raise contract.Rejection("batch", place, "an array stands where one message belongs")
        return found

    return carried


def whole_arrays(honest):
    def carried(name, data, place):
        found = honest(name, data, place)
        return NOTHING if type(found) is list and not all(map(looks_like_message, found)) else found

    return carried


def as_written(honest):
    """No `mcp-protocol-version`: a client that spells it otherwise names no revision."""

    def header(headers, name):
        if name != "mcp-protocol-version":
            return honest(headers, name)
        text = "MCP-Protocol-Version"
        return honest(headers, name) if text in str(headers) else iter(())

    return header


# --- order and context --------------------------------------------------------------------------------------------


def on_entries(edit):
    def whole(document):
        entries = document.get("entries") if isinstance(document, dict) else None
        return {**document, "entries": edit(entries)} if type(entries) is list else None

    return on_document(whole).within(*ENVELOPES)


def stamp(entry):
    time = entry.get("timestamp_ms") if isinstance(entry, dict) else None
    return float(time.text) if type(time) is Number else 0.0


def ties_reversed(entries):
    return [entry for _, entry in sorted(enumerate(entries), key=lambda pair: (stamp(pair[1]), -pair[0]))]


def by_id(events):
    at = [index for index, event in enumerate(events) if not is_response(event) and "id" in event]
    order = dict(zip(at, sorted(at, key=lambda index: events[index]["id"])))
    return arranged(events, [order.get(index, index) for index in range(len(events))])


def seen_before(key):
    """Drops what a session has seen: key(message) or None."""

    def make(honest):
        def add(self, message, *rest):
            mark = key(message) if isinstance(message, dict) else None
            seen = self.__dict__.setdefault("_seen", set())
            if mark is None or mark not in seen:
                seen.add(mark)
                honest(self, message, *rest)

        return add

    return patch(Session, "_add", make)


def redelivered(honest):
    def read_event(event, place, session):
        seen, id_ = session.__dict__.setdefault("_event_ids", []), member_of(event, "id")
        if id_ is None or id_ not in seen:
            honest(event, place, session)
        seen.append(id_)

    return read_event


def event_id_is_the_id(honest):
    def read_event(event, place, session):
        data = member_of(event, "data")
        if isinstance(data, dict) and type(event.get("id")) is str:
            event = {**event, "data": {**data, "id": event["id"]}}
        honest(event, place, session)

    return read_event


def header(entry, wanted):
    headers = member_of(entry, "transport_context", "headers")
    return (
        next((value for name, value in (headers or {}).items() if name.lower() == wanted), None)
        if isinstance(headers, dict)
        else None
    )


def first_session_only(entries):
    first = next((header(entry, "mcp-session-id") for entry in entries if header(entry, "mcp-session-id")), None)
    return [entry for entry in entries if header(entry, "mcp-session-id") in (None, first)]


def failed(entry):
    status = member_of(entry, "transport_context", "status")
    return type(status) is Number and status.text >= "400" and len(status.text) == 3


def failures_are_errors(entry):
    message = entry.get("response")
    if failed(entry) and isinstance(message, dict) and "result" in message:
        return {**entry, "response": {**without(message, "result"), "error": message["result"]}}


FAULTS = {
    "EQ-COUNT": {
        "no-notifications": ("drops notifications", loses(lambda events, at: events[at]["kind"] == "notification")),
        "no-progress": ("drops progress notifications", loses(lambda events, at: method(events[at]) == "notifications/progress")),
        "no-pings": ("drops pings and their answers as keep-alives", loses(is_ping)),
        "no-errors": ("drops error answers", loses(lambda events, at: events[at]["kind"] == "error")),
        "no-orphans": ("drops answers that belong to no request",
            loses(lambda events, at: is_response(events[at]) and events[at]["answers"] is None)),
        "answered-calls-only": ("shows a tool call only when it was answered",
            loses(lambda events, at: events[at]["kind"] == "tool_call" and not is_answered(events, at))),
        "no-handshake": ("leaves the handshake out", loses(is_handshake)),
        "after-the-handshake": ("begins with `initialize`, where there is one", loses(before_the_handshake)),
        "first-fifty": ("shows the first fifty events", loses(lambda events, at: at >= 50)),
        "equal-notifications-merged": ("merges notifications that are equal",
            loses(lambda events, at: events[at]["kind"] == "notification" and first_of_equals(events, at))),
        "client-answers-dropped": ("drops what a client answers",
            on_added(lambda message, sender: DROPPED if sender == "client" and "method" not in message else None)),
        "server-requests-dropped": (
            "drops what a server asks",
            on_added(
                lambda message, sender: (
                    DROPPED if sender == "server" and "method" in message and message.get("id") is not None else None
                )
            ),
        ),
        "inner-messages": ("finds messages by the word `jsonrpc`, even in arguments", on_events(inner_messages)),
        "handshake-wanted": ("shows nothing of a session without `initialize`",
            loses(lambda events, at: not any(method(event) == "initialize" for event in events))),
        "last-one-lost": ("loses the last event", loses(lambda events, at: at + 1 == len(events))),
        "rejects-everything": ("rejects every transcript", seams.on_bytes(lambda data: b"\xff")),
        "params-by-name-only": ("drops params that are an array", params(lambda value: type(value) is list)),
    },
    "EQ-BATCH": {
        "batches-rejected": ("rejects batches of the revision that has them, too", instead(contract, "_HAS_BATCHES", "none")),
        "batches-everywhere": ("reads batches of every revision that the session shows",
            array_by_array(lambda session: session._revision)),
        "batch-first-only": ("reads the first message of a batch", on_batch(lambda batch: batch[:1])),
        "batch-backwards": ("reads a batch from its end", on_batch(lambda batch: batch[::-1])),
        "batch-from-nobody": ("does not know who sent the messages of a batch", patch(Session, "add", batch_from_nobody)),
        "batch-by-the-wish": ("takes the revision that the client asks for as the session's", after_asking(believes_the_wish)),
        "batch-looks-ahead": ("reads batches wherever the recording agrees on their revision at some time",
            on_lines(looks_ahead)),
        "batch-first-handshake": ("keeps to what the first of several handshakes agreed on", after_answering(keeps_the_first)),
        "batch-forgets": ("forgets the revision at a handshake with a version that no revision has", after_answering(forgets)),
        "batch-no-first-revision": ("does not know the first revision, and keeps to the one before its handshake",
            instead(contract, "_REVISIONS", _REVISIONS[1:])),
        "batch-no-last-revision": ("does not know the last revision, and keeps to the one before its handshake",
            instead(contract, "_REVISIONS", _REVISIONS[:-1])),
        "batch-no-november": ("does not know the revision 2025-11-25, and keeps to the one before its handshake",
            instead(contract, "_REVISIONS", tuple(name for name in _REVISIONS if name != "2025-11-25"))),
        "batch-any-result": ("takes the `protocolVersion` of any result for what was agreed on",
            after_answering(believes_any_result)),
        "batch-no-headers": ("does not look at the header that names the revision",
            instead(Session, "named", lambda self, version: None)),
        "batch-last-header-decides": ("lets the last header with a version decide, where no answer did",
            seams.patch(Session, "named", last_header_decides)),
        "batch-first-header-only": ("looks only at the first header with a version, even if no revision has it",
            patch(Session, "named", first_header_only)),
        "batch-any-header": ("takes the first header for the session's revision, even if no revision has it, and no later one",
            patch(Session, "named", any_header)),
        "batch-headers-decide": ("believes the header that names the revision against the handshake",
            patch(Session, "named", headers_decide)),
        "batch-empty-read": ("takes an empty batch for no message", on_batch(lambda batch: batch or DROPPED)),
        "batch-items-passed-over": ("passes over items of a batch that are not messages",
            on_batch(lambda batch: [item for item in batch if isinstance(item, (dict, list))] or batch)),
        "batch-nested": ("reads the items of a batch in a batch", on_batch(flattened)),
        "batch-rejected-in-streams": ("rejects batches in SSE data",
            seams.Change(patches=((envelope, "carried_message", no_arrays), (har, "carried_message", no_arrays)))),
        "batch-of-messages-only": ("passes over an array in SSE data with an item that is not a message",
            seams.Change(patches=((envelope, "carried_message", whole_arrays), (har, "carried_message", whole_arrays)))),
        "batch-header-as-written": ("looks for the header that names the revision only as the specification spells it",
            seams.Change(patches=((envelope, "_header", as_written), (har, "_header", as_written)))),
        "batch-claims-arrays": ("takes every array in SSE data for a batch",
            seams.Change(patches=((envelope, "carried_message", claimed_arrays), (har, "carried_message", claimed_arrays)))),
    },
    "EQ-ORDER": {
        "by-time": ("puts the messages of an envelope in the order of their timestamps",
            on_entries(lambda entries: sorted(entries, key=stamp))),
        "ties-reversed": ("reverses messages that share a timestamp", on_entries(ties_reversed)),
        "by-kind": ("lists requests first and answers after them", sorts(lambda events, at: is_response(events[at]))),
        "by-exchange": (
            "puts each answer behind its request",
            sorts(
                lambda events, at: (at if events[at].get("answers") is None else events[at]["answers"], is_response(events[at]))
            ),
        ),
        "streams-last": ("reads requests and responses first and streams after them",
            on_entries(lambda entries: sorted(entries, key=lambda entry: isinstance(entry, dict) and "sse" in entry))),
        "requests-by-id": ("keeps requests in a map ordered by id", on_events(by_id)),
    },
    "EQ-PAIR": {
        "one-format-differs": ("numbers the tool calls of an Inspector file, ids or not",
            on_event(lambda event: event | {"id": "1"} if event["kind"] == "tool_call" else None).within("inspector")),
    },
    "EQ-CONTEXT": {
        "redelivery-merged": ("drops an SSE event whose id was there before", patch(envelope, "_read_event", redelivered)),
        "equal-messages-merged": ("takes a message that was there before, byte for byte, for a redelivery", seen_before(text_of)),
        "first-session-only": ("reads only the messages of the first session id", on_entries(first_session_only)),
        "failures-are-errors": ("takes a result under a status of 400 and more for an error", on_entry(failures_are_errors)),
        "failures-dropped": ("drops messages under a status of 400 and more",
            on_entry(lambda entry: DROPPED if failed(entry) and looks_like_message(entry.get("response")) else None)),
        "event-id-is-the-id": ("takes the id of an SSE event for the id of its message",
            patch(envelope, "_read_event", event_id_is_the_id)),
        "unknown-members-rejected": ("rejects a message with a member that JSON-RPC does not know",
            rejects(lambda message: set(message) - {"jsonrpc", "id", "method", "params", "result", "error"})),
    },
}
