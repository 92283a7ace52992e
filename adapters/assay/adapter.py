"""Assay as an importer under test: adapter protocol 1 on stdin and stdout, for the crate `assay-cli`.

    python3 adapter.py [PROGRAM]      PROGRAM is `assay` on the path where none is named; install.sh builds one

Each `read` runs `PROGRAM import FILE --format F --out-trace OUT` and translates the trace. Assay has a second command for the
same, `trace import-mcp`; it is run beside the first, and where the two end in two ways or write two traces, the answer says so
on stderr and ends this adapter, so that it cannot go unnoticed. What the program's end means:

- exit 0: it read the transcript.
- exit 2, and `fatal:` with one of the two steps of an import that can refuse a file: a rejection.
- anything else is not an answer. A panic exits 101, a signal is a negative code, and exit 2 with another sentence is a call
  that the program did not understand: they end this adapter with the program's own words on stderr, and the harness
  calls that a crash. The exit code 2 does not suffice, since Assay uses it for every error there is.

A file that this adapter cannot open is not a rejection either, so it is opened here first.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mapping import answer
from protocol import serve  # found by mapping
from jsontext import dump  # isort: skip  (found by mapping too)

# The dialect of the contract that a version chose; the id rules of the older one are the contract's.
DIALECTS = {"3.36.0": "default", "6.21.0": "typed-ids"}
NEWEST = "typed-ids"

FORMATS = ("jsonrpc", "streamable-http", "http-sse", "inspector")
COMMANDS = (("import",), ("trace", "import-mcp", "--input"))
EXIT_FATAL = 2
REFUSALS = ("fatal: failed to parse MCP transcript", "fatal: failed to read input")


class Broken(Exception):
    """The program ended in a way that is neither a reading nor a rejection."""


class Assay:
    def __init__(self, program, folder):
        found = shutil.which(program)
        if found is None:
            raise Broken(f"there is no program {program!r}; install.sh builds one")
        self.program = str(Path(found).absolute())  # it runs in a folder of its own
        self.folder = folder

    def hello(self):
        said = self.run("--version").stdout.decode().split()
        if len(said) != 2:
            raise Broken(f"`{self.program} --version` said {said!r}")
        return {
            "protocol": 1,
            "name": "assay",
            "version": said[1],
            "language": "rust",
            "homepage": "https://github.com/Rul1an/assay",
            "formats": list(FORMATS),
            "level": "calls",
            "dialect": DIALECTS.get(said[1], NEWEST),
        }

    def read(self, path, format_name):
        """One answer, without its `seq`."""
        if format_name not in FORMATS:
            return {"unsupported": f"assay import has no format {format_name!r}"}
        path = Path(path).absolute()
        path.open("rb").close()
        first, second = (self.heard(*self.import_(path, format_name, command)) for command in COMMANDS)
        if dump(first) != dump(second):
            raise Broken(f"its two commands differ: import gives {dump(first)}, trace import-mcp {dump(second)}")
        return first

    def heard(self, done, trace):
        """What a command made of the file."""
        if done.returncode == 0:
            return answer(trace)
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode == EXIT_FATAL and said.startswith(REFUSALS):
            return {"rejection": {"message": reason(said)}}
        raise Broken(f"assay ended with {done.returncode}:\n{said}")

    def import_(self, path, format_name, command=("import",)):
        """How a command ended, and the trace it left."""
        out = Path(self.folder, "out.trace.jsonl")
        out.unlink(missing_ok=True)
        done = self.run(*command, str(path), "--format", format_name, "--out-trace", out.name)
        return done, out.read_bytes() if done.returncode == 0 else None

    def run(self, *arguments):
        return subprocess.run(
            [self.program, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            cwd=self.folder,
            env=os.environ | {"RUST_LIB_BACKTRACE": "0"},  # a refusal comes in sentences, not in stack frames
        )  # fmt: skip


def reason(said):
    """The causes of a refusal, on one line, without the program's own first sentence about the step."""
    _, _, causes = said.partition("Caused by:")
    return " / ".join(line.strip() for line in (causes or said).splitlines() if line.strip())


def main(arguments):
    if len(arguments) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        try:
            assay = Assay(*(arguments or ["assay"]), folder)
            serve(assay.hello, assay.read, sys.stdin.buffer, sys.stdout)
        except (Broken, FileNotFoundError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
