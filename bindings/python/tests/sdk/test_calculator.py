"""A test as somebody writes it with the official SDK: the first run starts the server, later runs play what it said."""

import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from mcp_concord.testing import assert_conforms

SERVER = str(Path(__file__).with_name("server.py"))


async def added(server, a, b):
    # With `mode="auto"` the client probes for a revision first, and gives a slow server up after a while.
    parameters = StdioServerParameters(command=server.command, args=server.args)
    async with Client(parameters, mode="legacy") as client:
        result = await client.call_tool("add", {"a": a, "b": b})
        return result.structured_content


def test_add(mcp_recording):
    server = mcp_recording.server(sys.executable, SERVER)
    assert anyio.run(added, server, 1, 2) == {"result": 3}
    assert_conforms(mcp_recording.path)
