"""A small server with a switch a fault, over stdio, or over HTTP with --port 0: `probed [--port N] [FAULT]`."""
import fcntl
import json
import os
import sys
import time

ARGS = sys.argv[1:]
PORT = int(ARGS[1]) if ARGS[:1] == ["--port"] else None
FAULT = (ARGS[2:] if PORT is not None else ARGS)[:1]
FAULT = FAULT[0] if FAULT else ""
MODERN = "2026-07-28"
VERSIONS = [] if FAULT.startswith("only") else ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
META = "io.modelcontextprotocol/"


def faulty(name):
    return FAULT == name


TOOL = {
    "name": "add", "description": "Adds", "annotations": {"readOnlyHint": True},
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
}
WRITES = {"name": "erase", "description": "Erases", "inputSchema": {"type": "array" if FAULT == "untyped" else "object"}}
RESOURCE = {"uri": "memo://one", "name": "one"}
PROMPT = {"name": "greet", "arguments": [{"name": "who", "required": True}]}
if FAULT == "patterned":
    TOOL["inputSchema"]["properties"] |= {
        "p": {"type": "string", "pattern": "^[0-9]{4}-[a-f]+$"}, "n": {"type": "integer", "minimum": 5, "multipleOf": 3},
        "x": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "d": {"type": "string", "format": "date"},
        "u": {"type": "string", "format": "uri"}, "m": {"type": "string", "format": "email"}, "i": {"type": "string", "format": "uuid"},
    }
    TOOL["inputSchema"]["required"] = list(TOOL["inputSchema"]["properties"])
if FAULT in ("unfit", "refers"):
    TOOL["inputSchema"]["properties"]["p"] = {"type": "string", "pattern": "^(?=b)[a-z]{3}$"} if FAULT == "unfit" else {"$ref": "https://example.com/p.json"}
    TOOL["inputSchema"]["required"].append("p")
if FAULT == "billions":
    for _ in range(3):
        TOOL["inputSchema"]["properties"]["a"] = {"type": "array", "minItems": 1000, "items": TOOL["inputSchema"]["properties"]["a"]}
if FAULT.startswith("task") and not faulty("task-none"):
    TOOL["execution"] = {"taskSupport": "required" if faulty("task-required") else "optional"}
# Where challenges say that the metadata is, by faults.
LOGINS = {"login-named": "HERE/metadata", "login-alone": "HERE/metadata", "login-gone": "HERE/gone", "login-elsewhere": "https://example.com/metadata"}
# Results that are none, by their faults.
RESULTS = {
    "hello-text": ("initialize", "x"), "discover-array": ("server/discover", [1]), "discover-text": ("server/discover", "x"),
    "discover-versions": ("server/discover", {"supportedVersions": MODERN, "capabilities": {}, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}),
    "list-array": ("prompts/list", []), "list-text": ("tools/list", "none"), "list-true": ("resources/list", True),
}
state = {"version": None, "level": False, "tasks": {}}


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})


def note(method, params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def page(params, items, name):
    """A page of a list; every one but the first is empty."""
    circle = {None: "1", "1": "2", "2": "1"} if faulty("circle") and name == "tools" else {}
    if params.get("cursor") in circle:
        return {name: items, "nextCursor": circle[params.get("cursor")]}
    if "cursor" in params and FAULT not in ("cursor", "endless") and not (faulty("latin") and params["cursor"] == "two"):
        raise Refused(-32602, "no such cursor")
    if faulty("endless") and name == "tools":
        return {name: [], "nextCursor": str(int(params.get("cursor", 0)) + 1)}
    if faulty("latin") and name == "tools":
        return {name: items[1:]} if "cursor" in params else {name: items[:1], "nextCursor": "two"}
    return {name: items} | ({"nextCursor": 7} if faulty("cursor-number") and name == "prompts" else {})


def initialize(params, said):
    wanted = params["protocolVersion"]
    if not VERSIONS:
        raise Refused(-32022, "no such version", {"supported": [MODERN], "requested": wanted})
    state["version"] = wanted if wanted in VERSIONS or faulty("any-version") else VERSIONS[-1]
    if faulty("version-older") and wanted == "2025-06-18":
        state["version"] = "2024-11-05"
    declared = {"tools": {}, "prompts": {}, "resources": {"subscribe": True}, "logging": {}}
    if state["version"] > "2024-11-05":
        declared["completions"] = {}
    if state["version"] == "2025-11-25" and FAULT.startswith("task"):
        declared["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    if FAULT.startswith("undeclared"):
        del declared["prompts"]
    info = {"name": "probed", "version": "1"}
    return {"protocolVersion": state["version"], "capabilities": declared} | ({} if faulty("no-info") else {"serverInfo": info})


def call(params, said):
    arguments = params.get("arguments", {})
    if params.get("name") != "add":
        if faulty("tool-unknown"):
            return {"content": []}
        raise Refused(-32602, "no such tool")
    if not isinstance(arguments.get("a"), int):
        if FAULT in ("misuse", "misuse-internal"):
            raise Refused(-32602 if faulty("misuse") else -32603, "a is missing")
        return {"content": [{"type": "text", "text": "a is missing"}], "isError": True}
    if FAULT in ("crashes", "crashes-once") and arguments["a"] > 1000:
        open("crashed", "w").close()
        os._exit(6)
    if faulty("busy"):
        time.sleep(1)
    if faulty("level-ignored") and not state["modern"]:
        said.append(note("notifications/message", {"level": "debug", "data": "1"}))
    if faulty("hangs") and arguments["a"] > 1000:
        time.sleep(60)
    if faulty("traces") and arguments["a"] < 0:
        trace = "Traceback (most recent call last):\n  File \"probed\", line 1"
        return {"content": [{"type": "text", "text": trace}], "isError": True}
    token = params.get("_meta", {}).get("progressToken")
    if token is not None:
        steps = [2, 1] if faulty("progress") else [1, 2]
        said += [note("notifications/progress", {"progressToken": token, "progress": step}) for step in steps]
    if faulty("progress-unknown"):
        said.append(note("notifications/progress", {"progressToken": "made up", "progress": 1}))
    result = [1] if faulty("output-list") else {"sum": "one" if faulty("output") or faulty("wrong-sum") and arguments["a"] < 0 else 1}
    content = [{"type": "text", "text": json.dumps(result)}]
    if not state["modern"] and state["version"] < "2025-06-18":
        return {"content": content}
    return {"structuredContent": result} | ({} if faulty("no-content") else {"content": content})


def made(params, said):
    """A call that is a task where one is asked for. It has ended when it is looked at for the second time."""
    tool = TOOL.get("execution") if params.get("name") == "add" and not state["modern"] and state["version"] == "2025-11-25" else None
    if tool and "task" not in params and tool["taskSupport"] == "required":
        raise Refused(-32601, "as a task")
    if not tool or "task" not in params or faulty("task-plain"):
        return call(params, said)
    number = len(state["tasks"]) + 1
    named = number if faulty("task-number") else f"task-{number}"
    status = "completed" if faulty("task-done") else "working"
    task = {"taskId": named, "status": status, "createdAt": "2025-11-25T10:30:00Z", "lastUpdatedAt": f"2025-11-25T10:30:0{number}Z", "ttl": 60000, "pollInterval": 60}
    if faulty("task-times"):
        del task["createdAt"]
    state["tasks"][named] = {"task": task, "result": call(params, said), "looks": 0}
    return {"task": dict(task)}


def found(params):
    if params["taskId"] not in state["tasks"]:
        raise Refused(-32603 if faulty("task-unknown") else -32602, "no such task")
    return state["tasks"][params["taskId"]]


def look(params, said):
    kept = found(params)
    kept["looks"] += 1
    if kept["looks"] > 1 and not faulty("task-slow"):
        kept["task"]["status"] = "failed" if faulty("task-failed") else "completed"
    return {"task": dict(kept["task"])} if faulty("task-got-wrapped") else dict(kept["task"])


def bring(params, said):
    kept = found(params)
    named = {} if faulty("task-unrelated") else {"_meta": {META + "related-task": {"taskId": params["taskId"]}}}
    return ({"value": 1} if faulty("task-wrapped") else kept["result"]) | named


def cancel(params, said):
    task = found(params)["task"]
    if task["status"] != "working" and not faulty("task-cancel"):
        raise Refused(-32602, "it has ended")
    task["status"] = task["status"] if faulty("task-cancel") else "cancelled"
    return dict(task)


def listed(params, said):
    if "cursor" in params and faulty("task-cursor"):
        return {"tasks": []}
    return page(params, [] if faulty("task-unlisted") else [dict(kept["task"]) for kept in state["tasks"].values()], "tasks")


def read(params, said):
    if params.get("uri") != RESOURCE["uri"]:
        if faulty("resource-unknown"):
            return {"contents": []}
        if faulty("resource-code"):
            raise Refused(-32603, "x")
        raise Refused(-32602 if state["modern"] and not faulty("resource-retired") else -32002, "no such resource", state["modern"] and {"uri": params.get("uri")})
    return {"contents": [{"uri": RESOURCE["uri"], "text": "1"} | ({"blob": "MQ=="} if faulty("both") else {})]}


def get(params, said):
    unknown = params.get("name") != "greet"
    if unknown and not faulty("prompt-unknown"):
        raise Refused(-32602, "no such prompt")
    if not unknown and "who" not in params.get("arguments", {}) and not faulty("argument"):
        raise Refused(-32602, "who is missing")
    content = {"type": "text", "text": "Hello"}
    if faulty("embedded"):
        content = {"type": "resource", "resource": {"text": "Hello"}}
    return {"messages": [{"role": "user", "content": content}]}


def level(params, said):
    if params["level"] not in ("debug", "emergency") and not faulty("level-unknown"):
        raise Refused(-32602, "no such\nlevel" if faulty("chatty") else "no such level")
    if faulty("level"):
        said.append(note("notifications/message", {"level": "loud", "data": "1"}))
    return {}


def subscribe(params, said):
    if faulty("updates"):
        said.append(note("notifications/resources/updated", {"uri": "memo://two"}))
    return {}


def unsubscribe(params, said):
    if faulty("unsubscribe"):
        raise Refused(-32601, "no such method")
    state["unsubscribed"] = True
    return {}


def listen(params, said):
    """A subscription: its acknowledgment, and no answer."""
    if faulty("subscribes-refused"):
        raise Refused(-32603, "busy")
    if faulty("subscribes-silent"):
        return
    own = {"_meta": {META + "subscriptionId": str(state["id"]) if faulty("subscribes-text") else state["id"]}}
    wanted = params["notifications"] | ({"promptsListChanged": True} if faulty("subscribes-more") else {})
    said.append(note("notifications/subscriptions/acknowledged", {"notifications": wanted} | ({} if faulty("subscribes-unnamed") else own)))
    changed = note(f"notifications/{'prompts' if faulty('subscribes-other') else 'tools'}/list_changed", own)
    said.insert(0 if faulty("subscribes-late") else 1, changed)


def discover(params, said):
    changes = {"listChanged": True, "subscribe": True} if FAULT.startswith("subscribes") else {}
    versions = {} if FAULT in ("unlisted", "only-unlisted") else {"supportedVersions": VERSIONS + [MODERN]}
    return versions | {"capabilities": {"tools": changes and {"listChanged": True}, "prompts": {}, "resources": changes, "completions": {}}}


METHODS = {
    "server/discover": discover,
    "initialize": initialize,
    "ping": lambda params, said: {"pong": True, "at": time.time()} if faulty("ping") else {},
    "tools/list": lambda params, said: page(params, [TOOL] * 150 if faulty("many-names") else [TOOL, TOOL if faulty("same-name") else WRITES], "tools"),
    "prompts/list": lambda params, said: page(params, [] if faulty("undeclared-empty") else [PROMPT], "prompts"),
    "resources/list": lambda params, said: page(params, [RESOURCE | ({"uri": "no uri"} if faulty("uri") else {})], "resources"),
    "resources/templates/list": lambda params, said: page(params, [{"name": 1} if faulty("template") else {"name": "t", "uriTemplate": "memo://{n}"}], "resourceTemplates"),
    "tools/call": made,
    "resources/read": read,
    "prompts/get": get,
    "completion/complete": lambda params, said: {"completion": {"values": ["x"] * (101 if faulty("completion") else 1)}},
    "logging/setLevel": level,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
}
if FAULT.startswith("task"):
    METHODS |= {"tasks/get": look, "tasks/result": bring, "tasks/cancel": cancel, "tasks/list": listed}
if FAULT.startswith("subscribes"):
    METHODS["subscriptions/listen"] = listen


ONLY_MODERN = ["server/discover", "subscriptions/listen"]
ONLY_BEFORE = ["ping", "tasks/get", "tasks/result", "tasks/cancel", "tasks/list", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]


def answer(message, said):
    """The answer to a message, and what is said before it; nothing to a notification."""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        if faulty("invalid"):
            raise SystemExit(3)
        error = {"jsonrpc": "2.0", "error": {"code": -32601 if faulty("invalid-code") else -32600, "message": "invalid"}}
        return error | ({"id": message["id"]} if isinstance(message, dict) and "id" in message else {})
    asks = "id" in message
    if not asks and faulty("notification-null"):
        return {"jsonrpc": "2.0", "id": None, "result": None}
    if not asks and not (FAULT in ("notification", "late-body") and "concord" in message["method"]):
        return None
    handler = METHODS.get(message["method"])
    answers = ({} if faulty("no-jsonrpc") else {"jsonrpc": "2.0"}) | {"id": message.get("id", 0)}
    if faulty("id-text") and answers["id"] == "concord":
        answers["id"] = "Concord"
    if faulty("ids-text"):
        answers["id"] = str(answers["id"])
    if faulty("id-large") and answers["id"] == 9007199254740991:
        answers["id"] = 9007199254740992
    try:
        params = message.get("params", {})
        state["modern"] = META + "protocolVersion" in params.get("_meta", {})
        if message["method"] == "server/discover" and faulty("only-undiscovered") or message["method"] in ONLY_MODERN and not state["modern"] or message["method"] in ONLY_BEFORE and state["modern"]:
            handler = None
        if state["modern"] and params["_meta"][META + "protocolVersion"] != MODERN and not faulty("unsupported"):
            raise Refused(-32022, "no such version", {"supported": VERSIONS + [MODERN], "requested": params["_meta"][META + "protocolVersion"]})
        if answers["id"] == "bare":
            if not faulty("bare"):
                raise Refused(-32602, "no _meta")
            state["modern"] = True
        if handler is None:
            raise Refused(-32603 if faulty("method") else -32601, "no such method")
        if faulty("error-half") and message["method"] == "tools/list":
            raise Refused(-32603, "half \ud83d")
        if faulty("refuses-in-body") and message["method"] == "tools/list":
            raise Refused(-32603, "busy")
        state["id"] = answers["id"]
        if RESULTS.get(FAULT, "")[:1] == (message["method"],):
            return answers | {"result": RESULTS[FAULT][1]}
        result = handler(params, said)
        if result is None:
            return None
        if state["modern"]:
            result |= {"resultType": "complete", "_meta": {META + "serverInfo": {"name": "probed", "version": "1"}}}
            if "list" in message["method"] or message["method"] in ("resources/read", "server/discover"):
                result |= {"ttlMs": 0, "cacheScope": "private"}
        if faulty("with-method") and message["method"] == "prompts/list":
            answers["method"] = message["method"]
        return answers | {"result": result}
    except Refused as refused:
        return answers | {"error": f"{refused}" if faulty("error-text") else refused.error} | ({"id": None} if faulty("error-null") else {})


def over_stdio():
    if faulty("first-refused") and not os.path.exists("refused"):
        # Something else still holds what this process needs.
        open("refused", "w").close()
        METHODS["initialize"] = lambda params, said: page({"cursor": 1}, [], "")
    if faulty("banner"):
        print("Server started", flush=True)
    if faulty("lonely"):
        # It is not a fault to run only once at a time.
        state["lock"] = open("lonely.lock", "w")
        try:
            fcntl.flock(state["lock"], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with open("lonely.txt", "a") as turned_away:
                turned_away.write("once more\n")
            sys.exit(3)
    if faulty("dies-at-once"):
        print("no key", file=sys.stderr)
        raise SystemExit(7)
    if FAULT in ("deaf", "mute"):
        os.close(FAULT == "mute")
        time.sleep(60)
    if faulty("never") or faulty("crashes-once") and os.path.exists("crashed"):
        time.sleep(60)
    if faulty("forks") and os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    if faulty("flood"):
        while True:
            print("x" * 1000)
    if faulty("latin"):
        sys.stdout.reconfigure(encoding="latin-1")
        TOOL["description"] = "Z\u00e4hlt"
    last = None
    if faulty("surrogate"):
        PROMPT["title"] = "half \ud83d"
    if faulty("deep"):
        PROMPT["_meta"] = {"d": json.loads("[" * 200 + "]" * 200)}
    if faulty("digits"):
        PROMPT["_meta"] = {"d": 10 ** 400}
    dumps = {"pretty": lambda said: json.dumps(said, indent=2), "marked": lambda said: "\ufeff" + json.dumps(said), "latin": lambda said: json.dumps(said, ensure_ascii=False)}.get(FAULT, json.dumps)
    for line in sys.stdin:
        said = [state["again"]] if state.get("again") else []
        try:
            message = json.loads(line)
        except ValueError:
            if faulty("broken"):
                raise
            print(json.dumps({"jsonrpc": "2.0", "error": {"code": -32603 if faulty("broken-code") else -32700, "message": "no JSON"}}), flush=True)
            continue
        if faulty("fragile"):
            message.get("method", "").partition("/")
        if faulty("no-texts") and any(isinstance(one.get("id"), str) for one in (message if isinstance(message, list) else [message])):
            continue
        if isinstance(message, list):
            if FAULT in ("batch", "batch-code", "batch-bare") or state["version"] != "2025-03-26":
                code = -32602 if faulty("batch-code") else -32600
                answers = {"jsonrpc": "2.0"} | ({} if faulty("batch-bare") else {"id": None}) | {"error": {"code": code, "message": "no batches"}}
            else:
                answers = [answer(one, said) for one in message]
            print(json.dumps(answers), flush=True)
            continue
        if state.get("fallen"):
            raise ValueError("no handler")
        if faulty("falls") and message.get("method") == "concord/unknown":
            state["fallen"] = True
            continue
        if faulty("dies-cancelled") and message.get("method") == "notifications/cancelled":
            raise SystemExit(8)
        if message.get("method") == {"silent": "prompts/list", "silent-ping": "ping", "silent-tools": "tools/list"}.get(FAULT):
            continue
        if FAULT in ("slow", "dies-cancelled") and message.get("method") == "tools/call" and message["params"].get("arguments") == {"a": 1}:
            continue
        if faulty("dies") and message.get("method") == "resources/list":
            raise SystemExit(5)
        if faulty("late") and message.get("method") == "tools/call" and message["params"].get("arguments") == {"a": 1}:
            last = message
            if message["params"].get("_meta") is None:
                continue
        if faulty("late") and message.get("method") == "notifications/cancelled":
            message = last
            time.sleep(1.1)
        if faulty("unsubscribed") and state.pop("unsubscribed", False):
            said.append(note("notifications/resources/updated", {"uri": "memo://one"}))
        if faulty("early") and "method" not in message:
            continue
        if faulty("begins-late") and message["method"] == "initialize":
            time.sleep(3)
        answers = answer(message, said)
        if faulty("early") and message["method"] == "initialize":
            print(json.dumps(answers))
            answers = {"jsonrpc": "2.0", "id": "early", "method": "roots/list"}
        if faulty("unasked"):
            said = [{"jsonrpc": "2.0", "id": f"nobody-{number}", "result": {}} for number in range(100)] + said
        for one in said + ([answers] if answers else []):
            print(dumps(one), flush=True)
        state["again"] = answers if faulty("twice") else None
        if faulty("dies-begun") and message["method"] == "initialize":
            raise SystemExit(6)
