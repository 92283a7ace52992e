"""What looks like the right message and is its neighbour: another spelling, type, place or size."""

from collections import deque

from contract import Session
from faults.seams import (
    DROPPED,
    deep,
    member_of,
    numbers,
    on_event,
    on_exchange,
    on_message,
    on_raw_lines,
    on_trace_line,
    patch,
    rejects,
    strings,
    without,
)
from formats import har, mcp_replay
from jsontext import Number


def on_ids(edit):
    """Each id that is text is another one."""
    return on_message(lambda message: {**message, "id": edit(message["id"])} if type(message.get("id")) is str else None)


def on_errors(edit):
    """Each error that is an object is another one."""
    return on_event(
        lambda event: (
            event | {"error": edit(event["error"])} if event["kind"] == "error" and isinstance(event["error"], dict) else None
        )
    )


def version(of):
    def edit(message):
        agreed = member_of(message, "result", "protocolVersion")
        return {**message, "result": {**message["result"], "protocolVersion": of(agreed)}} if type(agreed) is str else None

    return on_message(edit)


def waits_at_most(count):
    def make(honest):
        def add(self, *given):
            honest(self, *given)
            while len(self._unanswered) > count:
                del self._unanswered[next(iter(self._unanswered))]

        return add

    return patch(Session, "_add", make)


def waits_under_one_id(count):
    def make(honest):
        def add(self, *given):
            honest(self, *given)
            for key, waiting in self._unanswered.items():
                if len(waiting) > count:
                    self._unanswered[key] = deque(waiting, count)

        return add

    return patch(Session, "_add", make)


def handshakes_give_back(honest):
    def add(self, message, *given):
        if isinstance(message, dict) and message.get("method") == "initialize":
            self._tool_call_ids.clear()
        honest(self, message, *given)

    return add


def refusals_forget(honest):
    def answering(self, message, *given):
        event = honest(self, message, *given)
        if (
            event["kind"] == "error"
            and event["answers"] is not None
            and self.events[event["answers"]].get("method") == "initialize"
        ):
            self._revision = None
        return event

    return answering


def on_dir(edit):
    return on_trace_line(lambda line: {**line, "dir": edit(line["dir"])} if type(line.get("dir")) is str else None)


def has_message(line):
    return line.get("dir") in ("in", "out") and "raw" in line


def also_turned_away(*statuses):
    return patch(har, "_TURNED_AWAY", lambda honest: [*honest, *map(Number, statuses)])


FAULTS = {
    "EQ-OUTCOME": {
        "error-code-filled-in": (
            "gives an error without a code the code 0",
            on_errors(lambda error: error if "code" in error else {**error, "code": Number("0")}),
        ),
        "error-code-of-32-bits": (
            "cuts the code of an error to 32 bits",
            on_errors(
                lambda error: (
                    {
                        **error,
                        "code": numbers(
                            lambda text: Number(str((int(text) + 2**31) % 2**32 - 2**31)) if text.lstrip("-").isdigit() else None
                        )(error.get("code")),
                    }
                    if "code" in error
                    else error
                )
            ),
        ),
        "error-message-trimmed": (
            "trims the message of an error",
            on_errors(
                lambda error: {**error, "message": error["message"].strip()} if type(error.get("message")) is str else error
            ),
        ),
        "error-code-must-be-number": (
            "rejects an error whose code is not a number",
            rejects(lambda message: isinstance(message.get("error"), dict) and type(message["error"].get("code")) is not Number),
        ),
        "mojibake-mended": (
            "mends what looks like UTF-8 read as Latin-1",
            on_event(
                lambda event: {
                    name: deep(value, strings(lambda text: text.replace("Ã©", "é"))) for name, value in event.items()
                }
            ),
        ),
    },
    "EQ-ARGS": {
        "integers-of-128-bits": (
            "keeps the lowest 128 bits of an integer",
            on_event(
                lambda event: (
                    {
                        name: deep(
                            value,
                            numbers(
                                lambda text: (
                                    Number(str((int(text) + 2**127) % 2**128 - 2**127)) if text.lstrip("-").isdigit() else None
                                )
                            ),
                        )
                        for name, value in event.items()
                        if name != "answers"
                    }
                    | ({"answers": event["answers"]} if "answers" in event else {})
                )
            ),
        ),
        "input-for-arguments": (
            "takes the member `input` for the arguments",
            on_message(
                lambda message: (
                    {**message, "params": {"arguments": message["params"]["input"], **message["params"]}}
                    if message.get("method") == "tools/call" and member_of(message, "params", "input") is not None
                    else None
                )
            ),
        ),
    },
    "EQ-TOOL": {
        "tool-of-128": (
            "cuts the tool's name to 128 characters",
            on_event(lambda event: event | {"tool": event["tool"][:128]} if type(event.get("tool")) is str else None),
        ),
        "tool-behind-colons": (
            "takes what stands behind the last colon for the tool's name",
            on_event(lambda event: event | {"tool": event["tool"].split(":")[-1]} if type(event.get("tool")) is str else None),
        ),
    },
    "EQ-COUNT": {
        "equal-exchanges-once": (
            "reads two equal exchanges once",
            patch(
                har,
                "_timed",
                lambda honest: (
                    lambda entries: honest(
                        [entry for index, entry in enumerate(entries) if index == 0 or entry != entries[index - 1]]
                    )
                ),
            ),
        ),
        "params-empty-list-dropped": (
            "drops params that are an empty array",
            on_event(lambda event: without(event, "params") if event.get("params") == [] else None),
        ),
    },
    "EQ-BATCH": {
        "batches-of-2024": ("reads batches of 2024-11-05", version(lambda of: "2025-03-26" if of == "2024-11-05" else of)),
        "batches-of-november": ("reads batches of 2025-11-25", version(lambda of: "2025-03-26" if of == "2025-11-25" else of)),
        "batches-of-2026": ("reads batches of 2026-07-28", version(lambda of: "2025-03-26" if of == "2026-07-28" else of)),
        "refusal-forgets-the-revision": (
            "forgets the revision where a later handshake is refused",
            patch(Session, "_answering", refusals_forget),
        ),
    },
    "EQ-CONTEXT": {
        "first-page-only": (
            "reads only the exchanges of the first page",
            patch(
                har,
                "_timed",
                lambda honest: (
                    lambda entries: honest(
                        [
                            entry
                            for entry in entries
                            if member_of(entry, "pageref")
                            in (
                                None,
                                next(
                                    (page for page in (member_of(other, "pageref") for other in entries) if page is not None),
                                    None,
                                ),
                            )
                        ]
                    )
                ),
            ),
        ),
        "cached-dropped": (
            "drops exchanges that the cache answered",
            on_exchange(lambda exchange: DROPPED if "_fromCache" in exchange else None),
        ),
    },
    "ID-STRING": {
        "id-backslashes": ("drops the backslashes of an id", on_ids(lambda id_: id_.replace("\\", ""))),
        "id-other-digits": (
            "takes other decimal digits in an id for ASCII",
            on_ids(lambda id_: str(int(id_)) if id_.isdecimal() and not id_.isascii() else id_),
        ),
        "id-in-hexadecimal": (
            "reads an id in hexadecimal as a number",
            on_ids(lambda id_: str(int(id_, 16)) if id_[:2] == "0x" else id_),
        ),
        "id-uuid-folded": (
            "folds the case of an id that is a UUID",
            on_ids(lambda id_: id_.lower() if id_.count("-") == 4 else id_),
        ),
    },
    "ID-REJECT": {
        "id-out-of-an-array": (
            "takes the one string out of an id that is an array",
            on_message(
                lambda message: (
                    {**message, "id": message["id"][0]}
                    if type(message.get("id")) is list and len(message["id"]) == 1 and type(message["id"][0]) is str
                    else None
                )
            ),
        ),
    },
    "COR-ANY": {"a-thousand-wait": ("forgets the oldest of more than 1,000 ids that wait", waits_at_most(1000))},
    "COR-FIRST": {"eight-wait": ("forgets the oldest of more than eight requests under one id", waits_under_one_id(8))},
    "COR-DUPLICATE": {
        "ids-back-at-a-handshake": (
            "lets a later session use the ids of tool calls again",
            patch(Session, "_add", handshakes_give_back),
        ),
        "duplicate-empty-ids": (
            "takes no tool call with an empty id for a duplicate",
            patch(Session, "_is_taken", lambda honest: lambda self, id_, key: bool(id_) and honest(self, id_, key)),
        ),
        "busy-turns-away": (
            "lets a call that the server was too busy for come again",
            also_turned_away("408", "429", "502", "503"),
        ),
        "broken-off-comes-again": ("lets a call whose exchange broke off come again", also_turned_away("0")),
        "missing-comes-again": (
            "lets a call under 400, 404, 407, 409 or 500 come again",
            also_turned_away("400", "404", "407", "409", "500"),
        ),
        "accepted-comes-again": ("lets a call under 202, 300 or 304 come again", also_turned_away("202", "300", "304")),
    },
    "JRP-LINE": {
        "form-feed-is-blank": (
            "takes a line with a form feed for a blank one",
            on_raw_lines(lambda line: line if line.strip(b" \t\r") == line.strip() or line.strip() else b""),
        ),
        "record-separators": ("passes over record separators", on_raw_lines(lambda line: line.lstrip(b"\x1e"))),
    },
    "RPL-VERSION": {
        "version-of-any-type": (
            "takes true, 0 or an array for version 1",
            patch(
                mcp_replay,
                "_check_meta",
                lambda honest: (
                    lambda line, place: honest(
                        {**line, "v": Number("1")}
                        if isinstance(line, dict) and (type(line.get("v")) in (bool, list) or line.get("v") == Number("0"))
                        else line,
                        place,
                    )
                ),
            ),
        ),
    },
    "RPL-DIR": {
        "dirs-of-streams": (
            "reads lines of stdin, stdout and stderr as messages",
            on_dir(lambda way: {"stdin": "in", "stdout": "out", "stderr": "out"}.get(way, way)),
        ),
        "dirs-of-peers": (
            "reads lines of client and server as messages",
            on_dir(lambda way: {"client": "in", "server": "out"}.get(way, way)),
        ),
        "dirs-trimmed": ("trims `dir`", on_dir(str.strip)),
    },
    "RPL-MESSAGE": {
        "typed-lines-dropped": (
            "drops a message line that has a type",
            on_trace_line(lambda line: DROPPED if has_message(line) and line.get("type", "end") not in ("meta", "end") else None),
        ),
        "id-beside-raw-counts": (
            "takes the id that stands beside `raw` where `raw` has none",
            on_trace_line(
                lambda line: (
                    {**line, "raw": {**line["raw"], "id": line["id"]}}
                    if has_message(line) and "id" in line and isinstance(line["raw"], dict) and "id" not in line["raw"]
                    else None
                )
            ),
        ),
        "line-is-the-message": (
            "takes a line without `raw` for the message",
            on_trace_line(
                lambda line: {**line, "raw": without(line, "dir")} if "jsonrpc" in line and "raw" not in line else None
            ),
        ),
    },
    "RPL-ORDER": {
        "by-seq": (
            "takes the lines in the order of `seq`",
            patch(
                mcp_replay,
                "lines",
                lambda honest: (
                    lambda file: iter(
                        sorted(
                            honest(file),
                            key=lambda pair: float(seq.text) if type(seq := member_of(pair[1], "seq")) is Number else 0,
                        )
                    )
                ),
            ),
        ),
    },
    "SRV-BYTES": {
        "null-lines-skipped": (
            "passes over a line of a trace that is null",
            patch(mcp_replay, "lines", lambda honest: lambda file: (pair for pair in honest(file) if pair[1] is not None)),
        )
    },
}
