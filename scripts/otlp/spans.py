"""What `convert --to otlp-json` writes of recordings, by the published classes of the OpenTelemetry Protocol.

    python spans.py OUT [FILE]...      what is written goes to OUT, a file for each recording
"""

import base64, collections, json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

program = os.environ.get("MCP_CONCORD", "target/release/mcp-concord")
NONE = {"case.toml", "meaning.json", "identify.json", "meaning.typed-ids.json"}
KINDS = (".jsonl", ".json", ".har", ".log", ".txt", ".txtar")


def recordings():
    if len(sys.argv) > 2:
        return [Path(name) for name in sys.argv[2:]]
    found = [path for folder in (os.environ["CASES"], "docs/examples") for path in sorted(Path(folder).rglob("*"))]
    return [path for path in found if path.suffix in KINDS and path.name not in NONE]


def converted(path):
    return path, subprocess.run([program, "--quiet", "convert", str(path), "--to", "otlp-json"], capture_output=True)


def in_base64(value):
    """OTLP has ids in hexadecimal, where JSON of Protocol Buffers has bytes in base64. Nothing else differs."""
    if isinstance(value, list):
        return [in_base64(item) for item in value]
    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        encoded = lambda text: base64.b64encode(bytes.fromhex(text)).decode()
        return {key: encoded(item) if key in ids else in_base64(item) for key, item in value.items()}
    return value


def main(out):
    counts = collections.Counter()
    with ThreadPoolExecutor(4) as pool:
        for path, done in pool.map(converted, recordings()):
            if done.returncode != 0:
                # What the contract rejects has no spans.
                assert done.returncode in (1, 2) and not done.stdout, (path, done.stderr)
                counts["rejected"] += 1
                continue
            # A member that the protocol does not know is an error here.
            traces = json_format.ParseDict(in_base64(json.loads(done.stdout)), TracesData())
            seen = set()
            for resource in traces.resource_spans:
                assert resource.resource.attributes[0].key == "service.name", path
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        assert len(span.trace_id) == 16 and len(span.span_id) == 8, path
                        assert len(span.parent_span_id) in (0, 8) and span.span_id not in seen, path
                        assert span.kind in (Span.SPAN_KIND_CLIENT, Span.SPAN_KIND_SERVER), path
                        assert span.start_time_unix_nano <= span.end_time_unix_nano, path
                        values = {attribute.key: attribute.value for attribute in span.attributes}
                        assert len(values) == len(span.attributes) and "mcp.method.name" in values, path
                        assert (span.status.code == Status.STATUS_CODE_ERROR) == ("error.type" in values), path
                        seen.add(span.span_id)
            (out / f"{counts['recordings']}.json").write_bytes(done.stdout)
            counts["recordings"] += 1
            counts["spans"] += len(seen)
    assert counts["spans"] or len(sys.argv) > 2, "no span was seen, so nothing is shown"
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
