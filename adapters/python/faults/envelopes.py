"""The two envelopes, their entries, and what an SSE event carries."""

import re

import sse
from contract import Rejection
from faults import seams
from faults.seams import (
    DROPPED,
    ENVELOPES,
    Change,
    forgives,
    member_of,
    on_document,
    on_entry,
    patch,
    without,
)
from formats import envelope, har
from jsontext import JsonError, Number, parse

STREAMABLE, SSE = ENVELOPES
SLOTS = ("request", "response", "sse")
KNOWN = {"transport", "entries", "session_id", "protocol_version", "transport_context", "capabilities"}


def label(accepts):
    """Takes a transport that is not the format's: accepts(label, whether there is one)."""

    def document(whole, due):
        given = whole.get("transport") if isinstance(whole, dict) else due
        wrong = isinstance(whole, dict) and given != due and accepts(given, "transport" in whole)
        return {**whole, "transport": due} if wrong else None

    return labelled(document)


def labelled(edit):
    """The document is another one: edit(document, the label that is due)."""

    def make(due):
        def read(honest):
            def reader(file, session):
                before = envelope.document
                envelope.document = lambda file: whole if (new := edit(whole := before(file), due)) is None else new
                try:
                    honest(file, session)
                finally:
                    envelope.document = before

            return reader

        return read

    return Change(patches=tuple((Readers(due), "read", make(due)) for due in ENVELOPES))


class Readers:
    """One of the readers by format as an attribute, so that it can be replaced."""

    def __init__(self, name):
        object.__setattr__(self, "name", name)

    def __getattr__(self, _):
        return seams.all_formats()[self.name]

    def __setattr__(self, _, reader):
        seams.all_formats()[self.name] = reader


def entries(condition, new):
    """Takes other entries where the condition holds of the document."""
    return on_document(lambda whole: new(whole) if condition(whole) else None).within(*ENVELOPES)


def has(*names):
    return lambda entry: all(name in entry for name in names)


def first_slot(entry):
    filled = [slot for slot in SLOTS if slot in entry]
    return without(entry, *filled[1:]) if len(filled) > 1 else None


def last_slot(entry):
    filled = [slot for slot in SLOTS if slot in entry]
    return without(entry, *filled[:-1]) if len(filled) > 1 else None


def split_entries(condition):
    """Reads an entry with two slots as two."""

    def make(honest):
        def read_entry(entry, place, session):
            filled = [slot for slot in SLOTS if slot in entry] if isinstance(entry, dict) else []
            parts = (
                [without(entry, *set(filled) - {slot}) for slot in filled] if len(filled) > 1 and condition(filled) else [entry]
            )
            for part in parts:
                honest(part, place, session)

        return read_entry

    return patch(envelope, "_read_entry", make)


def odd_entries_passed(honest):
    def read_entry(entry, place, session):
        if isinstance(entry, dict):
            honest(entry, place, session)

    return read_entry


def bare_messages(entry):
    return {"response": entry} if "jsonrpc" in entry and not any(slot in entry for slot in SLOTS) else None


def slots_without_case(entry):
    odd = [name for name in entry if name.lower() in SLOTS and name not in SLOTS]
    return {name.lower() if name in odd else name: value for name, value in entry.items()} if odd else None


def in_slots(condition, new=None):
    """What stands in `request` or `response` is taken for null, or for something else."""

    def edit(entry):
        others = {slot: new and new(entry[slot]) for slot in ("request", "response") if slot in entry and condition(entry[slot])}
        return {**entry, **others} if others else None

    return on_entry(edit)


def slot_arrays(condition):
    def make(honest):
        def read_entry(entry, place, session):
            slot = next((slot for slot in ("request", "response") if isinstance(entry, dict) and slot in entry), None)
            batch = entry[slot] if slot and type(entry[slot]) is list and entry[slot] and condition(entry[slot]) else None
            for other in [entry] if batch is None else [{**entry, slot: item} for item in batch]:
                honest(other, place, session)

        return read_entry

    return patch(envelope, "_read_entry", make)


def rejecting(condition):
    """Rejects an entry for which the condition holds."""

    def edit(entry):
        if condition(entry):
            raise Rejection("invalid-entry", "", "a fault of this reader")

    return on_entry(edit)


def null_slot(entry):
    return any(entry.get(slot, 0) is None for slot in SLOTS)


def is_time(value):
    return type(value) is Number and value.text.isdigit()


def odd_time(entry):
    return "timestamp_ms" in entry and not is_time(entry["timestamp_ms"])


def odd_event_id(entry):
    id_ = member_of(entry, "sse", "id")
    return id_ is not None and type(id_) is not str


def error_body(entry):
    return envelope._is_plain_error_body(entry.get("response"), member_of(entry, "transport_context", "status"))


def known_members(document):
    return isinstance(document, dict) and set(document) - KNOWN


def on_event(edit):
    """The object in an `sse` slot is another one, or DROPPED."""

    def make(honest):
        def read_event(event, place, session):
            other = edit(event) if isinstance(event, dict) else None
            if other is not DROPPED:
                honest(event if other is None else other, place, session)

        return read_event

    make.keeps = lambda event, *_: not isinstance(event, dict) or edit(event) is None
    return patch(envelope, "_read_event", make)


def on_carried(make):
    """What an event carries, in envelopes and streams."""
    return Change(patches=((envelope, "carried_message", make), (har, "carried_message", make)))


def carried(edit):
    """(name, data) of an event are others."""
    return on_carried(lambda honest: lambda name, data, place: honest(*(edit(name, data) or (name, data)), place))


def refused(condition):
    def edit(name, data):
        if condition(name, data):
            raise Rejection("wrong-type", "", "a fault of this reader")

    return carried(edit)


def is_message(name):
    return name in (None, "", "message")


def in_doubles(data):
    try:
        value = parse(data) if type(data) is str else None
    except JsonError:
        return None
    if isinstance(value, dict):
        return seams.deep(value, seams.numbers(lambda text: Number(repr(float(text))) if abs(float(text)) < 1e300 else None))


def unversioned(name, data):
    return (name, "") if isinstance(data, dict) and "jsonrpc" not in data else None


def nested(name, data):
    if type(data) is str and data.lstrip().startswith('"'):
        try:
            return name, parse(data)
        except JsonError:
            return None


def arrays_apart(honest):
    def read_event(event, place, session):
        data = event.get("data") if isinstance(event, dict) else None
        try:
            data = parse(data) if type(data) is str and data.startswith("[") else data
        except JsonError:
            data = None
        for item in data if type(data) is list and data else [None]:
            honest(event if item is None else {**event, "data": item}, place, session)

    return read_event


def endpoint_wanted(whole):
    events = [member_of(entry, "sse", "event") for entry in whole.get("entries") or ()] if isinstance(whole, dict) else []
    return {**whole, "transport": None} if isinstance(whole, dict) and "endpoint" not in events else None


FAULTS = {
    "ENV-TRANSPORT": {
        "any-label": ("does not look at `transport` where it is there", label(lambda given, there: there)),
        "unlabelled": ("takes an envelope without `transport`", label(lambda given, there: not there)),
        "null-label": ("takes a null `transport` for the right one", label(lambda given, there: there and given is None)),
        "label-without-case": ("compares `transport` without case", label(lambda given, there: str(given).lower() in ENVELOPES)),
        "label-alias": ("takes `sse-legacy` for http-sse in files", label(lambda given, there: given == "sse-legacy")),
        "either-label": ("reads either envelope under either name", label(lambda given, there: given in ENVELOPES)),
        "label-first": (
            "wants `transport` before `entries`",
            labelled(
                lambda whole, due: (
                    {**whole, "transport": None} if isinstance(whole, dict) and "entries" in list(whole)[:1] else None
                )
            ),
        ),
        "label-trimmed": ("trims the label", label(lambda given, there: str(given).strip() in ENVELOPES)),
    },
    "ENV-ONE": {
        "first-slot": ("takes the first of `request`, `response` and `sse` where an entry has several", on_entry(first_slot)),
        "last-slot": ("takes the last of them", on_entry(last_slot)),
        "exchange-in-an-entry": ("reads the request and the response of one entry",
            split_entries(lambda filled: filled == ["request", "response"])),
        "stream-beside-a-message": ("rejects two messages in an entry, but no stream event beside one",
            split_entries(lambda filled: "sse" in filled)),
        "empty-entries-passed": ("passes over an entry without request, response and sse",
            on_entry(lambda entry: DROPPED if not any(slot in entry for slot in SLOTS) else None)),
        "odd-entries-passed": ("passes over an entry that is not an object", patch(envelope, "_read_entry", odd_entries_passed)),
        "bare-messages": ("reads a bare message among the entries", on_entry(bare_messages)),
        "slots-without-case": ("finds `Response` for `response`", on_entry(slots_without_case)),
    },
    "ENV-SINGLE": {
        "slot-arrays-read": ("reads an array of messages in an entry, one after the other", slot_arrays(lambda batch: True)),
        "slot-arrays-of-one": ("unwraps an array of one message", slot_arrays(lambda batch: len(batch) == 1)),
        "slot-empty-arrays": ("takes an empty array for no message", in_slots(lambda value: value == [])),
        "slot-zero-is-none": ("takes a message that is 0 or false for none",
            in_slots(lambda value: value is False or value == Number("0"))),
        "slot-text-is-none": ("takes a message that is a string for none", in_slots(lambda value: type(value) is str)),
    },
    "ENV-NULL": {
        "null-rejected-in-one": ("rejects a null request, response or sse in http-sse, and accepts it elsewhere",
            rejecting(null_slot).within(SSE)),
        "null-is-an-event": ("makes a notification of a null response",
            in_slots(lambda value: value is None, lambda value: {"jsonrpc": "2.0", "method": "null"})),
        "null-hides-the-challenge": ("does not look at the context of a null response",
            on_entry(lambda entry: DROPPED if null_slot(entry) else None)),
        "error-bodies-rejected-in-one": ("rejects an OAuth error as a response in streamable-http, and accepts it in http-sse",
            rejecting(error_body).within(STREAMABLE)),
        "error-bodies-hide-the-challenge": ("does not look at the context of an OAuth error",
            on_entry(lambda entry: DROPPED if error_body(entry) else None)),
        "error-bodies-under-any-status": (
            "passes over a body without `jsonrpc` under every status in http-sse",
            on_entry(
                lambda entry: DROPPED if isinstance(entry.get("response"), dict) and "jsonrpc" not in entry["response"] else None
            ).within(SSE),
        ),
        "error-bodies-are-messages": (
            "takes an OAuth error for a JSON-RPC error",
            on_entry(lambda entry: {**entry, "response": {**entry["response"], "jsonrpc": "2.0"}} if error_body(entry) else None),
        ),
    },
    "ENV-EMPTY": {
        "no-entries-is-empty": ("takes an envelope without entries for an empty session",
            entries(lambda whole: isinstance(whole, dict) and "entries" not in whole, lambda whole: {**whole, "entries": []})),
        "null-entries-is-empty": (
            "takes null entries for an empty session",
            entries(
                lambda whole: isinstance(whole, dict) and whole.get("entries", 0) is None, lambda whole: {**whole, "entries": []}
            ),
        ),
        "entries-by-key": (
            "takes the values of an object for the entries",
            entries(
                lambda whole: isinstance(whole, dict) and isinstance(whole.get("entries"), dict),
                lambda whole: {**whole, "entries": list(whole["entries"].values())},
            ),
        ),
        "empty-rejected": ("rejects an envelope whose entries are empty",
            entries(lambda whole: isinstance(whole, dict) and whole.get("entries") == [], lambda whole: 0)),
        "bare-list": ("takes a bare array for the entries",
            labelled(lambda whole, due: {"transport": due, "entries": whole} if type(whole) is list else None)),
    },
    "ENV-LOOSE": {
        "odd-times-rejected-in-one": (
            "rejects a timestamp that is not an integer in streamable-http, and accepts it in http-sse",
            rejecting(odd_time).within(STREAMABLE),
        ),
        "odd-times-dropped": ("drops an entry whose timestamp is not an integer from 0",
            on_entry(lambda entry: DROPPED if odd_time(entry) else None)),
        "no-time-dropped": ("drops an entry without a timestamp",
            on_entry(lambda entry: None if "timestamp_ms" in entry else DROPPED)),
        "odd-event-ids-dropped": ("drops an SSE event whose id is not a string",
            on_entry(lambda entry: DROPPED if odd_event_id(entry) else None)),
        "odd-event-ids-rejected-in-one": ("rejects an SSE event whose id is not a string, only in http-sse",
            rejecting(odd_event_id).within(SSE)),
    },
    "ENV-UNKNOWN": {
        "unknown-members-of-envelopes": ("rejects members of an envelope that it does not know",
            entries(known_members, lambda whole: 0)),
        "unknown-members-of-entries": ("rejects members of an entry that it does not know",
            rejecting(lambda entry: set(entry) - {*SLOTS, "timestamp_ms", "transport_context"})),
        "unknown-is-the-message": ("takes an entry with a member `method` or `result` for the message itself",
            on_entry(lambda entry: {"response": without(entry, *SLOTS)} if "method" in entry or "result" in entry else None)),
        "unknown-is-the-list": (
            "takes a member `messages` of an envelope for its entries",
            entries(
                lambda whole: type(member_of(whole, "messages")) is list,
                lambda whole: {**whole, "entries": [{"request": message} for message in whole["messages"]]},
            ),
        ),
    },
    "SSE-DATA-OBJECT": {
        "data-strings-only": ("reads data that is a string, and none that is an object",
            on_event(lambda event: DROPPED if isinstance(event.get("data"), dict) else None)),
        "data-objects-rejected": ("rejects data that is an object",
            on_event(lambda event: {**event, "event": 0} if isinstance(event.get("data"), dict) else None)),
    },
    "SSE-DATA-STRING": {
        "data-objects-only": ("reads data that is an object, and none that is a string",
            on_event(lambda event: DROPPED if type(event.get("data")) is str else None)),
        "data-through-doubles": ("parses a string of data with a JSON library that has only doubles",
            carried(lambda name, data: None if (value := in_doubles(data)) is None else (name, value))),
        "data-no-space": ("wants the brace to be the first character of a string of data",
            carried(lambda name, data: (name, "") if type(data) is str and data[:1].isspace() else None)),
    },
    "SSE-DATA-TEXT": {
        "text-rejected": (
            "rejects a `message` event whose data is plain text",
            refused(lambda name, data: is_message(name) and type(data) is str and data.strip() and data.lstrip()[0] not in '{["'),
        ),
        "arrays-of-numbers-rejected": ("rejects a `message` event whose data is an array of numbers",
            refused(lambda name, data: is_message(name) and type(data) is str and re.match(r"\s*\[\s*\d", data))),
        "priming-rejected": ("rejects a `message` event with empty data",
            refused(lambda name, data: is_message(name) and data == "")),
        "scalars-rejected-in-one": ("rejects data that is a number, true or null, only in http-sse",
            refused(lambda name, data: isinstance(data, (Number, bool))).within(SSE)),
        "objects-are-messages": (
            "takes every object in data for a message",
            on_carried(
                lambda honest: (
                    lambda name, data, place: data if is_message(name) and isinstance(data, dict) else honest(name, data, place)
                )
            ),
        ),
        "text-is-a-notification": (
            "makes a notification of plain text",
            carried(
                lambda name, data: (
                    (name, {"jsonrpc": "2.0", "method": data})
                    if is_message(name) and type(data) is str and data[:1].isalpha()
                    else None
                )
            ),
        ),
        "unversioned-passed": ("passes over data without `jsonrpc`, whatever else it has", carried(unversioned)),
    },
    "SSE-DATA-BROKEN": {
        "broken-passed-in-one": ("passes over broken data, only in streamable-http",
            forgives(envelope, "carried_message", "broken-data", value=sse.NOTHING).within(STREAMABLE)),
    },
    "SSE-KEEPALIVE": {
        "keepalive-rejected": ("rejects an `sse` entry without `data`",
            rejecting(lambda entry: isinstance(entry.get("sse"), dict) and "data" not in entry["sse"])),
        "keepalive-is-an-event": ("makes a notification of an `sse` entry without `data`",
            on_event(lambda event: None if "data" in event else {"data": {"jsonrpc": "2.0", "method": "ping"}})),
    },
    "SSE-EVENT": {
        "any-name": ("reads the data of events of any name", carried(lambda name, data: ("message", data))),
        "names-without-case": ("compares event names without case",
            carried(lambda name, data: (name.lower(), data) if name else None)),
        "endpoint-is-a-message": ("reads the data of `endpoint` events",
            carried(lambda name, data: ("message", data) if name == "endpoint" else None)),
        "empty-name-is-another": ("does not take an empty name of a stream for `message`",
            carried(lambda name, data: ("other", data) if name == "" else None).within("har")),
        "nameless-passed-in-one": ("passes over events without a name, or with an empty one, only in http-sse",
            carried(lambda name, data: None if name else ("other", data)).within(SSE)),
        "endpoint-wanted": ("rejects http-sse without an `endpoint` event", on_document(endpoint_wanted).within(SSE)),
        "message-passed": ("passes over events named `message`",
            carried(lambda name, data: ("other", data) if name == "message" else None)),
    },
    "SSE-DATA-ARRAY": {
        "arrays-read-in-one": ("reads an array of messages in data, only in http-sse",
            patch(envelope, "_read_event", arrays_apart).within(SSE)),
        "arrays-passed-in-one": ("passes over an array of messages in data, only in streamable-http",
            forgives(envelope, "_read_event", "batch").within(STREAMABLE)),
    },
    "SSE-DATA-NESTED": {
        "nested-read-in-one": ("reads a message that was serialised twice, only in http-sse", carried(nested).within(SSE)),
        "nested-passed-in-one": ("passes over one, only in streamable-http",
            forgives(envelope, "carried_message", "nested-data", value=sse.NOTHING).within(STREAMABLE)),
    },
}
