"""An importer that goes wrong in the named way, whose answers are otherwise those of the Python reader.

    faulty MODE [NOTE]          an adapter; NOTE is a file for what some modes leave or need
    faulty MODE FILE FORMAT     a one-shot command

A mode is a word of `behave` or `faults` below; `big:MODE` is one that begins where a session has more than four calls.
"""

import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.realpath(__file__).rpartition("/harness/")[0], "adapters/python"))
from concord_reader import FORMATS, Rejection, read_file  # noqa: E402
from jsontext import dump, parse  # noqa: E402

MODE, REST = sys.argv[1], sys.argv[2:]
NAME, _, DETAIL = MODE.removeprefix("big:").partition(":")
NOTE = REST[0] if len(REST) == 1 else os.devnull
HELLO = {"protocol": 1, "name": "faulty", "version": "1.2.3", "formats": ["jsonrpc", "inspector"], "level": "events"}
HELLOS = {
    "other-protocol": {"protocol": 2},
    "unknown-format": {"formats": ["jsonrpc", "pcap"]},
    "unknown-level": {"level": "tools"},
    "typed-ids": {"dialect": "typed-ids"},
    "an-odd-dialect": {"dialect": "typd-ids"},
    "no-version": {"version": None},
    "calls": {"level": "calls"},
    "one-format": {"formats": ["jsonrpc"]},
    "identifies": {"formats": ["har", "mcp-replay", "http-sse"], "identify": True},
    "misidentifies": {"formats": ["har", "mcp-replay", "http-sse"], "identify": True},
    "every-format": {"formats": FORMATS},
}


def write(text):
    """Who is killed while it talks has nobody to tell."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        os._exit(9)


def say(*lines):
    """All at once."""
    write("".join(line + "\n" for line in lines))


def die(words):
    print(words, file=sys.stderr, flush=True)
    os._exit(7)


def note(text, mode="w"):
    with open(NOTE, mode) as file:
        file.write(text)


def projected(events):
    """The calls of a meaning, each with its outcome."""
    outcomes = {}
    for event in events:
        for kind in ("result", "error"):
            if kind in event and event.get("answers") is not None:
                outcomes.setdefault(str(getattr(event["answers"], "text", event["answers"])), {kind: event[kind]})
    calls = ((at, event) for at, event in enumerate(events) if event["kind"] == "tool_call")
    names = ("tool", "arguments")
    return [{n: it[n] for n in names if n in it} | {"outcome": outcomes.get(str(at))} for at, it in calls]


def as_double(token):
    """A number of a JSON text as a double has it; a string stays."""
    import decimal

    text = token[0]
    if text.startswith('"') or float(text) in (float("inf"), float("-inf")):
        return text
    double = decimal.Decimal(float(text)) if text.lstrip("-").isdigit() else decimal.Decimal(repr(float(text)))
    return text if double == decimal.Decimal(text) else str(double)


def faults(name, meaning):
    """The meaning with the fault of this name."""
    events = meaning["events"]
    if name == "loses":
        events = events[:-1]
    elif name == "changes":
        events = [{"kind": "notification", "method": str(os.getpid())}]
    elif name == "zero-is-none":
        zero = lambda event: event.get("id") == "0" and event["kind"] in ("request", "tool_call")
        events = [{"kind": "notification", "method": "zero"} if zero(event) else event for event in events]
    elif name == "unbound":
        events = [event | {"answers": None} if "answers" in event else event for event in events]
    elif name == "rounds":
        rounded = lambda value: parse(re.sub(r'"(?:\\.|[^"\\])*"|-?[0-9][0-9.eE+-]*', as_double, dump(value)))
        events = [event | {"arguments": rounded(event["arguments"])} if "arguments" in event else event for event in events]
    return meaning | {"events": events}


def answer(path, format_name):
    fault = NAME if NAME not in ("fault", "fault-or-dies", "sabotage") else DETAIL
    bytes_ = open(path, "rb").read()
    if NAME == "dies-on" and DETAIL.encode() in bytes_ or NAME == "fault-or-dies" and bytes_.count(b'"jsonrpc"') < 3:
        sys.exit(7)
    if NAME == "once-wrong" and len(open(NOTE).read()) < 2:
        note("x", "a")
        return {"rejection": {"code": "limit", "message": "not today"}}
    if NAME == "sabotage" and os.path.isdir(NOTE):
        # What was a folder when the run began is a file when something is to be saved there.
        os.rmdir(NOTE)
        note("")
    if fault == "rejects":
        return {"rejection": {"code": "limit", "message": "not today"}}
    if NAME == "unsupported" and format_name == "inspector":
        return {"unsupported": "no inspector on Sundays"}
    if NAME == "reads-nothing":
        return {"unsupported": "not today"}
    if NAME == "agreeable":
        return {"meaning": {"events": []}}
    if format_name not in FORMATS:
        return {"unsupported": f"no {format_name}"}
    assert re.fullmatch(r"\w{16}\.dat", os.path.basename(path)) or MODE.startswith("big:"), f"{path} gives something away"
    try:
        meaning = read_file(path, format_name, "typed-ids" if NAME == "typed-ids" else "default").meaning
    except Rejection as rejection:
        return {"rejection": {"code": rejection.code, "message": f"{path}: {rejection}"}}
    calls = projected(meaning["events"])
    if MODE.startswith("big:"):
        if NAME == "square":
            # Processor time, which waiting for a busy machine is not.
            done = time.process_time() + 0.01 * len(calls) ** 2
            while time.process_time() < done:
                pass
        if len(calls) <= 4:
            return {"meaning": meaning}
        if NAME == "dies":
            os.abort()
        if NAME == "refuses":
            print("too long for me", file=sys.stderr)
            sys.exit(65)
    if NAME == "names-wanted" and any(call.get("tool") is None for call in calls):
        return {"rejection": {"message": "a call without a name"}}
    if NAME == "calls":
        return {"calls": calls, "authorization_discovery": None}
    if NAME == "hangs":
        time.sleep(600)
    return {"meaning": faults(fault, meaning)}


def identified(path):
    import subprocess

    run = subprocess.run(["mcp-concord", "identify", "--output", "json", path], stdout=subprocess.PIPE, text=True)
    if run.returncode:
        return '"rejection":{"message":"what is this?"}'
    found = run.stdout.replace('"stdio"', '"mixed"') if NAME == "misidentifies" else run.stdout
    return '"identification":' + found.replace("\n", "")


def behave(seq, whole, path, reads):
    """Answers, rightly or not."""
    line = dump({"seq": seq} | whole)
    if NAME == "twice":
        say(line, line)
    elif NAME == "twice-late":
        say(line)
        time.sleep(0.02)
        say(line)
        # Whenever it arrives, no answer of another number may follow it.
        time.sleep(600)
    elif NAME == "other-seq":
        say(dump({"seq": seq + 1} | whole))
    elif NAME == "no-seq":
        say(dump(whole))
    elif NAME == "no-members":
        say(dump({"seq": seq}))
    elif NAME == "talks":
        say("reading " + path)
    elif NAME == "closes-stdout":
        os.close(1)
        time.sleep(600)
    elif NAME == "closes-stdin":
        os.close(0)
        say(line)
        time.sleep(600)
    elif NAME == "gigabyte":
        while True:
            write("a" * (1 << 20))
    elif NAME == "forks-and-hangs":
        child = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
        note(str(child))
        os.waitpid(child, 0)
    elif NAME == "dies-on-third" and reads == 3:
        die(f"cannot digest {path}")
    elif NAME in ("pipes", "links"):
        # What an adapter puts into the folder of the transcripts: names that it may expect there.
        for number in range(100):
            name = os.path.join(os.path.dirname(path), f"{number:06}.dat")
            # The program may write one of them meanwhile.
            try:
                os.symlink(NOTE, name) if NAME == "links" else os.mkfifo(name)
            except FileExistsError:
                pass
        say(line)
    elif NAME == "hog":
        hoard = bytearray(b"\1") * (256 << 20)
        time.sleep(5)
        say(line if hoard.count(1) else "")
    else:
        time.sleep(0.12 if NAME == "slow" else 0)
        say(line)


def serve():
    if NAME == "dies-on-start":
        die("there is no moon today")
    if NAME == "hangs-on-start":
        time.sleep(600)
    if NAME == "banner":
        say("Welcome to the reader!")
    if NOTE != os.devnull and NAME not in ("once-wrong", "sabotage"):
        note(str(os.getpid()))
    every = NAME in ("fault", "fault-or-dies", "dies-on", "names-wanted", "once-wrong", "sabotage", "clean")
    hello = HELLO | HELLOS.get("every-format" if every else NAME, {}) | ({"formats": ["jsonrpc"]} if MODE.startswith("big:") else {})
    hello = json.dumps({name: value for name, value in hello.items() if value is not None})
    reads = 0
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["cmd"] == "start":
            banner = ["Welcome to the reader!"] if NAME == "banner-at-once" else []
            say(*banner, hello, *(['{"seq":1,"meaning":{"events":[]}}'] if NAME == "out-of-turn" else []))
        elif asked["cmd"] == "identify":
            say(f'{{"seq":{asked["seq"]},{identified(asked["path"])}}}')
        elif asked["cmd"] == "read":
            reads += 1
            behave(asked["seq"], answer(asked["path"], asked["format"]), asked["path"], reads)
        elif NAME != "ignores-stop":
            return
        else:
            break
    if NAME == "ignores-stop":
        time.sleep(600)


def once(path, format_name):
    whole = answer(path, format_name)
    rejected = "rejection" in whole
    if NAME == "wordless" and rejected:
        print("it is broken", file=sys.stderr)
    elif NAME == "wrong-code" and rejected:
        sys.exit(1)
    elif NAME != "mute":
        print(dump(whole))
    if rejected or NAME == "torn":
        sys.exit(65)


def main():
    once(*REST) if len(REST) == 2 else serve()
