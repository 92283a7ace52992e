"""A reader of jsonrpc lines that goes wrong in the named way once a session has more than four calls.

One that is given a file answers for that file and ends; the others go on answering, as an adapter does.
"""
import json
import os
import sys
import time


def answer(how, path):
    events, calls = [], {}
    for line in open(path):
        message = json.loads(line)
        if "method" in message:
            params = message["params"]
            calls[message["id"]] = len(events)
            events.append({"kind": "tool_call", "id": str(message["id"]), "tool": params["name"], "arguments": params["arguments"]})
        else:
            answers = calls[message["id"]]
            events.append({"kind": "result", "id": str(message["id"]), "answers": answers, "result": message["result"]})
    many = len(calls) > 4
    if how == "square":
        # Long beside what a busy machine takes to let a process go on.
        time.sleep(0.02 * len(calls) ** 2)
    if many and how == "dies":
        os.abort()
    if many and how == "hangs":
        time.sleep(60)
    if many and how == "refuses":
        print("too long for me", file=sys.stderr)
        sys.exit(65)
    if many and how == "loses":
        events.pop()
    return {"meaning": {"events": events, "authorization_discovery": None}}


how, *paths = sys.argv[1:]
for path in paths:
    print(json.dumps(answer(how, path)))
if not paths:
    hello = {"protocol": 1, "name": how, "version": "1", "level": "events", "formats": ["jsonrpc"]}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["cmd"] == "stop":
            break
        said = hello if asked["cmd"] == "start" else {"seq": asked["seq"], **answer(how, asked["path"])}
        print(json.dumps(said), flush=True)
