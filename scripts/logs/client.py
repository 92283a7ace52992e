"""A client that runs one session over stdio, line by line, through whatever is between it and the server.

    python client.py COMMAND [ARGUMENT…]

It answers the server's requests, and waits for each answer before it goes on, so that the order of messages is defined. Exit code 0: every answer came.
"""

import json
import subprocess
import sys


def main(command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def say(**members):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **members}, ensure_ascii=False) + "\n")
        process.stdin.flush()

    def ask(id, method, **params):
        say(id=id, method=method, params=params)
        for line in process.stdout:
            # agent-vcr greets on the standard output.
            if not line.startswith("{"):
                continue
            came = json.loads(line)
            if came.get("method") == "sampling/createMessage":
                content = {"type": "text", "text": "forty-two"}
                say(id=came["id"], result={"role": "assistant", "content": content, "model": "none"})
            elif came.get("id") == id:
                return came
        raise SystemExit(f"{method} was not answered")

    def call(id, tool, **arguments):
        return ask(id, "tools/call", name=tool, arguments=arguments)

    peer = {"name": "logs", "version": "1.0.0"}
    ask(0, "initialize", protocolVersion="2025-06-18", capabilities={"sampling": {}}, clientInfo=peer)
    say(method="notifications/initialized")
    ask(1, "tools/list")
    call(2, "add", a=9007199254740993, b=-1)
    ask(3, "tools/call", name="slow", arguments={"steps": 2}, _meta={"progressToken": "p"})
    call("four", "ask", question='Grüße, 世界 \u2028 \U0001f680 "yes": no # 1.0\n- null\n')
    assert call(5, "fail")["result"]["isError"]
    ask(6, "resources/read", uri="note://one")
    assert "error" in ask(7, "resources/read", uri="note://none")
    ask(8, "prompts/get", name="greet", arguments={"name": "0x1F"})
    ask(9, "ping")
    process.stdin.close()
    process.wait(20)


if __name__ == "__main__":
    main(sys.argv[1:])
