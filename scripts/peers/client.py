"""A script of calls for a client of the official Python SDK, 1.x or 2.x. client.mjs runs the same script.

    python client.py stdio COMMAND [ARGUMENT…]
    python client.py streamable-http|http-sse URL

peers.py starts the server and judges the outcome.
Exit code 0: every call was answered, with a result or with the expected error.
"""

import sys
from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def main(transport, address, *rest):
    listed = anyio.Event()

    async def hear(message):
        """The server tells of its new tools once, unasked: the script goes on when the client has heard of them."""
        if getattr(getattr(message, "root", message), "method", None) == "notifications/tools/list_changed":
            listed.set()

    peer = types.Implementation(name="peer", version="1.0.0")
    async with links[transport](address, *rest) as (reading, writing, *_):
        async with ClientSession(reading, writing, message_handler=hear, client_info=peer) as session:
            await session.initialize()
            await listed.wait()
            await script(session)


async def script(session):
    await session.set_logging_level("warning")
    await session.list_tools()
    await session.call_tool("echo", {"message": "Grüße, 世界 \u2028 \U0001f680"})
    await session.call_tool("get-sum", {"a": 0.1, "b": 9007199254740991})
    await session.call_tool("get-structured-content", {"location": "Chicago"})
    await fails(session.call_tool("get-sum", {"a": "one", "b": 2}))
    heard = []

    async def progress(so_far, *_):
        heard.append(so_far)

    await session.call_tool("trigger-long-running-operation", {"duration": 0.6, "steps": 3}, progress_callback=progress)
    assert heard, "no progress was heard"
    await session.list_resources()
    await session.list_resource_templates()
    await session.read_resource("demo://resource/dynamic/text/7")
    await fails(session.read_resource("demo://resource/none"))
    await session.list_prompts()
    await session.get_prompt("args-prompt", {"city": "Utrecht"})
    prompt = types.PromptReference(type="ref/prompt", name="completable-prompt")
    await session.complete(prompt, {"name": "department", "value": "S"})
    await session.send_ping()


async def fails(call):
    """What is meant to fail: with an error, or with a result that says so."""
    try:
        came = await call
    except Exception as error:
        assert "rror" in type(error).__name__, error
        return
    assert came.model_dump(by_alias=True).get("isError"), f"this was to fail: {came}"


def stdio(command, *rest):
    return stdio_client(StdioServerParameters(command=command, args=rest))


@asynccontextmanager
async def streamable_http(url):
    """Over Streamable HTTP the server tells as soon as it gets `initialized`, and this SDK begins to listen at the same
    time. So that it is heard each time, `initialized` waits for the stream to be open."""
    listening = anyio.Event()

    async def ask(request):
        if request.method == "POST" and b'"notifications/initialized"' in request.content:
            await listening.wait()

    async def answer(response):
        if response.request.method == "GET":
            listening.set()

    async with create_mcp_http_client() as http:
        http.event_hooks = {"request": [ask], "response": [answer]}
        async with streamable_http_client(url, http_client=http) as streams:
            yield streams


links = {"stdio": stdio, "streamable-http": streamable_http, "http-sse": sse_client}

if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
