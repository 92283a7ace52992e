"""The other choices that the contract leaves to importers: each is right, and the suite and `fuzz` must not accuse it.

Where a clause is open, or leaves a part open, the reader chooses as the built-in one does. A choice here is the same reader
with another answer to one such question, in every format.
"""

import re
from decimal import Decimal, localcontext

import contract
import discovery
import sse
from contract import Rejection
from faults.challenge import FOUR_HUNDRED_ONE, challenges_of_events, listed_headers
from faults.seams import (
    Change,
    forgives,
    instead,
    member_of,
    numbers,
    on_entry,
    on_message,
    on_values,
    patch,
    put,
    without,
)
from formats import envelope, har
from jsontext import Number, parse

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


def scalars_rejected(honest):
    def carried(name, data, place):
        return refused("such data") if type(data) in (bool, Number) else honest(name, data, place)

    return carried


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
    "SSE-DATA-TEXT": {
        "scalars-rejected": (
            "rejects a boolean and a number in the place of data",
            patch(envelope, "carried_message", scalars_rejected),
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
}
