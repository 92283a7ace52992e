"""Adapter protocol 1, a JSON object a line, for whatever importer stands behind it.

Knows the lines and when to stop; refuses to know what an answer says.
"""

import json

from jsontext import dump


def serve(hello, read, requests, answers):
    """Answers until it is asked to stop. `hello()` says who answers, `read(path, format)` gives an answer without its `seq`."""
    for line in requests:
        if not line.strip():
            continue
        request = json.loads(line)
        command = request.get("cmd")
        if command == "start":
            if request.get("protocol") != 1:
                raise SystemExit(f"this adapter speaks protocol 1, not {request.get('protocol')!r}")
            reply = hello()
        elif command == "read":
            reply = {"seq": request["seq"]} | read(request["path"], request["format"])
        elif command == "stop":
            return
        else:
            raise SystemExit(f"no such command: {command!r}")
        answers.write(dump(reply) + "\n")
        answers.flush()
