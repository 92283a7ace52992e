"""Asks the types of the Python SDK about messages, a line each: whether they take it, or null where they know no such."""

import json
import sys

import mcp.types as types

NAMES = {"ElicitationCompleteNotification": ["ElicitCompleteNotification"]}


def models(name):
    names = NAMES.get(name, [name, f"{name}WithTools"])
    return [getattr(types, one) for one in names if hasattr(types, one)]


def takes(model, value):
    try:
        model.model_validate(value)
        return True
    except ValueError:
        return False


for line in sys.stdin:
    asked = json.loads(line)
    value = asked["value"]
    if asked["part"] == "params":
        value = {"method": asked["method"]} | ({} if asked["missing"] else {"params": value})
    found = models(asked["definition"])
    print(json.dumps(any(takes(model, value) for model in found) if found else None))
