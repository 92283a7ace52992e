"""Asks the types of the Python SDK about messages, one per line: whether they accept it, or null if they have no such message."""

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
