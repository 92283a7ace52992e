"""The server that is recorded: a counter whose answers depend on what was asked before, progress, and a question back."""
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent

server = FastMCP("mock-example", log_level="ERROR")
count = 0


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def next_number() -> int:
    global count
    count += 1
    return count


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    for step in range(steps):
        await ctx.report_progress(step + 1, steps)
    await ctx.info("almost there")
    return f"{steps} steps"


@server.tool()
async def ask(question: str, ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    answer = await ctx.session.create_message([message], max_tokens=10)
    return f"the client says: {answer.content.text}"


@server.tool()
def fail() -> str:
    raise ValueError("as it should")


@server.resource("note://one")
def note() -> str:
    return "é, and a line\nfeed"


@server.prompt()
def greet(name: str) -> str:
    return f"Hello, {name}"


server.run()
