#!/usr/bin/env python3
"""How the work of each command grows with a recording, counted in WebAssembly instructions, so that no clock and no load of the
machine has a say. Fails where it grows faster than the size to the power of 1.2.

    scripts/growth.py MODULE            every command over every shape and format, and a table of the steepest
    scripts/growth.py MODULE --all      a line for each
    scripts/growth.py MODULE --some     each shape in one format and by an eighth of the commands, in turn, as .ci/run does
    scripts/growth.py MODULE SHAPE ...  only these shapes

MODULE is the WebAssembly module of bindings/npm, which has every command that works on recordings in memory. Needs the package
wasmtime; scripts/growth.sh brings both.

Each shape is made at three sizes, each twice the one before. With f the instructions at a size, the exponent is
log2((f(8n) - f(4n)) / (f(4n) - f(2n))): what every call costs, such as its tables, is not in it. What is steep is measured again
at eight times the size.
"""

import functools
import json
import math
import sys

import wasmtime

LIMIT = 1.2
#: Below this many instructions more a step is noise, such as a table of hashes that doubles.
LEAST = 2_000_000


class Module:
    """The module, an instance for each call: what one leaves behind is not counted for the next."""

    def __init__(self, path):
        config = wasmtime.Config()
        config.consume_fuel = True
        self.engine = wasmtime.Engine(config)
        self.module = wasmtime.Module.from_file(self.engine, path)

    def call(self, function, options, recordings):
        """The reply's first line, its body, and how many instructions the call took."""
        store = wasmtime.Store(self.engine)
        fuel = 1 << 62
        store.set_fuel(fuel)
        memory = wasmtime.Memory(store, wasmtime.MemoryType(wasmtime.Limits(128, 65536)))
        said = []
        i32 = wasmtime.ValType.i32()
        # None of them holds the store, which would hold it for ever.
        functions = {
            "stop": (wasmtime.FuncType([], [i32]), lambda _: 0),
            "panicked": (
                wasmtime.FuncType([i32, i32], []),
                lambda caller, at, length: said.append(bytes(memory.read(caller, at, at + length))),
            ),
            # Hash tables are seeded alike each time, so that a count is the same each time.
            "random": (
                wasmtime.FuncType([i32, i32], []), lambda caller, at, length: memory.write(caller, b"\7" * length, at) and None
            ),
        }
        imports = []
        for wanted in self.module.imports:
            if wanted.name == "memory":
                imports.append(memory)
            else:
                kind, does = functions[wanted.name]
                imports.append(wasmtime.Func(store, kind, does, access_caller=True))
        exports = wasmtime.Instance(store, self.module, imports).exports(store)
        request = {"function": function, "options": options, "names": ["a", "b"]}
        for slot, data in enumerate([json.dumps(request).encode(), *recordings]):
            memory.write(store, data, exports["reserve"](store, slot, len(data)) & 0xFFFFFFFF)
        before = store.get_fuel()
        try:
            at = exports["answer"](store) & 0xFFFFFFFF
        except wasmtime.WasmtimeError as error:
            sys.exit(f"{function} {options}: {b''.join(said).decode() or error}")
        used = before - store.get_fuel()
        length = exports["reply_length"](store) & 0xFFFFFFFF
        head, body = bytes(memory.read(store, at, at + length)).split(b"\n", 1)
        return json.loads(head), body, used

    @functools.lru_cache(maxsize=64)
    def recording(self, shape, form, size):
        """What the module says of a shape in a format, and the recording."""
        smallest, messages = SHAPES[shape]
        written = lines(HANDSHAKE + messages(smallest * size))
        return self.call("convert", {"to": form, "format": "jsonrpc", "lossy": True}, [written])[:2]

    def power(self, command, shape, form, times):
        """How the work grows, from `times` the smallest size on. None where it does not grow to speak of."""
        counts = []
        for size in (2, 4, 8):
            function, options = command
            of = [self.recording(shape, "jsonrpc" if function == "convert" and "format" in options else form, size * times)[1]]
            if function == "diff":
                of.append(self.recording(shape, "jsonrpc", size * times)[1])
            counts.append(self.call(function, options, of)[2])
        two, four, eight = counts
        return math.log2((eight - four) / max(four - two, 1)) if eight - four >= LEAST else None


def request(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def result(id, **members):
    return {"jsonrpc": "2.0", "id": id, "result": members}


def call(id, **arguments):
    return request(id, "tools/call", name="echo", arguments=arguments)


def text(id, words="done"):
    return result(id, content=[{"type": "text", "text": words}])


HANDSHAKE = [
    request(
        "i", "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"}
    ),
    result(
        "i",
        protocolVersion="2025-06-18",
        capabilities={"tools": {}, "logging": {}},
        serverInfo={"name": "s", "version": "1"},
    ),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]


def pairs(n, ask, answer):
    return [message for i in range(n) for message in (ask(i), answer(i))]


def tool(i):
    return {
        "name": f"tool{i}",
        "inputSchema": {"type": "object", "properties": {f"p{i}": {"type": "string"}}},
        "outputSchema": {"type": "object", "properties": {f"r{i}": {"type": "number"}}, "required": [f"r{i}"]},
    }


def listed(tools):
    return [request("l", "tools/list"), result("l", tools=tools)]


#: A shape: how many of what grows there are at the smallest size, and the messages for that many.
SHAPES = {
    "calls": (60, lambda n: pairs(n, lambda i: call(i, n=i), text)),
    "calls with text ids": (60, lambda n: pairs(n, lambda i: call(f"id-{i}", n=i), lambda i: text(f"id-{i}"))),
    "open calls, answered in order": (60, lambda n: [*map(call, range(n)), *map(text, range(n))]),
    "open calls, answered backwards": (60, lambda n: [*map(call, range(n)), *map(text, reversed(range(n)))]),
    "calls nobody answers": (120, lambda n: [call(i) for i in range(n)]),
    "answers to nothing": (120, lambda n: [text(i) for i in range(n)]),
    "the same answer again": (120, lambda n: [call(0), *(text(0) for _ in range(n))]),
    "errors": (60, lambda n: pairs(n, call, lambda i: {"jsonrpc": "2.0", "id": i, "error": {"code": -32603, "message": f"no {i}"}})),
    "methods": (60, lambda n: pairs(n, lambda i: request(i, f"x/{i}"), lambda i: result(i))),
    "tools called": (60, lambda n: pairs(n, lambda i: request(i, "tools/call", name=f"t{i}", arguments={}), text)),
    "tools listed": (40, lambda n: listed([tool(i) for i in range(n)])),
    "tools of one name": (60, lambda n: listed([tool(0) for _ in range(n)])),
    "tools listed, and each called": (
        30,
        lambda n: listed([tool(i) for i in range(n)])
        + pairs(
            n,
            lambda i: request(i, "tools/call", name=f"tool{i}", arguments={f"p{i}": "x"}),
            lambda i: result(i, content=[], structuredContent={f"r{i}": i}),
        ),
    ),
    "one tool's output, checked again": (
        40, lambda n: listed([tool(0)]) + pairs(
            n, lambda i: request(i, "tools/call", name="tool0", arguments={"p0": "x"}),
            lambda i: result(i, content=[], structuredContent={"r0": i}),
        ),
    ),
    "pages": (
        40,
        lambda n: pairs(
            n,
            lambda i: request(i, "tools/list", **({"cursor": f"c{i}"} if i else {})),
            lambda i: result(i, tools=[tool(i)], nextCursor=f"c{i + 1}"),
        ),
    ),
    "progress": (
        120,
        lambda n: [
            request(0, "tools/call", name="echo", arguments={}, _meta={"progressToken": "p"}),
            *({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p", "progress": i}} for i in range(n)),
            text(0),
        ],
    ),
    "progress of many": (
        60,
        lambda n: [request(i, "tools/call", name="e", arguments={}, _meta={"progressToken": i}) for i in range(n)]
        + [{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": i, "progress": 1}} for i in range(n)]
        + [text(i) for i in range(n)],
    ),
    "cancelled": (
        60,
        lambda n: [
            message
            for i in range(n)
            for message in (call(i), {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}})
        ],
    ),
    "log messages": (
        120,
        lambda n: [
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"line {i}"}} for i in range(n)
        ],
    ),
    "subscriptions": (
        60,
        lambda n: pairs(n, lambda i: request(i, "resources/subscribe", uri=f"file:///{i}"), lambda i: result(i))
        + [{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": f"file:///{i}"}} for i in range(n)],
    ),
    "handshakes": (30, lambda n: HANDSHAKE * n),
    "one long text": (6000, lambda n: [call(0, text="x" * n), text(0, "y" * n)]),
    "one long text of escapes": (1500, lambda n: [call(0, text='\\"\n\u00e9' * n), text(0, '\\"\n' * n)]),
    "one object of many members": (400, lambda n: [call(0, **{f"m{i}": i for i in range(n)}), text(0)]),
    "one array of many items": (1200, lambda n: [call(0, a=list(range(n))), text(0)]),
    "one array of many objects": (200, lambda n: [call(0, a=[{"k": i, "v": "x"} for i in range(n)]), text(0)]),
    "many contents": (200, lambda n: [call(0), result(0, content=[{"type": "text", "text": f"t{i}"} for i in range(n)])]),
    "long methods": (1500, lambda n: [request(0, "m" * n), result(0)]),
    "long ids": (1500, lambda n: [call("i" * n), text("i" * n)]),
    "long numbers": (1500, lambda n: [call(0, n=12345), text(0)]),
    "an enum": (300, lambda n: listed([{"name": "t", "inputSchema": {"type": "object", "properties": {"e": {"enum": [f"v{i}" for i in range(n)]}}}}])),
    "a schema of many properties": (
        150,
        lambda n: listed(
            [{"name": "t", "inputSchema": {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(n)}, "required": [f"p{i}" for i in range(n)]}}]
        ),
    ),
    "a schema of references": (
        100,
        lambda n: listed(
            [
                {
                    "name": "t",
                    "inputSchema": {
                        "type": "object",
                        "properties": {f"p{i}": {"$ref": f"#/$defs/d{i}"} for i in range(n)},
                        "$defs": {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)} | {f"d{n}": {"type": "string"}},
                    },
                }
            ]
        ),
    ),
}

#: Every format that `convert` writes and `read` reads.
FORMATS = """jsonrpc streamable-http http-sse mcp-replay inspector har mcp-rec mcporter mcp-recorder inspector-network directed-jsonl
mcp-cassette agent-vcr txtar""".split()

#: What is asked of each recording.
COMMANDS = [
    ("read", {}),
    ("identify", {}),
    ("summary", {}),
    ("check", {}),
    ("diff", {}),
    ("diff", {"ids": "renumbered"}),
    ("diff", {"unorderedAnswers": True}),
    ("show", {"output": "text"}),
    ("show", {"output": "svg", "all": True}),
    ("show", {"output": "html"}),
    ("convert", {"to": "otlp-json", "lossy": True}),
]


def lines(messages):
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def main():
    arguments = [it for it in sys.argv[1:] if not it.startswith("-")]
    if not arguments or "--help" in sys.argv:
        sys.exit(__doc__)
    module = Module(arguments[0])
    wanted = arguments[1:] or list(SHAPES)
    if unknown := set(wanted) - set(SHAPES):
        sys.exit(f"no shape is called {', '.join(unknown)}; there are: {', '.join(SHAPES)}")
    rows, refused = [], set()
    for number, shape in enumerate(wanted):
        # With --some, each shape in one format and by an eighth of the commands, in turn; the first shape in all formats.
        forms = FORMATS if number == 0 or "--some" not in sys.argv else [FORMATS[number % len(FORMATS)]]
        for place, form in enumerate(forms):
            if fault := module.recording(shape, form, 1)[0].get("error"):
                refused.add((form, shape, fault["message"]))
                continue
            commands = [("convert", {"to": form, "format": "jsonrpc", "lossy": True}), *COMMANDS]
            for command in commands[(number + place) % 8 :: 8] if "--some" in sys.argv else commands:
                # What is steep may be one step, where a buffer is full: growth is steep at eight times the size, too.
                power = module.power(command, shape, form, 1)
                if (power or 0) > LIMIT:
                    power = min(power, module.power(command, shape, form, 8) or 0)
                name = " ".join([command[0], *(key if value is True else value for key, value in command[1].items())])
                rows.append((power, name, form, shape))
    rows.sort(key=lambda row: -(row[0] or 0))
    steep = [row for row in rows if (row[0] or 0) > LIMIT]
    shown = rows if "--all" in sys.argv else steep or rows[:10]
    for power, words, form, shape in shown:
        print(f"{'  flat' if power is None else f'n^{power:.2f}'}  {words:24} {form:16} {shape}")
    for form, shape, why in sorted(refused):
        print(f"not written as {form}: {shape}: {why}")
    print(f"{len(rows)} measured, {len(steep)} grow faster than n^{LIMIT}")
    sys.exit(1 if steep else 0)


if __name__ == "__main__":
    main()
