"""A one-shot reader of jsonrpc lines that goes wrong in the named way once a session has more than four calls."""
import json
import os
import sys
import time

how, path = sys.argv[1:]
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
    # Long beside the start of a process, on a busy machine too.
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
print(json.dumps({"meaning": {"events": events, "authorization_discovery": None}}))
