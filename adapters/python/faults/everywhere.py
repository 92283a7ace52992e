"""What an importer does in one place and not in another: ids, values, statuses, dates, and how many of a thing it reads."""

import re
import unicodedata
from decimal import Context, Decimal
from urllib.parse import unquote

import discovery
from contract import _ASKERS, CLIENT, SERVER, Session
from faults.correlation import binds, close, open_requests
from faults.habits import members, method, named, replaced
from faults.limits import refuse
from faults.places import PLACES, there
from faults.seams import (
    DROPPED,
    loses,
    member_of,
    numbers,
    on_added,
    on_entry,
    on_event,
    on_exchange,
    on_exported,
    on_item,
    on_message,
    on_trace_line,
    patch,
    put,
    strings,
    without,
)
from faults.strategies import forgets_at, method_is
from faults.surroundings import names_at
from faults.values import tool
from formats import har, inspector
from jsontext import Number

# --- ids of one kind of message -----------------------------------------------------------------------------------

KINDS = {
    "errors": ("errors", lambda it, sender: "error" in it),
    "servers": ("what a server asks", lambda it, sender: "method" in it and sender == SERVER),
    "clients": ("what a client answers", lambda it, sender: "method" not in it and sender == CLIENT),
}

TEXTS = {
    "trimmed": ("trims the id", str.strip),
    "lowered": ("writes the id in lower case", str.lower),
    "composed": ("composes accents in the id (NFC)", lambda text: unicodedata.normalize("NFC", text)),
    "decomposed": ("decomposes accents in the id (NFD)", lambda text: unicodedata.normalize("NFD", text)),
    "compatible": ("writes plain letters in the id (NFKC)", lambda text: unicodedata.normalize("NFKC", text)),
    "without-zeros": ("drops zeros before the digits of the id", replaced(r"^0+(?=\d+$)")),
    "without-fraction": ("drops .0 behind the digits of the id", replaced(r"(?<=^\d)\.0$")),
    "percent-decoded": ("decodes percent codes in the id", unquote),
    "unquoted": ("drops quotes around the id", replaced('^"(.*)"$', r"\1")),
    "of-36": ("cuts the id to 36 characters", lambda text: text[:36]),
    "of-128": ("cuts the id to 128 characters", lambda text: text[:128]),
    "of-10000": ("cuts the id to 10,000 characters", lambda text: text[:10_000]),
    "up-to-nul": ("ends the id at a NUL", lambda text: text.partition("\0")[0]),
    "without-joiners": ("drops spaces of no width from the id", replaced("\u200b")),
    "of-the-basic-plane": ("puts a question mark for a character of the id beyond the basic plane",
        replaced("[\U00010000-\U0010ffff]", "?")),
    "empty-is-none": ("takes an empty id for none", lambda text: text or None),
    "null-is-none": ("takes the id `null` in text for none", lambda text: None if text == "null" else text),
}


def wrapped(bits, least):
    return lambda text: str((int(text) - least) % 2**bits + least) if re.fullmatch(r"-?\d+", text) else text


DIGITS = {
    "in-doubles": ("puts a number id through a double",
        lambda text: str(int(float(text))) if re.fullmatch(r"-?\d+", text) else text),
    "in-32-bits": ("keeps 32 bits of a number id", wrapped(32, -(2**31))),
    "in-64-bits": ("keeps 64 bits of a number id", wrapped(64, -(2**63))),
    "in-128-bits": ("keeps 128 bits of a number id", wrapped(128, -(2**127))),
    "without-a-sign": ("drops the sign of a number id", lambda text: text.lstrip("-")),
    "below-zero-none": ("takes a number id below zero for none", lambda text: None if text.startswith("-") else text),
}


def ids_of(holds, kind, edit):
    """The ids of one type are others, in messages for which it holds."""

    def apply(message, sender):
        id_ = message.get("id")
        if type(id_) is not kind or not holds(message, sender):
            return None
        old = id_.text if kind is Number else id_
        new = edit(old)
        return None if new == old else ({**message, "id": Number(new) if kind is Number and new is not None else new}, sender)

    return on_added(apply)


def ids(table, kind):
    return {
        f"id-{name}-of-{place}": (f"{does}, only of {where}", ids_of(holds, kind, edit))
        for place, (where, holds) in KINDS.items()
        for name, (does, edit) in table.items()
    }


def also_binds(alike):
    """Binds an answer without a request to one whose id is alike: alike(id of the request, id of the answer)."""

    def find(session, id_, sender, honest):
        found = honest(session, id_, sender)
        if found is not None:
            return found
        near = (index for index in open_requests(session, senders=_ASKERS[sender]) if alike(session.events[index]["id"], id_))
        index = next(near, None)
        return None if index is None else close(session, index)

    return binds(find)


NEAR = {
    "zero-is-empty": ("takes 0 and the empty text for one id, as PHP does", lambda one, other: {one, other} == {"", "0"}),
    "dashes": ("takes ids for one that differ in dashes", lambda one, other: one.replace("-", "") == other.replace("-", "")),
    "codes": ("takes ids for one that differ in percent codes", lambda one, other: unquote(one) == unquote(other)),
    "letters": ("takes ids for one that differ in ligatures (NFKC)",
        lambda one, other: unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other)),
}


def null_is_empty(honest):
    def answering(self, message, sender, place):
        is_null = message.get("id", "") is None and any(id_ == "" for _, id_ in self._unanswered)
        return honest(self, {**message, "id": ""} if is_null else message, sender, place)

    return answering


# --- values -------------------------------------------------------------------------------------------------------


def digits(most):
    def apply(text):
        exact = Decimal(text)
        kept = Context(prec=most, Emin=-999999, Emax=999999).plus(exact)
        return None if kept == exact else Number(str(kept))

    return numbers(apply)


LOST = ("prototype", "__typename", "then", "self", "this", "timestamp", "status", "params", "method", "key", "title", "class")
EDITS = {
    "34-digits": ("keeps 34 digits of numbers", digits(34)),
    "38-digits": ("keeps 38 digits of numbers", digits(38)),
    "strings-of-10000": ("cuts strings to 10,000 characters", strings(lambda text: text[:10_000])),
    "nuls-dropped": ("drops NULs", strings(lambda text: text.replace("\0", ""))),
    "tabs-of-lines-dropped": ("drops vertical tabs", strings(lambda text: text.replace("\v", ""))),
    "feeds-dropped": ("drops form feeds", strings(lambda text: text.replace("\f", ""))),
    "directions-dropped": ("drops U+200E and U+200F", strings(replaced("[\u200e\u200f]"))),
    "isolates-dropped": ("drops U+2066 to U+2069", strings(replaced("[\u2066-\u2069]"))),
    **{f"{lost}-lost": (f"drops members called {lost}", members(lambda name, value, lost=lost: name == lost)) for lost in LOST},
}


def in_places(clause):
    return {
        f"{fault}-in-{place}": (f"{does}, in {where}", there(edit, name, condition))
        for place, (of, where, name, condition) in PLACES.items()
        if of == clause
        for fault, (does, edit) in EDITS.items()
    }


def error_member(name, edit):
    def apply(event):
        error = event.get("error")
        new = edit(error[name]) if isinstance(error, dict) and name in error else None
        return None if new is None else event | {"error": {**error, name: new}}

    return on_event(apply)


# --- statuses -----------------------------------------------------------------------------------------------------

STATUSES = {
    "early": (101, 102), "204": (204,), "reset": (205,), "several": (207, 208, 226), "redirects": (301, 302, 303, 307, 308),
    "proxies": (305, 306), "402": (402,), "406": (406,), "408": (408,), "410-to-417": tuple(range(410, 418)), "421": (421,),
    "423-to-428": tuple(range(423, 429)), "431": (431,), "444-to-499": tuple(range(440, 500)), "502": (502,), "504": (504,),
    "505-to-511": tuple(range(505, 512)), "521-to-530": tuple(range(521, 531)), "599": (599,), "beyond": (600, 700, 999), "below": (-1,),
}  # fmt: skip
SERVED = (204, 305, 405, 410, 421, 425, 504, 511)


def is_under(statuses, value):
    return any(value == Number(str(status)) for status in statuses)


def unread(statuses):
    return on_exchange(
        lambda it: put(it, {}, "response", "content") if is_under(statuses, member_of(it, "response", "status")) else None
    )


def dropped(statuses):
    return on_entry(
        lambda it: DROPPED if is_under(statuses, member_of(it, "transport_context", "status")) and it.get("response") else None
    )


def also_turns_away(status):
    return patch(har, "_TURNED_AWAY", lambda known: [*known, Number(str(status))])


# --- how many -----------------------------------------------------------------------------------------------------

COUNTS = (100, 128, 256, 500, 1000, 1024)


def first(most):
    return lambda honest: lambda items: honest(items[:most])


def first_blocks(most):
    return lambda honest: lambda text: (block for _, block in zip(range(most), honest(text)))


def unsorted(most):
    def make(honest):
        def in_order(timed):
            timed = list(timed)
            return honest(timed) if len(timed) <= most else [item for _, item in timed]

        return in_order

    return make


# --- dates --------------------------------------------------------------------------------------------------------

ZONES = ("+23:59", "-23:59", "+12:45", "+05:45", "-03:30", "+14:00", "-12:00", "+00:01", "-00:00", "+00:00")
LENGTHS = (5, 7, 8, 12, 18, 19, 20, 24, 30, 40)
DAY = r"(\d{4}-\d\d-\d\d)"

# name → what it is, what it looks like, and the date of RFC 3339 that it is taken for.
FORMS = {
    "in-brackets": ("with a zone in brackets", DAY + r"T([\d:]+)Z\[UTC\]", r"\1T\2Z"),
    "of-hours": ("of only hours", DAY + r"T(\d\d)Z", r"\1T\2:00:00Z"),
    "without-seconds": ("without seconds", DAY + r"T(\d\d:\d\d)Z", r"\1T\2:00Z"),
    "in-a-zone-of-25-hours": ("in a zone of 25 hours", r"2026-09-01T10(.*)\+25:00", r"2026-08-31T09\1Z"),
    "with-commas": ("with a comma", DAY + r"T([\d:]+),(\d+)Z", r"\1T\2.\3Z"),
    "without-colons": ("in a zone without a colon", DAY + r"T([\d:]+)([+-]\d\d)(\d\d)", r"\1T\2\3:\4"),
    "of-days": ("of only a day", DAY, r"\1T00:00:00Z"),
    "amid-spaces": ("between spaces", r"\s+(\S+)\s+", r"\1"),
    "of-http": ("in HTTP's form", r"\w{3}, (\d\d) Sep (\d{4}) (\S+) GMT", r"\2-09-\1T\3Z"),
    "on-30-february": ("on 30 February", r"(\d{4})-02-30T(.*)", r"\1-03-02T\2"),
}  # fmt: skip


def taken_for(pattern, date):
    form = re.compile(pattern, re.ASCII)

    def make(honest):
        return lambda value, place: honest(form.sub(date, value) if type(value) is str and form.fullmatch(value) else value, place)

    return patch(har, "milliseconds", make)


def on_start(pattern, edit):
    """A start of this form is what `edit` makes of it."""
    form = re.compile(pattern, re.ASCII)

    def make(honest):
        return lambda value, place: edit(value) if type(value) is str and form.fullmatch(value) else honest(value, place)

    return patch(har, "milliseconds", make)


def refuses(name, pattern):
    form = re.compile(pattern)
    return lambda it: refuse() if type(it.get(name)) is str and form.search(it[name]) else None


def dates(on, name, where):
    zones = {
        f"zone-{zone}-of-{where}": (f"rejects the zone {zone}, in `{name}`", on(refuses(name, re.escape(zone) + "$")))
        for zone in ZONES
    }
    lengths = {
        f"fractions-of-{most}-of-{where}": (
            f"rejects a fraction of {most} digits, in `{name}`", on(refuses(name, rf"\.\d{{{most}}}(?!\d)")),
        )
        for most in LENGTHS
    }  # fmt: skip
    return zones | lengths


def ties(key):
    return lambda honest: lambda entries: iter(sorted(honest(entries), key=lambda timed: (timed[0], key(timed[1][2]))))


def is_stream(exchange):
    return member_of(exchange, "response", "content", "mimeType") == "text/event-stream"


# --- methods ------------------------------------------------------------------------------------------------------

RARE = ("tasks/list", "tasks/result", "tasks/cancel", "notifications/tasks/status", "notifications/subscriptions/acknowledged")
CLOSING = ("notifications/resources/updated",)
CODES = ("-32002", "-32042", "-32801", "401", "404", "500")


def dies_of_a_handshake(honest):
    def answering(self, message, sender, place):
        waiting = set(self._handshakes)
        event = honest(self, message, sender, place)
        if event["answers"] in waiting and event["kind"] == "result" and not isinstance(event["result"], dict):
            raise AttributeError("the result of initialize is not an object")
        return event

    return answering


def agrees_on(condition):
    def make(honest):
        def answering(self, message, sender, place):
            waiting = set(self._handshakes)
            event = honest(self, message, sender, place)
            if event["answers"] in waiting and condition(member_of(message, "result", "protocolVersion")):
                self._revision = "2025-03-26"
            return event

        return answering

    return patch(Session, "_answering", make)


# --- types that a model does not foresee --------------------------------------------------------------------------

TYPES = {
    "null": ("null", lambda value: value is None),
    "text": ("a text", lambda value: type(value) is str),
    "number": ("a number", lambda value: type(value) is Number),
    "true": ("true", lambda value: value is True),
    "array": ("an array", lambda value: type(value) is list),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


def dies(on, kinds, path, where):
    """For each type: dies of a member that is of it."""

    def of(is_one):
        def apply(it):
            owner = member_of(it, *path[:-1])
            if isinstance(owner, dict) and path[-1] in owner and is_one(owner[path[-1]]) and where(it):
                raise TypeError(f"{path[-1]} is of another type")

        return on(apply)

    return {
        f"dies-of-{kind}-{'-'.join(path)}": (f"dies of `{'.'.join(path)}` that is {TYPES[kind][0]}", of(TYPES[kind][1]))
        for kind in kinds
    }


def of_messages(line):
    return "dir" in line


# Members, and the types of each that no other case shows.
MEMBERS = {
    clause: {
        f"{name}-of-{of}": row
        for kinds, paths in table.items()
        for path in paths.split()
        for name, row in dies(on, kinds.split(), path.split("."), where).items()
    }
    for clause, of, on, where, table in (
        ("EQ-OUTCOME", "answers", on_message, bool, {
            "null text number true object": "result.tools result.prompts result.resources",
            "number true": "result.content",
            "null text number true array": "result.structuredContent result._meta result.capabilities result.serverInfo",
            "array object": "result.isError",
            "null number true array object": "result.protocolVersion",
            "true array object": "error.code",
            "number true array": "error.message",
            "true": "error.data",
        }),
        ("EQ-ARGS", "params", on_message, bool, {
            "null text number true array": "params._meta",
            "true array object": "params.requestId params.progressToken",
            "null true array object": "params._meta.progressToken",
        }),
        ("HAR-MESSAGE", "exchanges", on_exchange, bool, {
            "text true array object": "time",
            "null text number true array": "cache timings _initiator",
            "null number true array object": "pageref connection serverIPAddress comment request.url request.httpVersion response.statusText response.redirectURL",
            "null number true object": "_events",
            "null text number true object": "request.queryString request.cookies",
            "null text true array object": "request.bodySize response.content.size response.headersSize",
        }),
        ("EQ-CONTEXT", "entries", on_entry, bool, {
            "true array object": "timestamp_ms transport_context.status sse.id",
            "text number true array": "transport_context",
            "text number true": "transport_context.headers",
            "null number true array object": "transport_context.url",
            "null true array object": "sse.retry",
        }),
        ("INS-EXPORT", "items", on_exported, bool, {
            "null true array object": "timestamp id",
            "true array object": "origin",
            "null text number true array object": "type method",
            "null number true array object": "direction status",
            "null text number true array": "error",
        }),
        ("RPL-UNKNOWN", "lines", on_trace_line, of_messages, {
            "true array": "kind",
            "null text true array object": "seq exitCode",
            "null number true array object": "session",
            "null true array object": "id",
            "null number array object": "label",
            "null text true array": "command",
        }),
    )
}  # fmt: skip

FAULTS = {
    "ID-STRING": ids(TEXTS, str)
    | {f"id-near-by-{name}": (does, also_binds(alike)) for name, (does, alike) in NEAR.items()},
    "ID-NULL": {
        "null-answers-empty": ("lets an answer with a null id answer a request with an empty one",
            patch(Session, "_answering", null_is_empty)),
    },
    "ID-NUMBER": ids(DIGITS, Number),
    "EQ-COUNT": {
        f"{name.replace('/', '-')}-lost": (f"drops `{name}`", loses(lambda events, at, name=name: events[at].get("method") == name))
        for name in RARE
    },
    "EQ-BATCH": {
        "dies-of-a-handshake": ("dies of an answer to `initialize` that is not an object", patch(Session, "_answering", dies_of_a_handshake)),
        "versions-in-lists": ("takes an agreed version in a list for it",
            agrees_on(lambda version: type(version) is list and version[:1] == ["2025-03-26"])),
        "versions-of-drafts": ("takes the version of a draft of 2025 for the revision with batches",
            agrees_on(lambda version: type(version) is str and version.startswith("DRAFT-2025"))),
    },
    "COR-FIRST": {
        f"closed-at-{name.replace('/', '-')}": (f"forgets at `{name}` what waits", forgets_at(method_is(name))) for name in CLOSING
    },
    "COR-DUPLICATE": {
        f"comes-again-under-{status}": (f"lets a call under {status} come again", also_turns_away(status)) for status in SERVED
    },
    "EQ-CONTEXT": MEMBERS["EQ-CONTEXT"]
    | {
        f"entries-under-{name}-dropped": (f"drops an answer of an envelope under {', '.join(map(str, statuses))}", dropped(statuses))
        for name, statuses in STATUSES.items()
        if name not in ("204", "redirects")
    },
    "HAR-MESSAGE": MEMBERS["HAR-MESSAGE"]
    | {
        f"json-under-{name}-unread": (f"reads no answer in HAR under {', '.join(map(str, statuses))}", unread(statuses))
        for name, statuses in STATUSES.items()
    }
    | {f"first-{most}-exchanges": (f"reads the first {most} exchanges", patch(har, "_timed", first(most))) for most in COUNTS}
    | {
        "coded-posts-lost": ("reads no POST with a Content-Encoding",
            on_exchange(lambda it: put(it, {}, "request", "postData") if names_at(it, "request", "content-encoding") else None)),
        "values-of-headers-die": ("dies of a header whose value is not text",
            on_exchange(lambda it: [header["value"].strip() for header in member_of(it, "response", "headers") or ()
                if isinstance(header, dict) and "value" in header] and None)),
        "headers-of-requests-unchecked": ("takes headers of a request that are an object for none",
            on_exchange(lambda it: put(it, [], "request", "headers") if isinstance(member_of(it, "request", "headers"), dict) else None)),
    },
    "HAR-STREAM": {
        "streams-to-json-alone-lost": ("reads no stream where the request accepts only JSON",
            on_exchange(lambda it: put(it, {}, "response", "content") if is_stream(it) and names_at(it, "request", "accept") == ["application/json"] else None)),
        "letters-beyond-ascii-die": ("dies of base64 with a letter beyond ASCII",
            on_exchange(lambda it: it["response"]["content"]["text"].encode("ascii") and None
                if member_of(it, "response", "content", "encoding") == "base64" else None)),
    }
    | {f"first-{most}-of-a-stream": (f"reads the first {most} events of a stream", patch(har, "blocks", first_blocks(most)))
        for most in COUNTS},
    "HAR-ORDER": dates(on_exchange, "startedDateTime", "starts")
    | {f"starts-{name}": (f"reads a start {what} as a moment", taken_for(form, date)) for name, (what, form, date) in FORMS.items()}
    | {
        "startless-first-dies": ("dies of a first exchange without a start",
            patch(har, "_timed", lambda honest: lambda entries: honest(entries)
                if not isinstance(entries[0] if entries else None, dict) or "startedDateTime" in entries[0]
                else iter(entries[0]["startedDateTime"]))),
        "ties-by-address": ("puts exchanges that start together in the order of their addresses",
            patch(har, "_timed", ties(lambda it: str(member_of(it, "request", "url"))))),
        "ties-by-connection": ("puts exchanges that start together in the order of their connections",
            patch(har, "_timed", ties(lambda it: str(it.get("connection"))))),
        "starts-of-digits": ("reads a start that is digits in text as milliseconds", on_start(r"\d+", Decimal)),
        "leap-seconds-die": ("dies of a leap second", on_start(r".*:60(\.\d+)?Z", int)),
        "years-below-1-last": ("takes the year 0 for the year 400",
            on_exchange(lambda it: {**it, "startedDateTime": "0400" + it["startedDateTime"][4:]}
                if type(it.get("startedDateTime")) is str and it["startedDateTime"].startswith("0000-") else None)),
        "undated-events-timed": ("reads `_events` of an exchange without a start",
            patch(har, "_timed", lambda honest: lambda entries: (
                (now, (started, True, entry, place)) for now, (started, _, entry, place) in honest(entries)))),
    },
    "INS-SHAPE": {f"first-{most}-items": (f"reads the first {most} items", patch(inspector, "_timed", first(most))) for most in COUNTS[2:]},
    "INS-EXPORT": MEMBERS["INS-EXPORT"]
    | dates(on_exported, "timestamp", "times")
    | {
        "times-with-commas-die": ("dies of a time with a comma",
            on_exported(lambda it: int(it["timestamp"]) and None if "," in str(it.get("timestamp")) else None)),
        "unsorted-above-100": ("leaves an export of more than 100 messages in file order",
            patch(inspector, "in_order_of_time", unsorted(100))),
        "items-of-other-types-dropped": ("drops an item whose type is neither request nor notification",
            on_item(lambda it: [] if isinstance(it, dict) and it.get("type", "request") not in ("request", "notification") else None)),
        "folded-requests-dropped": ("drops a `response` that is a request",
            on_exported(lambda it: without(it, "response") if member_of(it, "response", "method") is not None else None)),
    },
    "K2A-SUMMARY": {
        "parameters-by-words": ("takes the word before an equals sign for the name of a parameter",
            patch(discovery, "parameter_names", lambda honest: lambda header: honest(header) | set(
                re.findall(r"(\w+)[ \t]*=", re.sub(r'"(?:[^"\\]|\\.)*"', '""', header.lower()))))),
    },
    "RPL-UNKNOWN": MEMBERS["RPL-UNKNOWN"]
    | {
        "kind-end-ends": ("takes a line of the kind end for the end",
            on_trace_line(lambda it: {**it, "type": "end"} if it.get("kind") == "end" else None)),
    },
    "EQ-TOOL": {
        f"tool-of-{most}": (f"cuts the name of a tool to {most:,} characters", tool(lambda name, most=most: name[:most]))
        for most in (4096, 10_000)
    },
    "JRP-SHAPE": {
        f"methods-of-{most}": (f"cuts a method to {most:,} characters", method(lambda name, most=most: name[:most]))
        for most in (1000, 4096, 10_000)
    }
    | {
        "methods-of-the-basic-plane": ("puts a question mark for a character of a method beyond the basic plane",
            method(replaced("[\U00010000-\U0010ffff]", "?"))),
        "methods-without-joiners": ("drops spaces of no width from a method", method(replaced("[\u200b\ufeff]"))),
        "methods-of-plain-spaces": ("writes a space for a no-break space in a method", method(replaced("\u00a0", " "))),
        "methods-without-controls": ("drops control characters from a method", method(replaced("[\x01-\x1f\x7f]"))),
        "methods-of-one-slash": ("writes one slash for two in a method", method(replaced("//", "/"))),
    },
    "EQ-ARGS": in_places("EQ-ARGS") | MEMBERS["EQ-ARGS"],
    "EQ-OUTCOME": in_places("EQ-OUTCOME")
    | {
        "error-messages-of-10000": ("cuts an error's message to 10,000 characters",
            error_member("message", lambda text: text[:10_000] if type(text) is str else None)),
        "error-codes-in-doubles": ("puts the code of an error through a double",
            error_member("code", lambda code: Number(str(int(float(code.text)))) if type(code) is Number and code.text.isdigit() else None)),
        "true-errors-emptied": ("writes {} for an error that is true",
            on_event(lambda event: event | {"error": {}} if event.get("error") is True else None)),
    }
    | MEMBERS["EQ-OUTCOME"]
    | {
        f"errors-of-{code}-lost": (f"drops errors with the code {code}",
            loses(lambda events, at, code=code: member_of(events[at], "error", "code") == Number(code)))
        for code in CODES
    },
}
