"""A server over stdio for the tests of bridges: peer.py [DIALECT]. Each tool does what its name says."""

import json
import os
import sys

held = []


def say(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(text):
    return {"content": [{"type": "text", "text": text}]}


def call(id, params):
    name, token = params["name"], params.get("_meta", {}).get("progressToken")
    if name == "pid":
        say(id=id, result=text(str(os.getpid())))
    elif name == "progress":
        say(method="notifications/progress", params={"progressToken": token, "progress": 1})
        say(id=id, result=text("done"))
    elif name == "ask":
        # The answer comes with that of the client.
        held.append(id)
        say(id="s1", method="roots/list")
    elif name == "news":
        say(method="notifications/tools/list_changed")
        say(id=id, result=text("told"))
    elif name == "hold":
        held.append(id)
        say(method="notifications/message", params={"level": "info", "data": "held"})
    elif name == "release":
        say(id=held.pop(), result=text("released"))
        say(id=id, result=text("let go"))
    elif name == "noise":
        sys.stdout.write("this is not a message\n")
        say(id="nobody", result={})
        say(id=id, result=text("said"))
    elif name == "exit":
        sys.stderr.write("the server's last words\n")
        sys.stderr.flush()
        os._exit(3)


sys.stderr.write(f"the server is {os.getpid()}\n")
sys.stderr.flush()
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        if version == "refused":
            say(id=id, error={"code": -32602, "message": "no"})
            continue
        info = {"name": "peer", "version": "1"}
        capabilities = {"tools": {"listChanged": True}, "logging": {}}
        say(id=id, result={"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
    elif method == "tools/call":
        call(id, message["params"])
    elif method == "tools/list":
        names = ["pid", "progress", "ask", "news", "hold", "release", "noise", "exit"]
        say(id=id, result={"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    elif method == "ping":
        say(id=id, result={})
    elif method is None:
        say(id=held.pop(), result=text("answered with " + json.dumps(message.get("result"))))
sys.stderr.write("the server was let end\n")
