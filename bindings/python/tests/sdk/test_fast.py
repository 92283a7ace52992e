"""The same with fastmcp."""

import sys
from pathlib import Path

import anyio
import pytest

fastmcp = pytest.importorskip("fastmcp")
from fastmcp.client.transports import StdioTransport  # noqa: E402

SERVER = str(Path(__file__).with_name("server.py"))


async def added(server, a, b):
    transport = StdioTransport(command=server.command, args=server.args, keep_alive=False)
    async with fastmcp.Client(transport, mode="legacy") as client:
        result = await client.call_tool("add", {"a": a, "b": b})
        return result.structured_content


def test_add(mcp_recording):
    server = mcp_recording.server(sys.executable, SERVER)
    assert anyio.run(added, server, 1, 2) == {"result": 3}
