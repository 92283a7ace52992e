"""Where a fault can be put into the reader: the bytes, a function of the reader, or the meaning.

The reader's files know nothing of this. A fault replaces functions while it reads, and puts them back.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType

import concord_reader
import contract
import discovery
import formats
import sse
from formats import envelope, har, inspector, jsonrpc, mcp_replay, source
from jsontext import JsonError, Number, TwiceNamed, dump

LINES = ("jsonrpc", "mcp-replay")
ENVELOPES = ("streamable-http", "http-sse")

# The formats whose reading passes through a module; everything else is everybody's.
_REACH = {
    jsonrpc: ("jsonrpc",),
    mcp_replay: ("mcp-replay",),
    inspector: ("inspector",),
    har: ("har",),
    envelope: ENVELOPES,
    sse: (*ENVELOPES, "har"),
    discovery: (*ENVELOPES, "har"),
}


@dataclass(frozen=True)
class Change:
    """One mistake. `only` are the formats in which it is made; none means all."""

    edit: object = None  # (format, bytes) → other bytes, or None where they stay
    patches: tuple = ()  # (object, attribute, function that makes the new one of the old one)
    meaning: object = None  # (events, discovery) → other ones, or None where they stay
    only: tuple = ()

    def within(self, *names):
        return Change(self.edit, self.patches, self.meaning, names)

    def may_show(self, format_name):
        """Whether the mistake can be made in this format."""
        reached = {name for owner, _, _ in self.patches for name in _REACH.get(owner, formats.READERS)}
        return format_name in (self.only or reached or formats.READERS)


def together(changes, format_name):
    """Several changes as one, in a format."""
    shown = [change for change in changes if change.may_show(format_name)]
    edits = [change.edit for change in shown if change.edit]
    meanings = [change.meaning for change in shown if change.meaning]

    def edit(name, data):
        for one in edits:
            data = data if (other := one(name, data)) is None else other
        return data

    def meaning(*now):
        for one in meanings:
            now = one(*now) or now
        return now

    patches = tuple(one for change in shown for one in change.patches)
    return Change(edit if edits else None, patches, meaning if meanings else None, (format_name,))


@contextmanager
def patched(patches):
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    try:
        for owner, name, make in patches:
            setattr(owner, name, make(getattr(owner, name)))
        yield
    finally:
        for owner, name, old in reversed(before):
            setattr(owner, name, old)


@contextmanager
def noting(patches):
    """Gives what the patched functions are called with meanwhile, by (object, attribute)."""
    called = {}

    def noted(place):
        def make(function):
            def calling(*given, **named):
                called.setdefault(place, []).append(given)
                return function(*given, **named)

            return calling

        return make

    places = {(owner, name) for owner, name, _ in patches if type(getattr(owner, name)) is FunctionType}
    with patched([(*place, noted(place)) for place in places]):
        yield called


def is_met(patches, called):
    """Whether one of the patches can matter where, without it, the patched functions are called so."""
    return any(
        type(getattr(owner, name)) is not FunctionType or any(not keeps(make, *given) for given in called.get((owner, name), ()))
        for owner, name, make in patches
    )


def keeps(make, *given):
    """Whether a patch is known to change nothing in such a call."""
    try:
        return hasattr(make, "keeps") and make.keeps(*given)
    except Exception:
        return False


def read(change, data, format_name, dialect="default", honest=None, called=None):
    """The reading with this mistake.

    Where the reading without it is known, `honest`, and which functions it `called`, what is unchanged is that reading itself.
    """
    if not change.may_show(format_name):
        change = Change()
    edited = change.edit(format_name, data) if change.edit else None
    if honest is None or edited is not None or is_met(change.patches, called):
        with patched(change.patches):
            reading = concord_reader.read_bytes(data if edited is None else edited, format_name, dialect)
    elif isinstance(honest, Exception):
        raise honest
    else:
        reading = honest
    if change.meaning:
        meaning = reading.meaning
        changed = change.meaning([dict(event) for event in meaning["events"]], meaning.get("authorization_discovery"))
        if changed is not None:
            new = dict(zip(("events", "authorization_discovery"), changed))
            reading = concord_reader.Reading({name: new[name] for name in meaning}, reading.notes)
    return reading


# --- changes to functions of the reader ---------------------------------------------------------------------------


def patch(owner, name, make):
    return Change(patches=((owner, name, make),))


def instead(owner, name, function):
    return patch(owner, name, lambda _: function)


def forgives(owner, name, *codes, value=None):
    """The function gives `value` where it would reject with one of these codes."""

    def make(honest):
        def forgiving(*given, **named):
            try:
                return honest(*given, **named)
            except contract.Rejection as rejection:
                if rejection.code not in codes:
                    raise
                return value

        return forgiving

    return patch(owner, name, make)


def on_message(edit):
    """Each message is another one before the contract sees it; None where it stays, DROPPED where it goes."""

    def make(honest):
        def add(self, message, sender, place, turned_away):
            other = edit(message) if isinstance(message, dict) else None
            if other is not DROPPED:
                honest(self, message if other is None else other, sender, place, turned_away)

        return add

    make.keeps = lambda session, message, *_: not isinstance(message, dict) or edit(message) is None
    return patch(contract.Session, "_add", make)


DROPPED = object()


def on_added(edit):
    """(message, sender) is another pair, or None where it stays, or DROPPED."""

    def make(honest):
        def add(self, message, sender, place, turned_away):
            other = edit(message, sender) if isinstance(message, dict) else None
            if other is not DROPPED:
                honest(self, *(other or (message, sender)), place, turned_away)

        return add

    make.keeps = lambda session, message, sender, *_: not isinstance(message, dict) or edit(message, sender) is None
    return patch(contract.Session, "_add", make)


def rejects(condition, code="wrong-type"):
    """Rejects a message for which the condition holds."""

    def edit(message):
        if condition(message):
            raise contract.Rejection(code, "", "a fault of this reader")

    return on_message(edit)


def on_entry(edit):
    """Each entry of an envelope is another one, or DROPPED."""

    def make(honest):
        def read_entry(entry, place, session):
            other = edit(entry) if isinstance(entry, dict) else None
            if other is not DROPPED:
                honest(entry if other is None else other, place, session)

        return read_entry

    make.keeps = lambda entry, *_: not isinstance(entry, dict) or edit(entry) is None
    return patch(envelope, "_read_entry", make)


def on_exchange(edit):
    """Each exchange of a HAR is another one, or DROPPED."""

    def make(honest):
        def timed(entries):
            others = [(entry, edit(entry) if isinstance(entry, dict) else None) for entry in entries]
            return honest([entry if other is None else other for entry, other in others if other is not DROPPED])

        return timed

    make.keeps = lambda entries: not any(isinstance(entry, dict) and edit(entry) is not None for entry in entries)
    return patch(har, "_timed", make)


def on_item(edit):
    """Each item of an Inspector file is another list of items, or None where it stays."""

    def make(honest):
        def timed(items):
            edited = [(item, edit(item)) for item in items]
            return honest([other for item, new in edited for other in ([item] if new is None else new)])

        return timed

    make.keeps = lambda items: all(edit(item) is None for item in items)
    return patch(inspector, "_timed", make)


def on_exported(edit):
    """Each entry of an Inspector's export is another one."""

    def apply(item):
        exported = isinstance(item, dict) and "message" in item and "jsonrpc" not in item
        new = edit(item) if exported else None
        return None if new is None else [new]

    return on_item(apply)


def on_document(edit):
    """The one value of a file is another one, or None where it stays."""

    def make(honest):
        def document(file):
            whole = honest(file)
            other = edit(whole)
            return whole if other is None else other

        return document

    return Change(patches=tuple((module, "document", make) for module in (envelope, har, inspector)))


def on_lines(edit):
    """The values of a file of lines are others: a function of the list of (place, value)."""

    def make(honest):
        return lambda file: iter(edit(list(honest(file))))

    return Change(patches=tuple((module, "lines", make) for module in (jsonrpc, mcp_replay)))


def on_line(edit, only=LINES):
    """The value of each line is another one, or None where it stays, or DROPPED."""

    def edited(lines):
        for place, value in lines:
            other = edit(value)
            if other is not DROPPED:
                yield place, value if other is None else other

    return on_lines(edited).within(*only)


def on_trace_line(edit):
    return on_line(lambda line: edit(line) if isinstance(line, dict) else None, ("mcp-replay",))


def on_parse(wrap):
    """JSON is parsed otherwise: `wrap` makes a parser of the honest one."""
    return Change(patches=tuple((module, "parse", wrap) for module in (source, har, sse)))


def lenient(mend):
    """Text that is not JSON is parsed once more as another text."""

    def wrap(honest):
        def parse(text):
            try:
                return honest(text)
            except JsonError:
                mended = mend(text)
                if mended == text:
                    raise
                return honest(mended)

        return parse

    wrap.keeps = lambda text: mend(text) == text
    return on_parse(wrap)


def on_bytes(edit):
    return Change(edit=lambda _, data: edit(data))


def on_raw_lines(edit):
    """The raw lines of a file of lines: each becomes other bytes, or None where it stays."""

    def whole(data):
        lines = data.split(b"\n")
        others = [line if (new := edit(line)) is None else new for line in lines]
        return None if others == lines else b"\n".join(others)

    return on_bytes(whole).within(*LINES)


def on_text(edit):
    """The file's text where it is UTF-8: another one, or None."""

    def whole(data):
        try:
            other = edit(data.decode("utf-8"))
        except UnicodeDecodeError:
            return None
        return None if other is None else other.encode("utf-8", "surrogatepass")

    return on_bytes(whole)


# --- changes to the meaning ---------------------------------------------------------------------------------------


def on_events(edit):
    """The list of events is another one; None where it stays."""

    def meaning(events, discovery):
        other = edit(events)
        return None if other is None else (other, discovery)

    return Change(meaning=meaning)


def loses(condition):
    """Events for which the condition holds are missing: (events, index) → bool. Answers still point at their requests."""

    def edit(events):
        kept = [index for index in range(len(events)) if not condition(events, index)]
        return None if len(kept) == len(events) else arranged(events, kept)

    return on_events(edit)


def arranged(events, order):
    """The events with these indices, in this order; each answer points at its request, where that is among them."""
    place = {old: new for new, old in enumerate(order)}
    new = [dict(events[old]) for old in order]
    for event in new:
        if event.get("answers") is not None:
            event["answers"] = place.get(event["answers"])
    return new


def sorts(key):
    """Events in another order: key(events, index)."""
    return on_events(lambda events: arranged(events, sorted(range(len(events)), key=lambda index: key(events, index))))


def on_event(edit):
    """Each event is another one, or None where it stays."""
    return on_events(lambda events: [event if (new := edit(event)) is None else new for event in events])


def without(item, *names):
    return type(item)((name, value) for name, value in item.items() if name not in names) if isinstance(item, dict) else item


def on_values(names, edit):
    """The values of these members of events, and all values inside them: another one, or the same object where it stays."""
    return on_event(lambda event: event | {name: deep(event[name], edit) for name in names if name in event})


GONE = object()


def deep(value, edit):
    """The value with `edit` applied to it and to all values in it; GONE leaves a member or an item out. No recursion."""
    result = []
    todo = [(value, result.append)]
    later = []  # containers whose items are done when their turn comes, in reverse
    while todo:
        item, put = todo.pop()
        new = edit(item)
        if isinstance(new, (dict, list)):
            pairs = new.pairs if type(new) is TwiceNamed else list(new.items()) if isinstance(new, dict) else list(enumerate(new))
            slots = [[name, GONE] for name, _ in pairs]
            for slot, (_, inner) in zip(slots, pairs):
                todo.append((inner, lambda inner, slot=slot: slot.__setitem__(1, inner)))
            later.append((new, slots, put))
        else:
            put(new)
    for container, slots, put in reversed(later):
        kept = [(name, inner) for name, inner in slots if inner is not GONE]
        if isinstance(container, list):
            put([inner for _, inner in kept])
        else:
            put(TwiceNamed(kept) if type(container) is TwiceNamed else dict(kept))
    return result[0]


def strings(edit):
    return lambda value: edit(value) if type(value) is str else value


def numbers(edit):
    """Each number's text is another value; None where it stays."""
    return lambda value: value if type(value) is not Number or (new := edit(value.text)) is None else new


def member_of(owner, *path):
    """What stands at the path, or None."""
    for name in path:
        owner = owner.get(name) if isinstance(owner, dict) else None
    return owner


def put(owner, value, *path):
    """A copy of an object with another value at the path; nothing is made where the path ends early."""
    first, *rest = path
    if not isinstance(owner, dict) or (rest and not isinstance(owner.get(first), dict)):
        return owner
    return {**owner, first: put(owner[first], value, *rest) if rest else value}


def null_id(message):
    return "id" in message and message["id"] is None


def is_response(event):
    return event["kind"] in ("result", "error")


def is_answered(events, index):
    return any(event.get("answers") == index for event in events)


def text_of(value):
    return dump(value)


def all_formats():
    return formats.READERS
