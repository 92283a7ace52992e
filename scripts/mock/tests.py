"""A test suite of a client of the official SDK: tests.py ORDER TRANSPORT TARGET…

ORDER is `forth`, `back` or a number that shuffles; TRANSPORT is `stdio` with a command, or `streamable-http` or `http-sse` with
a URL. Over HTTP four clients run the suite at once, each in an order of its own. Exit code 0: every test passed.
"""
import asyncio
import random
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError
from mcp.types import CreateMessageResult, TextContent

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def text(result):
    assert not result.isError, result
    return result.content[0].text


@test
async def tools_are_listed(client, seen):
    names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == {"add", "next_number", "slow", "ask", "fail"}, names


@test
async def numbers_are_added(client, seen):
    assert text(await client.call_tool("add", {"a": 1, "b": 2})) == "3"
    assert text(await client.call_tool("add", {"b": 40, "a": 2})) == "42"


@test
async def what_is_asked_again_has_the_next_answer(client, seen):
    assert [text(await client.call_tool("next_number", {})) for _ in range(3)] == ["1", "2", "3"]


@test
async def progress_and_a_log_come_with_the_answer(client, seen):
    steps = []

    async def progress(done, total, message):
        steps.append((done, total))

    before = len(seen["logs"])
    assert text(await client.call_tool("slow", {"steps": 3}, progress_callback=progress)) == "3 steps"
    assert steps == [(1, 3), (2, 3), (3, 3)], steps
    assert seen["logs"][before:] == ["almost there"], seen


@test
async def the_server_asks_back(client, seen):
    assert text(await client.call_tool("ask", {"question": "why?"})) == "the client says: because"
    assert seen["asked"][-1:] == ["why?"], seen


@test
async def a_tool_fails(client, seen):
    result = await client.call_tool("fail", {})
    assert result.isError and "as it should" in result.content[0].text, result


@test
async def a_resource_is_read(client, seen):
    assert (await client.read_resource("note://one")).contents[0].text == "é, and a line\nfeed"
    try:
        await client.read_resource("note://none")
        raise AssertionError("there is no such resource")
    except McpError:
        pass


@test
async def a_prompt_is_filled_in(client, seen):
    prompt = await client.get_prompt("greet", {"name": "Ada"})
    assert prompt.messages[0].content.text == "Hello, Ada"


@test
async def both_answer_pings(client, seen):
    await client.send_ping()


async def suite(order, transport, target):
    seen = {"logs": [], "asked": []}

    async def sampling(context, params):
        seen["asked"].append(params.messages[0].content.text)
        return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="because"))

    async def logging(params):
        seen["logs"].append(params.data)

    match transport:
        case "stdio":
            opened = stdio_client(StdioServerParameters(command=target[0], args=target[1:]))
        case "streamable-http":
            opened = streamable_http_client(target[0])
        case "http-sse":
            opened = sse_client(target[0])
    tests = list(TESTS)
    if order == "back":
        tests.reverse()
    elif order != "forth":
        random.Random(order).shuffle(tests)
    async with opened as (read, write, *_):
        async with ClientSession(read, write, sampling_callback=sampling, logging_callback=logging) as client:
            await client.initialize()
            for one in tests:
                await asyncio.wait_for(one(client, seen), 20)
    print(f"{transport}, {order}: {len(tests)} tests passed")


async def main():
    order, transport, *target = sys.argv[1:]
    orders = [order] if transport == "stdio" else [order, "back", order + "a", order + "b"]
    await asyncio.gather(*(suite(order, transport, target) for order in orders))


asyncio.run(main())
