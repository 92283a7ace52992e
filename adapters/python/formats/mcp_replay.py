"""`mcp-replay` v1, both texts of it: a `meta` line, then lines of many kinds, of which `dir` in/out are messages.

A line with any other `dir` is somebody else's and is passed over, whatever it looks like; so are lines of an unfamiliar
`type` and all unknown members. Line order rules; `t` is not read. A missing `end` is fine: a killed recorder writes none.
"""

from contract import CLIENT, SERVER, Rejection, unambiguous
from formats.source import lines
from jsontext import Number

_SENDERS = {"in": CLIENT, "out": SERVER}
_META_MEMBERS = ("v", "type", "startedAt", "label", "command")


def read(file, session):
    rest = lines(file)
    place, first = next(rest, ("line 1", None))
    _check_meta(first, place)

    ended = False
    for place, line in rest:
        if not isinstance(line, dict):
            raise Rejection("not-a-message", place, "a line is a JSON object")
        unambiguous(line, place, ("dir", "raw", "type"))
        kind, direction = line.get("type"), line.get("dir")
        if kind == "meta":
            raise Rejection("second-meta", place, "a second meta line")
        elif kind == "end":
            ended = True
        elif type(direction) is str:
            if direction in _SENDERS:
                _read_message(line, _SENDERS[direction], ended, place, session)
        elif "raw" in line and "type" not in line:
            raise Rejection("missing-dir", place, "a raw without a dir that says who sent it")


def _check_meta(line, place):
    if not isinstance(line, dict) or line.get("type") != "meta":
        raise Rejection("missing-meta", place, "the first line is not a meta line")
    unambiguous(line, place, _META_MEMBERS)
    if "v" in line and line["v"] != Number("1"):
        raise Rejection("unsupported-version", place, "this reader knows version 1 of the format")
    for name in _META_MEMBERS:
        if name not in line:
            raise Rejection("missing-meta", place, f"the meta line has no {name}")


def _read_message(line, sender, ended, place, session):
    if "raw" not in line:
        raise Rejection("missing-raw", place, "a message line without raw")
    if ended:
        raise Rejection("after-end", place, "a message stands after the end line")
    if not isinstance(line["raw"], (dict, list)):
        raise Rejection("not-a-message", f"{place}, raw", "noise that is not a JSON-RPC message")
    session.add(line["raw"], sender, f"{place}, raw")
