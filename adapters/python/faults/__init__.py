"""Seeded faults: the reader, wrong about one condition of one clause at a time.

    python3 adapter.py --fault NAME …     the importer that makes the mistake
    python3 adapter.py --choice NAME …    an honest importer that chooses otherwise where the contract lets it
    scripts/kills.py                      which cases of the suite find which fault, and that none finds a choice

A table is a dict: clause → {name: (what the reader does then, the change)}. The changes are built in `seams`.
"""

from dataclasses import dataclass

from faults import (
    archives,
    assumptions,
    bookkeeping,
    carriers,
    challenge,
    choices,
    choices_of_files,
    cleaning,
    conversions,
    correlation,
    envelopes,
    equivalence,
    everywhere,
    exchanges,
    habits,
    har,
    ids,
    leniency,
    libraries,
    limits,
    lines,
    neighbours,
    places,
    replay,
    shortcuts,
    strategies,
    surroundings,
    survival,
    values,
)
from faults.seams import Change, read, together

__all__ = ["ALL", "BROAD", "CHOICES", "IDLE", "UNFAIR", "Fault", "read", "reader_with"]


@dataclass(frozen=True)
class Fault:
    name: str
    clause: str
    does: str  # the rest of a sentence that begins with "It"
    change: Change


def reader_with(changes):
    """The function `read_file` of a reader with these changes."""

    def read_file(path, format_name, dialect="default"):
        with open(path, "rb") as file:
            return read(together(changes, format_name), file.read(), format_name, dialect)

    return read_file


MODULES = (
    *(equivalence, values, ids, correlation, lines, envelopes, challenge, replay, har, survival, neighbours, exchanges),
    *(shortcuts, libraries, habits, cleaning, bookkeeping, leniency, archives, limits, surroundings),
    *(strategies, assumptions, places, carriers, conversions, everywhere),
)


def by_name(*tables):
    return {
        name: Fault(name, clause, does, change)
        for table in tables
        for clause, rows in table.items()
        for name, (does, change) in rows.items()
    }


ALL = by_name(*(module.FAULTS for module in MODULES))

# No mistakes: what else the contract lets an importer do. No case may find one.
CHOICES = by_name(choices.CHOICES, choices_of_files.CHOICES)

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

# Choices that change no reading of a case, and why.
IDLE = {
    "lines-behind-end-refused": "no case has a line behind `end` that is not a message",
    "times-without-spaces": "the only time with a space in a case stands behind one that rejects",
    "leap-seconds-before": "the only leap second in a case stands far from what is around it",
    "leap-seconds-missing": "the only leap second in a case stands where it would without a time",
    "senders-apart": "no case has a bare message that meets an entry of the export under one id",
    "content-type-first": "no case has two media types of one answer that differ",
    "padding-added": "no case has base64 without its padding",
}

# (choice, case) → why the case may accuse it for now.
UNFAIR = {}
