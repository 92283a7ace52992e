"""How far importers look: what they compare, count, keep and decode only so far, or a little further than they may."""

import re

import contract
from contract import CLIENT, SERVER, Rejection, Session
from faults.archives import CONTENT, body_lost
from faults.habits import cleaned, members, named, replaced
from faults.har import stream
from faults.libraries import changed
from faults.seams import (
    DROPPED,
    lenient,
    member_of,
    numbers,
    on_bytes,
    on_exchange,
    on_exported,
    on_item,
    on_message,
    patch,
    put,
    strings,
    without,
)
from faults.shortcuts import exchanges_lost, has_status
from faults.values import ARGUMENTS, OUTCOME
from formats import har
from jsontext import Number


# Which of the first bytes are zeros.
LOW_FIRST, HIGH_FIRST = [False, True, False, True], [True, False, True, False]


def compared(edit):
    """Ids are one id where `edit` makes the same text of them."""
    return patch(Session, "_key", lambda honest: lambda self, message, id_: honest(self, message, id_ and edit(id_)))


def calls_compared(edit):
    """Calls have the same id where `edit` makes the same text of them."""

    def make(honest):
        def is_taken(self, id_, key):
            return honest(self, id_, key) or any(edit(id_) == edit(other) for other in self._tool_call_ids)

        return is_taken

    return patch(Session, "_is_taken", make)


def among_last(count):
    """A call that comes again is found only among the last calls."""

    def make(honest):
        def is_taken(self, id_, key):
            calls = [event.get("id") for event in self.events if event["kind"] == "tool_call"]
            return honest(self, id_, key) and id_ in calls[-count:]

        return is_taken

    return patch(Session, "_is_taken", make)


def batches_are_served(honest):
    def add(self, value, sender, place, turned_away=False):
        return honest(self, value, sender, place, turned_away and type(value) is not list)

    return add


def last_header(honest):
    def named(self, version):
        if version in contract._REVISIONS:
            self._revision = version

    return named


def only_answers(item):
    if isinstance(item.get("response"), list):
        return without(item, "response")


def refused_empty(honest):
    def add(text, sound, sender, place, session, turned_away=False):
        if text.strip() == "[]":
            raise Rejection("batch", place, "an empty batch")
        return honest(text, sound, sender, place, session, turned_away)

    return add


def without_mark(encoding, zeros):
    """Takes a file for one in this encoding where its first bytes have these zeros, as `json.loads` does with bytes."""

    def edit(data):
        if len(data) > 3 and [byte == 0 for byte in data[: len(zeros)]] == zeros:
            return data.decode(encoding, "replace").encode()

    return on_bytes(edit)


def with_mark(encoding, mark):
    return on_bytes(lambda data: data.decode(encoding, "replace").encode() if data.startswith(mark) else None)


def in_strings(pattern, new):
    """JSON that does not parse is tried again with other text."""
    return lenient(lambda text: re.sub(pattern, new, text))


def is_unknown(item):
    return type(item.get("origin")) is str and item["origin"] not in (CLIENT, SERVER)


def origin(edit):
    return on_exported(lambda item: {**item, "origin": edit(item["origin"])} if is_unknown(item) else None)


def under(*statuses):
    return lambda exchange: has_status(exchange, ("response", "status"), [str(status) for status in statuses])


def post_lost(condition):
    return on_exchange(lambda exchange: put(exchange, "", "request", "postData", "text") if condition(exchange) else None)


def cut_bodies(size):
    def edit(exchange):
        new = exchange
        for path in (("request", "postData", "text"), (*CONTENT, "text")):
            text = member_of(exchange, *path)
            new = put(new, text[:size], *path) if type(text) is str and len(text) > size else new
        return None if new is exchange else new

    return on_exchange(edit)


def zone(condition):
    """Rejects a start whose zone is so far away: condition(sign, hours)."""

    def edit(time):
        found = type(time) is str and re.search(r"([+-])(\d\d):?\d\d$", time)
        if found and condition(found[1], int(found[2])):
            raise Rejection("wrong-type", "", "no zone")

    return edit


def year(condition, text=None):
    def edit(time):
        if type(time) is str and re.match(r"\d{4}-", time) and condition(int(time[:4])):
            if text is None:
                raise Rejection("wrong-type", "", "a year far away")
            return text + time[len(text) :]

    return edit


def fraction(edit):
    return lambda time: re.sub(r"(?<=\.)\d+", lambda found: edit(found[0]), time) if type(time) is str else None


def whole_times(pattern):
    """Reads no time of an event that is spelled so."""

    def edit(exchange):
        listed = exchange.get("_events")
        if type(listed) is not list:
            return None
        return {**exchange, "_events": [without(item, "time") if is_spelled(item, pattern) else item for item in listed]}

    return on_exchange(edit)


def is_spelled(item, pattern):
    time = member_of(item, "time")
    return type(time) is Number and re.search(pattern, time.text) is not None


def rounded(took):
    return Number(str(round(float(took.text)))) if type(took) is Number and abs(float(took.text)) < 1e9 else None


def duration(condition):
    return changed("duration", lambda took: Number("0") if type(took) is Number and condition(float(took.text)) else None)


def wrapped(text):
    return Number(str((int(text) + 2**63) % 2**64 - 2**63)) if re.fullmatch(r"-?\d{19,25}", text) else None


YAML = {"yes": True, "no": False, "on": True, "off": False, "Yes": True, "No": False, "y": True, "n": False}

DECODED = {
    "wrapped-in-64-bits": ("wraps whole numbers in 64 bits", numbers(wrapped)),
    "booleans-of-yaml": ("reads the strings yes, no, on and off as booleans, as YAML does",
        strings(lambda text: YAML.get(text, text))),
    "percents-decoded": ("decodes %20 and %41", strings(replaced("%41", "A"))),
    "pointers-decoded": ("decodes ~1 and ~0 as JSON pointers have them", strings(replaced("~1", "/"))),
    "names-of-pointers-decoded": ("decodes ~1 in names as JSON pointers have it", named(replaced("~1", "/"))),
    "names-percent-decoded": ("decodes %20 in names", named(replaced("%20", " "))),
    "bigints-of-javascript": ("reads a string such as 12n as a number",
        strings(lambda text: Number(text[:-1]) if re.fullmatch(r"\d+n", text) else text)),
    "hexadecimals-read": ("reads a string such as 0x1F as a number",
        strings(lambda text: Number(str(int(text, 16))) if re.fullmatch("0x[0-9a-fA-F]+", text) else text)),
    "infinities-read": ("reads the strings NaN and Infinity as null",
        lambda value: None if type(value) is str and value in ("NaN", "Infinity", "-Infinity", ".inf", ".nan") else value),
    "units-read": ("reads a string such as 10k as a number",
        strings(lambda text: Number(text[:-1] + "000") if re.fullmatch(r"\d+k", text) else text)),
    "dates-at-noon": ("drops midnight from a time", strings(replaced(r"(?<=^\d{4}-\d\d-\d\d)T00:00:00Z$"))),
    "durations-read": ("reads a string such as PT1H as seconds", strings(lambda text: Number("3600") if text == "PT1H" else text)),
    "empties-of-html": ("drops <br>", strings(replaced("<br>", "\n"))),
    "names-of-length-lost": ("drops members called length, size or constructor",
        members(lambda name, value: name in ("length", "size", "constructor"))),
    "comments-in-names-dropped": ("drops members called _comment or //", members(lambda name, value: name in ("_comment", "//"))),
}

STARTS = {
    "zones-up-to-14": ("rejects a zone of more than 14 hours", zone(lambda sign, hours: hours > 14)),
    "zones-up-to-15": ("rejects a zone of more than 15 hours", zone(lambda sign, hours: hours > 15)),
    "west-up-to-12": ("rejects a zone of more than 12 hours to the west", zone(lambda sign, hours: sign == "-" and hours > 12)),
    "since-1970": ("takes years before 1970 for 1970", year(lambda year: year < 1970, "1970")),
    "since-1900": ("rejects years before 1900", year(lambda year: year < 1900)),
    "since-1677": ("rejects years before 1677, which nanoseconds in 64 bits do not reach", year(lambda year: year < 1678)),
    "until-2262": ("rejects years behind 2262, which nanoseconds in 64 bits do not reach", year(lambda year: year > 2262)),
    "until-2106": ("takes years behind 2106 for 2106", year(lambda year: year > 2106, "2106")),
    "until-9998": ("rejects the year 9999", year(lambda year: year == 9999)),
    "two-digits-of-years": ("reads two digits of a year", year(lambda year: True, "20")),
    "thousandths": ("reads three digits of a fraction", fraction(lambda digits: digits[:3])),
    "millionths": ("reads six digits of a fraction", fraction(lambda digits: digits[:6])),
    "nine-digits": ("rejects a fraction of more than nine digits", fraction(lambda digits: digits if len(digits) < 10 else "x")),
}


def dated(name):
    return {f"{fault}-of-{name[:5]}": (f"{does}, in `{name}`", changed(name, edit)) for fault, (does, edit) in STARTS.items()}


FAULTS = {
    "ID-STRING": {
        "id-compared-without-case": ("compares ids without case", compared(str.lower)),
        "id-compared-trimmed": ("compares ids without the spaces around them", compared(str.strip)),
        "id-compared-spaces": ("compares ids after several spaces became one", compared(lambda id_: re.sub(" +", " ", id_))),
        "id-compared-255": ("compares the first 255 characters of ids", compared(lambda id_: id_[:255])),
        "id-compared-4096": ("compares the first 4,096 characters of ids", compared(lambda id_: id_[:4096])),
        "id-compared-ends": ("compares the last 64 characters of ids", compared(lambda id_: id_[-64:])),
        "id-compared-punctuation": ("compares ids after - became _", compared(lambda id_: id_.replace("-", "_"))),
        "id-compared-letters": ("compares letters and digits of ids", compared(lambda id_: re.sub(r"[^\w]", "", id_) or id_)),
    },
    "ID-NUMBER": {
        "id-compared-400-digits": ("compares the first 400 digits of ids",
            compared(lambda id_: id_[:400] if id_.isdigit() else id_)),
    },
    "COR-DUPLICATE": {
        "duplicates-without-case": ("takes two calls whose ids differ in case for one id", calls_compared(str.lower)),
        "duplicates-trimmed": ("takes two calls whose ids differ in spaces around them for one id", calls_compared(str.strip)),
        "duplicates-among-100": ("looks for a duplicate among the last 100 calls", among_last(100)),
        "duplicates-among-1000": ("looks for a duplicate among the last 1,000 calls", among_last(1000)),
        "batches-are-served": ("does not take the calls of a batch for turned away", patch(Session, "add", batches_are_served)),
    },
    "EQ-BATCH": {
        "batch-header-of-the-last": ("takes the revision that the last header names", patch(Session, "named", last_header)),
        "batch-responses-lost": ("passes over an array in `response`", on_exported(only_answers)),
    },
    "INS-EXPORT": {
        "origins-in-any-case": ("reads `origin` in any case", origin(str.lower)),
        "origins-elsewise-servers": ("takes an unknown origin for the server",
            origin(lambda _: SERVER)),
        "origins-elsewise-clients": ("takes an unknown origin for the client",
            origin(lambda _: CLIENT)),
        "origins-wanted": ("drops an item of an unknown origin",
            on_item(lambda item: [] if isinstance(item, dict) and is_unknown(item) else None)),
        "durations-of-32-bits": ("reads no duration beyond 32 bits", duration(lambda took: took > 2**31)),
        "durations-of-an-hour": ("reads no duration of more than an hour", duration(lambda took: took > 3_600_000)),
        "durations-rounded": ("rounds durations", changed("duration", rounded)),
        **dated("timestamp"),
    },
    "HAR-ORDER": {
        "events-exponent-lost": ("reads no time of an event with an exponent", whole_times("[eE]")),
        "events-fraction-lost": ("reads no time of an event with a fraction", whole_times(r"\.")),
        "events-beyond-32-bits-lost": ("reads no time of an event beyond 32 bits", whole_times(r"^\d{10,}")),
        **dated("startedDateTime"),
    },
    "HAR-MESSAGE": {
        "rare-statuses-dropped": ("drops exchanges under 418, 422, 451 and 501", exchanges_lost(under(418, 422, 451, 501))),
        "rare-statuses-unread": ("reads no answer under 418, 422, 451 and 501", body_lost(under(418, 422, 451, 501))),
        "cloud-statuses-unread": ("reads no answer under 520 to 599", body_lost(under(*range(520, 600)))),
        "posts-of-size-zero": ("reads no POST whose bodySize is 0",
            post_lost(lambda it: member_of(it, "request", "bodySize") == Number("0"))),
        "contents-of-size-zero": ("reads no content whose size is 0",
            body_lost(lambda it: member_of(it, *CONTENT, "size") == Number("0"))),
        "contents-of-body-size-zero": ("reads no content of a response whose bodySize is 0",
            body_lost(lambda it: member_of(it, "response", "bodySize") == Number("0"))),
        "null-params-preferred": ("reads no POST that has `params` beside its text",
            post_lost(lambda it: "params" in (member_of(it, "request", "postData") or {}))),
        "bodies-of-65536": ("reads 65,536 characters of a body", cut_bodies(65536)),
        "bodies-of-100000": ("reads 100,000 characters of a body", cut_bodies(100_000)),
        "empty-arrays-refused": ("rejects an empty array in a body", patch(har, "_add_json", refused_empty)),
        "caches-dropped": ("drops exchanges that say that they came from a cache",
            exchanges_lost(lambda it: it.get("_fromCache"))),
        "errors-dropped": ("drops exchanges with an `_error`", exchanges_lost(lambda it: member_of(it, "response", "_error"))),
        "comments-dropped": ("drops exchanges with a comment", exchanges_lost(lambda it: it.get("comment"))),
        "pages-wanted": ("drops exchanges of a page that is not listed", exchanges_lost(lambda it: it.get("pageref"))),
        "documents-dropped": ("drops exchanges of the resource type document",
            exchanges_lost(lambda it: it.get("_resourceType") == "document")),
        "http-3-dropped": ("drops exchanges over HTTP/3",
            exchanges_lost(lambda it: member_of(it, "request", "httpVersion") in ("h3", "HTTP/3"))),
    },
    "HAR-STREAM": {
        "lines-up-to-10": ("reads the first ten data lines of an event", stream(lambda text: first_lines(text, 10))),
        "lines-up-to-100": ("reads the first 100 data lines of an event", stream(lambda text: first_lines(text, 100))),
        "empty-ids-end": ("drops an event whose id is empty", stream(lambda text: re.sub(r"(?m)^id:? ?\n(data:.*\n)+", "", text))),
        "ids-of-events-are-ids": ("drops an event whose id came before", stream(lambda text: once(text))),
        "no-space-no-data": ("reads no data without a space behind the colon",
            stream(lambda text: re.sub(r"(?m)^data:(?! ).*\n", "", text))),
    },
    "SRV-BYTES": {
        "utf-16-le-unmarked": ("reads UTF-16 without a mark, the low byte first", without_mark("utf-16-le", LOW_FIRST)),
        "utf-16-be-unmarked": ("reads UTF-16 without a mark, the high byte first", without_mark("utf-16-be", HIGH_FIRST)),
        "utf-32-le-unmarked": ("reads UTF-32 without a mark", without_mark("utf-32-le", [False, True, True, True])),
        "utf-32-marked": ("reads UTF-32 where a file begins with its mark", with_mark("utf-32", b"\xff\xfe\0\0")),
        "utf-16-be-marked": ("reads UTF-16 with its mark, the high byte first", with_mark("utf-16", b"\xfe\xff")),
        "tabs-in-strings": ("takes a tab in a string", lenient(lambda text: text.replace("\t", "\\t"))),
        "line-ends-in-strings": ("takes a line end in a string", lenient(lambda text: re.sub(r"(?<=[a-z])\n(?=[a-z])", r"\\n", text))),
        "controls-in-strings": ("takes a control character in a string",
            lenient(lambda text: re.sub("[\x01-\x08\x0b\x0c\x0e-\x1f]", " ", text))),
        "escapes-of-quotes": (r"takes \' in a string", in_strings(r"\\'", "'")),
        "escapes-of-octal": (r"takes \0 in a string", in_strings(r"\\0", r"\\u0000")),
        "escapes-of-es6": (r"takes \u{41} in a string", in_strings(r"\\u\{([0-9a-fA-F]{2})\}", r"\\u00\1")),
        "escapes-of-any": ("takes a backslash before any character", in_strings(r'\\([^"\\/bfnrtu])', r"\1")),
        "escapes-of-lines": ("takes a backslash at the end of a line", in_strings(r"\\\n", "")),
        "escapes-upper-u": (r"takes \U00000041 in a string", in_strings(r"\\U0000", r"\\u")),
        "escapes-of-three": (r"takes \u of three digits", in_strings(r"\\u([0-9a-fA-F]{3})(?![0-9a-fA-F])", r"\\u0\1")),
    },
    "EQ-ARGS": cleaned("arguments", ARGUMENTS, DECODED),
    "EQ-OUTCOME": cleaned("outcomes", OUTCOME, DECODED),
    "JRP-SHAPE": {
        "answers-with-params-refused": ("rejects an answer with params",
            on_message(lambda message: refuse() if "method" not in message and "params" in message else None)),
        "answers-with-params-dropped": ("drops an answer with params",
            on_message(lambda message: DROPPED if "method" not in message and "params" in message else None)),
    },
}


def refuse():
    raise Rejection("not-a-message", "", "a fault of this reader")


def first_lines(text, most):
    out, seen = [], 0
    for line in text.split("\n"):
        seen = seen + 1 if line.startswith("data:") else 0 if not line else seen
        if not (line.startswith("data:") and seen > most):
            out.append(line)
    return "\n".join(out)


def once(text):
    seen, out = set(), []
    for block in text.split("\n\n"):
        found = re.search(r"(?m)^id: ?(.+)$", block)
        if not (found and found[1] in seen):
            out.append(block)
        seen.update(found and [found[1]] or ())
    return "\n\n".join(out)
