"""A client that requests everything that a stdio server offers, page by page: client.py COMMAND [ARGUMENT…]

It requests those of the four listings for which the server declares the capability. Exit code 0: every answer came.
"""

import json
import subprocess
import sys

LISTINGS = [
    ("tools", "tools/list"),
    ("resources", "resources/list"),
    ("resources", "resources/templates/list"),
    ("prompts", "prompts/list"),
]


def main(command):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    asked = 0

    def say(**members):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **members}) + "\n")
        process.stdin.flush()

    def ask(method, **params):
        nonlocal asked
        asked += 1
        say(id=asked, method=method, params=params)
        for line in process.stdout:
            came = json.loads(line)
            if came.get("id") == asked and "method" not in came:
                return came["result"]
            if "id" in came:
                say(id=came["id"], error={"code": -32601, "message": "this client only lists"})
        raise SystemExit(f"{method} was not answered")

    peer = {"name": "surfaces", "version": "1.0.0"}
    capabilities = ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=peer)["capabilities"]
    say(method="notifications/initialized")
    for capability, method in LISTINGS:
        page = {} if capability in capabilities else None
        while page is not None:
            cursor = ask(method, **page).get("nextCursor")
            page = None if cursor is None else {"cursor": cursor}
    process.stdin.close()
    # Not every server ends with its input; the recorder passes the signal on.
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(20)


if __name__ == "__main__":
    main(sys.argv[1:])
