"""What Assay's trace says of a transcript, in the words of the calls level.

Knows: the parts of the trace (`assay import --out-trace`) that tell of tool calls and of the 401 summary. Refuses to
know: what the transcript was, and what it should have become. Nothing is repaired here; where the trace cannot tell two
things apart, the answer cannot either.

Three things that the trace cannot tell apart are settled by these rules:

- `args` is `null` for absent arguments and for `null` alike. It is passed on as `null`, for that is what the trace says.
- `result` is `null` for a call that was answered with `null` and for one that was never answered. The `error` that Assay
  gives an unanswered call tells them apart, and a call whose step has no JSON-RPC id has no answer by Assay's own rule.
  Left over are calls with an id that 6.21.0 reads and binds nothing to (`1.0`, integers beyond 64 bits): they have neither
  `error` nor `result`, and so look as if they were answered with `null`.
- An error response is `{"error": …}` in `result`, beside the `error` "mcp_error". A result that has a member `error` has
  no such word beside it, and stays a result.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))  # after this folder, which has an adapter too

from jsontext import parse  # noqa: E402  (a reader beside this one: numbers keep their text)

UNANSWERED = "timeout/no_response"
ERROR_RESPONSE = "mcp_error"


class NotATrace(ValueError):
    """The program succeeded and left something else than a trace. No answer can be made of it."""


def answer(trace):
    """The answer at the calls level, without its `seq`, from the bytes of a trace."""
    entries = [parse(line) for line in trace.decode("utf-8").split("\n") if line]
    starts = [entry for entry in entries if entry["type"] == "episode_start"]
    if len(starts) != 1:
        raise NotATrace(f"a trace has one episode_start, this has {len(starts)}")
    done = {entry["step_id"]: entry for entry in entries if entry["type"] == "tool_call"}
    # Steps stand in Assay's order of requests; the tool calls themselves stand in the order of their answers.
    steps = [entry for entry in entries if entry["type"] == "step" and is_call(entry)]
    strangers = done.keys() - {step["step_id"] for step in steps}
    if strangers:
        raise NotATrace(f"tool calls without a step: {sorted(strangers)}")
    return {"calls": [call(step, done.get(step["step_id"])) for step in steps]} | summary(starts[0])


def is_call(step):
    """A step for `tools/list` has no such member; one for a call has it, be it null."""
    return "jsonrpc_id" in step["meta"]


def call(step, entry):
    if entry is None:  # a later call took its place: a step is all that is left of it
        return {"tool": step["name"], "outcome": None}
    return {"tool": entry["tool_name"], "arguments": entry["args"], "outcome": outcome(step, entry)}


def outcome(step, entry):
    error, result = entry["error"], entry["result"]
    if error == UNANSWERED:
        return None
    if error == ERROR_RESPONSE:
        return {"error": result["error"]}
    if error is not None:
        raise NotATrace(f"a tool call with the error {error!r}")
    if result is None and step["meta"]["jsonrpc_id"] is None:
        return None
    return {"result": result}


def summary(start):
    """The 401 summary. One that says `visible: false` saw nothing; where there is none, none is shown."""
    found = start["meta"].get("mcp", {})
    if "authorization_discovery" not in found:
        return {}
    seen = found["authorization_discovery"]
    return {"authorization_discovery": seen if seen and seen["visible"] else None}
