"""The exchanges of a HAR: their order, their bodies, what exporters do to them; and the text of a stream."""

import re
from decimal import Decimal

import sse
from contract import CLIENT, Rejection
from faults.lines import without_zone
from faults.seams import (
    instead,
    member_of,
    on_added,
    on_document,
    on_exchange,
    patch,
    put,
    text_of,
    without,
)
from formats import har
from jsontext import JsonError, Number, parse

HAR = "har"
POST, ANSWER, TYPE = ("request", "postData", "text"), ("response", "content", "text"), ("response", "content", "mimeType")


def on_exchanges(edit):
    """The list of exchanges is another one."""
    return patch(har, "_timed", lambda honest: lambda entries: honest(edit(entries)))


def started(edit):
    def apply(exchange):
        time = edit(exchange["startedDateTime"]) if "startedDateTime" in exchange else None
        return None if time is None else {**exchange, "startedDateTime": time}

    return on_exchange(apply)


def ordered(key):
    """Exchanges in the order of the key, and not of their times."""
    return on_exchanges(
        lambda entries: (
            [without(entry, "startedDateTime") for entry in sorted(entries, key=key)]
            if all(isinstance(entry, dict) for entry in entries)
            else entries
        )
    )


def end(exchange):
    time = har.milliseconds(exchange.get("startedDateTime"), "") or Decimal(0)
    took = exchange.get("time")
    return time + (Decimal(took.text) if type(took) is Number else 0)


def in_order(wrap):
    return patch(har, "in_order_of_time", lambda honest: lambda timed: wrap(honest, list(timed)))


def answers_first(honest):
    def read_exchange(entry, place, session):
        said = session._said
        before = len(said)
        missing = honest(entry, place, session)
        mine = said[before:]
        said[before:] = sorted(mine, key=lambda pair: len(pair[1][1]) > 1 and pair[1][1][1] == CLIENT)
        return missing

    return read_exchange


def times(edit):
    return patch(har, "_times", lambda honest: lambda entry: None if (found := honest(entry)) is None else edit(entry, found))


def untold_times(entry):
    """As `_times`, without the rule that none is smaller than the one before."""
    listed = entry.get("_events")
    if type(listed) is not list:
        return None
    found = [item.get("time") if isinstance(item, dict) else None for item in listed]
    return [Decimal(time.text) if type(time) is Number else Decimal(0) for time in found]


def first_is_untimed(entry):
    first = next(iter(entry["_events"]), None)
    return isinstance(first, dict) and not has_time(first)


def has_time(item):
    return isinstance(item, dict) and type(item.get("time")) is Number


def waiting_times(entry, found):
    later = [time if has_time(item) else None for time, item in zip(found, entry["_events"])]
    for at in reversed(range(len(later) - 1)):
        later[at] = later[at + 1] if at and later[at] is None else later[at]
    return [time if other is None else other for time, other in zip(found, later)]


def skip_answers(condition):
    """Reads nothing of an answer for which the condition holds."""
    return on_exchange(
        lambda exchange: put(exchange, "", *ANSWER) if member_of(exchange, *ANSWER) and condition(exchange) else None
    )


def is_post(exchange):
    return str(member_of(exchange, "request", "method")).upper() == "POST"


def kind(exchange):
    return str(member_of(exchange, *TYPE)).lower()


def bodies(edit):
    """The text of a POST or of a JSON answer is another one: edit(text)."""

    def apply(exchange):
        new = exchange
        for path in (POST, ANSWER):
            text = member_of(exchange, *path)
            if type(text) is str and (path == POST or "json" in kind(exchange)) and (other := edit(text)) is not None:
                new = put(new, other, *path)
        return None if new is exchange else new

    return on_exchange(apply)


def value(text):
    try:
        return parse(text)
    except JsonError:
        return None


def rejects_exchange(condition):
    def edit(exchange):
        if condition(exchange):
            raise Rejection("wrong-type", "", "a fault of this reader")

    return on_exchange(edit)


def holds_array(exchange):
    return any(
        type(text) is str and type(value(text)) is list for text in (member_of(exchange, *POST), member_of(exchange, *ANSWER))
    )


def foreign(text):
    found = value(text)
    return isinstance(found, dict) and "jsonrpc" not in found


def lost(exchange):
    def more(size):
        return type(size) is Number and size.text[0] != "-" and size != Number("0")

    answer = more(member_of(exchange, "response", "content", "size")) and not member_of(exchange, *ANSWER)
    return answer or (more(member_of(exchange, "request", "bodySize")) and member_of(exchange, "request", "postData") is None)


def until_one_is_lost(entries):
    at = next(
        (at for at, entry in enumerate(entries) if isinstance(entry, dict) and member_of(entry, *ANSWER) is None), len(entries)
    )
    return entries[:at]


def log(condition, new):
    return on_document(lambda whole: new(whole) if condition(whole) else None).within(HAR)


def base64_kept(condition):
    return on_exchange(
        lambda exchange: (
            put(exchange, "", "response", "content", "encoding")
            if member_of(exchange, "response", "content", "encoding") and condition(kind(exchange))
            else None
        )
    )


def body_text(edit):
    """(text, whether its bytes were UTF-8) of a body are others."""
    return patch(har, "_text", lambda honest: lambda body, place: edit(*honest(body, place), body))


def seen_in_another(honest):
    """Drops an event of another stream whose id was there before."""

    def read_answer(content, answer, place, session):
        if "event-stream" in kind({"response": {"content": content}}) and type(content.get("text")) is str:
            seen = session._session.__dict__.setdefault("_stream_ids", set())
            kept, ids = [], set()
            for block in re.split(r"(?<=\n\n)", content["text"]):
                id_ = re.search(r"^id: ?(.+)$", block, re.M)
                if not (id_ and id_[1] in seen):
                    kept.append(block)
                ids |= {id_[1]} if id_ else set()
            seen |= ids
            content = {**content, "text": "".join(kept)}
        return honest(content, answer, place, session)

    return read_answer


# --- streams ------------------------------------------------------------------------------------------------------


def stream(edit):
    """The text of a stream is another one."""

    def make(honest):
        return lambda text: honest(edit(text))

    make.keeps = lambda text: edit(text) == text
    return patch(har, "blocks", make)


def stream_lines(edit):
    """Each line of a stream is another one, or a list of lines."""

    def lines(text):
        out = []
        for line in re.split(r"\r\n|\n|\r", text):
            other = edit(line)
            out.extend(other if type(other) is list else [other])
        return "\n".join(out)

    return stream(lines)


def line_ends(pattern):
    return instead(sse, "_LINE_END", re.compile(pattern))


def on_blocks(edit):
    """The blocks of a stream are others: edit(list of blocks, text)."""
    return patch(har, "blocks", lambda honest: lambda text: iter(edit(list(honest(text)), text)))


def event_fields(edit):
    """Fields of each event, one list of (name, value) a block, are others."""

    def blocks(text):
        out = []
        for block in re.split(r"\n\n", re.sub(r"\r\n|\r", "\n", text)):
            fields = [line.partition(":") for line in block.split("\n")]
            out.append("\n".join("".join(field) for field in edit(fields)))
        return "\n\n".join(out)

    return stream(blocks)


def data_lines(join):
    """How several data lines of an event are joined."""

    def edit(fields):
        data = [field for field in fields if field[0] == "data"]
        if len(data) < 2:
            return fields
        return [*(field for field in fields if field[0] != "data"), *join(data)]

    return event_fields(edit)


def one_line(data):
    return [("data", ":", "".join(value.removeprefix(" ") for _, _, value in data))]


def first_name(fields):
    names = [field for field in fields if field[0] == "event"]
    return [field for field in fields if field[0] != "event" or field is names[0]]


def name_before_data(fields):
    at = next((at for at, field in enumerate(fields) if field[0] == "data"), len(fields))
    return [field for index, field in enumerate(fields) if field[0] != "event" or index < at]


def names_last(blocks, text):
    name, out = "", []
    for block in blocks:
        if block:
            name = block[0] or name
            block = (name, block[1])
        out.append(block)
    return out


def each_data_line(blocks, text):
    return [(block[0], line) for block in blocks if block for line in block[1].split("\n")]


def unfinished(text):
    return text if text.endswith(("\n\n", "\r\r", "\r\n\r\n")) else text + "\n\n"


def missing_is_silent(honest):
    return lambda size: 0


FAULTS = {
    "HAR-ORDER": {
        "first-event-waits": ("has a first item of `_events` without a number come with the next one",
            times(lambda entry, found: [*found[1:2], *found[1:]] if first_is_untimed(entry) else found)),
        "events-without-a-number-dropped": ("gives no block to an item of `_events` without a number",
            times(lambda entry, found: [time for time, item in zip(found, entry["_events"]) if has_time(item)])),
        "event-in-between-waits": ("has an item of `_events` without a number come with the next one that has one",
            times(waiting_times)),
        "exchanges-in-file-order": ("leaves exchanges in file order",
            on_exchange(lambda exchange: without(exchange, "startedDateTime"))),
        "exchanges-by-end": ("puts exchanges in the order in which they ended", ordered(end)),
        "starts-as-texts": ("compares the starts of exchanges as texts",
            ordered(lambda exchange: str(exchange.get("startedDateTime")))),
        "starts-in-milliseconds": ("drops what is finer than a millisecond in a start",
            started(lambda time: re.sub(r"(\.\d{3})\d+", r"\1", time) if type(time) is str else None)),
        "start-zones-dropped": ("does not look at the zone of a start", started(without_zone)),
        "start-ties-reversed": ("orders exchanges that start at one time from the end of the file",
            on_exchanges(lambda entries: entries[::-1])),
        "answers-first": ("gives the messages of an answer before the one of the POST",
            patch(har, "_read_exchange", answers_first)),
        "events-untimed": ("does not look at `_events`", on_exchange(lambda exchange: without(exchange, "_events"))),
        "events-may-go-back": ("lets an item of `_events` go back behind the one before it",
            instead(har, "_times", untold_times)),
        "events-in-seconds": ("takes the times of `_events` for seconds",
            times(lambda entry, found: [time * 1000 for time in found])),
        "events-of-messages": ("gives no item of `_events` to a comment",
            on_blocks(lambda blocks, text: [block for block in blocks if block])),
        "empty-lines-timed": ("takes the empty lines in a row of a stream for blocks that have items in `_events`",
            stream(lambda text: text.replace("\n\n\n", "\n\n:\n\n"))),
        "json-answers-untimed": ("does not look at `_events` of a JSON answer",
            on_exchange(lambda exchange: without(exchange, "_events") if "json" in kind(exchange) else None)),
        "equal-times-turned": ("puts what begins later first where moments are equal",
            in_order(lambda honest, timed: honest(timed[::-1]) if timed and callable(timed[0][1][0]) else honest(timed))),
    },
    "HAR-MESSAGE": {
        "no-posts": ("does not read the bodies of POSTs",
            on_exchange(lambda exchange: {**exchange, "request": without(exchange.get("request"), "postData")})),
        "no-json-answers": ("reads answers only from streams", skip_answers(lambda exchange: "json" in kind(exchange))),
        "errors-are-messages": ("takes a body with `error` for an error answer",
            bodies(lambda text: '{"jsonrpc":"2.0",' + text.lstrip()[1:] if foreign(text) and "error" in value(text) else None)),
        "any-media-type": (
            "reads a message in the body of any media type",
            on_exchange(
                lambda exchange: put(exchange, "application/json", *TYPE) if kind(exchange).startswith("text/plain") else None
            ),
        ),
        "versions-looked-for": ("passes over a body whose `jsonrpc` is not 2.0",
            bodies(lambda text: "{}" if isinstance(value(text), dict) and value(text).get("jsonrpc", "2.0") != "2.0" else None)),
        "first-of-an-array": ("takes the first message of an array in a body",
            bodies(lambda text: text_of(found[0]) if type(found := value(text)) is list and found else None)),
        "foreign-arrays-rejected": ("rejects an array in the body of another site", rejects_exchange(holds_array)),
        "html-rejected": (
            "rejects an answer that is not JSON",
            rejects_exchange(
                lambda exchange: (
                    type(member_of(exchange, *ANSWER)) is str and member_of(exchange, *ANSWER).startswith(("<", "Accepted"))
                )
            ),
        ),
        "foreign-rejected": (
            "rejects a JSON body without `jsonrpc`",
            rejects_exchange(
                lambda exchange: any(
                    type(text) is str and foreign(text) for text in (member_of(exchange, *POST), member_of(exchange, *ANSWER))
                )
            ),
        ),
        "har-failures-dropped": ("does not read answers with a status of 400 and more",
            skip_answers(lambda exchange: str(getattr(member_of(exchange, "response", "status"), "text", "0")) >= "400")),
        "post-type-wanted": (
            "reads the body of a POST only when its type is application/json",
            on_exchange(
                lambda exchange: (
                    put(exchange, "{}", *POST)
                    if member_of(exchange, "request", "postData", "mimeType") not in (None, "application/json")
                    else None
                )
            ),
        ),
        "answer-type-exact": ("reads a JSON answer only when its type has no parameters",
            skip_answers(lambda exchange: kind(exchange).startswith("application/json;"))),
        "get-answers-dropped": ("reads nothing of an exchange that is not a POST",
            skip_answers(lambda exchange: not is_post(exchange))),
        "any-method-posts": (
            "reads the body of a PUT or a DELETE",
            on_exchange(
                lambda exchange: (
                    put(exchange, "POST", "request", "method")
                    if member_of(exchange, "request", "postData") and not is_post(exchange)
                    else None
                )
            ),
        ),
        "json-base64-kept": ("does not decode a JSON answer in base64", base64_kept(lambda kind: "json" in kind)),
        "pretty-bodies-lost": ("reads only bodies without a line end",
            bodies(lambda text: "" if "\n" in text and value(text) is not None else None)),
        "all-from-clients": ("takes the answers of a HAR for the client's",
            on_added(lambda message, sender: (message, CLIENT)).within(HAR)),
    },
    "HAR-STREAM": {
        "first-data-line": ("reads the first data line of an event", data_lines(lambda data: data[:1])),
        "each-line-a-message": ("reads each data line by itself", on_blocks(each_data_line)),
        "lines-joined-with-nothing": ("joins data lines without a line end between them", data_lines(one_line)),
        "lf-only": ("ends a line only at LF and keeps the CR", line_ends(r"\n")),
        "no-lone-cr": ("does not end a line at a lone CR", line_ends(r"\r\n|\n")),
        "crlf-is-two": ("takes CRLF for two line ends", line_ends(r"\n|\r")),
        "streams-unicode-ends": ("takes U+2028 and the like for line ends", line_ends("\r\n|\n|\r|\u2028|\u2029|\x85")),
        "unfinished-read": ("reads a last event that no empty line ends", stream(unfinished)),
        "last-event-lost": ("loses the last event where a CR ends it",
            on_blocks(lambda blocks, text: blocks[:-1] if text.endswith("\r") else blocks)),
        "comments-are-data": ("reads a comment as data",
            stream_lines(lambda line: f"data{line}" if line.startswith(":") else line)),
        "comments-end-events": ("ends an event at a comment",
            stream_lines(lambda line: [line, ""] if line.startswith(":") else line)),
        "space-wanted": ("wants a space behind `data:`",
            stream_lines(lambda line: "x" if line.startswith("data:") and line[5:6] != " " else line)),
        "all-spaces-dropped": ("drops every space behind the colon of a field",
            stream_lines(lambda line: re.sub(r"^(\w+:) +", r"\1", line))),
        "fields-trimmed": ("trims the names of fields", stream_lines(lambda line: re.sub(r"^[ \t]*(\w+)[ \t]*:", r"\1:", line))),
        "fields-without-case": ("compares the names of fields without case",
            stream_lines(lambda line: re.sub(r"^\w+(?=:)", lambda name: name[0].lower(), line))),
        "bare-fields-lost": ("does not know a field without a colon",
            stream_lines(lambda line: ":" if line in ("data", "event") else line)),
        "name-lasts": ("applies an event's name to the events after it", on_blocks(names_last)),
        "first-name-wins": ("takes the first of two names of an event", event_fields(first_name)),
        "name-before-data": ("does not see a name that follows the data", event_fields(name_before_data)),
        "mark-kept": ("takes a byte order mark for part of the first field",
            stream(lambda text: f"\ufeff{text}" if text.startswith("\ufeff") else text)),
        "marks-dropped": ("drops byte order marks wherever they are", stream(lambda text: text.replace("\ufeff", ""))),
        "stream-base64-kept": ("reads a stream in base64 as text", base64_kept(lambda kind: "stream" in kind)),
        "exact-media-type": ("wants `text/event-stream` without parameters",
            skip_answers(lambda exchange: kind(exchange).startswith("text/event-stream;"))),
        "streams-of-posts-only": ("reads no stream that answers a GET",
            skip_answers(lambda exchange: not is_post(exchange) and "event-stream" in kind(exchange))),
        "streams-of-gets-only": ("reads no stream that answers a POST",
            skip_answers(lambda exchange: is_post(exchange) and "event-stream" in kind(exchange))),
        "first-event-only": ("reads the first event of a stream that has data",
            on_blocks(lambda blocks, text: [block for block in blocks if block][:1])),
        "merged-by-event-id": ("drops an event of another stream whose id was there before",
            patch(har, "_read_answer", seen_in_another)),
        "bad-bytes-dropped": ("drops bytes of a stream in base64 that are not UTF-8",
            body_text(lambda text, sound, body: (text if sound else text.replace("\ufffd", ""), True))),
    },
    "HAR-MISSING": {
        "missing-rejected": ("rejects a file whose exporter dropped a body", rejects_exchange(lost)),
        "missing-ends-it": ("stops at the first exchange without a body", on_exchanges(until_one_is_lost)),
        "missing-uncounted": ("does not count the bodies that are missing",
            patch(har, "_says_more_than_zero", missing_is_silent)),
        "no-log-is-empty": ("takes a file without `log` for an empty session",
            log(lambda whole: isinstance(whole, dict) and "log" not in whole, lambda whole: {"log": {"entries": []}})),
        "no-list-is-empty": (
            "takes a log without entries for an empty session",
            log(
                lambda whole: isinstance(member_of(whole, "log"), dict) and "entries" not in whole["log"],
                lambda whole: {"log": {"entries": []}},
            ),
        ),
        "bare-entries": ("takes a bare array for the entries of the log",
            log(lambda whole: type(whole) is list, lambda whole: {"log": {"entries": whole}})),
        "log-entries-by-key": (
            "takes the values of an object for the entries of the log",
            log(
                lambda whole: isinstance(member_of(whole, "log", "entries"), dict),
                lambda whole: {"log": {"entries": list(whole["log"]["entries"].values())}},
            ),
        ),
    },
}
