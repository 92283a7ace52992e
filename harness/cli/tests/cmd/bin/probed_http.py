"""The server of `probed` over HTTP."""
import http.server
import json
import os
import queue
import sys
import time

from probed_server import FAULT, LOGINS, META, MODERN, PORT, VERSIONS, answer, faulty, note, state


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, address):
        """A client that hangs up is no fault of the server's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


class Http(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    open = {}
    events = {}

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        for name, value in ({"Content-Type": kind} if body and not faulty("type-missing") else {}).items():
            self.send_header(name, value)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        for number in range({"many-headers": 150, "endless-headers": 2000}.get(FAULT, 0)):
            self.send_header(f"X-{number}", "1")
        self.end_headers()
        if faulty("short-body") and b'"prompts": [' in body:
            body, self.close_connection = body[:-9], True
        if faulty("late-body"):
            time.sleep(0.1)
        if b"resumed" in body and FAULT in ("slow-body", "slow-events"):
            # Half of it, and a while later the rest.
            self.wfile.write(body[:len(body) - 9])
            time.sleep(0.3)
            body = body[-9:]
        self.wfile.write(body)
        if faulty("hangs-up"):
            # It may, and need not say so: the next request may be on its way by then.
            time.sleep(0.005)
            self.close_connection = True

    def refuse(self, status, why, code=-32000, asked=None):
        error = {"jsonrpc": "2.0", "error": {"code": code, "message": why}}
        error |= {"id": asked["id"]} if isinstance(asked, dict) and "id" in asked else {}
        self.reply(status, json.dumps(error).encode())

    def stream(self, queued, first=None, headers={}):
        """A stream that stays open: what is queued, until its reader is gone."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.close_connection = True
        try:
            self.wfile.write((first or ": open\n\n").encode())
            while (event := queued.get(timeout=30)) is not None:
                self.wfile.write(event.encode())
        except (OSError, queue.Empty):
            pass

    def at(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        session = self.headers.get("Mcp-Session-Id")
        if self.path.startswith("/message"):
            return self.legacy(json.loads(body))
        if self.path == "/sse":
            return self.reply(405)
        if faulty("redirects"):
            return self.reply(307, Location="http://127.0.0.1:1/mcp")
        if faulty("login"):
            return self.reply(401, WWW_Authenticate='Bearer realm="probed"')
        if FAULT in ("login-unnamed", "login-known"):
            return self.reply(401)
        if FAULT in LOGINS:
            return self.reply(401, WWW_Authenticate=f'Bearer scope="a", resource_metadata="{LOGINS[FAULT].replace("HERE", self.at())}"')
        if faulty("silent"):
            return time.sleep(60)
        if faulty("flood"):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(1 << 30))
            self.end_headers()
            for _ in range(1 << 14):
                self.wfile.write(b" " * (1 << 16))
            return
        try:
            message = json.loads(body)
        except ValueError:
            if faulty("body"):
                os._exit(4)
            return self.refuse(400, "no JSON", -32700)
        if "concord.example" in self.headers.get("Origin", "") and not faulty("origin"):
            return self.refuse({"origin-status": 400, "origin-fails": 500}.get(FAULT, 403), "foreign", asked=message)
        if "text/plain" in self.headers["Content-Type"] and not faulty("any-type"):
            return self.refuse(415, "not JSON", asked=message)
        if faulty("any-type") and "text/plain" in self.headers["Content-Type"]:
            os._exit(4)
        if "Accept" not in self.headers and faulty("accept-absent"):
            os._exit(4)
        if "text/event-stream" not in self.headers.get("Accept", "") and faulty("accept-json"):
            return self.reply(200, b"pong", "text/plain")
        if isinstance(message, list):
            if self.open.get(session) != "2025-03-26" and not faulty("batches"):
                return self.refuse(400, "no batches", -32600)
            if faulty("batch-type"):
                return self.reply(415, b"not JSON", "text/plain")
            if faulty("batch"):
                return self.refuse(400, "no batches", -32600)
            return self.reply(204) if faulty("batch-204") else self.reply(200, json.dumps([answer(one, []) for one in message]).encode())
        meta = message.get("params", {}).get("_meta", {})
        if META + "protocolVersion" in meta or self.headers.get("MCP-Protocol-Version") == MODERN:
            return self.modern(message, meta)
        first = message.get("method") == "initialize"
        if not first and session is None:
            return self.refuse(422 if faulty("sessionless") else 400, "no session", asked=message)
        if faulty("refuses-list") and message["method"] == "tools/list":
            return self.reply(503, b"busy", "text/plain")
        if faulty("never-again") and not first:
            answers = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "no session"}}
            return self.reply(400, json.dumps(answers).encode())
        if faulty("fails") and message["method"] in ("tools/call", "prompts/get"):
            return self.reply(500, b"<p>Internal Server Error</p>", "text/html")
        if faulty("refuses-calls") and message["method"] == "tools/call":
            return self.reply(401, WWW_Authenticate='Bearer realm="probed"')
        if faulty("refuses-calls-bare") and message["method"] == "tools/call":
            return self.reply(401)
        if faulty("no-answer") and message["method"] == "tools/call":
            return self.reply(200, b": nothing\n\n", "text/event-stream")
        if faulty("expires") and message["method"] == "prompts/get":
            state["got"] = state.get("got", 0) + 1
            if state["got"] == 1:
                del self.open[session]
        if not first and session not in self.open and not faulty("over"):
            return self.refuse(401 if faulty("over-login") else 404, "no such session", asked=message)
        if self.headers.get("MCP-Protocol-Version", "2025-11-25") not in VERSIONS and not faulty("header"):
            return self.refuse(400, "no such version", asked=message)
        if faulty("ping-fails") and message["method"] == "ping":
            return self.reply(500, b"Internal Server Error", "text/plain")
        if faulty("ping-accepted") and message["method"] == "ping":
            return self.reply(202)
        if faulty("ping-empty") and message["method"] == "ping":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            return self.wfile.write(b"0\r\n\r\n")
        said = []
        answers = answer(message, said)
        if answers is None and faulty("notification-error") and "concord" in message["method"]:
            return self.refuse(200, "no such method", -32601)
        if answers is None:
            return self.reply(200 if faulty("accepted") else 202)
        if faulty("polls") and message["method"] == "tools/call":
            # The answer is there when the client comes back for the fourth time.
            state[f"{answers['id']}-0"] = ["retry: 60\n\n"] * 3 + [f"id: {answers['id']}-1\ndata: {json.dumps(answers)}\n\n"]
            return self.reply(200, f"id: {answers['id']}-0\nretry: 60\ndata: \n\n".encode(), "text/event-stream")
        if faulty("not-a-number") and message["method"] == "tools/call" and "result" in answers:
            answers["result"]["_meta"] = {"x": float("nan")}
        headers = {}
        if first:
            state["sessions"] = state.get("sessions", 0) + 1
            headers = {"Mcp_Session_Id": f"6f0c2b7e-1d53-4a68-9c1e-{0 if faulty('session-again-given') else state['sessions']:012}"}
            if faulty("session-accents"):
                headers["Mcp_Session_Id"] = f"séance-{headers['Mcp_Session_Id']}"
            if faulty("once") and session is None and state.get("over"):
                answers["result"].pop("serverInfo", None)
            if "result" in answers:
                self.open[headers["Mcp_Session_Id"]] = answers["result"]["protocolVersion"]
        if faulty("session-renamed") and message["method"] == "prompts/list":
            headers = {"Mcp_Session_Id": f"{session}-renamed"}
            self.open[f"{session}-renamed"] = self.open[session]
        streams = self.events.get(session, [])
        if faulty("elsewhere") and streams:
            streams[-1].put(f"data: {json.dumps(answers)}\n\n")
            return self.reply(202)
        if faulty("broadcast") and len(streams) > 1:
            for queued in streams:
                queued.put(f"id: n1\ndata: {json.dumps(note('notifications/message', {'level': 'info', 'data': '1'}))}\n\n")
        if faulty("never-ending") or faulty("open-streams") and message["method"] in ("initialize", "ping"):
            return self.stream(queue.Queue(), f"data: {json.dumps(answers)}\n\n", headers)
        if faulty("event-named"):
            return self.reply(200, f"event: response\ndata: {json.dumps(answers)}\n\n".encode(), "text/event-stream", **headers)
        if faulty("endless-events") and message["method"] == "prompts/list":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            while True:
                self.wfile.write(b"event: tick\ndata: " + b"x" * 60000 + b"\n\n")
        if said or faulty("stream-ids") or message.get("id") in ("resumed", "other") and not faulty("slow-body"):
            events = [""] + [json.dumps(one) for one in said + [answers]]
            events = [f"id: {answers['id']}-{number}\ndata: {event}\n\n" for number, event in enumerate(events)]
            state[f"{answers['id']}-0"] = events[1:]
            return self.reply(200, "".join(events).encode(), "text/event-stream", **headers)
        if faulty("arrays"):
            answers = [answers]
        if faulty("latin-body") and message["method"] == "prompts/list" and "result" in answers:
            answers["result"]["prompts"][0]["title"] = "Z\u00e4hlt"
        return self.reply(200, json.dumps(answers, ensure_ascii=not faulty("latin-body")).encode("latin-1"), **headers)

    def modern(self, message, meta):
        """A request of the revision without sessions, whose headers repeat its body."""
        params, method = message.get("params", {}), message["method"]
        named = params.get("uri") if method == "resources/read" else params.get("name") if method in ("tools/call", "prompts/get") else None
        wrong = (
            self.headers.get("MCP-Protocol-Version") != meta.get(META + "protocolVersion", MODERN) and not faulty("version-header")
            or self.headers.get("Mcp-Method") is None and not faulty("method-header")
            or self.headers.get("Mcp-Method", method) != method and not faulty("method-other")
            or named and self.headers.get("Mcp-Name") is None and not faulty("name-header")
            or named and self.headers.get("Mcp-Name", named) != named and not faulty("name-other")
        )
        if wrong:
            return self.refuse(400, "the headers are not those of the body", -32602 if faulty("mismatch-code") else -32020, asked=message)
        if faulty("slow") and method == "tools/call" and params.get("arguments") == {"a": 1}:
            time.sleep(3)
        said = []
        answers = answer(message, said)
        if answers is None and said:
            return self.stream(queue.Queue(), "".join(f"data: {json.dumps(one)}\n\n" for one in said), {"X_Accel_Buffering": "no"})
        if answers is None:
            return self.reply(202)
        code = answers.get("error", {}).get("code")
        status = {-32601: 404, -32022: 400}.get(code, 200)
        if code == -32602 and META + "protocolVersion" not in meta:
            status = 400
        if code == -32601 and faulty("status-method") or code == -32022 and faulty("status-version"):
            status = 200
        headers = {"Mcp_Session_Id": "6f0c2b7e"} if faulty("session-again") else {}
        if faulty("never-ending") and status == 200:
            return self.stream(queue.Queue(), f"data: {json.dumps(answers)}\n\n", {"X_Accel_Buffering": "no"})
        if said:
            stream = "".join(f"data: {json.dumps(one)}\n\n" for one in said + [answers])
            return self.reply(status, stream.encode(), "text/event-stream", X_Accel_Buffering="no", **headers)
        return self.reply(status, json.dumps(answers).encode(), **headers)

    def legacy(self, message):
        """What is posted to the endpoint of HTTP+SSE is answered on its stream."""
        queued = self.events.get(self.path)
        if "concord.example" in self.headers.get("Origin", "") and not faulty("sse-origin"):
            return self.reply(403)
        if queued is None:
            return self.reply(404)
        if isinstance(message, list) and faulty("sse-ends"):
            # The session ends when the batch is taken, and before another ping can be.
            self.events.pop(self.path)[0].put(None)
            return self.reply(202)
        said = []
        answers = [answer(one, []) for one in message] if isinstance(message, list) else answer(message, said)
        for one in said + ([answers] if answers else []) * (2 if faulty("twice") and "tools/call" in str(message) else 1):
            queued[0].put(("event: response\n" if faulty("sse-event") and "tools/list" in str(message) else "event: message\n") + f"data: {json.dumps(one)}\n\n")
        return self.reply(202, json.dumps(answers).encode() if faulty("sse-body") and answers else b"")

    def do_GET(self):
        queued, session = queue.Queue(), self.headers.get("Mcp-Session-Id")
        if faulty("get-fails"):
            return self.reply(500, b"no database", "text/plain")
        if self.path == "/sse":
            at = f"/message?session={len(self.events)}"
            self.events[at] = [queued]
            endpoint = f"event: {'start' if faulty('sse-start') else 'endpoint'}\ndata: {json.dumps({'uri': at}) if faulty('sse-json') else at[faulty('sse-relative'):]}\n\n"
            if faulty("sse-never"):
                endpoint = ": nothing\n\n"
            return self.stream(queued, {"sse-late": "event: ping\ndata: 1\n\n" + endpoint, "sse-origin-other": endpoint.replace(at, f"http://localhost:{self.server.server_address[1]}{at}")}.get(FAULT, endpoint))
        if faulty("login-known") and self.path == "/.well-known/oauth-protected-resource" or FAULT in LOGINS and self.path == "/metadata":
            return self.reply(200, json.dumps({"resource": f"{self.at()}/mcp", "authorization_servers": [] if faulty("login-alone") else [self.at()]}).encode())
        if self.path.startswith("/.well-known/"):
            return self.reply(404)
        if faulty("page"):
            return self.reply(200, b"<p>hello", "text/html")
        if faulty("get-hangs"):
            return time.sleep(60)
        if session not in self.open:
            return self.reply(400 if faulty("only-get") else 405)
        last = self.headers.get("Last-Event-ID")
        if last is not None:
            last = "other-0" if faulty("resume") else last
            events = [state[last].pop(0)] if faulty("polls") and state.get(last) else state.get(last, [])
            return self.reply(200, "".join(events).encode(), "text/event-stream")
        self.events.setdefault(session, []).append(queued)
        self.stream(queued, "retry: soon\n\n" if faulty("retry-soon") else None)
        self.events[session].remove(queued)

    def do_DELETE(self):
        state["over"] = self.open.pop(self.headers.get("Mcp-Session-Id"), None)
        if self.headers.get("Mcp-Session-Id") is None:
            return self.reply(200 if faulty("only-delete") else 405)
        self.reply(200, b'{"jsonrpc":"2.0","id":null,"result":{}}') if faulty("delete") else self.reply(204)


def serve():
    server = Server(("127.0.0.1", PORT), Http)
    print(server.server_address[1], flush=True)
    server.daemon_threads = True
    server.serve_forever()
