"""A small server on the PyPI package mcp, 1.x or 2.x, over Streamable HTTP on loopback.

    PORT=3902 python server_python.py json|sse [guarded]      `guarded` asks for a bearer token

It says nothing of the machine it runs on.
"""

import os
import sys

import anyio
from pydantic import BaseModel

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    GENERATION = 2
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as MCPServer
    GENERATION = 1

MODE, GUARDED = sys.argv[1], "guarded" in sys.argv
WHERE = {"host": "127.0.0.1", "port": int(os.environ["PORT"]), "json_response": MODE == "json"}


def guard():
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings

    class Verifier:
        async def verify_token(self, token):
            known = token == "a-token-made-up-for-this-recording"
            return AccessToken(token=token, client_id="recording-client", scopes=["notes:read"]) if known else None

    settings = AuthSettings(issuer_url="https://auth.example.org", resource_server_url="http://127.0.0.1:3901/mcp",
                            required_scopes=["notes:read"])
    return {"auth": settings, "token_verifier": Verifier()}


given = guard() if GUARDED else {}
server = MCPServer("recorded-python-server", **given, **(WHERE if GENERATION == 1 else {}))


class Measure(BaseModel):
    characters: int
    bytes: int


class Answer(BaseModel):
    name: str
    check: bool


@server.tool()
def add(a: float, b: float) -> float:
    """Adds two numbers."""
    return a + b


@server.tool()
def measure(text: str) -> Measure:
    """Counts the characters and the bytes of a text."""
    return Measure(characters=len(text), bytes=len(text.encode()))


@server.tool()
def big() -> dict[str, int]:
    """Gives integers that a double cannot hold."""
    return {"above_the_safe_range": 2**53 + 1, "above_64_bits": 2**64 + 1}


@server.tool()
def fail(reason: str) -> str:
    """Fails, always."""
    raise ValueError(reason)


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts slowly and tells how far it is."""
    for step in range(1, steps + 1):
        await anyio.sleep(0.15)
        await ctx.report_progress(step, steps, f"step {step} of {steps}")
    return f"counted to {steps}"


@server.tool()
async def ask(question: str, ctx: Context) -> str:
    """Asks the user something before it answers."""
    answer = await ctx.elicit(question, schema=Answer)
    return f"{answer.action}: {answer.data.name}" if answer.action == "accept" else answer.action


@server.resource("notes://today")
def today() -> str:
    """A note."""
    return "Nothing happened today.\n"


if __name__ == "__main__":
    server.run("streamable-http", **(WHERE if GENERATION == 2 else {}))
