"""A collector between what `convert --to otlp-json` writes and a server that takes protobuf: what comes out is what went in.

    python collector.py WORK FILE...      files of OTLP in JSON

The collector is rotel, of PyPI. All of it speaks over free ports of this machine. Exit code 4: the collector does not start here.
"""

import gzip
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from spans import in_base64

arrived = []


class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        arrived.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def free_port():
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started(work, sink):
    """The collector, and where it takes JSON."""
    import rotel

    http, grpc = free_port(), free_port()
    words = {
        "otlp-http-endpoint": f"127.0.0.1:{http}",
        "otlp-grpc-endpoint": f"127.0.0.1:{grpc}",
        "pid-file": work / "rotel.pid",
        "log-file": work / "rotel.log",
        "exporter": "otlp",
        "otlp-exporter-endpoint": f"http://127.0.0.1:{sink}",
        "otlp-exporter-protocol": "http",
        "batch-timeout": "100ms",
    }
    program = Path(rotel.__file__).parent / "rotel-agent"
    command = [str(program), "start", *(f"--{name}={value}" for name, value in words.items())]
    with open(work / "rotel.out", "wb") as out:
        agent = subprocess.Popen(command, stdout=out, stderr=out)
    url = f"http://127.0.0.1:{http}/v1/traces"
    for _ in range(200):
        if agent.poll() is not None:
            print(f"the collector does not start here: {(work / 'rotel.out').read_text()[-300:]}")
            sys.exit(4)
        try:
            post(url, b'{"resourceSpans":[]}')
            return agent, url
        except urllib.error.URLError:
            time.sleep(0.1)
    agent.kill()
    raise SystemExit("the collector does not listen")


def post(url, body):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200, answer.status


def spans(data):
    return [
        (resource.resource.SerializeToString(deterministic=True), span.SerializeToString(deterministic=True))
        for resource in data.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def main(work, *files):
    sink = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=sink.serve_forever, daemon=True).start()
    agent, url = started(Path(work), sink.server_port)
    sent = []
    try:
        for file in files:
            body = Path(file).read_bytes()
            sent += spans(json_format.ParseDict(in_base64(json.loads(body)), TracesData()))
            post(url, body)
        for _ in range(300):
            if sum(len(spans(data)) for data in arrived) >= len(sent):
                break
            time.sleep(0.1)
    finally:
        agent.terminate()
        agent.wait(20)
    came = sorted(span for data in arrived for span in spans(data))
    assert came == sorted(sent), f"{len(came)} of {len(sent)} spans came out of the collector, or others did"
    print(f"{len(files)} files, {len(sent)} spans through a collector")


main(*sys.argv[1:])
