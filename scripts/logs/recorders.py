"""Each recorder between a client and a server, and what its file is read as. Started by scripts/logs.sh."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = os.environ["MCP_CONCORD"]
BIN = Path(sys.executable).parent
HERE = Path(__file__).parent
SERVER = [sys.executable, str(HERE.parent / "mock" / "server.py")]
RECORD = str(HERE.parents[1] / "adapters" / "agent-vcr" / "record.py")

# Of each: what it writes, how it is started, the format that is detected, what of a meaning it does not keep, and how it loads a
# file.
RECORDERS = {
    "mcp-vcr": (
        "{out}.ndjson",
        ["{bin}/mcp-vcr", "record", "--no-redact", "--format", "ndjson", "-o", "{file}", "--"],
        "directed-jsonl",
        None,
        None,
    ),
    "mcp-cassette": (
        "{out}.json",
        ["{bin}/mcp-cassette", "record", "--no-default-redactions", "--cassette", "{file}", "--"],
        "mcp-cassette",
        None,
        ["{bin}/mcp-cassette", "inspect"],
    ),
    "agent-vcr": (
        "{out}.vcr",
        [sys.executable, RECORD, "{file}"],
        "agent-vcr",
        "what it has no place for",
        [sys.executable, "-c", "import sys; from agent_vcr.core.format import VCRRecording; VCRRecording.load(sys.argv[1])"],
    ),
}


def main(home, *names):
    for name in names or RECORDERS:
        judge(Path(home), name, *RECORDERS[name])


def judge(home, name, file, command, format, lost, load):
    file, ours = Path(file.format(out=home / name)), home / f"{name}.ours.jsonl"
    for old in (file, ours):
        old.unlink(missing_ok=True)
    command = [word.format(bin=BIN, file=file) for word in command]
    client = [sys.executable, str(HERE / "client.py"), PROGRAM, "-q", "record", "-o", str(ours), "--", *command, *SERVER]
    done = subprocess.run(client, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and file.exists(), f"{name}: the session broke off\n{done.stderr}"

    theirs, here = events(file), events(ours)
    assert len(here) == 26, f"{name}: record wrote {len(here)} messages"
    assert theirs == (kept(here) if lost else here), f"{name}: {run('diff', ours, file).stdout}"
    found = json.loads(run("identify", "--output", "json", file).stdout)["format"]
    assert found == format, f"{name}: it was read as {found}"
    blamed = broken(file) - broken(ours)
    assert blamed <= {"rec.bodies"}, f"{name}: what record saw broke none of {blamed}"
    for session in [ours, *sorted(HERE.parents[1].glob("cases/recorded/*/mcp-replay.jsonl"))] if load else []:
        # What does not begin with a handshake is refused, and agent-vcr loads nothing of it.
        if "begin with `initialize`" in run("convert", session, "--to", format).stderr:
            continue
        written = file.with_name(f"{name}.converted{file.suffix}")
        run("convert", session, "--to", format, "--lossy", "-o", written)
        command = [word.format(bin=BIN) for word in load]
        loaded = subprocess.run([*command, str(written)], capture_output=True, text=True, timeout=60)
        assert loaded.returncode == 0, f"{name}: it does not load what convert writes of {session}\n{loaded.stdout}{loaded.stderr}"
    print(f"{name}: {len(theirs)} of {len(here)} messages, read as {format}")


def run(verb, *words):
    done = subprocess.run([PROGRAM, "--quiet", verb, *map(str, words)], capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{verb} {words}: {done.stderr}"
    return done


def broken(file):
    return {theirs["rule"] for theirs in json.loads(run("check", "--output", "json", file).stdout) if theirs["verdict"] == "fail"}


def events(file):
    return json.loads(run("read", file).stdout)["events"]


def kept(events):
    """What agent-vcr has a place for: the client's requests that were answered, the answers, and the server's notifications."""

    def stays(event):
        if event["kind"] == "notification":
            return event["method"] != "notifications/initialized"
        request = events[event["answers"]] if "answers" in event else event
        return request.get("method") != "sampling/createMessage"

    stay = [index for index, event in enumerate(events) if stays(event)]
    moved = lambda event: {**event, "answers": stay.index(event["answers"])} if "answers" in event else event
    return [moved(events[index]) for index in stay]


if __name__ == "__main__":
    main(*sys.argv[1:])
