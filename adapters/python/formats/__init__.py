"""The capture formats by name. To read one more, write a module and add a line.

A reader takes the transcript as an open binary file and a `Session`, and adds each message to it in transcript order.
"""

from formats import envelope, har, inspector, jsonrpc, mcp_replay

READERS = {
    "jsonrpc": jsonrpc.read,
    "streamable-http": envelope.reader("streamable-http"),
    "http-sse": envelope.reader("http-sse"),
    "mcp-replay": mcp_replay.read,
    "inspector": inspector.read,
    "har": har.read,
}
ALIASES = {"sse-legacy": "http-sse"}
