"""Recordings judged by mcp-concord, for engines that hand out paths: a process for each batch, a line for each recording."""

import os
import subprocess


def judged(paths, options=()):
    """The lines of `check --output ndjson` for these paths, in their order.

    MCP_CONCORD names the program. An engine has a worker for each processor, so each process judges one recording at a time.
    """
    paths = [os.fsencode(path) for path in paths]
    if not paths:
        return []
    program = os.environ.get("MCP_CONCORD", "mcp-concord")
    command = [program, "check", "--quiet", "--output", "ndjson", "--jobs", "1", "--files-from", "-", "--null", *options]
    run = subprocess.run(command, input=b"\0".join(paths), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = run.stdout.decode().split("\n")[:-1]
    # 1 is a finding, and 2 beside a line for each path is a recording that cannot be judged. Folders have more lines.
    if run.returncode not in (0, 1, 2) or len(lines) < len(paths):
        raise RuntimeError(f"mcp-concord ended with {run.returncode}: {run.stderr.decode(errors='replace')}")
    return lines
