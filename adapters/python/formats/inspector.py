"""`inspector`: an array of messages, or an object with an `events` array of them; bare, or as the Inspector exports them.

An item with a `message` member is an entry of the Inspector's own export. It folds an answer into the entry of its
request, so the file is not a sequence: a message stands at its timestamp, its folded response at that plus the duration.
A bare message, or an entry without a timestamp, has no time of its own and stands where the item before it stands.
"""

from decimal import Decimal

from clock import START, in_order_of_time, later, milliseconds
from contract import CLIENT, OTHER_SIDE, SERVER, Rejection, unambiguous
from formats.source import document


def read(file, session):
    whole = document(file)
    if isinstance(whole, dict):
        unambiguous(whole, "the document", ("events",))
        whole = whole.get("events")
    if type(whole) is not list:
        raise Rejection("wrong-document", "", "neither an array of messages nor an object with an events array")
    for message, sender, place in in_order_of_time(_timed(whole)):
        session.add(message, sender, place)


def _timed(items):
    now = START
    for index, item in enumerate(items):
        place = f"item {index}"
        if not (isinstance(item, dict) and "message" in item and "jsonrpc" not in item):
            yield now, (item, None, place)
            continue
        unambiguous(item, place, ("message", "response", "origin", "timestamp", "duration"))
        own_time = milliseconds(item.get("timestamp"), f"{place}, timestamp")
        now = now if own_time is None else own_time
        sender = item.get("origin") if item.get("origin") in (CLIENT, SERVER) else None
        yield now, (item["message"], sender, f"{place}, message")
        if item.get("response") is not None:
            took = milliseconds(item.get("duration"), f"{place}, duration") or Decimal(0)
            yield later(now, took), (item["response"], OTHER_SIDE[sender], f"{place}, response")
