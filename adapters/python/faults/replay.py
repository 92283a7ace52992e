"""The lines of `mcp-replay` traces: the first one, the last one, and the messages between."""

import contract
from clock import START, in_order_of_time, milliseconds
from contract import Rejection
from faults.seams import (
    DROPPED,
    deep,
    member_of,
    on_added,
    on_event,
    on_lines,
    on_message,
    on_trace_line,
    text_of,
)
from jsontext import Number, parse

TRACE = "mcp-replay"
META = {"v": Number("1"), "type": "meta", "startedAt": "", "label": "", "command": []}
KNOWN = {
    "v",
    "type",
    "t",
    "dir",
    "kind",
    "raw",
    "id",
    "method",
    "reason",
    "exitCode",
    "signal",
    "text",
    "startedAt",
    "label",
    "command",
    "cwd",
    "env",
}


def on_trace(edit):
    """The lines of a trace are others: edit(list of (place, value))."""
    return on_lines(edit).within(TRACE)


def is_meta(value):
    return member_of(value, "type") == "meta"


def is_end(value):
    return member_of(value, "type") == "end" and "dir" not in value


def on_head(edit):
    """The first line is another one."""

    def lines(values):
        if not values or not isinstance(values[0][1], dict) or (new := edit(values[0][1])) is None:
            return values
        return [(values[0][0], new), *values[1:]]

    return on_trace(lines)


def head_without(name):
    return on_head(lambda head: {**head, name: META[name]} if name not in head else None)


def version(accepts):
    return on_head(lambda head: {**head, "v": Number("1")} if "v" in head and accepts(head["v"]) else None)


def has_head(values):
    return any(is_meta(value) for _, value in values)


def head_anywhere(values):
    at = next((index for index, (_, value) in enumerate(values) if is_meta(value)), 0)
    return [values[at], *values[:at], *values[at + 1 :]] if values else values


def second_head(values):
    return [values[0], *((place, value) for place, value in values[1:] if not is_meta(value))] if values else values


def second_session(values):
    again = [index for index, (_, value) in enumerate(values) if is_meta(value)][1:]
    return [pair for index, pair in enumerate(values) if index not in again and not (is_end(pair[1]) and index + 1 in again)]


def until_the_end(values):
    at = next((index for index, (_, value) in enumerate(values) if is_end(value)), len(values))
    return values[: at + 1]


def head_rejected(condition):
    return on_head(lambda head: {**head, "type": "none"} if condition(head) else None)


def line_rejected(condition):
    def edit(line):
        if condition(line):
            raise Rejection("wrong-type", "", "a fault of this reader")

    return on_trace_line(edit)


def has_dir(line):
    return line.get("dir") in ("in", "out")


def noise(raw):
    return not isinstance(raw, (dict, list)) or (isinstance(raw, dict) and not contract.looks_like_message(raw))


def on_noise(new, condition=noise):
    return on_trace_line(lambda line: new(line) if has_dir(line) and "raw" in line and condition(line["raw"]) else None)


def exit_code_wanted(values):
    odd = any(is_end(value) and "exitCode" not in value for _, value in values)
    last = max((index for index, (_, value) in enumerate(values) if isinstance(value, dict) and has_dir(value)), default=None)
    return [pair for index, pair in enumerate(values) if index != last] if odd else values


def no_end_loses_one(values):
    return values if any(is_end(value) for _, value in values) else values[:-1]


def turns_are_calls(line):
    if line.get("type") == "turn" and "dir" not in line:
        return {"dir": "in", "raw": {"jsonrpc": "2.0", "method": "tools/call", "params": {}}}


def time_of(value):
    """The time of a line, or None."""
    try:
        return milliseconds(member_of(value, "t"), "")
    except Rejection:
        return None


def by_t(values):
    last, timed = START, []
    for pair in values:
        last = time_of(pair[1]) or last
        timed.append((last, pair))
    return in_order_of_time(timed)


def backward_rejected(values):
    times = [time for _, value in values if (time := time_of(value)) is not None]
    if times != sorted(times):
        raise Rejection("wrong-type", "", "a fault of this reader")
    return values


def early_answers_moved(values):
    """Moves an answer that was logged too early behind its request."""
    values = list(values)
    for at, (_, value) in enumerate(values):
        raw = member_of(value, "raw")
        if isinstance(raw, dict) and "id" in raw and "method" not in raw:
            later = [
                index
                for index in range(at + 1, len(values))
                if member_of(values[index][1], "raw", "id") == raw["id"] and member_of(values[index][1], "raw", "method")
            ]
            before = [index for index in range(at) if member_of(values[index][1], "raw", "id") == raw["id"]]
            if later and not before:
                values.insert(later[0], values.pop(at))
    return values


MARKERS = ("[REDACTED]", "[redacted]", "<redacted>", "***")


def marked(value):
    return type(value) is str and any(marker in value for marker in MARKERS)


FAULTS = {
    "RPL-META": {
        "no-head": ("reads a trace that has no `meta` line",
            on_trace(lambda values: values if has_head(values) or not values else [("", META), *values])),
        "head-anywhere": ("takes the `meta` line wherever it is", on_trace(head_anywhere)),
        "second-head": ("passes over a second `meta` line", on_trace(second_head)),
        "second-session": ("reads on behind `end` where another session begins", on_trace(second_session)),
        "empty-is-a-session": ("takes an empty trace for an empty session", on_trace(lambda values: values or [("", META)])),
        "no-started-at": ("takes a `meta` without `startedAt`", head_without("startedAt")),
        "no-label": ("takes a `meta` without `label`", head_without("label")),
        "no-command": ("takes a `meta` without `command`", head_without("command")),
        "no-version": ("takes a `meta` without `v`", head_without("v")),
        "no-type": ("takes a first line without `type` for the `meta`", head_without("type")),
        "other-type": ("takes the first line for the `meta`, whatever its type is",
            on_head(lambda head: {**head, "type": "meta"} if "type" in head else None)),
        "members-in-order": ("wants `v` to be the first member of the `meta`",
            head_rejected(lambda head: next(iter(head), "v") != "v")),
    },
    "RPL-VERSION": {
        "version-two": ("reads version 2", version(lambda v: v == Number("2"))),
        "version-as-text": ("takes the string `1` for version 1", version(lambda v: type(v) is str)),
        "head-version-null": ("takes a null version", version(lambda v: v is None)),
        "version-rounded": ("rounds the version down", version(lambda v: type(v) is Number and v.text.startswith("1."))),
        "version-by-its-text": ("takes no other spelling of the number 1",
            on_head(lambda head: {**head, "v": Number("2")} if head.get("v") == Number("1") and head["v"].text != "1" else None)),
    },
    "RPL-MESSAGE": {
        "no-raw": ("passes over a message line without `raw`",
            on_trace_line(lambda line: DROPPED if has_dir(line) and "raw" not in line else None)),
        "message-for-raw": ("looks for the message under `message` where there is no `raw`",
            on_trace_line(lambda line: {**line, "raw": line["message"]} if "message" in line and "raw" not in line else None)),
        "no-dir": ("takes a line without `dir` for the client's",
            on_trace_line(lambda line: {**line, "dir": "in"} if "raw" in line and "dir" not in line else None)),
        "no-dir-passed": ("passes over a line with `raw` and without `dir`",
            on_trace_line(lambda line: DROPPED if "raw" in line and type(line.get("dir")) is not str else None)),
        "all-dirs-in": ("takes `out` for what the client says",
            on_added(lambda message, sender: (message, "client")).within(TRACE)),
    },
    "RPL-DIR": {
        "any-dir": (
            "reads the `raw` of a line with any dir",
            on_trace_line(
                lambda line: (
                    {**line, "dir": "in"} if type(line.get("dir")) is str and not has_dir(line) and "raw" in line else None
                )
            ),
        ),
        "dirs-without-case": (
            "takes `IN` for `in`",
            on_trace_line(
                lambda line: {**line, "dir": line["dir"].lower()} if str(line.get("dir")).lower() in ("in", "out") else None
            ),
        ),
        "other-dirs-rejected": ("rejects a line of another dir",
            line_rejected(lambda line: type(line.get("dir")) is str and not has_dir(line))),
    },
    "RPL-NOISE": {
        "text-parsed-again": ("reads a `raw` that is the text of a message",
            on_noise(lambda line: {**line, "raw": parse(line["raw"])}, lambda raw: type(raw) is str and raw.startswith('{"jsonrpc"'))),
        "noise-bound": ("takes noise in `raw` for a notification",
            on_noise(lambda line: {**line, "raw": {"jsonrpc": "2.0", "method": "noise"}})),
        "noise-answers": (
            "takes noise in `raw` with an id for an answer",
            on_noise(
                lambda line: {**line, "raw": {"jsonrpc": "2.0", "result": None, **line["raw"]}},
                lambda raw: isinstance(raw, dict) and noise(raw),
            ),
        ),
        "noise-crashes": ("dies of a `raw` that is text", on_noise(lambda line: line["raw"].fail, lambda raw: type(raw) is str)),
    },
    "RPL-END": {
        "behind-the-end": ("passes over what follows `end`", on_trace(until_the_end)),
        "end-is-nothing": ("reads on behind `end`", on_trace_line(lambda line: DROPPED if is_end(line) else None)),
        "exit-code-wanted": ("loses the last message where `end` has no exit code", on_trace(exit_code_wanted)),
        "failures-rejected": ("rejects a trace whose server exited with a code other than 0",
            line_rejected(lambda line: is_end(line) and line.get("exitCode", Number("0")) != Number("0"))),
        "no-end-loses-one": ("takes the last line for `end`, whatever it is", on_trace(no_end_loses_one)),
    },
    "RPL-UNKNOWN": {
        "unknown-types-rejected": (
            "rejects a line of a type that it does not know",
            line_rejected(
                lambda line: type(line.get("type")) is str and line["type"] not in ("meta", "end", "stderr", "message")
            ),
        ),
        "unknown-members-of-lines": ("rejects a message line with a member that it does not know",
            line_rejected(lambda line: has_dir(line) and set(line) - KNOWN)),
        "unknown-head-rejected": ("rejects a `meta` with a member that it does not know",
            head_rejected(lambda head: set(head) - KNOWN)),
        "unknown-kinds-rejected": ("rejects a line of a kind that it does not know",
            line_rejected(lambda line: line.get("kind") not in (None, "request", "response", "notification", "error"))),
        "turns-are-calls": ("reads `turn` lines as tool calls", on_trace_line(turns_are_calls)),
        "kind-decides": (
            "reads only lines whose `kind` says what `raw` is",
            on_trace_line(
                lambda line: (
                    DROPPED
                    if has_dir(line) and line.get("kind") not in (None, "request", "response", "notification", "error")
                    else None
                )
            ),
        ),
    },
    "RPL-ORDER": {
        "by-t": ("takes the lines in the order of `t`", on_trace(by_t)),
        "odd-t-dropped": ("drops a message whose `t` is not a time",
            on_trace_line(lambda line: DROPPED if has_dir(line) and time_of(line) is None else None)),
        "backward-rejected": ("rejects a trace whose times run backwards", on_trace(backward_rejected)),
    },
    "COR-BEFORE": {
        "early-answers-moved": ("moves an answer that was logged too early behind its request", on_trace(early_answers_moved)),
    },
    "RPL-REDACT": {
        "marker-is-data": (
            "puts null for a string with a redaction marker",
            on_event(
                lambda event: {name: deep(value, lambda inner: None if marked(inner) else inner) for name, value in event.items()}
            ),
        ),
        "marked-dropped": ("drops a message with a redaction marker in it",
            on_message(lambda message: DROPPED if any(marker in text_of(message) for marker in MARKERS) else None)),
    },
}
