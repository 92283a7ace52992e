"""What the tests share: sessions as text, and the cases of the repository."""

import json
import os
from pathlib import Path

import pytest

# Tests of somebody else, which test_plugin.py copies and runs.
collect_ignore = ["sdk"]

CALL = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1.50}}}\n'
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"sum":12345678901234567890.10}}\n'
)
NULL_ID = b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n'


def session(revision: str, *more: str) -> bytes:
    """A session that begins as it should, and goes on with these lines."""
    about = {"protocolVersion": revision, "capabilities": {}}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {**about, "clientInfo": {"name": "c", "version": "1"}}},
        {"jsonrpc": "2.0", "id": 0, "result": {**about, "serverInfo": {"name": "s", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    return "".join(f"{line}\n" for line in [*map(json.dumps, lines), *more]).encode()


@pytest.fixture
def repository() -> Path:
    """The repository with its cases, which an installed package does not have."""
    root = os.environ.get("MCP_CONCORD_REPOSITORY")
    if not root:
        pytest.skip("MCP_CONCORD_REPOSITORY does not name a clone")
    return Path(root)
