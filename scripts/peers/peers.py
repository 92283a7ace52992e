"""Puts the program between real peers, then replaces each of them, and reports every failure.

It knows the peers, what is tested with each pair, and how programs are started and ended. client.mjs and client.py have the
clients' script. It judges nothing itself: exit codes and findings are the program's. scripts/peers.sh installs the peers and
starts this; README.md describes the columns.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

CLIENTS = {
    "typescript-1": ["node", "{home}/client.mjs", "sdk"],
    "typescript-2": ["node", "{home}/client.mjs", "client"],
    "python-1": ["{home}/python-1/bin/python", "{here}/client.py"],
    "python-2": ["{home}/python-2/bin/python", "{here}/client.py"],
}
# The word that the server takes for a transport, and the path at which it listens.
TRANSPORTS = {"stdio": ("stdio", ""), "streamable-http": ("streamableHttp", "/mcp"), "http-sse": ("sse", "/sse")}
COLUMNS = ["recorded", "check", "diff", "played server", "played client"]

# The text of one resource holds the time at which it was read: /result/contents/0/text.
IGNORED = ["--ignore", "/result/contents/*/text"]
# What the script makes a client say, in this order.
SAID = """initialize notifications/initialized logging/setLevel tools/list tools/call tools/call tools/call tools/call tools/call
    resources/list resources/templates/list resources/read resources/read prompts/list prompts/get completion/complete
    ping""".split()
# What the server says of its own.
TOLD = ["notifications/tools/list_changed"] + ["notifications/progress"] * 3

LIMIT = 30  # Seconds that any program may take.
WAIT = 10  # Seconds that the program waits for a message.


class Short(Exception):
    """Something fell short: a sentence, and the command that shows it."""


class Pair:
    """A client and the server over one transport."""

    def __init__(self, around, client, transport):
        self.around, self.client, self.transport = around, client, transport
        places = {"home": around.home, "here": around.here}
        self.speak = [word.format(**places) for word in CLIENTS[client]] + [transport]
        self.folder = around.keep / client
        self.folder.mkdir(parents=True, exist_ok=True)
        # The recording whose order is that of the session. Of HTTP there is an archive beside it, which is what is played.
        self.recording = self.folder / f"{transport}.{'jsonl' if transport == 'stdio' else 'json'}"
        self.archive = self.folder / f"{transport}.har"
        for old in self.folder.glob(f"{transport}.*"):
            old.unlink()

    def rerun(self):
        return f"scripts/peers.sh --client {self.client} --transport {self.transport}"

    def recorded(self):
        """The client, a recorder, and the server: each ends well, and the recording has what the script says."""
        record = [*self.around.program, "record", "--force", "-o"]
        if self.transport == "stdio":
            self.run("recorded", [*self.speak, *record, self.recording, "--", *self.server()])
        else:
            with ExitStack() as stack:
                url = stack.enter_context(self.serving("recorded"))
                # Two recorders, one behind the other: a format that keeps the order, and the archive.
                for out in [[self.recording, "--format", self.transport], [self.archive]]:
                    command = [*record, *out, "--listen", "127.0.0.1:0", "--to", url]
                    url = stack.enter_context(self.listening("recorded", command))
                self.run("recorded", [*self.speak, url])
        read = self.ask(["read", self.recording])
        events = json.loads(read)["events"]
        said = [event.get("method", "tools/call") for event in events if event["kind"] not in ("result", "error")]
        notices = [method for method in said if method in TOLD]
        if sorted(notices) != sorted(TOLD) or [method for method in said if method not in TOLD] != SAID:
            wrong = f"the recording holds other messages than the script: {' '.join(said)}"
            raise Short(wrong, self.shown(["read", self.recording]))

    def check(self):
        """A recorder's faults: none, of any level."""
        command = ["check", "--profile", "recorder", *self.files()]
        found = self.findings(command)
        if found:
            rules = ", ".join(sorted({finding["rule"] for finding in found}))
            raise Short(f"check finds {rules}", self.shown(command))

    def files(self):
        return [file for file in (self.recording, self.archive) if file.exists()]

    def diff(self):
        """The recording over stdio is the same session."""
        if self.transport == "stdio":
            return "-"
        first = self.folder / "stdio.jsonl"
        if not first.exists():
            Pair(self.around, self.client, "stdio").recorded()
        self.ask(["diff", first, self.recording, *IGNORED])

    def played_server(self):
        """The program in the place of the server: the client does all that it did."""
        play = [*self.around.program, "play", "--as", "server", "--timeout", str(WAIT)]
        journal = self.folder / f"{self.transport}.server.journal"
        if self.transport == "stdio":
            play += [self.recording, "--journal", journal]
            self.run("played-server", [*self.speak, *play])
        else:
            play += [self.archive, "--journal", journal, "--transport", self.transport, "--listen", "127.0.0.1:0"]
            with self.listening("played-server", play, ends_itself=True) as url:
                self.run("played-server", [*self.speak, url])
        self.kept_to(journal)

    def played_client(self):
        """The program in the place of the client: the server answers as it did."""
        journal = self.folder / f"{self.transport}.client.journal"
        play = [*self.around.program, "play", "--as", "client", "--timeout", str(WAIT), "--journal", journal, *IGNORED]
        if self.transport == "stdio":
            self.run("played-client", [*play, self.recording, "--", *self.server()])
        else:
            with self.serving("played-client") as url:
                self.run("played-client", [*play, self.archive, "--transport", self.transport, "--to", url])
        self.kept_to(journal)

    def kept_to(self, journal):
        """The journal ends with what came of the play: a program that a client starts has nobody to give its exit code."""
        # Not `splitlines`: what is said holds other ends of lines.
        lines = [json.loads(line) for line in journal.read_text().split("\n") if line]
        departed = [line["text"] for line in lines if line["kind"] == "departed"]
        if departed or lines[-1]["kind"] != "over":
            raise Short(f"{departed[0] if departed else 'the play never ended'} (see {journal})", self.rerun())

    def findings(self, command):
        """What `check` finds, but for what it cannot decide."""
        shown = self.around.run([*self.around.program, *command, "--output", "json"])
        if shown.returncode not in (0, 1):
            raise Short(shown.stderr.strip(), self.shown(command))
        return [finding for finding in json.loads(shown.stdout) if finding["verdict"] != "inconclusive"]

    def ask(self, command):
        """Runs the program, which has to end well."""
        shown = self.around.run([*self.around.program, *command])
        if shown.returncode != 0:
            raise Short(f"{command[0]} ends with {shown.returncode}: {telling(shown.stdout + shown.stderr)}", self.shown(command))
        return shown.stdout

    def shown(self, command):
        return shlex.join(str(word) for word in [*self.around.program, *command])

    def server(self, *preload):
        entry = self.around.home / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
        return ["node", *preload, str(entry), TRANSPORTS[self.transport][0]]

    def log(self, step):
        return self.folder / f"{self.transport}.{step}.log"

    def run(self, step, command):
        """Runs a program to its end, which has to be a good one."""
        log = self.log(step)
        with open(log, "a") as out:
            status = self.around.run(command, out).returncode
        if status != 0:
            why = f"did not end within {LIMIT} s" if status is None else f"ended with {status}"
            raise Short(f"{Path(command[0]).name} {why}: {telling(log.read_text())} (see {log})", self.rerun())

    @contextmanager
    def serving(self, step):
        """The server over HTTP; its URL."""
        port = free_port()
        preload = ["--import", (self.around.home / "loopback.mjs").as_uri()]
        with self.started(step, self.server(*preload), {"PORT": str(port)}) as server:
            for _ in range(LIMIT * 10):
                if server.poll() is not None:
                    raise Short(f"the server ended with {server.returncode}: see {self.log(step)}", self.rerun())
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}{TRANSPORTS[self.transport][1]}"

    @contextmanager
    def listening(self, step, command, ends_itself=False):
        """The program where it listens: the URL that it says, and a good end when it is over or asked to end."""
        with self.started(step, command, stderr=subprocess.PIPE) as program:
            first = program.stderr.readline()
            found = re.search(r"http://\S+", first)
            if not found:
                raise Short(f"{command[len(self.around.program)]} does not listen: {first.strip()}", self.rerun())
            yield found.group()
            if not ends_itself:
                program.send_signal(signal.SIGINT)
            said = program.communicate(timeout=LIMIT)[1]
            if program.returncode != 0:
                what = command[len(self.around.program)]
                raise Short(f"{what} ended with {program.returncode}: {telling(said)}", self.rerun())

    @contextmanager
    def started(self, step, command, env={}, stderr=None):
        """A program that is ended with all that it started, whatever happens."""
        with open(self.log(step), "a") as out:
            program = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, text=True,
                                       stderr=stderr or out, env={**os.environ, **env}, start_new_session=True)
            try:
                yield program
            except subprocess.TimeoutExpired:
                raise Short(f"{Path(command[0]).name} did not end within {LIMIT} s", self.rerun())
            finally:
                end(program)


class Around:
    def __init__(self, home, keep):
        self.home, self.keep = Path(home).resolve(), Path(keep).resolve()
        self.here = Path(__file__).resolve().parent
        self.program = shlex.split(os.environ.get("MCP_CONCORD", "target/release/mcp-concord"))
        found = shutil.which(self.program[0])
        if not found:
            print(f"{self.program[0]} is not there: build it with `cargo build --release`, or name another in MCP_CONCORD")
            sys.exit(2)
        self.program[0] = str(Path(found).absolute())

    def run(self, command, out=None):
        """Runs a program to its end, for so long as one may take; its return code is none if it took longer."""
        pipe = subprocess.PIPE if out is None else out
        program = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True,
                                   start_new_session=True)
        try:
            said, why = program.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, None, "", f"it did not end within {LIMIT} s")
        finally:
            end(program)
        return subprocess.CompletedProcess(command, program.returncode, said, why)


def telling(text):
    """The line of what was said that tells most; Python draws a tree of its errors with the marks that are taken off."""
    lines = [line.strip(" |+-") for line in text.splitlines() if line.strip(" |+-")]
    marks = re.compile(r"mismatch|error|different sessions|[\w.]*(Error|Exception)\b")
    marked = (line for line in lines if marks.match(line) and "Group" not in line)
    return next(marked, lines[-1] if lines else "nothing was said")[:200]


def end(program):
    """Ends a program's whole session of processes."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(program.pid, number)
            program.wait(timeout=2)
        except (ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
            pass
    program.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--home", required=True)
    ask.add_argument("--keep")
    ask.add_argument("--client", choices=CLIENTS, action="append")
    ask.add_argument("--transport", choices=TRANSPORTS, action="append")
    asked = ask.parse_args()
    if not asked.keep:
        shutil.rmtree(Path(asked.home) / "kept", ignore_errors=True)
    around = Around(asked.home, asked.keep or Path(asked.home) / "kept")

    fell_short, seen, judged = [], {}, 0
    print(f"{'client':14}{'transport':17}" + "".join(f"{column:15}" for column in COLUMNS).rstrip())
    for client in asked.client or CLIENTS:
        for transport in asked.transport or TRANSPORTS:
            pair, row = Pair(around, client, transport), f"{client:14}{transport:17}"
            for column in COLUMNS:
                try:
                    cell = getattr(pair, column.replace(" ", "_"))() or "ok"
                except Short as short:
                    cell = "no"
                    fell_short.append((client, transport, column, *short.args))
                except (OSError, ValueError, LookupError) as error:
                    cell = "no"
                    fell_short.append((client, transport, column, f"{type(error).__name__}: {error}", pair.rerun()))
                row += f"{cell:15}"
            print(row.rstrip(), flush=True)
            for file in pair.files() if "no" not in row.split() else []:
                judged += 1
                for finding in pair.findings(["check", file]):
                    seen.setdefault((finding["rule"], finding["verdict"], finding["party"]), set()).add(file)
    print(f"\nPlain `check` finds in the {judged} files of the rows that are well:" + ("" if seen else " nothing"))
    for (rule, verdict, party), files in sorted(seen.items()):
        print(f"  {rule} ({verdict}, {party}) in {len(files)}")
    for client, transport, column, why, command in fell_short:
        print(f"\n{client}, {transport}, {column}: {why}\n  by itself: {command}")
    verdict = f"{len(fell_short)} fell short" if fell_short else "all is well"
    print(f"\n{verdict}; recordings and logs are in {around.keep}")
    sys.exit(1 if fell_short else 0)


if __name__ == "__main__":
    main()
