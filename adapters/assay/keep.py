"""Keeps what Assay makes of some cases, so that the mapping can be checked where Assay is not installed.

    python3 keep.py PROGRAM      writes kept/VERSION/CASE/FORMAT.trace.jsonl, or FORMAT.refusal.txt for exit 2

The trace and the refusal are the program's own bytes. Knows: which cases are worth keeping. Refuses to know: what should
have come of them; test_mapping.py says so.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from adapter import EXIT_FATAL, Assay, Broken

HERE = Path(__file__).resolve().parent
CASES = HERE.parent.parent / "cases"
KEPT = HERE / "kept"
TRANSCRIPTS = {
    "jsonrpc": "jsonrpc.jsonl",
    "streamable-http": "streamable-http.json",
    "http-sse": "http-sse.json",
    "inspector": "inspector.json",
}
WORTH_KEEPING = (
    ("correlation/answers-crossed", "streamable-http"),
    ("correlation/duplicate-answered", "jsonrpc"),
    ("correlation/never-answered", "http-sse"),
    ("correlation/null-result", "jsonrpc"),
    ("correlation/one-call", "jsonrpc"),
    ("correlation/one-call-failed", "http-sse"),
    ("direction/echoed-answer", "http-sse"),
    ("ids/null-tool-call", "jsonrpc"),
    ("ids/number-answered-as-string", "http-sse"),
    ("inspector/array", "inspector"),
    ("inspector/export-folded", "inspector"),
    ("k2a/both-parameters", "streamable-http"),
    ("k2a/text-in-quotes", "http-sse"),
    ("order/time-runs-backwards", "streamable-http"),
    ("sse/keepalives", "streamable-http"),
    ("survival/utf8-latin-1", "jsonrpc"),
    ("text/escaped-and-raw", "jsonrpc"),
    ("values/arguments-absent-null-empty", "jsonrpc"),
    ("values/integer-beyond-double", "jsonrpc"),
)


def keep(assay, version, case, format_name):
    name = TRANSCRIPTS[format_name]
    shutil.copy(CASES / case / name, assay.folder)
    done, trace = assay.import_(name, format_name)
    folder = KEPT / version / case
    folder.mkdir(parents=True, exist_ok=True)
    if done.returncode == 0:
        (folder / f"{format_name}.trace.jsonl").write_bytes(trace)
    elif done.returncode == EXIT_FATAL:
        (folder / f"{format_name}.refusal.txt").write_bytes(done.stderr)
    else:
        raise Broken(f"{case} {format_name}: exit {done.returncode}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        assay = Assay(program, folder)
        version = assay.hello()["version"]
        shutil.rmtree(KEPT / version, ignore_errors=True)
        for case, format_name in WORTH_KEEPING:
            keep(assay, version, case, format_name)
    print(f"{len(WORTH_KEEPING)} outputs of {version} kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
