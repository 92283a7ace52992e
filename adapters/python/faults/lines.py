"""What a JSON-RPC message is, the lines that messages are written on, and arrays of messages."""

import re
from decimal import Decimal

from contract import OTHER_SIDE, Session
from faults.seams import (
    DROPPED,
    LINES,
    instead,
    lenient,
    on_document,
    on_exported,
    on_item,
    on_line,
    on_message,
    on_raw_lines,
    on_text,
    patch,
    without,
)
from formats import inspector
from jsontext import JsonError, Number, parse

DUE = "2.0"


def version(accepts):
    """Takes a message with another version: accepts(message)."""
    return on_message(lambda message: {**message, "jsonrpc": DUE} if message.get("jsonrpc") != DUE and accepts(message) else None)


def shape(condition, edit, *only):
    return on_message(lambda message: edit(message) if condition(message) else None).within(*only)


def is_message_like(message):
    return any(name in message for name in ("method", "result", "error"))


def printed(condition):
    """Prints a method that is not text."""
    return on_message(lambda message: {**message, "method": "1"} if condition(message.get("method", "")) else None)


def without_case(message):
    name = next((name for name in message if name.lower() == "jsonrpc"), None)
    return name and message[name] == DUE


# --- lines --------------------------------------------------------------------------------------------------------


def parses(data):
    try:
        return bool(parse(data.decode("utf-8")) or True)
    except (JsonError, UnicodeDecodeError):
        return False


def is_text(data):
    return data.decode("utf-8", "ignore").encode() == data


def line_is(condition):
    """Passes over a line for which the condition holds."""
    return on_raw_lines(lambda line: b"" if line.strip() and condition(line) else None)


def value_is(condition):
    return on_line(lambda value: DROPPED if condition(value) else None)


def split_lines(mark):
    return lambda text: text.replace(mark, "\n") if mark in text else None


def several_on_one(text):
    return re.sub(r'\}[ \t]*\{"jsonrpc"', '}\n{"jsonrpc"', text)


def one_over_several(text):
    """Joins lines that are not JSON by themselves to those behind them."""
    out, open_, lines = [], "", text.split("\n")
    if len(lines) > 100:
        return None
    for line in lines:
        joined = open_ + line
        if not line.strip() and not open_ or parses(joined.encode("utf-8", "surrogatepass")):
            out.append(joined)
            open_ = ""
        else:
            open_ = joined
    return "\n".join([*out, open_])


def one_by_one(honest):
    def add(self, value, *rest, **named):
        for item in value if type(value) is list and value else [value]:
            honest(self, item, *rest, **named)

    return add


def sniffed(value):
    if isinstance(value, dict) and "jsonrpc" not in value:
        return value.get("raw", DROPPED)


def no_value(line):
    return re.match(rb"[A-Za-z-]+: ", line) is not None and not parses(line)


# --- arrays of messages -------------------------------------------------------------------------------------------


def empty_list(condition):
    """Takes a document for an empty list."""
    return on_document(lambda whole: [] if condition(whole) else None).within("inspector")


def no_document(condition):
    return on_document(lambda whole: 0 if condition(whole) else None).within("inspector")


def bare(item):
    """An entry of an export as bare messages, without times and sides."""
    if isinstance(item, dict) and "message" in item and "jsonrpc" not in item:
        return [item["message"]] + ([item["response"]] if item.get("response") is not None else [])


def changed(edit, name):
    def apply(item):
        value = edit(item[name]) if name in item else None
        return None if value is None else {**item, name: value}

    return on_exported(apply)


def without_zone(time):
    return re.sub(r"(?<=\d\d:\d\d)([+-]\d\d:?\d\d)$|(?<=\.\d\d\d)([+-]\d\d:?\d\d)$", "Z", time) if type(time) is str else None


def whole_seconds(time):
    return re.sub(r"\.\d+", "", time) if type(time) is str else None


def rounded(number):
    return Number(str(int(Decimal(number.text)) + 1)) if type(number) is Number and "." in number.text else None


def cut(number):
    return Number(number.text.partition(".")[0]) if type(number) is Number and "." in number.text else None


def timed_lost(condition):
    """Drops what is in an export: condition(item, whether it is an entry, whether the file has entries)."""

    def make(honest):
        def timed(items):
            entries = [isinstance(item, dict) and "message" in item and "jsonrpc" not in item for item in items]
            return honest([item for item, entry in zip(items, entries) if not condition(entry, any(entries))])

        return timed

    return patch(inspector, "_timed", make)


def folded_id(item):
    answer, asked = item.get("response"), item["message"]
    if isinstance(answer, dict) and isinstance(asked, dict) and "id" in asked:
        return {**item, "response": {**answer, "id": asked["id"]}}


def odd_folded(item):
    answer = item.get("response")
    return (
        without(item, "response") if answer is not None and not (isinstance(answer, dict) and is_message_like(answer)) else None
    )


FAULTS = {
    "JRP-LINE": {
        "other-spaces-are-blank": ("takes a line of other white space than JSON's for a blank one",
            on_raw_lines(lambda line: b"" if line.strip() and not line.decode("utf-8", "replace").strip() else None)),
        "blank-lines-rejected": ("rejects a blank line",
            on_raw_lines(lambda line: b"?" if line.strip(b"\r\n") and not line.strip() or line == b"\r" else None)),
        "empty-lines-rejected": ("rejects an empty line", on_text(lambda text: re.sub(r"\n(?=\n)", "\n?", text)).within(*LINES)),
        "last-line-needs-its-end": ("loses a last line that has no line end",
            on_text(lambda text: text[: text.rfind("\n") + 1]).within(*LINES)),
        "crlf-rejected": ("rejects CR before LF", on_text(lambda text: text.replace("\r\n", "?\n")).within(*LINES)),
        "cr-ends-lines": ("takes a lone CR for a line end", on_text(split_lines("\r")).within(*LINES)),
        "unicode-ends-lines": ("takes U+2028 for a line end, as str.splitlines does",
            on_text(split_lines("\u2028")).within(*LINES)),
        "stray-text-passed": ("passes over lines that are not JSON", line_is(lambda line: is_text(line) and not parses(line))),
        "broken-objects-passed": ("passes over lines that begin like an object and are not JSON",
            line_is(lambda line: line.startswith(b"{") and not parses(line))),
        "values-passed": ("passes over lines that are JSON and not an object",
            value_is(lambda value: not isinstance(value, (dict, list)))),
        "null-lines-passed": ("passes over a line that is null", value_is(lambda value: value is None)),
        "empty-arrays-passed": ("passes over an empty array", value_is(lambda value: value == [])),
        "arrays-read": ("reads an array of messages on a line, one after the other",
            patch(Session, "add", one_by_one).within("jsonrpc")),
        "arrays-of-one-unwrapped": ("unwraps an array of one message",
            on_line(lambda value: value[0] if type(value) is list and len(value) == 1 else None)),
        "several-on-one-line": ("reads several values on one line", on_text(several_on_one).within(*LINES)),
        "one-over-several-lines": ("reads a message that is spread over several lines", on_text(one_over_several).within(*LINES)),
        "framing-passed": ("passes over the headers of another framing", line_is(no_value)),
        "comments": ("passes over comments", line_is(lambda line: line.lstrip().startswith((b"//", b"#", b"/*")))),
        "trailing-commas": ("accepts a comma before a closing bracket",
            lenient(lambda text: re.sub(r",(\s*[}\]])", r"\1", text))),
        "javascript-words": ("reads NaN and Infinity as null",
            lenient(lambda text: re.sub(r"-?\b(NaN|Infinity)\b", "null", text))),
        "python-words": (
            "reads True, False and None",
            lenient(
                lambda text: re.sub(
                    r"\b(True|False|None)\b", lambda word: {"True": "true", "False": "false"}.get(word[0], "null"), text
                )
            ),
        ),
        "single-quotes": ("reads strings in single quotes", lenient(lambda text: text.replace("'", '"'))),
        "raw-tabs": ("accepts a tab in a string", lenient(lambda text: text.replace("\t", "\\t"))),
        "leading-zeros": ("reads numbers with a zero or a plus in front",
            lenient(lambda text: re.sub(r"([:\[,]\s*-?)(?:\+|0+)(?=\d)", r"\1", text))),
        "bare-points": ("reads `1.` and `.5`",
            lenient(lambda text: re.sub(r"(?<=[:\[, -])\.(?=\d)", "0.", re.sub(r"(\d)\.(?=[,}\] \n])", r"\1.0", text)))),
        "odd-escapes": ("takes an unknown escape for the letter behind it",
            lenient(lambda text: re.sub(r"\\([^\"\\/bfnrtu])", r"\1", text))),
        "hexadecimal": ("reads hexadecimal numbers",
            lenient(lambda text: re.sub(r"\b0[xX]([0-9a-fA-F]+)\b", lambda number: str(int(number[1], 16)), text))),
        "unicode-space": ("strips whatever Unicode calls a space from a line", lenient(str.strip)),
    },
    "JRP-VERSION": {
        "any-version": ("does not look at `jsonrpc` where it is there", version(lambda message: "jsonrpc" in message)),
        "version-optional": ("takes a message without `jsonrpc`", version(lambda message: "jsonrpc" not in message)),
        "version-as-number": ("takes the number 2.0 for the version",
            version(lambda message: message.get("jsonrpc") == Number("2"))),
        "version-by-prefix": ("takes any version that begins with 2",
            version(lambda message: str(message.get("jsonrpc")).startswith("2"))),
        "version-one": ("takes the version 1.0, too", version(lambda message: message.get("jsonrpc") == "1.0")),
        "version-null": ("takes a null version for a missing one, and lets it pass",
            version(lambda message: message.get("jsonrpc", DUE) is None)),
        "version-without-case": ("finds `jsonrpc` in any case", version(without_case)),
        "version-on-answers-only": ("does not look at the version of a request", version(lambda message: "method" in message)),
        "version-on-requests-only": ("does not look at the version of an answer",
            version(lambda message: "method" not in message)),
        "traces-sniffed": ("takes lines with `raw` for those of a trace, and passes over its other lines",
            on_line(sniffed, ("jsonrpc",))),
    },
    "JRP-SHAPE": {
        "methods-printed": ("prints a method that is a number, true or false",
            printed(lambda method: isinstance(method, (Number, bool)))),
        "object-methods-printed": ("prints a method that is an object or an array",
            printed(lambda method: isinstance(method, (dict, list)))),
        "null-method-dropped": ("passes over a message whose method is null",
            shape(lambda message: message.get("method", "") is None, lambda message: DROPPED)),
        "result-wins-in-lines": ("takes the result of a message that has an error, too, only in lines",
            shape(lambda message: "result" in message, lambda message: without(message, "error"), "jsonrpc")),
        "null-error-wins": ("takes a null error beside a result for the answer",
            shape(lambda message: "result" in message and message.get("error", 0) is None, lambda message: without(message, "result"))),
        "null-error-is-none-in-har": (
            "takes a null error beside a result for none, only in HAR",
            shape(
                lambda message: "result" in message and message.get("error", 0) is None,
                lambda message: without(message, "error"),
                "har",
            ),
        ),
        "method-wins-in-lines": ("takes a message with a method and a result for a request, only in lines",
            shape(lambda message: "method" in message, lambda message: without(message, "result", "error"), "jsonrpc")),
        "empty-ones-dropped-in-lines": ("passes over a message with neither method nor answer, only in lines",
            shape(lambda message: not is_message_like(message), lambda message: DROPPED, "jsonrpc")),
        "empty-method-dropped": ("passes over a message whose method is empty",
            on_message(lambda message: DROPPED if message.get("method") == "" else None)),
        "odd-folded-passed": ("passes over a folded answer that is not a message", on_exported(odd_folded)),
    },
    "INS-SHAPE": {
        "no-events-is-empty": ("takes an object without `events` for an empty session",
            empty_list(lambda whole: isinstance(whole, dict) and "events" not in whole)),
        "scalars-are-empty": ("takes null or a string for an empty session",
            empty_list(lambda whole: whole is None or type(whole) is str)),
        "null-events-are-empty": ("takes null `events` for an empty session",
            empty_list(lambda whole: isinstance(whole, dict) and whole.get("events", 0) is None)),
        "events-by-key": (
            "takes the values of an object for the events",
            on_document(
                lambda whole: (
                    list(whole["events"].values()) if isinstance(whole, dict) and isinstance(whole.get("events"), dict) else None
                )
            ).within("inspector"),
        ),
        "one-message-is-a-list": ("takes a single message for a list of one",
            on_document(lambda whole: [whole] if isinstance(whole, dict) and "jsonrpc" in whole else None).within("inspector")),
        "arrays-only": ("reads no object with `events`", no_document(lambda whole: isinstance(whole, dict))),
        "objects-only": ("reads no bare array", no_document(lambda whole: type(whole) is list)),
        "events-only": ("rejects an object with other members beside `events`",
            no_document(lambda whole: isinstance(whole, dict) and len(whole) > 1)),
        "odd-items-passed": ("passes over items that are not objects",
            on_item(lambda item: None if isinstance(item, dict) else [])),
        "null-items-passed": ("passes over items that are null", on_item(lambda item: [] if item is None else None)),
        "arrays-among-items": ("reads an array among the items, one message after the other",
            on_item(lambda item: item if type(item) is list and item else None)),
    },
    "INS-EXPORT": {
        "answers-not-unfolded": ("loses the answer that is folded into an entry",
            on_exported(lambda item: without(item, "response"))),
        "false-answers-absent": ("takes false for an answer that is not there",
            on_exported(lambda item: without(item, "response") if item.get("response") is False else None)),
        "answers-behind-requests": ("puts a folded answer right behind its request",
            on_exported(lambda item: without(item, "duration"))),
        "durations-cut": ("drops the fraction of a `duration`", changed(cut, "duration")),
        "durations-rounded-up": ("rounds a `duration` up", changed(rounded, "duration")),
        "exports-in-file-order": ("leaves the entries of an export in file order", on_item(bare)),
        "exports-newest-first": ("orders an export from its end, since the Inspector shows the newest first",
            patch(inspector, "in_order_of_time", lambda honest: lambda timed: honest(timed)[::-1])),
        "ties-from-the-end": ("orders what has equal times from the end of the file",
            patch(inspector, "in_order_of_time", lambda honest: lambda timed: honest(list(timed)[::-1]))),
        "no-origins": ("does not look at `origin`", on_exported(lambda item: without(item, "origin"))),
        "all-from-the-client": ("takes every request of an export for the client's",
            on_exported(lambda item: {**item, "origin": "client"})),
        "folded-from-the-asker": ("takes a folded answer for the asker's own",
            instead(inspector, "OTHER_SIDE", {side: side for side in OTHER_SIDE})),
        "folded-by-place": ("binds a folded answer to the request that it is folded into, whatever its id is",
            on_exported(folded_id)),
        "zones-dropped": ("does not look at the zone of a timestamp", changed(without_zone, "timestamp")),
        "timestamps-of-text-only": ("takes a timestamp in milliseconds for 0",
            changed(lambda time: Number("0") if type(time) is Number else None, "timestamp")),
        "timestamps-of-numbers-only": ("does not read an ISO timestamp",
            on_exported(lambda item: without(item, "timestamp") if type(item.get("timestamp")) is str else None)),
        "whole-seconds": ("drops the fraction of a second of a timestamp", changed(whole_seconds, "timestamp")),
        "bare-among-entries-dropped": ("drops bare messages among the entries of an export",
            timed_lost(lambda entry, export: export and not entry)),
        "entries-first": (
            "takes a message with a member `message` for an entry",
            on_item(
                lambda item: (
                    [without(item, "jsonrpc")]
                    if isinstance(item, dict) and isinstance(item.get("message"), dict) and "jsonrpc" in item
                    else None
                )
            ),
        ),
        "untimed-first": ("puts what has no time before everything else",
            on_exported(lambda item: None if "timestamp" in item else {**item, "timestamp": Number("0")})),
    },
}
