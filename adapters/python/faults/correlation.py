"""Which answer belongs to which request, and which tool calls are one too many."""


import contract
from contract import CLIENT, SERVER, Rejection, Session, correlation_id
from faults.seams import (
    DROPPED,
    is_answered,
    is_response,
    loses,
    member_of,
    null_id,
    on_added,
    on_event,
    on_events,
    on_message,
    patch,
)
from formats import har
from jsontext import Number


def binds(find):
    """find(session, id, sender, honest) → the index of the request that is answered."""
    return patch(Session, "_request_for", lambda honest: lambda self, id_, sender: find(self, id_, sender, honest))


def open_requests(session, id_=None, senders=(CLIENT, SERVER, None)):
    keys = [key for key in session._unanswered if key[0] in senders and (id_ is None or key[1] == id_)]
    return sorted(index for key in keys for index in session._unanswered[key])


def close(session, index):
    for key, waiting in list(session._unanswered.items()):
        if index in waiting:
            waiting.remove(index)
            if not waiting:
                del session._unanswered[key]
    return index


def pick(which, senders=None):
    """Binds to the first or the last of the open requests."""

    def find(session, id_, sender, honest):
        found = open_requests(session, id_, senders(sender) if senders else contract._ASKERS[sender])
        return close(session, found[which]) if found else None

    return find


def first_use_only(session, id_, sender, honest):
    used = session.__dict__.setdefault("_used", set())
    found = honest(session, id_, sender)
    if found is None or id_ in used:
        return None
    used.add(id_)
    return found


def in_turn(session, id_, sender, honest):
    found = open_requests(session, senders=contract._ASKERS[sender])
    return close(session, found[0]) if found else None


def thirty_two(session, id_, sender, honest):
    newer = open_requests(session)
    found = honest(session, id_, sender)
    return found if found is None or sum(index >= found for index in newer) <= 32 else None


def last_request(session, id_, sender):
    asks = [index for index, event in enumerate(session.events) if not is_response(event) and event.get("id") == id_]
    return asks[-1] if asks else None


def again(session, id_, sender, honest):
    found = honest(session, id_, sender)
    return last_request(session, id_, sender) if found is None else found


def to_the_last_open(session, id_, sender, honest):
    found = honest(session, id_, sender)
    waiting = open_requests(session)
    return close(session, waiting[-1]) if found is None and waiting else found


def own_requests(session, id_, sender, honest):
    found = open_requests(session, id_, (sender,))
    return close(session, found[0]) if found else None


def last_writer(session, id_, sender, honest):
    asks = [index for index, event in enumerate(session.events) if not is_response(event) and event.get("id") == id_]
    return close(session, asks[-1]) if asks and asks[-1] in open_requests(session, id_) else None


def on_answer(edit):
    """What a response answers: edit(session, message, index) → index or None."""

    def make(honest):
        def answering(self, message, sender, place):
            event = honest(self, message, sender, place)
            return event | {"answers": edit(self, message, event["answers"])}

        return answering

    return patch(Session, "_answering", make)


def errors_come_first(session, message, found):
    id_ = correlation_id(message, "")
    return last_request(session, id_, None) if found is None and "error" in message and id_ is not None else found


def only_open(session, message, found):
    waiting = open_requests(session)
    return close(session, waiting[0]) if found is None and len(waiting) == 1 and null_id(message) else found


def last_open_without_id(session, message, found):
    waiting = open_requests(session)
    return close(session, waiting[-1]) if found is None and waiting and "id" not in message else found


def by_the_look(session, message, found):
    if member_of(message, "result", "content") is None or message.get("id") is None:
        return found
    calls = [
        at for at, event in enumerate(session.events) if event["kind"] == "tool_call" and not is_answered(session.events, at)
    ]
    return calls[0] if calls else None


def waits_for(condition):
    """Only requests that meet the condition wait for an answer: condition(event)."""

    def edit(events):
        def lost(event):
            return event.get("answers") is not None and not condition(events[event["answers"]])

        return [event | {"answers": None} if lost(event) else event for event in events]

    return on_events(edit)


def unbinds(condition):
    """Makes orphans of answers: condition(what stands between, the request, the answer)."""

    def edit(events):
        def lost(at, event):
            asked = event.get("answers")
            return asked is not None and condition(events[asked + 1 : at], events[asked], event)

        return [event | {"answers": None} if lost(at, event) else event for at, event in enumerate(events)]

    return on_events(edit)


def is_cancelled(between, request, answer):
    wanted = request.get("id")
    return any(event.get("method") == "notifications/cancelled" and wanted in str(vars_of(event)) for event in between)


def vars_of(event):
    given = member_of(event, "params", "requestId")
    return given.text if type(given) is Number else given


def answers_wait(events):
    events = [dict(event) for event in events]
    for at, event in enumerate(events):
        if is_response(event) and event["answers"] is None and "id" in event:
            later = (
                index
                for index in range(at + 1, len(events))
                if not is_response(events[index]) and events[index].get("id") == event["id"]
            )
            event["answers"] = next((index for index in later if not is_answered(events, index)), None)
    return events


def whole_file(events):
    def first(id_):
        return next((index for index, event in enumerate(events) if not is_response(event) and event.get("id") == id_), None)

    return [event | {"answers": first(event["id"])} if is_response(event) and "id" in event else event for event in events]


def rejects_meaning(condition):
    def edit(events):
        if condition(events):
            raise Rejection("wrong-type", "", "a fault of this reader")

    return on_events(edit)


# --- duplicates ---------------------------------------------------------------------------------------------------


def taken(decide):
    """Whether a call's id is taken: decide(session, id, key, honest)."""
    return patch(Session, "_is_taken", lambda honest: lambda self, id_, key: decide(self, id_, key, honest))


def calls_with(session, id_):
    return [index for index, event in enumerate(session.events) if event["kind"] == "tool_call" and event.get("id") == id_]


def calls_apart(kind):
    """Duplicates are looked for among the calls of one kind: kind(message, key)."""

    def make(honest):
        def tool_call(self, message, id_, key, *rest):
            self._tool_call_ids = self.__dict__.setdefault("_ids_apart", {}).setdefault(kind(message, key), set())
            return honest(self, message, id_, key, *rest)

        return tool_call

    return patch(Session, "_tool_call", make)


def turned_away_is_taken(honest):
    def tool_call(self, message, id_, key, place, turned_away):
        return honest(self, message, id_, key, place, False)

    return tool_call


def turned_away_is_closed(honest):
    def add(self, message, sender, place, turned_away):
        honest(self, message, sender, place, turned_away)
        if turned_away and isinstance(message, dict) and message.get("id") is not None and "method" in message:
            close(self, len(self.events) - 1)

    return add


def turned_away_is_dropped(honest):
    def add(self, message, sender, place, turned_away):
        if not turned_away:
            honest(self, message, sender, place, turned_away)

    return add


def every_method(honest):
    def asking(self, message, sender, place, turned_away):
        id_ = correlation_id(message, place)
        seen = self.__dict__.setdefault("_request_ids", set())
        if (sender, id_) in seen and id_ is not None:
            raise Rejection("duplicate-call-id", place, "a fault of this reader")
        seen.add((sender, id_))
        return honest(self, message, sender, place, turned_away)

    return asking


def null_calls(honest):
    def tool_call(self, message, *rest):
        if null_id(message):
            if getattr(self, "_null_call", False):
                raise Rejection("duplicate-call-id", "", "a fault of this reader")
            self._null_call = True
        return honest(self, message, *rest)

    return tool_call


def flat_server_requests(message, sender):
    if sender is None and "method" in message:
        return message, SERVER if str(message["method"]).startswith(("sampling/", "roots/", "elicitation/")) else CLIENT
    return (message, SERVER) if sender is None else None


def all_ids_in_one(sender):
    return (CLIENT, SERVER, None)


def nameless(message):
    return message.get("method") == "tools/call" and type(member_of(message, "params", "name")) is not str


FAULTS = {
    "COR-FIRST": {
        "newest-first": ("binds an answer to the newest open request with its id", binds(pick(-1))),
        "first-use-only": ("lets an id be used once: what reuses it is never answered", binds(first_use_only)),
        "in-turn": ("gives answers to requests in turn, whatever their ids are", binds(in_turn)),
        "errors-do-not-answer": ("binds only results",
            on_answer(lambda session, message, found: None if "error" in message else found)),
        "null-result-is-no-answer": ("does not take a null result for an answer",
            on_answer(lambda session, message, found: None if message.get("result", 0) is None else found)),
        "thirty-two-at-once": ("keeps no more than 32 requests open", binds(thirty_two)),
        "unanswered-rejected": (
            "rejects a transcript with an unanswered call",
            rejects_meaning(
                lambda events: any(
                    event["kind"] == "tool_call" and not is_answered(events, at) for at, event in enumerate(events)
                )
            ),
        ),
        "cancelled-is-closed": ("closes a request when it is cancelled, so that its answer is an orphan", unbinds(is_cancelled)),
        "progress-answers": ("takes the first thing after a call for its answer, even a progress notification",
            unbinds(lambda between, request, answer: any(event.get("method") == "notifications/progress" for event in between))),
        "turned-away-is-closed": ("binds no answer to a request that HTTP turned away",
            patch(Session, "_add", turned_away_is_closed)),
        "turned-away-is-dropped": ("leaves out a request that HTTP turned away", patch(Session, "_add", turned_away_is_dropped)),
    },
    "COR-LATE": {
        "answered-again": ("binds a second answer to the request that has one already", binds(again)),
        "errors-come-first": ("lets an error answer a request that was answered with a result", on_answer(errors_come_first)),
        "orphans-to-the-last-open": ("gives an orphan to the last request that is open", binds(to_the_last_open)),
        "orphans-rejected": ("rejects a transcript with an orphan",
            rejects_meaning(lambda events: any(is_response(event) and event["answers"] is None for event in events))),
        "repeated-answers-dropped": (
            "drops an answer whose request has been answered with the same",
            loses(
                lambda events, at: (
                    is_response(events[at])
                    and any({**event, "answers": None} == {**events[at], "answers": None} for event in events[:at])
                )
            ),
        ),
    },
    "COR-BEFORE": {
        "answers-wait": ("lets an answer wait for a request that comes later", on_events(answers_wait)),
        "whole-file": ("collects all requests by id before it looks at the answers", on_events(whole_file)),
    },
    "COR-DUPLICATE": {
        "refused-is-turned-away": ("lets a call come again that HTTP refused with another status than 401",
            patch(har, "_TURNED_AWAY", lambda honest: [*honest, *(Number(status) for status in ("300", "304", "403", "407"))])),
        **{
            f"turned-away-but-for-{status}": (
                f"rejects a tool call that comes again behind the status {status}",
                patch(har, "_TURNED_AWAY", lambda honest, left=status: [known for known in honest if known.text != left]),
            )
            for status in ("301", "302", "303", "307", "308")
        },
        "duplicates-pass": ("reads two tool calls with one id", taken(lambda *_: False)),
        "duplicates-while-open": (
            "refuses a tool call's id only as long as the first call is open",
            taken(
                lambda session, id_, key, honest: any(
                    not is_answered(session.events, at) and at not in session._turned_away for at in calls_with(session, id_)
                )
            ),
        ),
        "duplicates-nearby": (
            "looks for a duplicate only among the last two requests",
            taken(
                lambda session, id_, key, honest: (
                    honest(session, id_, key)
                    and any(
                        at in [at for at, event in enumerate(session.events) if not is_response(event)][-2:]
                        for at in calls_with(session, id_)
                    )
                )
            ),
        ),
        "duplicates-by-side": ("finds no duplicate in calls of different sides", calls_apart(lambda message, key: key[0])),
        "duplicates-by-tool": ("finds no duplicate in calls of different tools",
            calls_apart(lambda message, key: str(member_of(message, "params", "name")))),
        "duplicates-by-type": ('finds no duplicate in 1 and "1"', calls_apart(lambda message, key: type(message.get("id")))),
        "duplicates-of-every-method": ("rejects two requests of any method with one id", patch(Session, "_asking", every_method)),
        "duplicates-turned-away": ("rejects a tool call that HTTP turned away and that comes again",
            patch(Session, "_tool_call", turned_away_is_taken)),
    },
    "COR-ANY": {
        "tool-calls-only": ("binds answers only to tool calls", waits_for(lambda event: event["kind"] == "tool_call")),
        "by-the-look": ("gives a result with `content` to the oldest open tool call", on_answer(by_the_look)),
        "initialize-is-apart": ("does not wait for the answer to `initialize`",
            waits_for(lambda event: event.get("method") != "initialize")),
        "ping-is-noise": ("does not wait for the answer to `ping`", waits_for(lambda event: event.get("method") != "ping")),
        "notifications-have-no-id": ("takes whatever is called notifications/… for one, with an id or without",
            waits_for(lambda event: not event.get("method", "").startswith("notifications/"))),
    },
    "COR-DIRECTION": {
        "one-table": ("keeps the requests of both sides in one table", binds(pick(0, all_ids_in_one))),
        "last-writer": ("lets a server's request replace a client's with the same id", binds(last_writer)),
        "own-answers": ("binds an answer to a request of its own sender", binds(own_requests)),
        "clients-do-not-answer": ("does not bind what a client answers",
            binds(lambda session, id_, sender, honest: None if sender == CLIENT else honest(session, id_, sender))),
        "no-sides-in-traces": ("does not look at `dir` where it binds answers",
            on_added(lambda message, sender: (message, None)).within("mcp-replay")),
        "no-sides-in-envelopes": ("does not look at who sent what in an envelope",
            on_added(lambda message, sender: (message, None)).within("streamable-http", "http-sse")),
        "no-sides-in-har": ("does not look at who sent what in HAR",
            on_added(lambda message, sender: (message, None)).within("har")),
    },
    "COR-DIRECTION-FLAT": {
        "flat-sides-guessed": ("takes every answer in lines for a server's, and matches no answer to a server's request",
            on_added(flat_server_requests).within("jsonrpc")),
        "flat-sides-guessed-in-lists": ("does so in bare messages of an Inspector file",
            on_added(flat_server_requests).within("inspector")),
    },
    "TOOL-NAMELESS": {
        "nameless-dropped-in-lines": ("drops a tool call without a name, only in lines",
            on_message(lambda message: DROPPED if nameless(message) else None).within("jsonrpc")),
        "nameless-is-empty": (
            "names a nameless tool ``, only in streamable-http",
            on_event(
                lambda event: (
                    event | {"tool": ""} if event["kind"] == "tool_call" and type(event.get("tool")) is not str else None
                )
            ).within("streamable-http"),
        ),
        "nameless-rejected-in-har": ("rejects a tool call whose name is not text, only in HAR",
            on_message(lambda message: message | {"jsonrpc": "1"} if nameless(message) else None).within("har")),
    },
}
