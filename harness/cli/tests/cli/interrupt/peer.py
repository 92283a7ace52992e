"""Programs under test that never come to an end by themselves: peer.py HOW READY [ARGUMENTS].

Each starts a child of its own, says in the file READY that it is there, and sleeps.
"""

import http.server
import os
import subprocess
import sys
import time

how, ready, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
HELLO = '{"protocol":1,"name":"peer","version":"1","level":"events","formats":["jsonrpc","har"]}'
ANSWER = '{"seq":%d,"unsupported":"nothing is read here"}'


def there():
    subprocess.Popen(["sleep", "600"])
    with open(ready, "a") as file:
        file.write("there\n")


if how == "adapter":
    # The first questions are answered, so that there is something to keep.
    asked = 0
    for line in sys.stdin:
        if '"start"' in line:
            print(HELLO, flush=True)
            continue
        asked += 1
        if asked > int(rest[0]):
            break
        print(ANSWER % asked, flush=True)
elif how == "listen":
    # A recorder over HTTP that takes connections and answers nothing.
    class Silent(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            time.sleep(600)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(rest[0])), Silent)
    there()
    server.serve_forever()
there()
time.sleep(600)
