"""Reads every transcript of recorded cases back and says where one tells another session than meaning.json.

It also holds the texts against each other byte by byte: a message must stand in each file as it stood on the wire. Its
readers are cut to what our own recorders write; it shares the binding of answers with meaning.py and nothing else.

    python3 read_back.py CASE...      exit 1 where something differs
"""

import sys
from pathlib import Path

from meaning import Number, dump, events, from_har, from_trace, load, message


def plain(value):
    """A value to compare: meaning.json was written with exact number texts, so texts are compared."""
    return dump(value)


def from_lines(text):
    return [(None, load(line)) for line in text.split("\n") if line]


def from_array(text):
    return [(None, m) for m in load(text)]


def from_envelope(text):
    messages = []
    for entry in load(text)["entries"]:
        if "request" in entry:
            messages.append(("in", entry["request"]))
        elif "response" in entry:
            messages.append(("out", entry["response"]))
        elif entry["sse"].get("event", "message") == "message":
            data = entry["sse"]["data"]
            data = message(data) if isinstance(data, str) else data
            messages += [("out", data)] if data else []
    return messages


READERS = {"jsonrpc.jsonl": from_lines, "inspector.json": from_array, "streamable-http.json": from_envelope,
           "http-sse.json": from_envelope, "mcp-replay.jsonl": from_trace, "har.har": from_har}


def flat_events(messages):
    """Without directions: an answer goes to the oldest open request with its id, from either side."""
    return events([("in" if "method" in m else "out", m) for _, m in messages])


def main(cases):
    faults = 0
    for case in map(Path, cases):
        expected = [plain(e) for e in load((case / "meaning.json").read_bytes().decode())["events"]]
        for name, reader in READERS.items():
            file = case / name
            if not file.exists():
                continue
            text = file.read_bytes().decode()
            messages = reader(text)
            found = flat_events(messages) if name in ("jsonrpc.jsonl", "inspector.json") else events(messages)
            same = [plain(e) for e in found] == expected
            faults += not same
            print(f"{'same' if same else 'OTHER'}  {len(found):3} events  {file}")
        faults += verbatim(case)
    return 1 if faults else 0


def verbatim(case):
    """Every message text of the trace stands, byte by byte, in every other file that holds messages as JSON or as strings."""
    trace = case / "mcp-replay.jsonl"
    if not trace.exists():
        return 0
    lines = trace.read_bytes().decode().split("\n")
    raws = [line[line.index('"raw":') + 6:-1] for line in lines if '"dir":' in line.split('"raw":')[0]]
    faults = 0
    for name in READERS:
        file = case / name
        if not file.exists() or name == "mcp-replay.jsonl":
            continue
        text = file.read_bytes().decode()
        strings = "\n".join(all_strings(load(text))) if name in ("har.har", "http-sse.json") else ""
        for raw in raws:
            if raw not in text and raw not in strings:
                faults += 1
                print(f"not verbatim in {file}: {raw[:80]}")
    return faults


def all_strings(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from all_strings(item)
    elif isinstance(value, str) and not isinstance(value, Number):
        yield value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
