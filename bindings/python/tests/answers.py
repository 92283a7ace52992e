"""Answers the questions of bindings/equal.py with the module that is installed: answers.py CASES."""

import json
import sys
import warnings
from pathlib import Path

import mcp_concord

warnings.simplefilter("ignore", mcp_concord.ConcordWarning)
cases = Path(sys.argv[1])


def parsed(answer):
    # What is no whole number is a Decimal, which stands in the program's JSON with the same digits.
    return json.dumps(answer, default=float)


FUNCTIONS = {
    "read": lambda data, other, name, _: mcp_concord.read_text(data, name=name),
    "identify": lambda data, other, name, _: parsed(mcp_concord.identify(data, name=name)),
    "summary": lambda data, other, name, _: parsed(mcp_concord.summary(data, name=name)),
    "check": lambda data, other, name, _: mcp_concord.check(data, name=name).json,
    "diff": lambda data, other, name, before: mcp_concord.diff(other, data, names=(before, name)).json,
    "convert": lambda data, other, name, _: mcp_concord.convert(data, "har", name=name, lossy=True).decode(),
    "show": lambda data, other, name, _: mcp_concord.show(data, name=name),
}

for line in sys.stdin.buffer:
    asked = json.loads(line)
    path, other = asked["path"], asked["other"]
    try:
        said = {"text": FUNCTIONS[asked["function"]]((cases / path).read_bytes(), (cases / other).read_bytes(), path, other)}
    except mcp_concord.ConcordError as error:
        said = {"error": {"code": error.code, "line": error.line, "name": error.name}}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
