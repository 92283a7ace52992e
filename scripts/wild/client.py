"""A client that uses what a server offers, with a library of PyPI: client.py langchain|mcp-use {server}|{url}

It lists and calls tools, reads a resource and gets a prompt, as far as the library supports it. Failures are printed, and the rest goes on.
"""

import asyncio
import sys

library, target = sys.argv[1:]
over_http = target.startswith("http://")


async def tried(what, doing):
    try:
        return await doing
    except Exception as error:
        print(f"{what}: {error!r}")


def arguments(schema):
    properties = schema.get("properties", {})
    values = {"string": "text", "number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    return {name: values[properties[name].get("type", "string")] for name in schema.get("required", [])}


async def langchain():
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools

    connection = {"transport": "http", "url": target} if over_http else {"transport": "stdio", "command": target, "args": []}
    client = MultiServerMCPClient({"server": connection})
    async with client.session("server") as session:
        tools = await tried("tools", load_mcp_tools(session)) or []
        for tool in [*tools, *tools[:1]]:
            await tried(tool.name, tool.ainvoke(arguments(tool.args_schema)))
    await tried("resources", client.get_resources("server"))
    prompts = await tried("prompts", client_prompts(client))
    for prompt in prompts or []:
        await tried(prompt.name, client.get_prompt("server", prompt.name))


async def client_prompts(client):
    async with client.session("server") as session:
        return (await session.list_prompts()).prompts


async def mcp_use():
    from mcp_use import MCPClient

    server = {"url": target} if over_http else {"command": target, "args": []}
    client = MCPClient.from_dict({"mcpServers": {"server": server}})
    session = await client.create_session("server")
    tools = await tried("tools", session.list_tools()) or []
    for tool in [*tools, *tools[:1]]:
        await tried(tool.name, session.call_tool(tool.name, arguments(tool.inputSchema)))
    for resource in (await tried("resources", session.list_resources()) or [])[:2]:
        await tried(resource.name, session.read_resource(resource.uri))
    for prompt in (await tried("prompts", session.list_prompts()) or [])[:2]:
        await tried(prompt.name, session.get_prompt(prompt.name))
    await client.close_all_sessions()


asyncio.run({"langchain": langchain, "mcp-use": mcp_use}[library]())
