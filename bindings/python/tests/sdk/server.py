"""A server of the official SDK with one tool. With WRONG in its arguments it answers wrongly."""

import sys

from mcp.server import MCPServer

server = MCPServer("calculator")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b + ("WRONG" in sys.argv)


if __name__ == "__main__":
    server.run()
