"""What the libraries of importers do: with JSON, as those of Go and TypeScript read it; with lines; with the times of exports."""

import re
from datetime import datetime, timedelta, timezone
from unicodedata import normalize
from urllib.parse import unquote

from contract import CLIENT, SERVER
from faults.har import started
from faults.seams import (
    DROPPED,
    Change,
    member_of,
    numbers,
    on_bytes,
    on_event,
    on_exchange,
    on_exported,
    on_item,
    on_message,
    on_raw_lines,
    on_text,
    on_trace_line,
    on_values,
    patch,
    put,
    strings,
    without,
)
from faults.shortcuts import on_bodies, refused
from formats import har, inspector
from jsontext import Number, TwiceNamed

SCALARS = (str, bool, Number)
DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,}(Z|[+-]\d\d:\d\d)")


# --- exports ------------------------------------------------------------------------------------------------------


def is_bare(said):
    return "," not in said[2]


def bare_behind_answers(honest):
    def timed(items):
        last = None
        for time, said in honest(items):
            last = last if last is not None and is_bare(said) else time
            yield last, said

    return timed


def bare_first(honest):
    def timed(items):
        found = list(honest(items))
        found = [(found[0][0] if is_bare(said) else time, said) for time, said in found]
        return sorted(found, key=lambda pair: not is_bare(pair[1]))

    return timed


def items_once(honest):
    def timed(items):
        ids = [item.get("id") if isinstance(item, dict) and "jsonrpc" not in item else None for item in items]
        return honest([item for at, item in enumerate(items) if type(ids[at]) is not str or ids[at] not in ids[:at]])

    return timed


def changed(name, edit):
    """A member of an export's entry, or the start of an exchange, is another one: edit(value), or None where it stays."""
    if name == "startedDateTime":
        return started(edit)
    return on_exported(lambda item: None if (new := edit(item.get(name))) is None else {**item, name: new})


def negative(edit):
    return changed("duration", lambda took: edit(took.text) if type(took) is Number and took.text.startswith("-") else None)


def in_zone(zone):
    return lambda time: time + zone if type(time) is str and re.fullmatch(r"[\d-]{10}T[\d:.]+", time) else None


def tomorrow(time):
    if type(time) is str and (found := re.fullmatch(r"([\d-]{10})T24:00:00Z", time)):
        return f"{datetime.fromisoformat(found[1]) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"


def number_as_date(time):
    if type(time) is Number:
        return f"{datetime.fromtimestamp(float(time.text) / 1000, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


# --- JSON libraries -----------------------------------------------------------------------------------------------


def folded(*names):
    """Members take these names in any case, the last of several, as encoding/json does in Go."""

    def edit(value):
        if not isinstance(value, dict) or type(value) is TwiceNamed:
            return None
        if all(name in names or name.lower() not in names for name in value):
            return None
        return {name.lower() if name.lower() in names else name: item for name, item in value.items()}

    return edit


def folded_params(message):
    params = folded("name", "arguments")(message.get("params")) if message.get("method") == "tools/call" else None
    return None if params is None else {**message, "params": params}


def with_an_exponent(text):
    """As %v of Go prints a double of this many digits."""
    digits = text.lstrip("-")
    if not re.fullmatch(r"[1-9]\d{6,}", digits):
        return text
    mantissa = f"{digits[0]}.{digits[1:]}".rstrip("0").rstrip(".")
    return f"{'-' * (text[0] == '-')}{mantissa}e+{len(digits) - 1:02}"


def shown(name, edit):
    return on_event(lambda event: event | {name: edit(event[name])} if type(event.get(name)) is str else None)


def without_nulls(value):
    return {name: item for name, item in value.items() if item is not None} if type(value) is dict else value


def as_double(text):
    return Number(repr(float(text))) if re.search(r"\d{16}", text) and "e" not in text.lower() else None


def as_date(text):
    return datetime.fromisoformat(text).astimezone(timezone.utc).isoformat()


def first_thousand(text):
    return text[:1000]


def error_message(edit):
    def edited(event):
        message = member_of(event, "error", "message")
        return event | {"error": {**event["error"], "message": edit(message)}} if type(message) is str else None

    return on_event(edited)


def lines_behind(prefix):
    """Skips what stands before the object on a line."""
    return on_raw_lines(lambda line: line[len(found[0]) :] if (found := re.match(prefix, line)) else None)


def lines_up_to(limit):
    """Ends a file of lines at a longer one, without a word."""

    def edit(data):
        lines = data.splitlines(keepends=True)
        end = next((at for at, line in enumerate(lines) if len(line) > limit), None)
        return None if end is None else b"".join(lines[:end])

    return Change(edit=lambda _, data: edit(data)).within("jsonrpc", "mcp-replay")


def any_type(wanted):
    """Takes a member of this name that is not a string for none."""
    return patch(
        har,
        "_string",
        lambda honest: (
            lambda parent, name, place: (
                None if name == wanted and type(parent.get(name)) is not str else honest(parent, name, place)
            )
        ),
    )


FAULTS = {
    "INS-EXPORT": {
        "bare-behind-answers": (
            "gives a bare message the time of the answer in the item before it",
            patch(inspector, "_timed", bare_behind_answers),
        ),
        "bare-first": ("puts bare messages before all entries", patch(inspector, "_timed", bare_first)),
        "negative-durations-none": ("takes a negative `duration` for none", negative(lambda text: Number("0"))),
        "negative-durations-positive": ("drops the sign of a `duration`", negative(lambda text: Number(text[1:]))),
        "sender-by-direction": (
            "takes the sender of an entry from its `direction`",
            on_exported(
                lambda item: (
                    {**item, "origin": CLIENT if item["direction"] == "request" else SERVER} if "direction" in item else None
                )
            ),
        ),
        "items-once": ("drops an entry whose own id was there before", patch(inspector, "_timed", items_once)),
        "answers-of-notifications-dropped": (
            "drops the answer in the item of a notification",
            on_exported(lambda item: without(item, "response") if "id" not in (item["message"] or {}) else None),
        ),
        "answers-without-duration-dropped": (
            "drops an answer whose item has no duration",
            on_exported(lambda item: without(item, "response") if item.get("duration") is None else None),
        ),
        "timestamps-in-a-zone": (
            "reads a timestamp without a zone in the machine's zone",
            changed("timestamp", in_zone("+02:00")),
        ),
        "timestamps-in-utc": ("reads a timestamp without a zone in UTC", changed("timestamp", in_zone("Z"))),
        "zones-in-hours": (
            "drops the minutes of a zone",
            changed("timestamp", lambda time: re.sub(r"([+-]\d\d):\d\d$", r"\1:00", time) if type(time) is str else None),
        ),
        "zones-without-sign": (
            "takes a zone in the west for one in the east",
            changed("timestamp", lambda time: re.sub(r"-(\d\d:\d\d)$", r"+\1", time) if type(time) is str else None),
        ),
        "large-numbers-are-finer": (
            "takes a large number at `timestamp` for microseconds or nanoseconds",
            changed("timestamp", lambda time: Number(time.text[:13]) if type(time) is Number and time.text.isdecimal() else None),
        ),
        "timestamps-at-24": ("takes 24:00 in a timestamp for the next day", changed("timestamp", tomorrow)),
    },
    "HAR-ORDER": {
        "starts-in-a-zone": ("reads a start without a zone in the machine's zone", started(in_zone("+02:00"))),
        "starts-in-utc": ("reads a start without a zone in UTC", started(in_zone("Z"))),
        "starts-at-24": ("takes 24:00 in a start for the next day", started(tomorrow)),
        "starts-in-numbers": ("reads a start that is a number of milliseconds", started(number_as_date)),
    },
    "JRP-SHAPE": {
        "names-as-written": (
            "looks for the names of members in the text, and does not see those with escapes",
            on_text(lambda text: re.sub(r'\\u00([46])([0-9a-f])(?=[a-z]*"\s*:)', r"_\1\2", text)).within("jsonrpc", "mcp-replay"),
        ),
        "methods-of-64": ("cuts a method to 64 characters", shown("method", lambda method: method[:64])),
        "methods-of-c": ("ends a method at a NUL", shown("method", lambda method: method.split("\0")[0])),
        "methods-composed": ("composes accents in a method (NFC)", shown("method", lambda method: normalize("NFC", method))),
        "methods-without-slashes": ("drops slashes at the ends of a method", shown("method", lambda method: method.strip("/"))),
        "null-method-is-none": (
            "takes a null `method` for none, as a field of a Go struct does",
            on_message(lambda message: without(message, "method") if message.get("method", 0) is None else None),
        ),
        "empty-method-is-none": (
            "takes an empty `method` for none",
            on_message(lambda message: without(message, "method") if message.get("method") == "" else None),
        ),
        "scalar-params-dropped": (
            "drops params that are neither an object nor an array",
            on_message(
                lambda message: (
                    without(message, "params") if type(message.get("params")) in SCALARS and "method" in message else None
                )
            ),
        ),
        "scalar-params-rejected": (
            "rejects params that are neither an object nor an array",
            on_message(lambda message: refused() if type(message.get("params")) in SCALARS else None),
        ),
        "falsy-params-dropped": (
            "drops params that are 0, false or empty text",
            on_message(lambda message: without(message, "params") if message.get("params") in ("", False, Number("0")) else None),
        ),
    },
    "JRP-VERSION": {
        "version-begins": (
            "takes every version that begins with 2",
            on_message(lambda it: {**it, "jsonrpc": "2.0"} if str(it.get("jsonrpc")).startswith("2") else None),
        ),
    },
    "EQ-TOOL": {
        "params-folded": ("finds `Name` and `Arguments` of a tool call, too, as encoding/json does", on_message(folded_params)),
        "tool-up-to-a-query": ("cuts the name of a tool at a question mark", shown("tool", lambda name: name.split("?")[0])),
        "tool-of-255": ("cuts the name of a tool to 255 characters", shown("tool", lambda name: name[:255])),
    },
    "EQ-ARGS": {
        "arguments-of-1000": (
            "cuts strings to 1,000 characters, in arguments",
            on_values(("arguments",), strings(first_thousand)),
        ),
        "params-of-1000": ("cuts strings to 1,000 characters, in params", on_values(("params",), strings(first_thousand))),
        "tokens-of-digits": (
            "reads a progress token of digits as a number",
            on_values(
                ("params",),
                lambda value: (
                    {**value, "progressToken": Number(value["progressToken"])}
                    if type(value) is dict and str(value.get("progressToken")).isdecimal()
                    else value
                ),
            ),
        ),
        "empty-list-is-empty": (
            "writes {} for arguments that are an empty array",
            on_event(lambda event: event | {"arguments": {}} if event.get("arguments") == [] else None),
        ),
        "params-nulls-dropped": ("drops null in the params of a request", on_values(("params",), without_nulls)),
        "params-in-doubles": ("puts numbers through a double, in params", on_values(("params",), numbers(as_double))),
        "params-trimmed": ("trims strings, in params", on_values(("params",), strings(str.strip))),
        "dates-in-utc": (
            "reads strings that are dates, and writes them in UTC",
            on_values(
                ("arguments", "result", "params"),
                strings(lambda text: as_date(text) if DATE.fullmatch(text) else text),
            ),
        ),
        "params-meta-dropped": (
            "drops `_meta` of the params of a request",
            on_event(lambda event: event | {"params": without(event["params"], "_meta")} if "params" in event else None),
        ),
    },
    "ID-STRING": {
        "id-decoded": ("decodes %20 and the like in an id", shown("id", unquote)),
        "id-of-255": ("cuts an id to 255 characters", shown("id", lambda id_: id_[:255])),
    },
    "ID-NUMBER": {
        "ids-with-exponents": ("prints a number id of seven digits or more with an exponent, as %v of Go does",
            shown("id", with_an_exponent)),
    },
    "SRV-BYTES": {
        "media-type-of-any-type": ("takes a media type in HAR that is not a string for none", any_type("mimeType")),
        "headers-of-any-type": (
            "takes headers in HAR that are not an array for none",
            on_exchange(
                lambda it: put(it, [], "response", "headers") if isinstance(member_of(it, "response", "headers"), dict) else None
            ),
        ),
        "method-of-any-type": ("takes a method in HAR that is not a string for none", any_type("method")),
    },
    "EQ-OUTCOME": {
        "errors-of-one-line": ("keeps the first line of an error's message", error_message(lambda text: text.split("\n")[0])),
        "errors-of-200": ("cuts an error's message to 200 characters", error_message(lambda text: text[:200])),
        "lines-of-64k": ("ends at a line of more than 64 KiB, as a Scanner of Go does", lines_up_to(1 << 16)),
    },
    "JRP-LINE": {
        "lines-behind-a-time": ("skips a time before the object on a line", lines_behind(rb"\d{4}-\d\d-\d\dT\S+ (?=\{)")),
        "lines-behind-data": ("skips `data:` before the object on a line", lines_behind(rb"data: ?(?=\{)")),
    },
    "SRV-DEPTH": {
        "lines-of-1m": ("ends at a line of more than 1 MiB", lines_up_to(1 << 20)),
        "bodies-of-1m": ("reads no body of more than 1 MiB", on_bodies(lambda text: "" if len(text) > 1 << 20 else None)),
    },
    "RPL-META": {
        "blank-before-meta-rejected": (
            "rejects a trace that begins with a blank line",
            on_bytes(lambda data: b"\xff" if data[:1] in (b"\n", b"\r") else None).within("mcp-replay"),
        ),
        "meta-empty-is-missing": (
            "takes an empty `startedAt` or `label` of the meta line for a missing one",
            on_trace_line(
                lambda line: (
                    without(line, *(name for name, value in line.items() if value == "")) if line.get("type") == "meta" else None
                )
            ),
        ),
        "meta-nulls-are-missing": (
            "takes a null `startedAt`, `label` or `command` of the meta line for a missing one",
            on_trace_line(
                lambda line: (
                    without(line, *(name for name in line if line[name] is None)) if line.get("type") == "meta" else None
                )
            ),
        ),
    },
    "RPL-MESSAGE": {
        "kind-decides-on-the-id": (
            "drops the id of a message whose `kind` is notification",
            on_trace_line(
                lambda line: (
                    {**line, "raw": without(line["raw"], "id")}
                    if line.get("kind") == "notification" and isinstance(line.get("raw"), dict)
                    else None
                )
            ),
        ),
        "kind-decides-on-the-way": (
            "drops a request whose `kind` is response",
            on_trace_line(
                lambda line: DROPPED if line.get("kind") == "response" and "method" in (line.get("raw") or ()) else None
            ),
        ),
        "lines-folded": ("finds `Dir` and `Raw` of a line, too, as encoding/json does", on_trace_line(folded("dir", "raw"))),
        "timeless-dropped": (
            "drops a message line without `t`",
            on_trace_line(lambda line: DROPPED if "raw" in line and "t" not in line else None),
        ),
    },
    "INS-SHAPE": {
        "items-folded": (
            "finds `Message` and `Origin` of an item, too, as encoding/json does",
            on_item(lambda item: [new] if (new := folded("message", "origin", "timestamp")(item)) else None),
        ),
    },
}
