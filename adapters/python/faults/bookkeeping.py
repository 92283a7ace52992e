"""How importers keep books of ids, calls that come again, and revisions: in their own way."""

import re
from collections import deque
from datetime import datetime
from decimal import Decimal

import contract
from contract import CLIENT, SERVER, Rejection, Session
from faults.correlation import calls_with, taken
from faults.habits import is_call, replaced
from faults.ids import bad_id, on_text_id
from faults.seams import GONE, loses, member_of, on_added, on_event, on_message, patch, put, text_of
from formats import envelope, mcp_replay
from jsontext import Number


def id_from(find):
    """A message without an id takes another one: find(message)."""
    return on_message(lambda message: None if "id" in message or (id_ := find(message)) is None else {**message, "id": id_})


def first_1000(honest):
    return lambda self, message, id_: honest(self, message, id_ and id_[:1000])


def up_to_a_nul(honest):
    return lambda self, message, id_: honest(self, message, id_ and id_.partition("\0")[0])


def free_after(condition):
    """A tool call may come again where an event says so: condition(session, event, id)."""

    def decide(session, id_, key, honest):
        return honest(session, id_, key) and not any(condition(session, event, id_) for event in session.events)

    return taken(decide)


def was_cancelled(session, event, id_):
    return event.get("method") == "notifications/cancelled"


def comes_again_once(session, id_, key, honest):
    return honest(session, id_, key) or len(calls_with(session, id_)) > 1


def copies_are_free(honest):
    def tool_call(self, message, id_, key, place, turned_away):
        if turned_away:
            self._tool_call_ids.discard(id_)
        return honest(self, message, id_, key, place, turned_away)

    return tool_call


def copies_are_equal(honest):
    def tool_call(self, message, id_, key, place, turned_away):
        for index in self._turned_away:
            first = self.events[index]
            if first.get("id") == id_ and first.get("arguments") != member_of(message, "params", "arguments"):
                raise Rejection("duplicate-call-id", place, "the call comes again with other arguments")
        return honest(self, message, id_, key, place, turned_away)

    return tool_call


def asked_by_servers(message, sender):
    servers = str(message.get("method")).startswith(("sampling/", "roots/", "elicitation/")) and "id" in message
    return (message, SERVER) if servers and sender == CLIENT else None


def is_nameless(event):
    return event["kind"] == "tool_call" and "tool" not in event


def positions(message):
    params = message.get("params")
    if is_call(message) and type(params) is list and len(params) > 1:
        return {**message, "params": {"name": params[0], "arguments": params[1]}}


def other_name(message):
    name = member_of(message, "params", "tool") if is_call(message) else None
    return None if name is None or "name" in message["params"] else put(message, name, "params", "name")


def believes(version):
    """The revision is what a message says: version(message, event)."""

    def make(honest):
        def add(self, message, *given):
            honest(self, message, *given)
            said = version(message, self.events[-1])
            if said in contract._REVISIONS:
                self._revision = said

        return add

    return patch(Session, "_add", make)


def in_batches(condition):
    """Rejects a batch for whose messages the condition holds."""

    def make(honest):
        def add(self, value, sender, place, turned_away=False):
            if type(value) is list and self._revision == contract._HAS_BATCHES and condition(value):
                raise Rejection("batch", place, "a batch of this kind")
            return honest(self, value, sender, place, turned_away)

        return add

    return patch(Session, "add", make)


def same_ids(batch):
    ids = [text_of(item["id"]) for item in batch if "method" in item and "id" in item]
    return len(set(ids)) < len(ids)


def ends_with_the_revision(honest):
    def add(self, value, sender, place, turned_away=False):
        if type(value) is list and self._revision == contract._HAS_BATCHES:
            for item in value:
                self.add(item if self._revision == contract._HAS_BATCHES else [], sender, place, turned_away)
        else:
            honest(self, value, sender, place, turned_away)

    return add


def no_method(*names):
    """Leaves out messages of these methods, and what answers them."""

    def is_gone(events, at):
        asked = events[at].get("answers")
        return events[at if asked is None else asked].get("method") in names

    return loses(is_gone)


def forget(session, now):
    """Forgets the requests that have waited for more than a day; `now` is in seconds, or None."""
    times = session.__dict__.setdefault("times", {})
    for waiting in session._unanswered.values():
        for index in waiting:
            times.setdefault(index, session.__dict__.get("now"))
    if now is not None:
        session.now = now
        late = {index for index, time in times.items() if time is not None and now - time > 86_400}
        kept = ((key, deque(index for index in waiting if index not in late)) for key, waiting in session._unanswered.items())
        session._unanswered = {key: waiting for key, waiting in kept if waiting}


def forgets_entries(honest):
    def read_entry(entry, place, session):
        time = member_of(entry, "timestamp_ms")
        forget(session, Decimal(time.text) / 1000 if type(time) is Number and len(time.text) < 20 else None)
        honest(entry, place, session)

    return read_entry


def forgets_lines(honest):
    def read_message(line, sender, ended, place, session):
        try:
            time = datetime.fromisoformat(line.get("t")).timestamp()
        except (TypeError, ValueError):
            time = None
        forget(session, time)
        honest(line, sender, ended, place, session)

    return read_message


FAULTS = {
    "ID-STRING": {
        "id-without-joiners": ("drops spaces of no width from an id", on_text_id(replaced("[\u200b-\u200d]"))),
        "id-with-underscores": ("reads an id such as 1_000 as a number",
            on_text_id(lambda id_: re.sub(r"(?<=\d)_(?=\d)", "", id_))),
        "id-without-quotes": ("drops apostrophes around an id", on_text_id(lambda id_: id_.strip("'"))),
        "id-casefolded": ("compares ids after ß has become ss", on_text_id(lambda id_: id_.replace("ß", "ss"))),
        "id-of-1000": ("compares the first 1,000 characters of ids", patch(Session, "_key", first_1000)),
        "id-up-to-nul": ("compares ids up to a NUL", patch(Session, "_key", up_to_a_nul)),
        "id-blank-is-none": ("takes an id of spaces for none", on_text_id(lambda id_: None if id_.isspace() else id_)),
    },
    "ID-NUMBER": {
        "id-of-100-digits": (
            "keeps the first 100 digits of a number id",
            on_message(
                lambda message: (
                    {**message, "id": Number(message["id"].text[:100])} if type(message.get("id")) is Number else None
                )
            ),
        ),
    },
    "ID-NULL-TEXT": {
        "null-in-any-case": ("takes the strings `NULL` and `Null` for null",
            on_text_id(lambda id_: None if id_ in ("NULL", "Null") else id_)),
    },
    "ID-MISSING": {
        "id-in-capitals": ("takes the member `ID` for a missing id", id_from(lambda message: message.get("ID"))),
        "id-of-the-params": ("takes `params.id` for a missing id", id_from(lambda message: member_of(message, "params", "id"))),
        "id-of-the-token": ("takes the progress token for a missing id",
            id_from(lambda message: member_of(message, "params", "_meta", "progressToken"))),
    },
    "ID-REJECT": {
        "id-of-errors-unchecked": ("takes a bad id of an error for none",
            bad_id(lambda message, id_: None if id_ is True and "error" in message else GONE)),
    },
    "COR-DUPLICATE": {
        "failed-comes-again": ("lets a call that failed with an error come again",
            free_after(lambda session, event, id_: event["kind"] == "error" and event.get("id") == id_)),
        "is-error-comes-again": ("lets a call whose result says isError come again",
            free_after(lambda session, event, id_: member_of(event, "result", "isError") is True and event.get("id") == id_)),
        "cancelled-comes-again": ("lets a call come again once one was cancelled", free_after(was_cancelled)),
        "comes-again-once": ("lets a call that was turned away come again once only", taken(comes_again_once)),
        "copies-are-free": ("lets any call be said again that HTTP then turns away",
            patch(Session, "_tool_call", copies_are_free)),
        "copies-are-equal": ("wants the same arguments of a call that comes again",
            patch(Session, "_tool_call", copies_are_equal)),
    },
    "COR-FIRST": {
        "forgets-in-envelopes": ("forgets a request of an envelope after a day", patch(envelope, "_read_entry", forgets_entries)),
        "forgets-in-traces": ("forgets a request of a trace after a day", patch(mcp_replay, "_read_message", forgets_lines)),
    },
    "EQ-COUNT": {
        "debug-dropped": ("drops log messages of the level debug",
            loses(lambda events, at: member_of(events[at], "params", "level") == "debug")),
        "elicitations-completed-dropped": ("drops `notifications/elicitation/complete`",
            no_method("notifications/elicitation/complete")),
        "subscriptions-dropped": ("drops requests to subscribe", no_method("resources/subscribe", "resources/unsubscribe")),
        "templates-dropped": ("drops requests for templates", no_method("resources/templates/list")),
        "methods-of-lsp-dropped": ("drops methods that begin with $/", no_method("$/progress", "$/cancelRequest")),
        "methods-of-rpc-dropped": ("drops methods such as `rpc.discover`", no_method("rpc.discover")),
        "shutdown-dropped": ("drops `shutdown` and `exit`", no_method("shutdown", "exit")),
        "ends-at-shutdown": ("ends before `shutdown`",
            loses(lambda events, at: any(event.get("method") == "shutdown" for event in events[: at + 1]))),
        "stderr-dropped": ("drops `notifications/stderr`", no_method("notifications/stderr")),
    },
    "EQ-ARGS": {
        "progress-without-words": ("drops the message of progress",
            on_event(lambda event: put(event, None, "params", "message")
                if event.get("method") == "notifications/progress" and member_of(event, "params", "message") else None)),
        "logs-printed": ("writes the data of a log message as text",
            on_event(lambda event: put(event, text_of(data), "params", "data")
                if isinstance(data := member_of(event, "params", "data"), (dict, list)) else None)),
    },
    "COR-DIRECTION": {
        "methods-tell-the-side": ("takes sampling/… and roots/… for the server's, and does not ask who sent them",
            on_added(asked_by_servers)),
    },
    "TOOL-NAMELESS": {
        "nameless-named-nothing": ("shows an empty name for a missing one",
            on_event(lambda event: event | {"tool": ""} if is_nameless(event) else None)),
        "nameless-dropped": ("drops a tool call without a name", loses(lambda events, at: is_nameless(events[at]))),
        "nameless-by-position": ("takes the items of a params array for the name and the arguments", on_message(positions)),
        "nameless-by-another-name": ("takes `params.tool` for a missing name", on_message(other_name)),
    },
    "EQ-BATCH": {
        "meta-names-the-revision": ("takes the version in `_meta` of a request for the revision",
            believes(lambda message, event: member_of(message, "params", "_meta", "io.modelcontextprotocol/protocolVersion"))),
        "refusals-name-the-revision": ("takes the version in an error for the revision",
            believes(lambda message, event: member_of(message, "error", "data", "protocolVersion"))),
        "handshake-not-in-a-batch": ("rejects a batch with an initialize in it",
            in_batches(lambda batch: any(member_of(item, "method") == "initialize" for item in batch))),
        "ids-once-in-a-batch": (
            "rejects a batch in which two requests have one id",
            in_batches(same_ids),
        ),
        "batch-ends-with-the-revision": ("rejects the rest of a batch in which another revision is agreed on",
            patch(Session, "add", ends_with_the_revision)),
    },
}
