"""Reads a recorded MCP session, in any of the six capture formats, to its meaning, or rejects it and says why.

    from concord_reader import Rejection, read_file
    reading = read_file("session.har", "har")
    reading.meaning  # {"events": [...], "authorization_discovery": None}

Written only from the reading contract, with nothing but the standard library (Python 3.11 or later). It is a second
opinion on the suite, and something to start from when you write an adapter. JSON values are those of `jsontext`.

    bytes → formats/ (how a session is spelled) → contract (what its messages mean) → meaning
"""

import io

from contract import DIALECTS, Rejection, Session
from formats import ALIASES, READERS

FORMATS = list(READERS)

__all__ = ["DIALECTS", "FORMATS", "Reading", "Rejection", "read_bytes", "read_file"]


class Reading:
    """A meaning, and notes for the person who asked (bodies that a HAR lacks, say)."""

    def __init__(self, meaning, notes):
        self.meaning = meaning
        self.notes = notes


def read_file(path, format_name, dialect="default"):
    """The reading of a file; raises Rejection, OSError, or KeyError for a format or a dialect that is none of ours."""
    with open(path, "rb") as file:
        return _read(file, format_name, dialect)


def read_bytes(data, format_name, dialect="default"):
    return _read(io.BytesIO(data), format_name, dialect)


def _read(file, format_name, dialect):
    reader = READERS[ALIASES.get(format_name, format_name)]
    session = Session(DIALECTS[dialect])
    reader(file, session)
    return Reading(session.meaning(), session.notes)
