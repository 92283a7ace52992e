"""What importers do out of habit: clean, decode and complete what they show."""

import html
import re
import unicodedata
from decimal import Context, Decimal
from urllib.parse import unquote

from faults.seams import (
    DROPPED,
    GONE,
    member_of,
    numbers,
    on_event,
    on_message,
    on_values,
    put,
    rejects,
    strings,
    text_of,
    without,
)
from faults.values import ARGUMENTS, OUTCOME, as_call, as_double, significant, tool, unpacked
from jsontext import JsonError, Number, TwiceNamed, parse

# --- values -------------------------------------------------------------------------------------------------------


def replaced(pattern, new=""):
    return lambda text: re.sub(pattern, new, text)


def nfkc(text):
    return unicodedata.normalize("NFKC", text)


def named(edit):
    """Members have other names, and where two have one name the last stays."""

    def rename(value):
        if not isinstance(value, dict) or type(value) is TwiceNamed or all(edit(name) == name for name in value):
            return value
        return {edit(name): inner for name, inner in value.items()}

    return rename


def members(condition):
    """Drops members: condition(name, value)."""

    def drop(value):
        gone = [name for name, inner in value.items() if condition(name, inner)] if isinstance(value, dict) else ()
        return without(value, *gone) if gone else value

    return drop


def arrays(edit):
    return lambda value: edit(value) if type(value) is list else value


def flat(items):
    return [inner for item in items for inner in (item if type(item) is list else [item])]


def as_array(value):
    digits = isinstance(value, dict) and value and list(value) == [str(at) for at in range(len(value))]
    return list(value.values()) if digits else value


def fifty_digits(text):
    exact = Decimal(text)
    rounded = Context(prec=50, Emin=-999999, Emax=999999).plus(exact)
    return None if len(exact.as_tuple().digits) <= 50 else Number(str(rounded))


def list_of(text):
    try:
        return parse(text) if text.startswith("[") else text
    except JsonError:
        return text


STRAIGHT = dict(zip(map(ord, "“”‘’"), "\"\"''"))
WORDS = {"null": None, "None": None, "true": True, "False": False}

CLEANED = {
    "compatible": ("writes ligatures and wide letters as plain ones (NFKC)", strings(nfkc)),
    "joiners-dropped": ("drops joiners and spaces of no width", strings(replaced("[\u200b-\u200d\u2060]"))),
    "soft-hyphens-dropped": ("drops soft hyphens", strings(replaced("\u00ad"))),
    "marks-dropped": ("drops byte order marks inside of strings", strings(replaced("\ufeff"))),
    "selectors-dropped": ("drops variation selectors", strings(replaced("[\ufe00-\ufe0f]"))),
    "private-use-dropped": ("drops characters of private use", strings(replaced("[\ue000-\uf8ff]"))),
    "plain-spaces": ("writes a space for a no-break space", strings(replaced("\u00a0", " "))),
    "straight-quotes": ("straightens quotes", strings(lambda text: text.translate(STRAIGHT))),
    "colours-dropped": ("drops the colours of a terminal", strings(replaced("\x1b\\[[0-9;]*m"))),
    "old-line-ends": ("writes LF for a lone CR", strings(replaced("\r(?!\n)", "\n"))),
    "backslashes-read": ("reads escapes in a string once more", strings(lambda text: text.replace("\\n", "\n"))),
    "percents-read": ("decodes percent codes in strings", strings(unquote)),
    "variables-filled": ("fills in variables of the environment", strings(replaced(r"\$\{?HOME\}?", "/root"))),
    "braces-halved": ("writes one brace for two, as templates do", strings(replaced(r"\{\{", "{"))),
    "words-are-values": ("reads the strings null, None, true and False as values",
        lambda value: WORDS.get(value, value) if type(value) is str else value),
    "signed-text-is-a-number": ("reads a string that is a negative number as the number",
        strings(lambda text: Number(text) if re.fullmatch(r"-[1-9]\d*", text) else text)),
    "lists-unpacked": ("reads a string that holds a JSON array as the array", strings(list_of)),
    "hosts-in-lower-case": ("writes schemes and hosts of addresses in lower case",
        strings(lambda text: re.sub(r"^\w+://[^/]*", lambda found: found[0].lower(), text))),
    "padding-dropped": ("drops the padding of base64", strings(replaced(r"(?<=\w)=+$"))),
    "tokens-hidden": ("hides what stands behind the word Bearer", strings(replaced(r"Bearer \S+", "Bearer ***"))),
    "fifty-digits": ("keeps fifty digits of a number, as a decimal type does", numbers(fifty_digits)),
    "exponents-are-doubles": ("puts numbers with an exponent through a double",
        numbers(lambda text: as_double(text) if "e" in text.lower() and float(text) else None)),
    "denormals-are-zero": ("writes 0 for a number that only a denormal double holds",
        numbers(lambda text: Number("0") if significant(text) and 0 < abs(float(text)) < 2.3e-308 else None)),
    "names-trimmed": ("trims the names of members", named(str.strip)),
    "names-compatible": ("writes plain letters in names of members (NFKC)", named(nfkc)),
    "names-with-underscores": ("writes underscores for dashes in names of members", named(lambda name: name.replace("-", "_"))),
    "names-at-nul": ("ends the name of a member at a NUL", named(lambda name: name.partition("\0")[0])),
    "names-without-zeros": ("drops leading zeros of names that are digits",
        named(lambda name: str(int(name)) if name.isascii() and name.isdigit() else name)),
    "names-decoded": ("decodes entities and percent codes in names", named(lambda name: unquote(html.unescape(name)))),
    "names-of-255": ("cuts names of members to 255 characters", named(lambda name: name[:255])),
    "private-names-dropped": ("drops members whose names begin with a dollar sign or an underscore, other than `_meta`",
        members(lambda name, value: name[:1] in ("$", "_") and name not in ("_meta", "__proto__"))),
    "secrets-dropped": ("drops members called password", members(lambda name, value: name == "password")),
    "false-is-error-dropped": ("drops an `isError` that is false",
        members(lambda name, value: name == "isError" and value is False)),
    "icons-dropped": ("drops icons and annotations", members(lambda name, value: name in ("icons", "annotations"))),
    "nulls-of-arrays-dropped": ("drops nulls from arrays", arrays(lambda items: [item for item in items if item is not None])),
    "arrays-of-1000": ("keeps the first 1,000 items of an array", arrays(lambda items: items[:1000])),
    "arrays-flattened": ("flattens arrays in arrays", arrays(flat)),
    "digits-make-arrays": ("makes an array of an object whose names are 0, 1, 2", as_array),
}


def cleaned(where, names, table):
    return {f"{name}-in-{where}": (f"{does}, in {where}", on_values(names, edit)) for name, (does, edit) in table.items()}


# --- tools, methods, arguments, outcomes --------------------------------------------------------------------------


def called(*names, by=lambda method: method):
    """Methods that are taken for tools/call."""
    return on_event(lambda event: as_call(event) if by(event.get("method") or "") in names else None)


def method(edit):
    return on_event(lambda event: event | {"method": edit(event["method"])} if "method" in event else None)


def is_call(message):
    return message.get("method") == "tools/call"


def arguments_from(find):
    """Arguments that stand elsewhere: find(message), None where there are none."""

    def edit(message):
        found = find(message) if is_call(message) and "arguments" not in (message.get("params") or {}) else None
        return None if found is None else {**message, "params": {**message["params"], "arguments": found}}

    return on_message(edit)


def error(edit):
    """Each error is another one: edit(error), GONE where it stays."""
    return on_event(
        lambda event: event | {"error": new} if "error" in event and (new := edit(event["error"])) is not GONE else None
    )


def error_member(name, edit):
    """A member of errors is another one, GONE where it stays."""

    def other(value):
        new = edit(value[name]) if isinstance(value, dict) and name in value else GONE
        return GONE if new is GONE else {**value, name: new}

    return error(other)


def wrapped(value):
    return {"code": Number("-32603"), "data": value} if isinstance(value, (list, Number, bool)) or value is None else GONE


def result(edit):
    """Each result that is an object is another one."""
    return on_event(lambda event: event | {"result": edit(event["result"])} if isinstance(event.get("result"), dict) else None)


def coded_result(event):
    result = event.get("result")
    if isinstance(result, dict) and {"code", "message"} <= set(result):
        return without(event, "result") | {"kind": "error", "error": result}


def items(edit):
    """The content of a result is another one."""

    def other(event):
        content = member_of(event, "result", "content")
        return event | {"result": {**event["result"], "content": edit(content)}} if type(content) is list else None

    return on_event(other)


def known(value, *names):
    return {name: inner for name, inner in value.items() if name in names} if isinstance(value, dict) else value


def known_tools(event):
    tools = member_of(event, "result", "tools")
    if type(tools) is list:
        kept = [known(item, "name", "title", "description", "inputSchema", "outputSchema", "annotations") for item in tools]
        return event | {"result": {**event["result"], "tools": kept}}


FAULTS = {
    "EQ-ARGS": cleaned("arguments", ARGUMENTS, CLEANED)
    | {
        "empty-text-is-null": ("puts null for arguments that are an empty text",
            on_event(lambda event: event | {"arguments": None} if event.get("arguments") == "" else None)),
        "args-for-arguments": ("takes the member `args` for missing arguments",
            arguments_from(lambda message: member_of(message, "params", "args"))),
        "arguments-beside-params": ("takes arguments that stand beside the params",
            arguments_from(lambda message: message.get("arguments"))),
        "params-of-a-type": ("keeps of the params of initialize what a type of its SDK has a field for",
            on_event(lambda event: event | {"params": known(event.get("params"), "protocolVersion", "capabilities", "clientInfo")}
                if event.get("method") == "initialize" else None)),
        "uri-decoded": ("decodes the address of a resource",
            on_message(lambda message: put(message, unquote(uri), "params", "uri")
                if type(uri := member_of(message, "params", "uri")) is str else None)),
    },
    "EQ-OUTCOME": cleaned("outcomes", OUTCOME, CLEANED)
    | {
        "odd-errors-wrapped": ("puts an error that is not an object into one", error(wrapped)),
        "error-code-read": ("reads the code of an error in text as a number",
            error_member("code", lambda code: Number(code) if type(code) is str else GONE)),
        "error-message-filled-in": ("gives an error whose message is null an empty one",
            error_member("message", lambda message: "" if message is None else GONE)),
        "error-data-unpacked": ("reads the data of an error that is JSON text as JSON",
            error_member("data", lambda data: unpacked(data) if type(data) is str else GONE)),
        "error-message-must-be-text": ("rejects an error whose message is an object",
            rejects(lambda message: isinstance(member_of(message, "error", "message"), dict))),
        "false-errors-passed": ("passes over an answer whose error is null, false or empty",
            on_message(lambda message: DROPPED if "result" not in message and not message.get("error", True) else None)),
        "coded-results-are-errors": ("takes a result with a code and a message for an error", on_event(coded_result)),
        "empty-texts-dropped": ("drops items of content whose text is empty",
            items(lambda content: [item for item in content if member_of(item, "text") != ""])),
        "tools-of-a-type": ("keeps of tools what a type of its SDK has a field for", on_event(known_tools)),
        "results-unwrapped": ("takes a result that has only the member `result` for that",
            result(lambda value: value["result"] if list(value) == ["result"] else value)),
        "results-of-2024-10-07": ("takes `toolResult` for the result", result(lambda value: value.get("toolResult", value))),
        "null-is-error-dropped": ("drops an `isError` that is null",
            result(lambda value: without(value, "isError") if value.get("isError", 0) is None else value)),
        "lists-by-name": ("sorts tools by name",
            result(lambda value: {**value, "tools": sorted(value["tools"], key=text_of)} if "tools" in value else value)),
        "lists-without-doubles": ("shows one tool of each name",
            result(lambda value: {**value, "tools": list({member_of(it, "name"): it for it in value["tools"]}.values())}
                if "tools" in value else value)),
        "handshakes-of-a-type": ("keeps of the result of initialize what a type of its SDK has a field for",
            result(lambda value: known(value, "protocolVersion", "capabilities", "serverInfo", "_meta")
                if "protocolVersion" in value else value)),
        "blobs-dropped": ("drops `blob`", on_values(OUTCOME, members(lambda name, value: name == "blob"))),
        "media-types-folded": ("writes media types in lower case",
            on_values(OUTCOME, lambda value: {**value, "mimeType": value["mimeType"].lower()}
                if type(member_of(value, "mimeType")) is str else value)),
        "schemas-reduced": ("drops `$defs` and `additionalProperties` of schemas",
            on_values(OUTCOME, members(lambda name, value: name in ("$defs", "additionalProperties")))),
        "required-sorted": ("sorts the names in `required`",
            on_values(OUTCOME, lambda value: {**value, "required": sorted(value["required"], key=text_of)}
                if type(member_of(value, "required")) is list else value)),
        "content-of-100": ("keeps the first 100 items of content", items(lambda content: content[:100])),
        "error-code-wanted": ("rejects an error without a code",
            rejects(lambda message: isinstance(message.get("error"), dict) and "code" not in message["error"])),
        "error-message-wanted": ("rejects an error without a message",
            rejects(lambda message: isinstance(message.get("error"), dict) and "message" not in message["error"])),
        "errors-of-a-type": ("keeps of an error what JSON-RPC has a member for",
            error(lambda value: known(value, "code", "message", "data"))),
        "error-stacks-dropped": ("drops `stack` from the data of an error",
            error_member("data", lambda data: without(data, "stack") if isinstance(data, dict) else GONE)),
        "error-prefix-dropped": ("drops `MCP error` and the code before the message of an error",
            error_member("message", lambda message: (
                re.sub(r"^(MCP error -?\d+|Error): ", "", message) if type(message) is str else GONE
            ))),
        "errors-of-1000": ("cuts an error's message to 1,000 characters",
            error_member("message", lambda message: message[:1000] if type(message) is str else GONE)),
        "is-error-read": ("reads an `isError` in text as a boolean",
            on_event(lambda event: event | {"result": {**event["result"], "isError": True}}
                if member_of(event, "result", "isError") == "true" else None)),
    },
    "EQ-TOOL": {
        "tool-without-joiners": ("drops joiners and spaces of no width from the name of a tool",
            tool(replaced("[\u200b-\u200d]"))),
        "tool-spaces-collapsed": ("writes one space for several in the name of a tool", tool(replaced(r"\s+", " "))),
        "tool-in-snake-case": ("writes the name of a tool in snake case",
            tool(lambda name: re.sub("(?<=[a-z])[A-Z]", lambda found: "_" + found[0].lower(), name))),
        "tool-without-controls": ("drops control characters from the name of a tool", tool(replaced("[\0-\x1f]"))),
        "tool-without-a-version": ("cuts the name of a tool at an @", tool(lambda name: name.partition("@")[0])),
        "tool-without-quotes": ("drops quotes around the name of a tool", tool(lambda name: name.strip("'\""))),
        "tool-without-parentheses": ("drops () behind the name of a tool", tool(lambda name: name.removesuffix("()"))),
        "tool-without-a-slash": ("drops a slash before the name of a tool", tool(lambda name: name.removeprefix("/"))),
        "tool-with-underscores": ("writes underscores for spaces in the name of a tool",
            tool(lambda name: name.replace(" ", "_"))),
        "tool-of-a-form": ("writes a space for a plus in the name of a tool", tool(lambda name: name.replace("+", " "))),
        "tool-of-a-host": ("drops mcp__server__ and the like before the name of a tool",
            tool(replaced(r"^(mcp__[a-z]+__|functions\.|default_api\.)"))),
        "tool-of-one-line": ("cuts the name of a tool at a line end", tool(lambda name: name.partition("\n")[0])),
        "tool-up-to-nul": ("cuts the name of a tool at a NUL", tool(lambda name: name.partition("\0")[0])),
        "tool-of-the-basic-plane": ("puts a question mark for a character of a tool's name beyond the basic plane",
            tool(replaced("[\U00010000-\U0010ffff]", "?"))),
        "tool-without-bidi": ("drops characters that change the direction of text from the name of a tool",
            tool(replaced("\u202e"))),
        "tool-without-tags": ("drops tag characters from the name of a tool", tool(replaced("[\U000e0000-\U000e007f]"))),
        "tool-with-slashes": ("writes a slash for a backslash in the name of a tool", tool(lambda name: name.replace("\\", "/"))),
        "tool-braces-halved": ("writes one brace for two in the name of a tool", tool(lambda name: name.replace("{{", "{"))),
        "tool-variables-filled": ("fills in variables in the name of a tool", tool(replaced(r"\$\{?\w+\}?"))),
        "tool-without-double-quotes": ("drops quotes inside of the name of a tool", tool(replaced("[\"']"))),
        "tool-without-markup": ("drops markup from the name of a tool", tool(replaced("<[^>]*>"))),
        "tool-without-an-underscore": ("drops an underscore before the name of a tool", tool(lambda name: name.lstrip("_"))),
        "tool-without-points": ("drops points behind the name of a tool", tool(lambda name: name.rstrip("."))),
        "tool-plain-spaces": ("writes a space for a no-break space in the name of a tool", tool(replaced("\u00a0", " "))),
        "tool-without-soft-hyphens": ("drops soft hyphens and byte order marks from the name of a tool",
            tool(replaced("[\u00ad\ufeff]"))),
        "tool-of-digits": ("shows the name of a tool as a number where it is one",
            on_event(lambda event: event | {"tool": Number(event["tool"])} if str(event.get("tool")).isdigit() else None)),
        "tool-null-text": ("takes the names null and undefined for none",
            on_event(lambda event: without(event, "tool") if event.get("tool") in ("null", "undefined") else None)),
        "tool-of-an-object": ("takes the names of what every object of JavaScript has for none",
            on_event(lambda event: without(event, "tool") if event.get("tool") in ("__proto__", "constructor") else None)),
        "tool-of-1000": ("cuts the name of a tool to 1,000 characters", tool(lambda name: name[:1000])),
        "tool-without-v2": ("drops _v2 and the like behind the name of a tool", tool(replaced(r"_v\d+$"))),
        "tool-without-c1": ("drops U+0080 to U+009F from the name of a tool", tool(replaced("[\x80-\x9f]"))),
        "tool-without-private-use": ("drops characters of private use from the name of a tool",
            tool(replaced("[\ue000-\uf8ff]"))),
        "tool-without-noncharacters": ("puts U+FFFD for noncharacters in the name of a tool",
            tool(replaced("[\ufffe\uffff]", "\ufffd"))),
        "tool-lines": ("writes LF for U+2028 in the name of a tool", tool(replaced("\u2028", "\n"))),
        "calls-behind-a-slash": ("takes every method that ends with /tools/call for it",
            called("tools/call", by=lambda name: "tools/call" if name.endswith("/tools/call") else "")),
        "tool-unescaped": ("decodes entities in the name of a tool", tool(html.unescape)),
        "title-for-name": ("takes the title for the name of a tool",
            on_message(lambda message: put(message, message["params"]["title"], "params", "name")
                if is_call(message) and member_of(message, "params", "title") else None)),
        "method-called-otherwise": ("takes tool/call and call_tool for tools/call", called("tool/call", "call_tool")),
        "method-decoded-call": ("takes tools%2Fcall for tools/call", called("tools%2Fcall")),
        "method-call-at-nul": ("ends a method at a NUL before it compares it",
            called("tools/call", by=lambda name: name.partition("\0")[0])),
    },
    "JRP-SHAPE": {
        "methods-decoded": ("decodes percent codes in methods", method(unquote)),
        "methods-without-a-query": ("cuts a method at a question mark", method(lambda name: name.partition("?")[0])),
        "methods-of-255": ("cuts a method to 255 characters", method(lambda name: name[:255])),
    },
}
