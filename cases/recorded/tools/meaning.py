"""Derives meaning.json of recorded cases from what was on the wire, one event a line.

It reads the mcp-replay trace (the order in which messages passed), or the HAR file where a case has nothing else. It
shares no code with the reader under test, and keeps the text of every number. It reads only what our own recorders
write: it is not an importer, and what it does not understand it refuses.

    python3 meaning.py CASE...        writes CASE/meaning.json
"""

import json
import sys
from pathlib import Path


class Number(str):
    """A JSON number, as it was written."""


def once(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member stands twice")
    return members


def load(text):
    return json.loads(text, parse_int=Number, parse_float=Number, object_pairs_hook=once)


def dump(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {dump(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def from_trace(text):
    """(direction, message) in line order; the first and the last line are not messages."""
    lines = [load(line) for line in text.split("\n") if line]
    assert lines[0]["type"] == "meta" and lines[-1]["type"] == "end"
    return [(line["dir"], line["raw"]) for line in lines[1:-1]]


def from_har(text):
    """(direction, message) by exchange: the posted message, then those of the answer, in body order."""
    entries = load(text)["log"]["entries"]
    messages = []
    for entry in sorted(entries, key=lambda e: e["startedDateTime"]):
        posted = entry["request"].get("postData", {}).get("text", "")
        messages += [("in", m) for m in [message(posted)] if m]
        content = entry["response"]["content"]
        if content["mimeType"].startswith("text/event-stream"):
            found = [message(data) for name, data in stream(content["text"]) if name in ("", "message")]
        else:
            found = [message(content["text"])]
        messages += [("out", m) for m in found if m]
    return messages


def message(text):
    """The JSON-RPC message that a body or an event's data holds, if it holds one."""
    try:
        value = load(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "jsonrpc" in value else None


def stream(text):
    """(name, data) of every finished event of an event stream."""
    for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")[:-1]:
        fields = [line.partition(":")[::2] for line in block.split("\n")]
        value = lambda key: [v.removeprefix(" ") for k, v in fields if k == key]
        yield "".join(value("event")[-1:]), "\n".join(value("data"))


def identity(message):
    """The correlation id: a string as it is, an integer by its digits, else none."""
    held = message.get("id")
    if held is None or isinstance(held, str) and not isinstance(held, Number):
        return held
    if isinstance(held, Number) and held.lstrip("-").isdigit():
        return str(held)
    raise ValueError(f"an id that no recording should have: {held!r}")


def events(messages):
    found, waiting = [], {}
    for direction, m in messages:
        event, key = {}, identity(m)
        if "method" in m:
            call = m["method"] == "tools/call"
            event["kind"] = "tool_call" if call else "notification" if key is None else "request"
            if key is not None:
                event["id"] = key
                waiting.setdefault((direction, key), []).append(len(found))
            params = m.get("params", {})
            if call:
                event["tool"] = params["name"]
                event |= {"arguments": params["arguments"]} if "arguments" in params else {}
            else:
                event["method"] = m["method"]
                event |= {"params": params} if "params" in m else {}
        else:
            (outcome,) = {"result", "error"} & set(m)
            event["kind"] = outcome
            if key is not None:
                event["id"] = key
            asked = waiting.get(("out" if direction == "in" else "in", key), []) if key is not None else []
            event["answers"] = Number(asked.pop(0)) if asked else None
            event[outcome] = m[outcome]
        found.append(event)
    return found


def challenge(case):
    """The authorization-discovery summary of a 401 whose challenge names its metadata or a scope."""
    file = case / "har.har"
    for entry in load(file.read_text("utf-8"))["log"]["entries"] if file.exists() else []:
        if entry["response"]["status"] != "401":
            continue
        for header in entry["response"]["headers"]:
            if header["name"].lower() == "www-authenticate":
                return {"visible": True, "source_kind": "www_authenticate",
                        "resource_metadata_visible": "resource_metadata=" in header["value"],
                        "authorization_servers_visible": False, "scope_challenge_visible": "scope=" in header["value"]}
    return None


def main(cases):
    for case in map(Path, cases):
        trace = case / "mcp-replay.jsonl"
        messages = from_trace(trace.read_bytes().decode()) if trace.exists() else from_har((case / "har.har").read_bytes().decode())
        lines = ",\n".join("  " + dump(event) for event in events(messages))
        (case / "meaning.json").write_text(f'{{"events": [\n{lines}\n ],\n "authorization_discovery": {dump(challenge(case))}}}\n', "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
