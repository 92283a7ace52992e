"""The other choices that the contract leaves to importers: each is right, and the suite and `fuzz` must not accuse it.

Where a clause is open, or leaves a part open, the reader chooses as the built-in one does. A choice here is the same reader
with another answer to one such question, in every format.
"""

import base64
import re
from decimal import Decimal, localcontext

import clock
import concord_reader
import contract
import discovery
import sse
from contract import CLIENT, SERVER, Rejection, looks_like_message
from faults.challenge import FOUR_HUNDRED_ONE, challenges_of_events, listed_headers
from faults.seams import (
    DROPPED,
    ENVELOPES,
    Change,
    deep,
    forgives,
    instead,
    member_of,
    numbers,
    on_bytes,
    on_entry,
    on_exchange,
    on_lines,
    on_message,
    on_parse,
    on_values,
    patch,
    put,
    without,
)
from formats import envelope, har, inspector, jsonrpc, mcp_replay
from jsontext import JsonError, Number, TwiceNamed, parse

VALUES = ("arguments", "params", "result", "error")
BATCHES = "2025-03-26"


def refused(what):
    raise Rejection("wrong-type", "", f"this reader chooses not to read {what}")


def all_of(*changes):
    """Several changes to functions, as one."""
    return Change(patches=tuple(one for change in changes for one in change.patches))


def rejects_entry(condition):
    return on_entry(lambda entry: refused("such an entry") if condition(entry) else None)


# --- ids and names ------------------------------------------------------------------------------------------------


def ids_by_value(spell):
    """Number ids by `spell` of their text: they meet where that is the same."""

    def make(honest):
        return lambda message, place: (
            spell(message["id"].text) if type(message.get("id")) is Number else honest(message, place)
        )

    return patch(contract, "correlation_id", make)


def plain(text):
    """A number without a point or an exponent where it needs none."""
    if re.fullmatch(r"-?\d+", text):
        return "0" if text == "-0" else text
    value = Decimal(text)
    if not -100 < value.adjusted() < 100:
        return text
    with localcontext(prec=1000):
        whole, _, fraction = f"{value:f}".partition(".")
    digits = f"{whole}.{fraction}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def as_float(text):
    """As a language that has two types of numbers writes it, where that loses nothing."""
    if re.fullmatch(r"-?\d+", text):
        return "0" if text == "-0" else text
    written = repr(float(text))
    return written if Number(text) == Number(written) else text


def as_written(name):
    """The id of an event in its own spelling, whatever it meets."""

    def make(honest):
        def event_of(self, message, *rest):
            event = honest(self, message, *rest)
            return event | {"id": message["id"].text} if type(message.get("id")) is Number else event

        return event_of

    return patch(contract.Session, name, make)


def on_calls(edit):
    """edit(message, whether it has a name) for each tool call without a name in text."""

    def call(message):
        params = message.get("params")
        name = params.get("name") if isinstance(params, dict) else None
        if message.get("method") == "tools/call" and type(name) is not str:
            return edit(message, isinstance(params, dict) and "name" in params)

    return on_message(call)


def shortest(text):
    value = plain(text)
    return Number(value) if Number(value) == Number(text) else None


def in_order(value):
    return dict(sorted(value.items())) if type(value) is dict else value


# --- envelopes ----------------------------------------------------------------------------------------------------


def null_beside(entry):
    filled = [slot for slot in envelope._SLOTS if slot in entry]
    nulls = [slot for slot in filled if entry[slot] is None]
    return without(entry, *nulls) if nulls and len(nulls) == len(filled) - 1 else None


def null_in(*slots):
    return lambda entry: any(slot in entry and entry[slot] is None for slot in slots)


def plain_bodies(make):
    """Whether the content of a response is HTTP's business and no JSON-RPC: make(what the reader says, content, status)."""
    return patch(
        envelope, "_is_plain_error_body", lambda honest: lambda content, status: make(honest(content, status), content, status)
    )


def is_error(status):
    return type(status) is Number and envelope._is_error_status(status)


def odd_time(entry):
    time = entry.get("timestamp_ms", Number("0"))
    return type(time) is not Number or time.text.startswith("-") or "." in time.text


def negative_time(entry):
    time = entry.get("timestamp_ms")
    return type(time) is Number and time.text.startswith("-")


def without_name(passed):
    """Passes over an event of an envelope whose name is one of these."""
    return patch(
        envelope,
        "carried_message",
        lambda honest: lambda name, data, place: sse.NOTHING if name in passed else honest(name, data, place),
    )


def status_from(*path, text=False):
    """The status 401 of a response, where it stands at this place, or is a text."""

    def edit(entry):
        status = member_of(entry, "transport_context", *path)
        if "response" in entry and (status == "401" if text else status == FOUR_HUNDRED_ONE):
            context = {**entry["transport_context"], "status": FOUR_HUNDRED_ONE}
            return {**entry, "transport_context": context}

    return on_entry(edit)


def listed_values(entry):
    headers = member_of(entry, "transport_context", "headers")
    if isinstance(headers, dict) and "response" in entry:
        joined = {name: ", ".join(map(str, value)) if type(value) is list else value for name, value in headers.items()}
        return put(entry, joined, "transport_context", "headers")


def fitting(header):
    return [names for names in discovery.challenges(header) if names & {"resource_metadata", "scope"}]


def one_challenge(which):
    """Of the challenges of one answer that have a parameter, this one counts."""

    def names_of(header):
        found = fitting(header)
        return found[which] if found else set()

    def header_of(honest):
        def headers(message, name):
            values = list(honest(message, name))
            if name != "www-authenticate":
                return iter(values)
            found = [value for value in values if fitting(value)]
            return iter([found[which]] if found else [])

        return headers

    return all_of(
        instead(discovery, "parameter_names", names_of), patch(har, "_header", header_of), patch(envelope, "_header", header_of)
    )


# --- data of events, and arrays -----------------------------------------------------------------------------------


def arrays(is_here, read):
    """What becomes of an array of messages at such a place that is not a batch: read(session's add, items)."""

    def make(honest):
        def add(self, value, sender, place, turned_away=False):
            if type(value) is list and is_here(place) and not (value and self._revision == BATCHES):
                read(lambda item: honest(self, item, sender, place, turned_away), value)
            else:
                honest(self, value, sender, place, turned_away)

        return add

    return patch(contract.Session, "add", make)


def is_data(place):
    return place.endswith("/sse/data") or ", event " in place


def is_body(place):
    return place.endswith(("/postData", "/content"))


def each(add, items):
    for item in items:
        add(item)


def nothing(add, items):
    pass


def other_arrays(honest):
    def carried(name, data, place):
        found = honest(name, data, place)
        if found is sse.NOTHING and name in (None, "", "message"):
            value = sse._from_text(data, place) if type(data) is str else data
            if type(value) is list:
                refused("an array in data")
        return found

    return carried


def on_refused_data(code, edit):
    """edit(text) in place of a rejection with this code; None where it stays."""

    def make(honest):
        def from_text(text, place):
            try:
                return honest(text, place)
            except Rejection as rejection:
                value = edit(text) if rejection.code == code else None
                if value is None:
                    raise
                return value

        return from_text

    return patch(sse, "_from_text", make)


def unwrapped(text):
    value = parse(parse(text))
    return None if type(value) is str else value


# --- traces and lines ---------------------------------------------------------------------------------------------


def noise_passed(condition):
    """Passes over a `raw` that is not a message, where the condition holds for it."""

    def make(honest):
        def read_message(line, sender, ended, place, session):
            raw = line.get("raw")
            is_noise = "raw" in line and not looks_like_message(raw)
            if ended or not is_noise or (type(raw) is list and session._revision == BATCHES) or not condition(raw):
                honest(line, sender, ended, place, session)

        return read_message

    return patch(mcp_replay, "_read_message", make)


def is_end(line):
    return isinstance(line, dict) and line.get("type") == "end"


def on_trace(condition):
    """Rejects a trace for whose lines the condition holds."""

    def edit(lines):
        values = [value for _, value in lines]
        return refused("such a trace") if condition(values) else lines

    return on_lines(edit).within("mcp-replay")


def behind_the_end(values):
    return any(map(is_end, values[:-1]))


# --- messages -----------------------------------------------------------------------------------------------------


def has(*names):
    return lambda message: all(name in message for name in names)


def shape(condition, edit):
    """A message of this shape is another one, provided that what it calls a method is a text."""
    return on_message(
        lambda message: edit(message) if condition(message) and type(message.get("method", "")) is str else None
    )


def neither(message):
    return message.get("jsonrpc") == "2.0" and not any(name in message for name in ("method", "result", "error"))


# --- times --------------------------------------------------------------------------------------------------------

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
LEAP = re.compile(r"(.{10}.\d\d:\d\d:)60")


def on_times(edit, *modules):
    """edit(honest, value, place) in place of the time; durations are none."""

    def make(honest):
        return lambda value, place: honest(value, place) if place.endswith("duration") else edit(honest, value, place)

    return all_of(*(patch(module, "milliseconds", make) for module in modules))


def odd_is_missing(honest, value, place):
    try:
        return honest(value, place)
    except Rejection:
        return None


def by_the_grammar(honest, value, place):
    return refused("such a time") if type(value) is str and not RFC_3339.fullmatch(value) else honest(value, place)


def leap_seconds(edit):
    """edit(honest, text, place) where a time is a leap second."""
    return on_times(
        lambda honest, value, place: (
            edit(honest, value, place) if type(value) is str and LEAP.match(value) else honest(value, place)
        ),
        inspector,
        har,
    )


# --- exchanges ----------------------------------------------------------------------------------------------------


def numbers_refused(exchange):
    return refused("such a start") if type(exchange.get("startedDateTime")) is Number else None


def header_first(honest):
    def media_type(content, answer):
        named = next(har._header(answer, "content-type"), None)
        return honest({**content, "mimeType": named} if named else content, answer)

    return media_type


def says_json(kind):
    return type(kind) is str and kind.split(";")[0].strip().lower() == "application/json"


def broken_bodies(condition):
    """Rejects a body that says application/json, is not JSON, and for whose text the condition holds."""

    def is_broken(body, side):
        text = har._text(body, "")[0] if body else None
        kinds = [body.get("mimeType"), *har._header(side, "content-type")] if text else ()
        if not any(map(says_json, kinds)) or not text.strip() or not condition(text.strip()):
            return False
        try:
            parse(text.removeprefix("\ufeff"))
        except JsonError:
            return True
        return False

    def edit(exchange):
        request, answer = exchange.get("request"), exchange.get("response")
        sides = [(answer, "content")]
        if str(member_of(request, "method")).upper() == "POST":
            sides.append((request, "postData"))
        for side, name in sides:
            body = member_of(side, name)
            if isinstance(body, dict) and is_broken(body, side):
                refused("such a body")

    return on_exchange(edit)


def on_base64(edit):
    """A body in base64 has another text: edit(text)."""

    def make(honest):
        def text(body, place):
            encoding, said = body.get("encoding"), body.get("text")
            if type(encoding) is str and encoding.lower() == "base64" and type(said) is str:
                return honest({**body, "text": edit(said)}, place)
            return honest(body, place)

        return text

    return patch(har, "_text", make)


def padded(text):
    text = "".join(text.split())
    return text + "=" * (-len(text) % 4)


def bytes_replaced(honest):
    def read_answer(content, answer, place, session):
        if har._media_type(content, answer) == har._STREAM and str(content.get("encoding")).lower() == "base64":
            try:
                raw = base64.b64decode("".join(content["text"].split()), validate=True)
            except (KeyError, AttributeError, ValueError):
                pass
            else:
                content = {**content, "encoding": None, "text": raw.decode("utf-8", "replace")}
        return honest(content, answer, place, session)

    return read_answer


# --- JSON ---------------------------------------------------------------------------------------------------------


def on_json(edit):
    """Each value that is parsed is another one: edit(value, text)."""
    return on_parse(lambda honest: lambda text: edit(honest(text), text))


def inside(edit):
    """The same for the value and all values in it."""
    return on_json(lambda value, text: deep(value, edit))


def too_deep(limit):
    def edit(value, text):
        if text.count("[") + text.count("{") <= limit:
            return value
        level = 0
        for mark in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
            level += 1 if mark in "[{" else -1 if mark in "]}" else 0
            if level > limit:
                raise Rejection("limit", "", "this reader chooses not to read so deep a value")
        return value

    return on_json(edit)


def twice_refused(value):
    return refused("a member twice") if type(value) is TwiceNamed else value


def is_torn(text):
    return type(text) is str and any("\ud800" <= char <= "\udfff" for char in text)


def torn_refused(value):
    if is_torn(value) or isinstance(value, dict) and any(map(is_torn, value)):
        refused("half of a surrogate pair")
    return value


def first_of_two(value):
    return dict(reversed(value.pairs)) if type(value) is TwiceNamed else value


def last_of_two(value):
    return dict(value) if type(value) is TwiceNamed else value


def mark_refused(data):
    return refused("a byte order mark") if data.startswith(b"\xef\xbb\xbf") else None


CHOICES = {
    "EQ-ARGS": {
        "numbers-shortened": ("writes 1.0 as 1 and 1e2 as 100", on_values(VALUES, numbers(shortest))),
        "members-by-name": ("sorts the members of objects by name", on_values(VALUES, in_order)),
    },
    "ID-NUMBER-FORM": {
        "ids-without-a-point": ("writes an id 1.0 or 1e0 as 1, and -0 as 0", ids_by_value(plain)),
        "ids-as-floats": ("writes an id 1e0 as 1.0, and -0 as 0", ids_by_value(as_float)),
        "ids-by-value": (
            "keeps the text of an id 1.0, and lets it meet 1",
            all_of(ids_by_value(plain), as_written("_asking"), as_written("_answering")),
        ),
    },
    "TOOL-NAMELESS": {
        "nameless-refused": ("rejects a tool call without a name in text", on_calls(lambda *_: refused("it"))),
        "missing-names-refused": (
            "rejects a tool call without a name, and keeps a name that is not text",
            on_calls(lambda message, is_there: None if is_there else refused("it")),
        ),
        "odd-names-refused": (
            "rejects a tool call whose name is not text, and reads one without a name",
            on_calls(lambda message, is_there: refused("it") if is_there else None),
        ),
        "odd-names-left-out": (
            "reads a tool call whose name is not text as one without a name",
            on_calls(
                lambda message, is_there: {**message, "params": without(message["params"], "name")} if is_there else None
            ),
        ),
    },
    "ENV-ONE": {
        "nulls-beside-a-slot": ("takes null for an absent slot where another slot is filled", on_entry(null_beside)),
    },
    "ENV-NULL": {
        "null-slots-refused": ("rejects a slot that is null", rejects_entry(null_in("request", "response", "sse"))),
        "null-responses-only": ("rejects null in `request` and `sse`", rejects_entry(null_in("request", "sse"))),
        "error-bodies-refused": (
            "rejects a body without `jsonrpc` under every status",
            plain_bodies(lambda honest, content, status: False),
        ),
        "error-bodies-of-any-shape": (
            "passes over every object without `jsonrpc` under an HTTP error status",
            plain_bodies(
                lambda honest, content, status: (
                    is_error(status) and isinstance(content, dict) and "jsonrpc" not in content
                )
            ),
        ),
        "statuses-up-to-599": (
            "rejects a body without `jsonrpc` under a status of 600 or more",
            plain_bodies(lambda honest, content, status: honest and Decimal(status.text) < 600),
        ),
    },
    "ENV-LOOSE": {
        "odd-timestamps-refused": (
            "rejects a `timestamp_ms` that is negative, fractional or not a number",
            rejects_entry(odd_time),
        ),
        "negative-timestamps-refused": ("rejects a `timestamp_ms` below 0", rejects_entry(negative_time)),
        "event-ids-in-digits-refused": (
            "rejects an `sse.id` that is a number",
            rejects_entry(lambda entry: type(member_of(entry, "sse", "id")) is Number),
        ),
    },
    "SSE-DATA-BROKEN": {
        "broken-data-passed": (
            "passes over text that begins like a message and is not JSON",
            forgives(sse, "_from_text", "broken-data"),
        ),
        "broken-arrays-passed": (
            "passes over text that begins like an array of messages and is not JSON",
            on_refused_data("broken-data", lambda text: "" if text.lstrip().startswith("[") else None),
        ),
    },
    "SSE-EVENT": {
        "unnamed-events-passed": ("passes over an event of an envelope without a name, or with an empty one",
            without_name((None, ""))),
        "missing-names-passed": ("passes over an event of an envelope without a name", without_name((None,))),
        "empty-names-passed": ("passes over an event of an envelope whose name is empty", without_name(("",))),
    },
    "SSE-DATA-ARRAY": {
        "data-arrays-passed": ("passes over an array of messages in data", arrays(is_data, nothing)),
        "data-arrays-read": ("reads an array in data message by message", arrays(is_data, each)),
        "data-arrays-refused": (
            "rejects each array in data, also one that holds no message",
            all_of(patch(envelope, "carried_message", other_arrays), patch(har, "carried_message", other_arrays)),
        ),
    },
    "SSE-DATA-NESTED": {
        "nested-data-passed": (
            "passes over a message inside a JSON string inside data",
            forgives(sse, "_from_text", "nested-data"),
        ),
        "nested-data-unwrapped": (
            "reads a message inside a JSON string inside data",
            on_refused_data("nested-data", unwrapped),
        ),
        "deeper-strings-passed": (
            "passes over a message inside several JSON strings inside data",
            on_refused_data("nested-data", lambda text: "" if type(parse(parse(text))) is str else None),
        ),
    },
    "K2A-SUMMARY": {
        "first-challenge-of-two": ("sums up the first fitting challenge of an answer", one_challenge(0)),
        "last-challenge-of-two": ("sums up the last fitting challenge of an answer", one_challenge(-1)),
        "no-summaries": (
            "shows no summary, and leaves out the member",
            patch(contract.Session, "meaning", lambda honest: lambda self: {"events": self.events}),
        ),
    },
    "K2A-SPELLING": {
        "statuses-in-text": ("takes the text 401 for the status 401", status_from("status", text=True)),
        "statuses-in-status-code": ("reads the status from `status_code`, too", status_from("status_code")),
        "statuses-in-http-status": ("reads the status from `http_status`, too", status_from("http_status")),
        "headers-in-lists": ("reads headers that are a list of pairs, too", on_entry(listed_headers)),
        "header-values-in-lists": ("reads a header whose value is a list, too", on_entry(listed_values)),
        "challenges-on-events": (
            "sums up a challenge that an `sse` entry bears, too",
            patch(envelope, "_read_entry", challenges_of_events),
        ),
    },
    "RPL-NOISE": {
        "noise-passed-over": ("passes over a `raw` that is not a message", noise_passed(lambda raw: True)),
        "log-records-passed": (
            "passes over a `raw` that is an object and not a message, and rejects other noise",
            noise_passed(lambda raw: isinstance(raw, dict)),
        ),
        "log-texts-passed": (
            "passes over a `raw` that is not an object, and rejects an object that is not a message",
            noise_passed(lambda raw: not isinstance(raw, dict)),
        ),
    },
    "RPL-END": {
        "endless-refused": ("rejects a trace without `end`", on_trace(lambda values: not any(map(is_end, values)))),
        "ends-without-code-refused": (
            "rejects a trace whose `end` has no `exitCode`",
            on_trace(lambda values: any(is_end(value) and "exitCode" not in value for value in values)),
        ),
    },
    "RPL-UNKNOWN": {
        "lines-behind-end-refused": ("rejects each line behind `end`", on_trace(behind_the_end)),
    },
    "JRP-LINE": {
        "blank-files-refused": (
            "rejects a file without lines, or with blank ones only",
            on_lines(lambda lines: lines or refused("an empty file")).within("jsonrpc"),
        ),
    },
    "JRP-SHAPE": {
        "null-errors-left-out": (
            "takes an `error` that is null for none beside a result",
            shape(
                lambda it: has("result", "error")(it) and it["error"] is None, lambda message: without(message, "error")
            ),
        ),
        "null-results-left-out": (
            "takes whichever of `result` and `error` is null for none beside the other",
            shape(
                lambda it: has("result", "error")(it) and None in (it["result"], it["error"]),
                lambda message: without(message, "error" if message["error"] is None else "result"),
            ),
        ),
        "errors-win": (
            "reads a result beside an error as an error, unless that is null",
            shape(
                has("result", "error"),
                lambda message: without(message, "error" if message["error"] is None else "result"),
            ),
        ),
        "methods-win": (
            "reads a method beside a result or an error as a request",
            shape(
                lambda it: "method" in it and ("result" in it or "error" in it),
                lambda message: without(message, "result", "error"),
            ),
        ),
        "answers-win": (
            "reads a method beside a result or an error as an answer",
            shape(
                lambda it: "method" in it and ("result" in it) != ("error" in it), lambda message: without(message, "method")
            ),
        ),
        "neither-passed": (
            "passes over an object with `jsonrpc` and none of method, result and error",
            on_message(lambda message: DROPPED if neither(message) else None),
        ),
    },
    "INS-EXPORT": {
        "odd-times-missing": (
            "takes a timestamp in another form for a missing one",
            on_times(odd_is_missing, inspector),
        ),
        "times-by-the-grammar": (
            "rejects a time with a space, a comma, no seconds, or no colon in its zone",
            on_times(by_the_grammar, inspector, har),
        ),
        "leap-seconds-before": (
            "takes a leap second for the second before it",
            leap_seconds(lambda honest, text, place: honest(LEAP.sub(r"\g<1>59", text), place)),
        ),
        "leap-seconds-refused": (
            "rejects a leap second",
            leap_seconds(lambda honest, text, place: refused("a leap second")),
        ),
        "leap-seconds-missing": (
            "takes a leap second for a missing time",
            leap_seconds(lambda honest, text, place: None),
        ),
        "senders-apart": (
            "pairs a message without a sender only with its own kind",
            patch(contract, "_ASKERS", lambda _: {CLIENT: (SERVER,), SERVER: (CLIENT,), None: (None,)}).within("inspector"),
        ),
    },
    "HAR-ORDER": {
        "odd-starts-missing": ("takes a start that is not a date of RFC 3339 for a missing one", on_times(odd_is_missing, har)),
        "starts-in-numbers-refused": ("rejects a start that is a number", on_exchange(numbers_refused)),
    },
    "HAR-MESSAGE": {
        "content-type-first": (
            "takes the media type of an answer from its header before `mimeType`",
            patch(har, "_media_type", header_first),
        ),
        "broken-bodies-refused": (
            "rejects a body that says application/json and is not JSON",
            broken_bodies(lambda text: True),
        ),
        "broken-messages-refused": (
            "rejects a body that says application/json, begins with a brace and is not JSON",
            broken_bodies(lambda text: text.startswith("{")),
        ),
        "body-arrays-read": ("reads an array of messages in a body message by message", arrays(is_body, each)),
    },
    "HAR-STREAM": {
        "padding-added": ("reads base64 without its padding", on_base64(padded)),
        "stream-bytes-replaced": (
            "puts U+FFFD for bytes of a stream that are not UTF-8",
            patch(har, "_read_answer", bytes_replaced),
        ),
    },
    "SRV-DEPTH": {
        "depth-of-64": ("rejects more than 64 levels of nesting, as a parser of .NET does", too_deep(64)),
        "depth-of-128": ("rejects more than 128 levels of nesting, as serde_json does", too_deep(128)),
    },
    "SRV-TWICE": {
        "twice-refused": ("rejects each object with a member twice", inside(twice_refused)),
        "last-of-two": ("reads the last of two members of one name", inside(last_of_two)),
        "first-of-two": ("reads the first of two members of one name", inside(first_of_two)),
        "lone-surrogates-refused": (
            "rejects half of a surrogate pair",
            on_json(lambda value, text: deep(value, torn_refused) if "\\u" in text else value),
        ),
        "marks-refused": ("rejects a byte order mark at the start of a file", on_bytes(mark_refused)),
    },
}
