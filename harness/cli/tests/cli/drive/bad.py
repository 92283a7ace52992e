"""Recorders that go wrong on purpose: bad.py HOW OUT -- SERVER...

Knows one fault for each name; `faithful` has none. Bytes pass line by line, and each line that is JSON becomes a line of an
mcp-replay trace.
"""

import json
import os
import subprocess
import sys
import threading
import time

how, out, server = sys.argv[1], sys.argv[2], sys.argv[4:]
counted = {"in": 0, "out": 0}
held = []
lock = threading.Lock()


def stamp(shift=0.0):
    now = time.time() + shift
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + ".%03dZ" % int(now * 1000 % 1000)


def floats(text):
    """As a program in a language of doubles prints it again."""
    return json.dumps(json.loads(text, parse_int=lambda digits: int(float(digits))))


def note(way, text):
    with lock:
        counted[way] += 1
        count = sum(counted.values())
        if how == "drop" and count % 5 == 0:
            return
        raw = floats(text) if how in ("float", "round") else text
        raw = raw.replace("Infinity", "null") if how == "round" else raw
        entry = lambda: '{"t":"%s","dir":"%s","raw":%s}\n' % (stamp(-30 if how == "early" else 0), way, raw)
        if how == "late":
            held.append((way, raw))
        elif how == "merge" and way == "out" and count % 4 == 0:
            held.append(raw)
        elif how == "merge" and held and way == "out":
            file.write('{"t":"%s","dir":"out","raw":[%s,%s]}\n' % (stamp(), held.pop(), raw))
        elif how == "swap" and way == "in":
            held.append(entry())
        elif how == "swap" and held and way == "out":
            file.write(entry() + "".join(held))
            held.clear()
        else:
            file.write(entry())
            if how == "twice" and count == 3:
                file.write(entry())
        if how != "lazy":
            file.flush()


def pump(way, source, target):
    for line in iter(source.readline, b""):
        if how == "hold" and way == "out" and counted["out"] == 0:
            time.sleep(1.2)
        if how == "crash" and way == "out" and counted["out"] == 1:
            sys.stderr.write("out of order\n")
            sys.stderr.flush()
            os._exit(70)
        if how == "reprint":
            line = json.dumps(json.loads(line)).encode() + b"\n"
        try:
            note(way, line.decode().rstrip("\n"))
        except ValueError:
            pass
        if how == "swallow" and way == "in" and counted["in"] == 2:
            continue
        target.write(line)
        target.flush()
    if how == "leave" and way == "in":
        os._exit(0)
    if how != "keep-open":
        target.close()


if how == "refuse":
    sys.exit("bad.py: no licence was found")
file = open(os.devnull if how in ("never", "fifo") else out, "w")
if how == "fifo":
    os.mkfifo(out)
if how == "never":
    os.path.exists(out) and os.remove(out)
started = stamp()
meta = {"v": 1, "type": "meta", "startedAt": started, "label": "bad", "command": server}
if how == "garbage":
    file.write("%%% binary \x00 nonsense\n")
else:
    file.write(json.dumps(meta) + "\n")
if how != "lazy":
    file.flush()
if how == "litter":
    subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
if how == "flood-stderr":
    for _ in range(2):
        subprocess.Popen(["yes", "a line of a child that never ends"], stdout=sys.stderr)
if how == "flood":
    # In long lines: it is the bytes that have to be bounded, and a line takes a while to look at.
    while True:
        os.write(1, b"no message at all " * 4096 + b"\n")
child = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
asking = threading.Thread(target=pump, args=("in", sys.stdin.buffer, child.stdin), daemon=True)
asking.start()
try:
    pump("out", child.stdout, sys.stdout.buffer)
except ValueError:
    pass
code = child.wait()
if how == "late":
    for way, raw in held:
        file.write('{"t":"%s","dir":"%s","raw":%s}\n' % (stamp(), way, raw))
if how == "hang" or (how == "hang-at-values" and "/values/" in out):
    time.sleep(600)
file.write('{"t":"%s","type":"end","exitCode":%d,"durationMs":1}\n' % (stamp(), code))
file.close()
os._exit(0 if how == "swallow-exit" else code)
