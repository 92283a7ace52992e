"""Values that change in one carrier of messages and in no other: a slot, a body, a stream, a folded answer, a batch."""

import re

from contract import Session
from faults.places import EDITS
from faults.seams import ENVELOPES, deep, patch

CHOSEN = (
    *("doubles", "exponents-lost", "ends-trimmed", "accents-composed", "high-characters-asked", "nulls-lost"),
    *("empty-texts-lost", "empty-objects-lost", "proto-lost", "names-in-lower-case", "arrays-sorted"),
)

# name → what it is called, the clause, the formats, and the places that messages in it have.
CARRIERS = {
    "requests-of-envelopes": ("the request of an entry", "ENV-ONE", ENVELOPES, r"/request$"),
    "responses-of-envelopes": ("the response of an entry", "ENV-ONE", ENVELOPES, r"^/entries/\d+/response$"),
    "sse-of-envelopes": ("the data of an sse", "SSE-DATA-STRING", ENVELOPES, r"/sse/data$"),
    "posts": ("what was posted", "HAR-MESSAGE", ("har",), r"postData"),
    "json-answers": ("JSON answers", "HAR-MESSAGE", ("har",), r"content$"),
    "streams": ("streams", "HAR-STREAM", ("har",), r", event \d+$"),
    "bare-items": ("bare messages of an Inspector file", "INS-SHAPE", ("inspector",), r"^item \d+$"),
    "items": ("the messages of an export", "INS-EXPORT", ("inspector",), r"^item \d+, message$"),
    "folded-answers": ("the answers in items of an export", "INS-EXPORT", ("inspector",), r"^item \d+, response$"),
    "raws": ("the raw of a line", "RPL-MESSAGE", ("mcp-replay",), r"raw$"),
    "batches": ("batches", "EQ-BATCH", (), r", item \d+$"),
}


def carried_in(pattern, edit):
    """Params, result and error of messages from such a place are others."""

    def make(honest):
        def add(self, message, sender, place, turned_away):
            if isinstance(message, dict) and re.search(pattern, place):
                message = type(message)(message) if type(message) is dict else message
                for name in ("params", "result", "error"):
                    if type(message) is dict and name in message:
                        message[name] = deep(message[name], edit)
            return honest(self, message, sender, place, turned_away)

        return add

    return patch(Session, "_add", make)


FAULTS = {}
for carrier, (where, clause, formats, pattern) in CARRIERS.items():
    FAULTS.setdefault(clause, {}).update(
        {
            f"{fault}-in-{carrier}": (f"{EDITS[fault][0]}, in {where}", carried_in(pattern, EDITS[fault][1]).within(*formats))
            for fault in CHOSEN
        }
    )
