#!/usr/bin/env python3
"""Derives the table of shapes that `check` judges messages by from the published schemas of MCP.

    scripts/shapes.py SCHEMA_DIR            prints the table
    scripts/shapes.py --check SCHEMA_DIR    says whether harness/rules/src/shapes/shapes.txt is that table

SCHEMA_DIR holds one file for each revision, named by it, such as 2025-06-18.json; scripts/shapes.sh puts them together.
The table has only facts: which members there are, of which type, which are needed, and by which revisions.
"""

import json
import sys
from pathlib import Path

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
TABLE = Path(__file__).resolve().parent.parent / "harness/rules/src/shapes/shapes.txt"

HEAD = f"""\
# Which members the messages of MCP have. Made by scripts/shapes.py from the published schemas; do not edit.
# A name and its rows: `member revisions type`, a needed member with `!`, `*` for members of any other name, `=` for what
# the name itself stands for. `M>` are the params of the method M, `M<` is its result. Revisions by number: {REVISIONS[0]}
# is 1, {REVISIONS[-1]} is {len(REVISIONS)}. Types: @name, 'word, [list], {{map}}, one|another, number:least:most."""

# Where a schema was corrected after its revision came out, or says less than the text of the specification that it was
# made from: fractions are numbers. Paths within a definition.
INTEGERS_THAT_ARE_NUMBERS = {
    ("NumberSchema", "minimum"), ("NumberSchema", "maximum"), ("NumberSchema", "default"), ("ElicitResult", "content"),
}

# Objects without a name of their own that are the same wherever they stand.
SHARED = {"_meta": "Meta", "annotations": "Annotations"}


class Bad(Exception):
    """What is wrong with the input, and where."""


class Schema:
    """The schema of one revision. Hands each row that it finds to `rows`."""

    def __init__(self, revision, document, rows):
        self.number = REVISIONS.index(revision) + 1
        self.revision, self.rows, self.open, self.done = revision, rows, [], {}
        self.definitions = document.get("$defs") or document.get("definitions") if isinstance(document, dict) else None
        if not isinstance(self.definitions, dict) or not self.definitions:
            raise Bad(f"{revision}.json: there are no definitions; is it the schema of MCP?")

    def of(self, name):
        if not isinstance(self.definitions.get(name), dict):
            raise Bad(f"{self.revision}.json: there is no definition of `{name}`")
        return self.definitions[name]

    def target(self, schema):
        """A schema without the references and the `allOf` in front of it."""
        while "$ref" in schema:
            schema = self.of(schema["$ref"].rsplit("/", 1)[-1])
        if "allOf" in schema:
            whole = {"type": "object", "properties": {}, "required": []}
            for part in map(self.target, schema["allOf"]):
                whole["properties"] |= part.get("properties", {})
                whole["required"] += part.get("required", [])
            return whole
        return schema

    def derive(self):
        for union in ("ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification"):
            if union not in self.definitions:
                continue
            for part in self.of(union).get("anyOf", [self.of(union)]):
                name = part.get("$ref", "").rsplit("/", 1)[-1]
                self.method(name, self.target(part), asks=name.endswith("Request"))
        for name in ("CreateTaskResult", "InputRequiredResult"):
            if name in self.definitions:
                # What may come in place of a result stands under its own name.
                self.row(f"{name}<", "=", True, self.type({"$ref": f"#/{name}"}, name))

    def method(self, name, message, asks):
        try:
            method = message["properties"]["method"]["const"]
        except (KeyError, TypeError):
            raise Bad(f"{self.revision}.json: `{name}` does not say its method") from None
        params = message["properties"].get("params")
        if params is not None:
            needed = "params" in message.get("required", [])
            # What every request or notification has is not said again in each.
            envelope = self.target(self.of("JSONRPCRequest" if asks else "JSONRPCNotification"))["properties"]["params"]
            params = self.target(params)
            if "anyOf" not in params:
                members = envelope.get("properties", {}) | params.get("properties", {})
                params = params | {"properties": members} if members else params
            self.row(f"{method}>", "=", needed, self.type(params, f"{method}>", whole=True))
        if asks:
            result = name.removesuffix("Request") + "Result"
            result = result if result in self.definitions else "EmptyResult"
            self.row(f"{method}<", "=", True, self.type({"$ref": f"#/{result}"}, result))

    def row(self, owner, member, needed, type_):
        self.rows.setdefault(owner, {}).setdefault((member, needed, type_), set()).add(self.number)

    def struct(self, name, schema):
        """Rows for an object, once a revision; the way to refer to it."""
        if name in self.open:
            raise Bad(f"{self.revision}.json: `{name}` holds itself, by {' and '.join(self.open)}")
        plain = {member: self.type(part, f"{name}.{member}") for member, part in own(schema) if name in SHARED.values()}
        if self.done.get(name, plain) != plain:
            raise Bad(f"{self.revision}.json: `{name}` is not the same everywhere")
        if name not in self.done:
            self.done[name] = plain
            self.open.append(name)
            for member, part in own(schema):
                whole = part if (name, member) not in INTEGERS_THAT_ARE_NUMBERS else numbers(part)
                self.row(name, member, member in schema.get("required", []), self.type(whole, f"{name}.{member}"))
            for member in schema.get("required", []):
                if member not in schema.get("properties", {}):
                    self.row(name, member, True, "any")
            rest = schema.get("additionalProperties")
            if isinstance(rest, dict) and rest:
                self.row(name, "*", False, self.type(rest, f"{name}.*"))
            self.open.pop()
        return f"@{name}"

    def type(self, schema, name, whole=False):
        """What a schema asks for, in the words of the table. An object that has no name is named by its place."""
        if not isinstance(schema, dict):
            raise Bad(f"{self.revision}.json: `{name}` is not a schema: {str(schema)[:60]}")
        if "$ref" in schema:
            reference = schema["$ref"].rsplit("/", 1)[-1]
            # A value that holds values of its own sort is any value.
            if reference == "JSONValue":
                return "any"
            return self.type(self.of(reference), name if whole else reference.replace("MetaObject", "Meta"))
        schema = self.target(schema)
        if "anyOf" in schema:
            parts = [self.type(part, f"{name}.{index}") for index, part in enumerate(schema["anyOf"], 1)]
            return "|".join(dict.fromkeys(parts))
        if "const" in schema or "enum" in schema:
            words = schema.get("enum", [schema.get("const")])
            if not all(isinstance(word, str) and not set(word) & set(" |'[]{}") for word in words):
                raise Bad(f"{self.revision}.json: `{name}` has words that the table cannot hold: {words}")
            return "|".join(f"'{word}" for word in words)
        kind = schema.get("type", "any")
        if isinstance(kind, list):
            return "|".join(kind)
        if kind == "array":
            items = schema.get("items", {})
            return f"[{self.type(items, name)}]" if items else "[any]"
        if kind == "object":
            rest = schema.get("additionalProperties")
            if schema.get("properties") or schema.get("required"):
                return self.struct(SHARED.get(name.rsplit(".", 1)[-1], name), schema)
            return f"{{{self.type(rest, f'{name}.*')}}}" if isinstance(rest, dict) and rest else "object"
        if kind not in ("any", "string", "number", "integer", "boolean", "null"):
            raise Bad(f"{self.revision}.json: `{name}` is of the unknown type {kind!r}")
        if kind in ("number", "integer") and ("minimum" in schema or "maximum" in schema):
            return f"{kind}:{schema.get('minimum', '')}:{schema.get('maximum', '')}"
        return kind


def own(schema):
    return schema.get("properties", {}).items()


def numbers(schema):
    """The same with numbers for integers."""
    if isinstance(schema, dict):
        return {name: numbers(part) for name, part in schema.items()}
    if isinstance(schema, list):
        return [numbers(part) for part in schema]
    return "number" if schema == "integer" else schema


def load(folder, revision):
    path = Path(folder) / f"{revision}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Bad(f"{path}: {error.strerror}; the table needs the schemas of all revisions") from None
    except ValueError as error:
        raise Bad(f"{path}: not JSON: {error}") from None


def spans(numbers):
    """Runs of revisions, such as 1-3."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in runs]


def table(folder):
    for path in sorted(Path(folder).glob("20??-??-??.json")):
        if path.stem not in REVISIONS:
            raise Bad(f"{path}: the program knows no revision {path.stem}; add it to REVISIONS and to revision.rs first")
    rows = {}
    for revision in REVISIONS:
        Schema(revision, load(folder, revision), rows).derive()
    lines = [HEAD]
    for owner in sorted(rows):
        lines.append(owner)
        found = [
            (member, span, f"  {member}{'!' if needed else ''} {span} {kind}")
            for (member, needed, kind), numbers in rows[owner].items()
            for span in spans(numbers)
        ]
        lines += [line for *_, line in sorted(found)]
    return "\n".join(lines) + "\n"


def main(arguments):
    check = arguments[:1] == ["--check"]
    if len(arguments) != 1 + check or arguments[-1].startswith("-"):
        sys.exit(__doc__.strip())
    try:
        made = table(arguments[-1])
    except (Bad, AttributeError, TypeError, KeyError) as error:
        sys.exit(f"shapes.py: {error if isinstance(error, Bad) else f'a schema is not what it should be: {error!r}'}")
    if not check:
        sys.stdout.write(made)
    elif made != TABLE.read_text(encoding="utf-8"):
        sys.exit(f"shapes.py: {TABLE.name} is not what the schemas give; scripts/shapes.py {arguments[-1]} > {TABLE}")
    else:
        print(f"{TABLE.name} is what the schemas of {len(REVISIONS)} revisions give")


main(sys.argv[1:])
