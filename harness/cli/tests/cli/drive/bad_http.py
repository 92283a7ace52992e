"""Recorders over HTTP that go wrong on purpose: bad_http.py HOW OUT PORT ORIGIN

Knows one fault for each name; `faithful` has none. Exchanges become a HAR when Ctrl-C comes.
"""

import datetime
import http.client
import http.server
import json
import signal
import sys
import threading
import time
import urllib.parse

how, out, port, origin = sys.argv[1], sys.argv[2], int(sys.argv[3]), urllib.parse.urlsplit(sys.argv[4])
entries = []
LEFT_OUT = {"host", "connection", "transfer-encoding", "content-length", "keep-alive"}


class Recorder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def ask(self, body):
        upstream = http.client.HTTPConnection(origin.hostname, origin.port)
        host = origin.hostname if how == "host" else origin.netloc
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        upstream.putheader("Host", host)
        for name, value in self.headers.items():
            if name.lower() not in LEFT_OUT and not (how == "header" and name.lower() == "mcp-session-id"):
                upstream.putheader(name, value)
        if self.command == "POST":
            upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body)
        return upstream.getresponse()

    def forward(self):
        started, since = datetime.datetime.now(datetime.timezone.utc), time.monotonic()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if how == "reprint" and body:
            body = json.dumps(json.loads(body)).encode()
        if how == "twice" and self.command == "POST" and b"tools/call" in body:
            self.ask(body).read()
        answer = self.ask(body)
        status = 200 if how == "status" and answer.status == 202 else answer.status
        self.send_response_only(status)
        for name, value in answer.getheaders():
            if name.lower() not in LEFT_OUT:
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        kept = b""
        piece = answer.read() if how == "buffer" else answer.read1()
        while piece:
            kept += piece
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            piece = answer.read1()
        self.wfile.write(b"0\r\n\r\n")
        pairs = lambda headers: [{"name": name, "value": value} for name, value in headers]
        text = kept.decode("utf-8", "replace")
        if how == "cut":
            text = "".join(text.splitlines(keepends=True)[:3])
        entries.append(
            {
                "startedDateTime": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "time": (time.monotonic() - since) * 1000,
                "request": {
                    "method": self.command,
                    "url": "http://%s%s" % (origin.netloc, self.path),
                    "headers": pairs(self.headers.items()),
                    "postData": {"mimeType": "application/json", "text": body.decode("utf-8", "replace")},
                },
                "response": {
                    "status": answer.status,
                    "headers": pairs(answer.getheaders()),
                    "content": {"mimeType": answer.getheader("Content-Type", ""), "text": text},
                },
            }
        )

    do_GET = do_POST = do_DELETE = forward


def end(*_):
    entries.sort(key=lambda entry: entry["startedDateTime"])
    with open(out, "w") as file:
        json.dump({"log": {"version": "1.2", "creator": {"name": "bad", "version": "0"}, "entries": entries}}, file)
    server.shutdown()


server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Recorder)
server.daemon_threads = True
if how == "deaf":
    server.server_close()
signal.signal(signal.SIGINT, lambda *_: threading.Thread(target=end).start())
server.serve_forever()
