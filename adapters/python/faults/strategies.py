"""How importers are built: on the order of members, on patterns over text, on the objects and the sorts of a language."""

import re
from collections import deque
from urllib.parse import urlsplit

import clock
import contract
from contract import Session
from faults.archives import CONTENT, body_lost
from faults.correlation import binds, close, open_requests
from faults.envelopes import carried
from faults.har import POST, answers_first, on_exchanges, started, stream
from faults.libraries import changed
from faults.limits import refuse
from faults.seams import (
    DROPPED,
    ENVELOPES,
    Change,
    member_of,
    on_entry,
    on_event,
    on_exchange,
    on_exported,
    on_item,
    on_lines,
    on_message,
    on_raw_lines,
    on_text,
    on_trace_line,
    patch,
    put,
    text_of,
    without,
)
from faults.surroundings import names_at
from faults.shortcuts import ANSWER, answers_lost, exchanges_lost
from formats import har, inspector
from jsontext import JsonError, Number, parse

# --- members in the order in which they come ----------------------------------------------------------------------


def behind(name, *before):
    """Whether a member stands behind one of the others, to a reader that takes members as they come."""

    def is_behind(it):
        if not isinstance(it, dict) or name not in it:
            return False
        names = list(it)
        return any(other in it and names.index(other) < names.index(name) for other in before)

    return is_behind


def unseen(name, *before):
    """A member is not seen behind one of the others."""
    is_behind = behind(name, *before)
    return lambda it: without(it, name) if is_behind(it) else None


def inside(edit, *path):
    """`edit` of what stands at the path; None where that stays."""

    def apply(it):
        inner = member_of(it, *path)
        new = None if inner is None else edit(inner)
        return None if new is None else put(it, new, *path)

    return apply


def each(edit):
    """`edit` of each item of an array."""

    def apply(items):
        new = [item if (other := edit(item)) is None else other for item in items] if type(items) is list else None
        return None if new is None or all(one is other for one, other in zip(new, items)) else new

    return apply


def lost(condition):
    return lambda it: DROPPED if condition(it) else None


def refused_if(condition):
    return lambda it: refuse() if condition(it) else None


def call_params(edit):
    """The params of a tool call are others."""

    def apply(message):
        is_call = message.get("method") == "tools/call" and type(message.get("params")) is dict
        params = edit(message["params"]) if is_call else None
        return None if params is None else {**message, "params": params}

    return apply


# --- names in any case --------------------------------------------------------------------------------------------


def in_any_case(*names):
    """A member takes one of these names in any case, and the last of several, as encoding/json does in Go."""
    known = {name.lower(): name for name in names}

    def edit(it):
        if type(it) is not dict or all(name in names or name.lower() not in known for name in it):
            return None
        return {known.get(name.lower(), name): item for name, item in it.items()}

    return edit


# --- names that no type has ---------------------------------------------------------------------------------------


def unknown(*names):
    """Rejects an object with a member of another name, as `deny_unknown_fields` of serde does."""
    return refused_if(lambda it: isinstance(it, dict) and any(name not in names for name in it))


# --- what every object has ----------------------------------------------------------------------------------------


def inherited(it):
    """Members of `__proto__`, where the object has none of the name, as after Object.assign in JavaScript."""
    parent = it.get("__proto__") if type(it) is dict else None
    return {**parent, **without(it, "__proto__")} if isinstance(parent, dict) else None


OF_OBJECTS = ("constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "isPrototypeOf", "__defineGetter__")


# --- patterns over text -------------------------------------------------------------------------------------------

TEXT = r'"(?:[^"\\]|\\.)*"'


def found_by(pattern, which, name):
    """A member of a message is what the pattern finds first, or last, in its text."""

    def edit(message):
        found = re.findall(pattern, text_of(message))
        if not found or message.get(name) == (value := parse(found[which])):
            return None
        return {**message, name: value}

    return on_message(edit)


def words(pattern):
    return lambda value: re.search(pattern, text_of(value)) is not None


def by_words(pattern, kind, new):
    """An event of this kind is another one where the pattern is found in what it holds."""

    def edit(event):
        inner = {name: value for name, value in event.items() if name not in ("kind", "id", "answers", "method", "tool")}
        return new(event) if event["kind"] in kind and words(pattern)(inner) else None

    return on_event(edit)


def as_error(event):
    return {"error" if name == "result" else name: value for name, value in event.items()} | {"kind": "error"}


def as_call(event):
    return {**without(event, "method", "params"), "kind": "tool_call"}


def letter_by_letter(pattern, new, *only):
    """Looks for a text in the file, and does not see it where it is spelled otherwise."""
    change = on_text(lambda text: other if (other := re.sub(pattern, new, text)) != text else None)
    return change.within(*only) if only else change


def lines_with(pattern, edit):
    return on_raw_lines(lambda line: edit(line) if re.search(pattern, line) else None).within("mcp-replay")


# --- sorts that are not stable ------------------------------------------------------------------------------------


def unstable(module, most):
    """Sorts more items than that without keeping equal ones as they stand."""

    def make(honest):
        def in_order(timed):
            timed = list(timed)
            if len(timed) > most:
                timed = [timed[(at * 7) % len(timed)] for at in range(len(timed))] if len(timed) % 7 else timed[::-1]
            return honest(timed)

        return in_order

    return patch(module, "in_order_of_time", make)


# --- dates by hand ------------------------------------------------------------------------------------------------


def on_dates(edit):
    """The time of a date is another one: edit(honest, year, month, day, ...)"""

    return patch(clock, "_from_iso", lambda honest: lambda *parts: edit(honest, *parts)).within("har", "inspector")


def days_by(months):
    """Counts days by a table of months and no calendar."""

    def edit(honest, year, month, day, *rest):
        whole = honest(year, "01", "01", *rest)
        return whole + (months(int(year), int(month)) + int(day) - 1) * 86_400_000

    return edit


MONTHS = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]


def zone_within_the_day(honest, year, month, day, hour, minute, *rest):
    """The zone moves the hour, and never the day."""
    utc = honest(year, month, day, hour, minute, *rest)
    midnight = honest(year, month, day, "00", "00", "00", None, "Z", None, None, None)
    return midnight + (utc - midnight) % 86_400_000


# --- requests that wait -------------------------------------------------------------------------------------------


def within_reach(most, asked=False):
    """Binds an answer only to one of the last messages before it."""

    def find(session, id_, sender, honest):
        found = honest(session, id_, sender)
        return found if found is None or len(session.events) - found <= most else None

    return binds(find)


def last_only(session, id_, sender, honest):
    """A map from the id to one request: a later one takes the place, and is gone with its answer."""
    for key in [key for key in session._unanswered if key[0] in contract._ASKERS[sender] and key[1] == id_]:
        while len(session._unanswered[key]) > 1:
            session._unanswered[key].popleft()
    return honest(session, id_, sender)


def most_wait(most):
    """Keeps that number of requests that wait, and forgets the oldest."""

    def find(session, id_, sender, honest):
        waiting = open_requests(session)
        for index in waiting[: max(0, len(waiting) - most)]:
            close(session, index)
        return honest(session, id_, sender)

    return binds(find)


def nested_first(session, id_, sender, honest):
    """A stack of requests: an answer closes what was asked after its request."""
    found = honest(session, id_, sender)
    if found is not None:
        for index in open_requests(session, senders=contract._ASKERS[sender]):
            if index > found:
                close(session, index)
    return found


def forgets_at(condition):
    """Forgets what waits, at an event."""

    def find(session, id_, sender, honest):
        at = next((at for at in reversed(range(len(session.events))) if condition(session.events[at])), -1)
        for index in open_requests(session):
            if index <= at:
                close(session, index)
        return honest(session, id_, sender)

    return binds(find)


def method_is(name):
    return lambda event: event.get("method") == name


def never_binds(condition):
    """Binds no answer whose id is such a one; its request waits."""
    return binds(lambda session, id_, sender, honest: None if condition(id_) else honest(session, id_, sender))


def by_tokens(session, id_, sender, honest):
    """Falls back to the open request whose progress token is the id."""
    found = honest(session, id_, sender)
    if found is not None:
        return found
    for index in open_requests(session, None, contract._ASKERS[sender]):
        event = session.events[index]
        token = member_of(event, "params", "_meta", "progressToken")
        if token == id_:
            return close(session, index)
    return None


def falls_back(find):
    """Where no request has the id, binds to another one."""

    def fall(session, id_, sender, honest):
        found = honest(session, id_, sender)
        return found if found is not None else find(session, id_, sender)

    return binds(fall)


def the_only_one(session, id_, sender):
    waiting = open_requests(session, None, contract._ASKERS[sender])
    return close(session, waiting[0]) if len(waiting) == 1 else None


def of_any_side(session, id_, sender):
    waiting = open_requests(session, id_)
    return close(session, waiting[0]) if waiting else None


def ending_alike(session, id_, sender):
    for index in open_requests(session, None, contract._ASKERS[sender]):
        asked = session.events[index].get("id") or ""
        if id_ and asked and (asked.endswith(id_) or id_.endswith(asked)):
            return close(session, index)
    return None


def beginning_alike(session, id_, sender):
    for index in open_requests(session, None, contract._ASKERS[sender]):
        asked = session.events[index].get("id") or ""
        if id_ and asked and (asked.startswith(id_) or id_.startswith(asked)):
            return close(session, index)
    return None


# --- what outlives a file -----------------------------------------------------------------------------------------


def outlives(attribute, copy):
    """Every second session begins with what the one before it ended with: the cases are read twice each."""
    number, last = [0], []

    def make(honest):
        def init(self, *given):
            honest(self, *given)
            number[0] += 1
            if number[0] % 2 == 0:
                setattr(self, attribute, copy(getattr(last.pop(), attribute)))
            else:
                last[:] = [self]

        return init

    return patch(Session, "__init__", make)


def copied(waiting):
    return {key: deque(indices) for key, indices in waiting.items()}


# --- streams ------------------------------------------------------------------------------------------------------


def unanchored(text):
    """`data:` anywhere in a line, as a pattern without a start finds it."""
    return re.sub(r"(?m)^(?!data:)[^\n{]*?data:", "data:", text)


def cut_at_data(text):
    """Splits events at the word `data:`, also inside of their text."""
    return re.sub(r'(?<=.)data:', "\ndata:", text)


def sniffed(text):
    return text if re.match(r"\ufeff?(event|data):", text) else ""


def lines_of(most):
    return lambda text: re.sub(r"(?m)^.{%d}.+\n?" % most, "", text)


def ends_before(most):
    def edit(text):
        found = re.search(r"(?m)^.{%d}" % most, text)
        return text[: found.start()] if found else text

    return edit


def json_value(exchange, *path):
    try:
        return parse(member_of(exchange, *path))
    except (JsonError, TypeError, AttributeError):
        return GONE


GONE = object()


def dies_of(*path, is_one):
    def edit(exchange):
        value = json_value(exchange, *path)
        if value is not GONE and is_one(value):
            raise TypeError("a fault of this reader")

    return on_exchange(edit)


# --- values -------------------------------------------------------------------------------------------------------


def argument(edit):
    return on_event(lambda event: event | {"arguments": new} if (new := edit(event.get("arguments"))) is not None else None)


def only_member(name):
    return lambda it: it[name] if isinstance(it, dict) and list(it) == [name] else None


def with_siblings(message):
    params = message.get("params")
    if message.get("method") != "tools/call" or type(params) is not dict or not isinstance(params.get("arguments"), dict):
        return None
    rest = without(params, "name", "arguments")
    return {**message, "params": {**params, "arguments": {**rest, **params["arguments"]}}} if rest else None


def name_of_the_arguments(message):
    name = member_of(message, "params", "arguments", "name")
    return put(message, name, "params", "name") if type(name) is str and message.get("method") == "tools/call" else None


def params_are(kind, condition, new=None):
    """The params of such events are others; None leaves them out."""

    def edit(event):
        if event["kind"] != kind or not condition(event.get("params", GONE)):
            return None
        return without(event, "params") if new is None else event | {"params": new}

    return on_event(edit)


def result_is(condition, new):
    return on_event(lambda event: event | {"result": new} if "result" in event and condition(event["result"]) else None)


def error_data(condition):
    def edit(event):
        error = event.get("error")
        has_data = isinstance(error, dict) and "data" in error
        return event | {"error": without(error, "data")} if has_data and condition(error["data"]) else None

    return on_event(edit)


def is_falsy(value):
    return value in (None, False, "", [], {}) or (type(value) is Number and value == Number("0"))


def last_raw(value):
    """The last object behind "raw" in the text of a message."""
    found, todo = None, [value]
    while todo:
        item = todo.pop(0)
        if isinstance(item, dict):
            found = item["raw"] if isinstance(item.get("raw"), dict) else found
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
    return found


def on_trace(edit):
    """The lines of a trace are others: a function of the list of (place, line)."""
    return on_lines(edit).within("mcp-replay")


def number_at(line, name):
    number = member_of(line, name)
    return int(number.text) if type(number) is Number and number.text.isdigit() else None


def gaps_refused(lines):
    numbers = [number for _, line in lines if (number := number_at(line, "seq")) is not None]
    return refuse() if any(later != number + 1 for number, later in zip(numbers, numbers[1:])) else lines


def seq_once(lines):
    met, kept = set(), []
    for place, line in lines:
        number = number_at(line, "seq")
        if number is None or number not in met:
            kept.append((place, line))
        met.add(number)
    return kept


def like_the_first(of):
    """Keeps the exchanges that are like the first one that says anything: of(exchange)."""

    def edit(entries):
        found = [of(entry) if isinstance(entry, dict) else None for entry in entries]
        first = next((one for one in found if one is not None), None)
        return [entry for entry, one in zip(entries, found) if one is None or one == first]

    return on_exchanges(edit)


def address(part):
    def of(exchange):
        url = member_of(exchange, "request", "url")
        return part(urlsplit(url)) if type(url) is str else None

    return of


def header_of(name):
    def of(exchange):
        for side in ("request", "response"):
            for value in names_at(exchange, side, name):
                return value
        return None

    return of


def answers_first_where(condition):
    def make(honest):
        def read_exchange(entry, place, session):
            return (answers_first(honest) if condition(entry) else honest)(entry, place, session)

        return read_exchange

    return patch(har, "_read_exchange", make)


def starts_refused(pattern):
    def edit(time):
        if type(time) is str and re.search(pattern, time):
            refuse()

    return started(edit)


ENTRY = ("pageref", "startedDateTime", "time", "request", "response", "cache", "timings", "serverIPAddress", "connection",
    "comment")
REQUEST = ("method", "url", "httpVersion", "cookies", "headers", "queryString", "postData", "headersSize", "bodySize", "comment")
RESPONSE = ("status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize", "bodySize",
    "comment")

FAULTS = {
    "EQ-COUNT": {
        "params-list-of-notifications": ("drops params of notifications that are an array",
            params_are("notification", lambda it: type(it) is list)),
        "params-list-of-requests": ("drops params of requests that are an array",
            params_are("request", lambda it: type(it) is list)),
    },
    "EQ-CONTEXT": {
        "other-sessions-dropped": ("drops exchanges with another session id than the first one",
            like_the_first(header_of("mcp-session-id"))),
    },
    "EQ-ORDER": {
        "unstable-from-10-in-exports": ("keeps equal times of more than ten messages in no order", unstable(inspector, 10)),
        "unstable-from-50-in-exports": ("keeps equal times of more than 50 messages in no order", unstable(inspector, 50)),
        "unstable-from-10": ("keeps equal moments of more than ten messages in no order", unstable(har, 10)),
        "unstable-from-50": ("keeps equal moments of more than 50 messages in no order", unstable(har, 50)),
    },
    "COR-ANY": {
        "within-1000-messages": ("binds an answer only to one of the 1,000 messages before it", within_reach(1000)),
        "256-wait": ("keeps 256 requests that wait", most_wait(256)),
    },
    "JRP-SHAPE": {
        "method-behind-params-lost": ("drops a message whose method stands behind its params",
            on_message(lost(behind("method", "params")))),
        "version-is-first": ("rejects a message whose first member is not `jsonrpc`",
            on_message(refused_if(lambda it: next(iter(it)) != "jsonrpc"))),
        "version-is-last-lost": ("does not see `jsonrpc` as the last member",
            on_message(lambda it: without(it, "jsonrpc") if list(it)[-1] == "jsonrpc" and len(it) > 1 else None)),
        "method-in-any-case": ("takes the last of `method` and `Method`", on_message(in_any_case("method"))),
        "params-in-any-case": ("takes the last of `params` and `Params`", on_message(in_any_case("params"))),
        "result-in-any-case": ("takes the last of `result` and `Result`", on_message(in_any_case("result"))),
        "error-in-any-case": ("takes the last of `error` and `Error`", on_message(in_any_case("error"))),
        "message-inherits": ("takes members of a message from its `__proto__`", on_message(inherited)),
        "method-first-in-text": ("takes the first \"method\" in the text of a message for its method",
            found_by(rf'"method":({TEXT})', 0, "method")),
        "method-last-in-text": ("takes the last \"method\" in the text of a message for its method",
            found_by(rf'"method":({TEXT})', -1, "method")),
        "error-by-its-word": ("takes a result with the word \"error\" as a name in it for an error",
            by_words('"error":', ("result",), as_error)),
        "methods-by-their-word": ("drops an answer with \"method\" as a name in it",
            on_message(lambda it: DROPPED if "method" not in it and words('"method":')(it) else None)),
        "results-by-their-word": ("drops a request with \"result\" as a name in it",
            on_message(lambda it: DROPPED if "method" in it and words('"result":')(it) else None)),
        "errors-by-their-word": ("drops a request with \"error\" as a name in it",
            on_message(lambda it: DROPPED if "method" in it and words('"error":')(it) else None)),
        "methods-of-objects-dropped": ("drops methods that every object of JavaScript has",
            on_message(lambda it: DROPPED if it.get("method") in OF_OBJECTS else None)),
        "params-scalar-of-notifications": ("drops params of notifications that are a text or a number",
            params_are("notification", lambda it: type(it) in (str, Number, bool))),
        "params-scalar-of-requests": ("drops params of requests that are a text or a number",
            params_are("request", lambda it: type(it) in (str, Number, bool))),
    },
    "JRP-VERSION": {
        "version-in-any-case": ("takes the last of `jsonrpc` and `JsonRpc`", on_message(in_any_case("jsonrpc"))),
        "version-letter-by-letter": ("looks for the letters of \"2.0\", and not for escapes of them",
            letter_by_letter(r'"2\\u002[eE]0"', '"2"')),
    },
    "EQ-TOOL": {
        "name-behind-arguments-lost": ("does not see the name of a tool behind its arguments",
            on_message(call_params(unseen("name", "arguments")))),
        "calls-by-their-words": ("takes a message with the words tools/call in its params for a tool call",
            by_words("tools/call", ("request", "notification"), as_call)),
        "calls-letter-by-letter": ("looks for the letters of tools/call, and not for escapes of them",
            letter_by_letter(r'"tools\\(/|u002[fF])call"', '"tools//call"')),
        "name-of-the-arguments": ("takes a member `name` of the arguments for the name of the tool",
            on_message(name_of_the_arguments)),
        "calls-inherit": ("takes name and arguments from the `__proto__` of params", on_message(call_params(inherited))),
        "empty-names-are-none": ("leaves out a tool's name that is empty",
            on_event(lambda event: without(event, "tool") if event.get("tool") == "" else None)),
        "empty-names-refused": ("rejects a tool call whose name is empty",
            on_message(refused_if(lambda it: it.get("method") == "tools/call" and member_of(it, "params", "name") == ""))),
        "names-of-sdks-refused": ("rejects a tool's name with other characters than letters, digits, _ and -",
            on_message(refused_if(lambda it: it.get("method") == "tools/call"
                and type(name := member_of(it, "params", "name")) is str and not re.fullmatch(r"[\w.\-/]*", name, re.ASCII)))),
    },
    "EQ-ARGS": {
        "arguments-with-siblings": ("puts what stands beside the arguments into them", on_message(with_siblings)),
        "arguments-unwrapped": ("unwraps arguments that have only a member `arguments`", argument(only_member("arguments"))),
        "arguments-out-of-input": ("unwraps arguments that have only a member `input`", argument(only_member("input"))),
        "arguments-out-of-params": ("unwraps arguments that have only a member `params`", argument(only_member("params"))),
        "arguments-out-of-args": ("unwraps arguments that have only a member `args` or `kwargs`",
            argument(lambda it: only_member("args")(it) or only_member("kwargs")(it))),
        "arguments-out-of-value": ("unwraps arguments that have only a member `value`", argument(only_member("value"))),
        "arguments-inherit": ("takes arguments from their `__proto__`", argument(inherited)),
        "arguments-of-one-listed": ("unwraps arguments that are an array of one object",
            argument(lambda it: it[0] if type(it) is list and len(it) == 1 and isinstance(it[0], dict) else None)),
        "params-null-of-notifications": ("drops null params of notifications",
            params_are("notification", lambda it: it is None)),
        "params-null-of-requests": ("drops null params of requests", params_are("request", lambda it: it is None)),
        "params-empty-of-notifications": ("drops empty params of notifications", params_are("notification", lambda it: it == {})),
        "params-empty-of-requests": ("drops empty params of requests", params_are("request", lambda it: it == {})),
        "params-added-to-notifications": ("gives notifications without params empty ones",
            params_are("notification", lambda it: it is GONE, {})),
        "params-added-to-requests": ("gives requests without params empty ones",
            params_are("request", lambda it: it is GONE, {})),
    },
    "EQ-OUTCOME": {
        "results-out-of-data": ("unwraps a result that has only a member `data` or `value`",
            on_event(lambda event: event | {"result": new} if (new := only_member("data")(event.get("result")) or
                only_member("value")(event.get("result"))) is not None else None)),
        "results-out-of-lists": ("unwraps a result that is an array of one object",
            on_event(lambda event: event | {"result": event["result"][0]} if type(event.get("result")) is list
                and len(event["result"]) == 1 and isinstance(event["result"][0], dict) else None)),
        "results-empty-are-null": ("writes null for an empty result", result_is(lambda it: it == {}, None)),
        "results-null-are-empty": ("writes {} for a result that is null", result_is(lambda it: it is None, {})),
        "results-false-are-empty": ("writes {} for a result that is false, 0 or an empty text",
            result_is(lambda it: it is False or it == "" or (type(it) is Number and it == Number("0")), {})),
        "results-listless": ("writes {} for a result that is an empty array", result_is(lambda it: it == [], {})),
        "error-data-null-dropped": ("drops null data of an error", error_data(lambda it: it is None)),
        "error-data-falsy-dropped": ("drops data of an error that is false, 0 or empty",
            error_data(lambda it: it is not None and is_falsy(it))),
        "errors-empty-filled": ("gives an error that is {} a code and a message",
            on_event(lambda event: event | {"error": {"code": Number("0"), "message": ""}} if event.get("error") == {}
                else None)),
        "results-inherit": ("takes members of a result from its `__proto__`",
            on_event(lambda event: event | {"result": new} if (new := inherited(event.get("result"))) else None)),
        "errors-inherit": ("takes members of an error from its `__proto__`",
            on_event(lambda event: event | {"error": new} if (new := inherited(event.get("error"))) else None)),
        "stream-lines-of-64k-ended": ("ends a stream at a line of more than 64 KiB", stream(ends_before(65536))),
        "stream-lines-of-64k-lost": ("drops a line of a stream of more than 64 KiB", stream(lines_of(65536))),
    },
    "ID-MISSING": {
        "id-behind-params-lost": ("does not see an id behind the params", on_message(unseen("id", "params"))),
        "id-behind-result-lost": ("does not see an id behind the result", on_message(unseen("id", "result"))),
        "id-behind-error-lost": ("does not see an id behind the error", on_message(unseen("id", "error"))),
        "id-first-in-text": ("takes the first \"id\" in the text of a message for its id",
            found_by(rf'"id":({TEXT}|-?\d+)(?=[,}}])', 0, "id")),
        "id-last-in-text": ("takes the last \"id\" in the text of a message for its id",
            found_by(rf'"id":({TEXT}|-?\d+)(?=[,}}])', -1, "id")),
        "id-in-any-case": ("takes the last of `id` and `ID`", on_message(in_any_case("id"))),
        "id-of-the-result": ("takes the id in a result for a missing one",
            on_message(lambda it: {**it, "id": id_} if "method" not in it and "id" not in it
                and type(id_ := member_of(it, "result", "id")) in (str, Number) else None)),
        "id-of-error-data": ("takes the id in the data of an error for a missing one",
            on_message(lambda it: {**it, "id": id_} if "id" not in it
                and type(id_ := member_of(it, "error", "data", "id") or member_of(it, "error", "data", "requestId"))
                in (str, Number)
                else None)),
        "id-of-the-request-meant": ("takes `requestId` for a missing id",
            on_message(lambda it: {**it, "id": id_} if "id" not in it and type(id_ := it.get("requestId") or
                member_of(it, "params", "requestId")) in (str, Number) else None)),
    },
    "ID-STRING": {
        "id-of-objects-never-binds": ("binds no id that every object of JavaScript has",
            never_binds(lambda id_: id_ in OF_OBJECTS)),
        "id-with-a-nul-never-binds": ("binds no id with a NUL", never_binds(lambda id_: "\0" in id_)),
        "id-undefined-is-none": ("takes the string undefined for no id", never_binds(lambda id_: id_ == "undefined")),
        "id-nan-never-binds": ("takes the string NaN for a number, which equals nothing", never_binds(lambda id_: id_ == "NaN")),
        "id-none-is-none": ("takes the string None for no id", never_binds(lambda id_: id_ == "None")),
        "id-nil-is-none": ("takes the strings nil and <nil> for no id", never_binds(lambda id_: id_ in ("nil", "<nil>"))),
        "id-false-text-is-none": ("takes the string false for no id", never_binds(lambda id_: id_ == "false")),
        "id-one-character-never-binds": ("binds no id that has only white space",
            never_binds(lambda id_: id_ and not id_.strip(" \t\n\r\u00a0"))),
        "binds-to-an-end": ("binds an answer without a request to one whose id ends alike", falls_back(ending_alike)),
        "binds-to-a-start": ("binds an answer without a request to one whose id begins alike", falls_back(beginning_alike)),
    },
    "ID-NUMBER": {
        "id-negative-never-binds": ("binds no number below zero, as an index of a list", never_binds(lambda id_: id_[:1] == "-")),
        "id-beyond-32-bits-never-binds": ("binds no number beyond 32 bits",
            never_binds(lambda id_: id_.isdigit() and len(id_) < 400 and int(id_) > 2**32)),
        "id-beyond-64-bits-never-binds": ("binds no number beyond 64 bits",
            never_binds(lambda id_: id_.isdigit() and len(id_) < 400 and int(id_) > 2**64)),
        "id-beyond-128-bits-never-binds": ("binds no number beyond 128 bits",
            never_binds(lambda id_: id_.isdigit() and int(id_[:4000]) > 2**128)),
    },
    "COR-FIRST": {
        "within-16-messages": ("binds an answer only to one of the 16 messages before it", within_reach(16)),
        "within-100-messages": ("binds an answer only to one of the 100 messages before it", within_reach(100)),
        "one-request-for-an-id": ("keeps one request for an id: a later one takes the place of the first", binds(last_only)),
        "stack-of-requests": ("closes with an answer what was asked after its request", binds(nested_first)),
        "closed-at-initialized": ("forgets at `notifications/initialized` what waits",
            forgets_at(method_is("notifications/initialized"))),
        "closed-at-list-changed": ("forgets at a change of the list of tools what waits",
            forgets_at(method_is("notifications/tools/list_changed"))),
        "closed-at-a-ping": ("forgets at a ping what waits but the ping", forgets_at(method_is("ping"))),
        "closed-at-an-orphan-error": ("forgets at an error without an id what waits",
            forgets_at(lambda event: event["kind"] == "error" and "id" not in event)),
        "closed-at-any-cancellation": ("forgets at a cancellation what waits", forgets_at(method_is("notifications/cancelled"))),
    },
    "COR-LATE": {
        "binds-by-the-token": ("binds an answer without a request to one whose progress token is its id", binds(by_tokens)),
        "binds-to-the-only-one": ("binds an answer without a request to the one that waits, if there is only one",
            falls_back(the_only_one)),
        "binds-to-the-other-side": ("binds an answer without a request to one that its own side asked", falls_back(of_any_side)),
    },
    "SRV-SAME": {
        "events-outlive": ("keeps the events of a file for the next one", outlives("events", list)),
        "calls-outlive": ("keeps the ids of tool calls for the next file", outlives("_tool_call_ids", set)),
        "requests-outlive": ("keeps the requests that wait for the next file", outlives("_unanswered", copied)),
    },
    "JRP-LINE": {
        "documents-sniffed": ("takes a file of one line with `entries`, `log` or `events` for another format",
            on_text(lambda text: "[]" if "\n" not in text.strip("\n") and re.search(r'"(entries|log|events)":', text) else None)
            .within("jsonrpc")),
        "marks-of-lines-dropped": ("drops a byte order mark at the start of any line",
            on_raw_lines(lambda line: line[3:] if line.startswith(b"\xef\xbb\xbf") else None)),
        "lines-up-to-the-brace": ("ends a line at its last brace",
            on_raw_lines(lambda line: line[: line.rfind(b"}") + 1] if b"}" in line and line.rstrip()[-1:] != b"}" else None)),
        "lines-from-the-brace": ("begins a line at its first brace",
            on_raw_lines(lambda line: line[line.find(b"{"):] if b"{" in line and line.lstrip()[:1] != b"{" else None)),
        "spaces-before-lines-refused": ("rejects a line that begins with a space",
            on_raw_lines(lambda line: b"?" if re.match(rb"[ \t]+\S", line) else None)),
        "spaces-behind-lines-refused": ("rejects a line that ends with a space",
            on_raw_lines(lambda line: b"?" if re.search(rb"\S[ \t]+\r?$", line) else None)),
    },
    "RPL-MESSAGE": {
        "dir-behind-raw-lost": ("drops a line whose dir stands behind its raw", on_trace_line(lost(behind("dir", "raw")))),
        "raw-is-last": ("drops a line with members behind raw",
            on_trace_line(lambda it: DROPPED if "raw" in it and list(it)[-1] != "raw" else None)),
        "time-is-first": ("drops a line whose time stands behind its dir", on_trace_line(lost(behind("t", "dir")))),
        "dir-letter-by-letter": ("looks for the letters of in and out, and not for escapes of them",
            on_raw_lines(lambda line: re.sub(rb'("dir"\s*:\s*"[a-z]*)\\u00', rb"\1_", line)).within("mcp-replay")),
        "dir-in-text": ("takes the last \"dir\" in the text of a line for its dir",
            on_trace_line(lambda it: {**it, "dir": found[-1]} if "dir" in it
                and (found := re.findall(r'"dir":"(in|out)"', text_of(it))) and found[-1] != it["dir"] else None)),
        "trace-lines-inherit": ("takes members of a line from its `__proto__`", on_trace_line(inherited)),
        "raw-in-text": ("takes the last \"raw\" in the text of a line for its raw",
            on_trace_line(lambda it: {**it, "raw": deepest} if (deepest := last_raw(it.get("raw"))) is not None else None)),
    },
    "RPL-META": {
        "meta-in-text": ("takes a line with \"type\":\"meta\" in its message for a second meta line",
            on_trace_line(refused_if(lambda it: "raw" in it and words('"type":"meta"')(it["raw"])))),
    },
    "RPL-END": {
        "end-in-text": ("takes a line with \"type\":\"end\" in its message for the end",
            on_trace_line(lambda it: {"type": "end"} if "raw" in it and words('"type":"end"')(it["raw"]) else None)),
        "end-with-raw-read": ("reads the message in an end line",
            on_trace_line(lambda it: without(it, "type") if it.get("type") == "end" and "raw" in it else None)),
    },
    "RPL-UNKNOWN": {
        "unknown-in-meta": ("rejects a meta line with a member that it does not know",
            on_trace_line(lambda it: unknown("v", "type", "startedAt", "label", "command", "server", "client", "cwd")(it)
                if it.get("type") == "meta" else None)),
        "unknown-in-lines": ("rejects a line of a message that has a member of another recorder",
            on_trace_line(lambda it: unknown("t", "dir", "raw", "kind", "type", "id", "method", "seq")(it) if "raw" in it
                else None)),
        "unknown-in-ends": ("rejects an end line with a member that it does not know",
            on_trace_line(lambda it: unknown("t", "type", "exitCode", "durationMs")(it) if it.get("type") == "end" else None)),
        "gaps-in-seq": ("rejects a trace with a gap in seq", on_trace(gaps_refused)),
        "seq-once": ("drops a line whose seq was there before", on_trace(seq_once)),
    },
    "ENV-UNKNOWN": {
        "unknown-in-sse": ("rejects an sse with a member that it does not know",
            on_entry(inside(unknown("event", "data", "id", "retry"), "sse"))),
        "unknown-in-contexts": ("rejects a context with a member that it does not know",
            on_entry(inside(unknown("status", "headers", "method", "url"), "transport_context"))),
        "entries-inherit": ("takes members of an entry from its `__proto__`", on_entry(inherited)),
        "contexts-inherit": ("takes members of a context from its `__proto__`", on_entry(inside(inherited, "transport_context"))),
        "headers-inherit": ("takes headers from their `__proto__`", on_entry(inside(inherited, "transport_context", "headers"))),
    },
    "ENV-TRANSPORT": {
        "label-letter-by-letter": ("looks for the letters of the label, and not for escapes of them",
            letter_by_letter(r"(?<=http)\\u002[dD](?=sse)|(?<=streamable)\\u002[dD](?=http)", "_", *ENVELOPES)),
    },
    "ENV-ONE": {
        "slots-letter-by-letter": ("looks for the letters of request and response, and not for escapes of them",
            letter_by_letter(r'"re\\u0071uest"|"r\\u0065sponse"', '"_"', *ENVELOPES)),
        "times-first": ("drops an entry whose time stands behind its message",
            on_entry(lost(behind("timestamp_ms", "request", "response", "sse")))),
        "contexts-in-any-case": ("takes the last of `status` and `Status`, and of `headers` and `Headers`",
            on_entry(inside(in_any_case("status", "headers"), "transport_context"))),
        "entries-in-any-case": ("takes the last of `transport_context` and `Transport_Context`",
            on_entry(in_any_case("transport_context"))),
    },
    "K2A-SUMMARY": {
        "context-behind-lost": ("does not see a context behind the response", on_entry(unseen("transport_context", "response"))),
        "status-behind-headers-lost": ("does not see a status behind the headers",
            on_entry(inside(unseen("status", "headers"), "transport_context"))),
    },
    "SSE-EVENT": {
        "name-behind-data-unseen": ("does not see the name of an event of an envelope behind its data",
            on_entry(inside(unseen("event", "data"), "sse"))),
        "event-in-any-case": ("takes the last of `event` and `Event`", on_entry(inside(in_any_case("event"), "sse"))),
        "type-of-the-event": ("takes `type` for the name of an event of an envelope",
            on_entry(inside(lambda it: {**it, "event": it["type"]} if type(member_of(it, "type")) is str else None, "sse"))),
        "sse-inherits": ("takes members of an sse from its `__proto__`", on_entry(inside(inherited, "sse"))),
    },
    "INS-EXPORT": {
        "origin-behind-message-lost": ("does not see an origin behind the message", on_exported(unseen("origin", "message"))),
        "time-behind-message-lost": ("does not see a time behind the message", on_exported(unseen("timestamp", "message"))),
        "response-before-message-lost": ("does not see a response before the message",
            on_exported(lambda it: without(it, "response") if behind("message", "response")(it) else None)),
        "duration-before-response-lost": ("does not see a duration before the response",
            on_exported(lambda it: without(it, "duration") if behind("response", "duration")(it) else None)),
        "duration-behind-response-lost": ("does not see a duration behind the response",
            on_exported(unseen("duration", "response"))),
        "items-inherit": ("takes members of an item from its `__proto__`",
            on_item(lambda it: None if (new := inherited(it)) is None else [new])),
        "responses-in-any-case": ("takes the last of `response` and `Response`", on_exported(in_any_case("response"))),
        "durations-in-any-case": ("takes the last of `duration` and `Duration`", on_exported(in_any_case("duration"))),
        "years-from-1-in-exports": ("rejects the year 0 of a timestamp, which Python's dates do not have",
            changed("timestamp", lambda time: refuse() if type(time) is str and time.startswith("0000") else None)),
        "unknown-in-items": ("rejects an item with a member that it does not know",
            on_exported(unknown("id", "message", "response", "origin", "timestamp", "duration", "direction"))),
    },
    "HAR-ORDER": {
        "start-behind-request-lost": ("does not see a start behind the request",
            on_exchange(unseen("startedDateTime", "request"))),
        "events-behind-response-lost": ("does not see `_events` behind the response", on_exchange(unseen("_events", "response"))),
        "events-before-response-lost": ("does not see `_events` before the response",
            on_exchange(lambda it: without(it, "_events") if behind("response", "_events")(it) else None)),
        "years-of-365-days": ("gives every year 365 days", on_dates(days_by(lambda year, month: MONTHS[month - 1]))),
        "leap-years-by-four": ("takes 2100 for a leap year, in dates",
            on_dates(days_by(lambda year, month: MONTHS[month - 1] + (month > 2 and year % 4 == 0)))),
        "leap-years-but-centuries": ("takes 2000 for no leap year, in dates",
            on_dates(days_by(lambda year, month: MONTHS[month - 1] + (month > 2 and year % 4 == 0 and year % 100 > 0)))),
        "months-of-31-days": ("gives every month 31 days", on_dates(days_by(lambda year, month: 31 * (month - 1)))),
        "zones-within-the-day": ("moves the hour of a date by its zone, and never the day", on_dates(zone_within_the_day)),
        "years-from-1": ("rejects the year 0, which Python's dates do not have", starts_refused("^0000")),
        "small-letters-of-dates": ("rejects a date with a small t or z",
            starts_refused("[tz]")),
    },
    "HAR-MESSAGE": {
        "method-behind-post-lost": ("does not see a method behind what was posted",
            on_exchange(inside(unseen("method", "postData"), "request"))),
        "type-behind-text-lost": ("does not see a media type behind the text",
            on_exchange(inside(unseen("mimeType", "text"), *CONTENT))),
        "answers-before-requests-first": ("reads an answer first where it stands before the request in the file",
            answers_first_where(behind("request", "response"))),
        "values-before-names-lost": ("does not see a header whose value stands before its name",
            on_exchange(inside(each(unseen("name", "value")), "response", "headers"))),
        "contents-in-any-case": ("takes the last of `text` and `Text` of a content",
            on_exchange(inside(in_any_case("text"), *CONTENT))),
        "types-in-any-case": ("takes the last of `mimeType` and `mimetype`",
            on_exchange(inside(in_any_case("mimeType"), *CONTENT))),
        "posts-in-any-case": ("takes the last of `text` and `Text` of what was posted",
            on_exchange(inside(in_any_case("text"), "request", "postData"))),
        "requests-in-any-case": ("takes the last of `method` and `Method` of a request",
            on_exchange(inside(in_any_case("method", "postData"), "request"))),
        "answers-in-any-case": ("takes the last of `status` and `Status`, and of `content` and `Content`",
            on_exchange(inside(in_any_case("status", "content"), "response"))),
        "exchanges-in-any-case": ("takes the last of `request` and `Request`, and of `response` and `Response`",
            on_exchange(in_any_case("request", "response"))),
        "unknown-in-exchanges": ("rejects an exchange with a member that HAR does not have",
            on_exchange(refused_if(lambda it: any(name not in ENTRY for name in it)))),
        "unknown-in-contents": ("rejects a content with a member that HAR does not have",
            on_exchange(inside(unknown("size", "compression", "mimeType", "text", "encoding", "comment"), *CONTENT))),
        "unknown-in-posts": ("rejects what was posted with a member that HAR does not have",
            on_exchange(inside(unknown("mimeType", "params", "text", "comment", "encoding"), "request", "postData"))),
        "unknown-in-requests": ("rejects a request with a member that HAR does not have",
            on_exchange(inside(unknown(*REQUEST), "request"))),
        "unknown-in-responses": ("rejects a response with a member that HAR does not have",
            on_exchange(inside(unknown(*RESPONSE), "response"))),
        "exchanges-inherit": ("takes members of an exchange from its `__proto__`", on_exchange(inherited)),
        "null-bodies-die": ("dies of a body that is null", dies_of(*CONTENT, "text", is_one=lambda it: it is None)),
        "number-bodies-die": ("dies of a body that is a number", dies_of(*CONTENT, "text", is_one=lambda it: type(it) is Number)),
        "text-bodies-die": ("dies of a body that is a text in JSON",
            dies_of(*CONTENT, "text", is_one=lambda it: type(it) is str)),
        "boolean-bodies-die": ("dies of a body that is true or false",
            dies_of(*CONTENT, "text", is_one=lambda it: type(it) is bool)),
        "array-bodies-die": ("dies of a body that is an array of texts",
            dies_of(*CONTENT, "text", is_one=lambda it: type(it) is list and any(type(item) is str for item in it))),
        "null-posts-die": ("dies of a POST of null", dies_of(*POST, is_one=lambda it: it is None)),
        "number-posts-die": ("dies of a POST of a number", dies_of(*POST, is_one=lambda it: type(it) is Number)),
        "text-posts-die": ("dies of a POST of a text in JSON", dies_of(*POST, is_one=lambda it: type(it) is str)),
        "array-posts-die": ("dies of a POST of an array of texts",
            dies_of(*POST, is_one=lambda it: type(it) is list and any(type(item) is str for item in it))),
        "null-bodies-refused": ("rejects a body that is null, a number, a text or true",
            on_exchange(refused_if(lambda it: json_value(it, *CONTENT, "text") is not GONE
                and not isinstance(json_value(it, *CONTENT, "text"), (dict, list))))),
        "streams-by-their-words": ("takes a JSON answer with \"data:\" in its text for a stream",
            answers_lost(lambda it: str(member_of(it, *CONTENT, "mimeType")).startswith("application/json")
                and "data:" in member_of(it, *ANSWER))),
        "bodies-letter-by-letter": ("looks for the letters of \"jsonrpc\" in a body, and not for escapes of them",
            on_exchange(lambda it: put(it, "", *ANSWER) if type(text := member_of(it, *ANSWER)) is str and text.startswith("{")
                and "jsonrpc" not in text else None)),
        "posts-letter-by-letter": ("looks for the letters of \"jsonrpc\" in a POST, and not for escapes of them",
            on_exchange(lambda it: put(it, "", *POST) if type(text := member_of(it, *POST)) is str and text.startswith("{")
                and "jsonrpc" not in text else None)),
        "bodies-that-begin-with-a-brace": ("reads only bodies whose first character is a brace",
            on_exchange(lambda it: put(it, "", *ANSWER) if type(text := member_of(it, *ANSWER)) is str
                and re.match(r"[ \t\r\n]+[{\[]", text) else None)),
        "posts-that-begin-with-a-brace": ("reads only POSTs whose first character is a brace",
            on_exchange(lambda it: put(it, "", *POST) if type(text := member_of(it, *POST)) is str
                and re.match(r"[ \t\r\n]+[{\[]", text) else None)),
        "types-letter-by-letter": ("looks for the letters of a media type, and not for escapes of them",
            letter_by_letter(r"(application|text)\\/(?=json|event)", r"\1//", "har")),
        "posts-by-their-letters": ("looks for the letters of POST, and not for escapes of them",
            letter_by_letter(r'"P\\u004[fF]ST"', '"P_ST"', "har")),
        "media-types-with-case": ("compares media types with case",
            body_lost(lambda it: (kind := str(member_of(it, *CONTENT, "mimeType")).partition(";")[0]) != kind.lower())),
        "other-hosts-dropped": ("drops exchanges with another host than the first one's",
            like_the_first(address(lambda url: url.netloc))),
        "other-addresses-dropped": ("drops exchanges with another address than the first one's",
            like_the_first(address(lambda url: url))),
        "resumed-dropped": ("drops an exchange whose request has Last-Event-ID",
            exchanges_lost(lambda it: any(str(member_of(header, "name")).lower() == "last-event-id"
                for header in member_of(it, "request", "headers") or ()))),
    },
    "HAR-STREAM": {
        "encoding-behind-text-lost": ("does not see an encoding behind the text",
            on_exchange(inside(unseen("encoding", "text"), *CONTENT))),
        "encoding-behind-post-lost": ("does not see an encoding behind the text of a POST",
            on_exchange(inside(unseen("encoding", "text"), "request", "postData"))),
        "encodings-in-any-case": ("takes the last of `encoding` and `Encoding`",
            on_exchange(inside(in_any_case("encoding"), *CONTENT))),
        "data-anywhere": ("finds `data:` anywhere in a line of a stream", stream(unanchored)),
        "events-split-at-data": ("splits a stream at the word `data:`, also inside of a text", stream(cut_at_data)),
        "streams-by-their-start": ("reads a stream only where it begins with `data:` or `event:`", stream(sniffed)),
        "stream-lines-of-8k-ended": ("ends a stream at a line of more than 8 KiB", stream(ends_before(8192))),
        "done-ends-a-stream": ("ends a stream at `data: [DONE]`", stream(lambda text: text.partition("data: [DONE]")[0])),
        "brace-wanted-in-data": ("reads no event whose data does not begin with a brace",
            stream(lambda text: re.sub(r"(?m)^data: ?[ \t]+\{.*\n", "", text))),
        "names-of-tabs-read": ("trims tabs and line ends from the name of an event",
            carried(lambda name, data: ("message", data) if type(name) is str and name != name.strip("\t\r\n") == "message"
                else None)),
    },
    "HAR-K2A": {
        "har-status-behind-headers-lost": ("does not see a status behind the headers of an answer",
            on_exchange(inside(unseen("status", "headers"), "response"))),
        "har-values-first-lost": ("does not see the value of a header before its name",
            on_exchange(inside(each(lambda it: without(it, "value") if behind("name", "value")(it) else None), "response",
                "headers"))),
        "har-headers-in-any-case": ("takes the last of `value` and `Value` of a header",
            on_exchange(inside(each(in_any_case("name", "value")), "response", "headers"))),
    },
}
