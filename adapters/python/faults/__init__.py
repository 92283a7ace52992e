"""Seeded faults: the reader, wrong about one condition of one clause at a time.

    python3 adapter.py --fault NAME …     the importer that makes the mistake
    scripts/kills.py                      which cases of the suite find which fault

A table is a dict: clause → {name: (what the reader does then, the change)}. The changes are built in `seams`.
"""

from dataclasses import dataclass

from faults import (
    challenge,
    correlation,
    envelopes,
    equivalence,
    exchanges,
    har,
    ids,
    libraries,
    lines,
    neighbours,
    replay,
    shortcuts,
    survival,
    values,
)
from faults.seams import Change, read

__all__ = ["ALL", "BROAD", "Fault", "read"]


@dataclass(frozen=True)
class Fault:
    name: str
    clause: str
    does: str  # the rest of a sentence that begins with "It"
    change: Change

    def read_file(self, path, format_name, dialect="default"):
        with open(path, "rb") as file:
            return read(self.change, file.read(), format_name, dialect)


MODULES = (
    *(equivalence, values, ids, correlation, lines, envelopes, challenge, replay, har, survival, neighbours, exchanges),
    *(shortcuts, libraries),
)
ALL = {
    name: Fault(name, clause, does, change)
    for module in MODULES
    for clause, faults in module.FAULTS.items()
    for name, (does, change) in faults.items()
}

# These spoil nearly every reading: a case that finds no other fault shows little.
BROAD = {"rejects-everything", "rejects-nothing", "partial", "handshake-wanted", "last-one-lost"}

# Faults that no case finds, and why there is none.
SURVIVE = {
    "missing-uncounted": "the count is said on stderr, where the suite does not look",
    "lines-of-1m": "no case is so large; `mcp-concord run --scale` finds it",
    "bodies-of-1m": "no case is so large; `mcp-concord run --scale` finds it",
}

# Clauses that no fault breaks, and why.
UNBROKEN = {}
