"""The reader as an importer under test: adapter protocol 1 on stdin and stdout, or one answer for one file.

    python3 adapter.py                      one JSON object a line, until {"cmd":"stop"} or the end of the input
    python3 adapter.py read FILE FORMAT     prints one answer; exit 0 for a meaning, 65 for a rejection
    python3 adapter.py --dialect NAME …     the same in a dialect of the contract, which the handshake then names
    python3 adapter.py --fault NAME …       the same with a seeded fault, to see what the suite says of it
    python3 adapter.py --choice NAME …      the same with another choice that the contract leaves open; may be repeated

Answers are ASCII, so that a lone surrogate passes as the escape it was. A file that cannot be opened is not a rejection: it
ends the program with a traceback, which the harness tells apart from every answer.
"""

import sys

from concord_reader import DIALECTS, FORMATS, Rejection, read_file
from formats import ALIASES
from jsontext import dump
from protocol import serve

EXIT_REJECTED = 65

HELLO = {
    "protocol": 1,
    "name": "concord-python",
    "version": "0.1.0",
    "language": "python",
    "homepage": "https://github.com/mcp-concord/mcp-concord",
    "formats": FORMATS,
    "level": "events",
}


def answer(path, format_name, dialect="default", read_file=read_file):
    """One answer object, without its `seq`, and the reading's notes."""
    if format_name not in FORMATS and format_name not in ALIASES:
        return {"unsupported": f"no reader for the format {format_name!r}"}, []
    try:
        reading = read_file(path, format_name, dialect)
    except Rejection as rejection:
        return {"rejection": {"message": str(rejection), "code": rejection.code}}, []
    return {"meaning": reading.meaning}, reading.notes


def without_options(arguments):
    """(what reads a file, the arguments behind --fault and --choice)"""
    changes = []
    while arguments[:1] in (["--fault"], ["--choice"]) and len(arguments) > 1:
        import faults  # a reader that you copy does not need them

        option, name, *arguments = arguments
        known = faults.ALL if option == "--fault" else faults.CHOICES
        if name not in known:
            raise SystemExit(f"there is no {option[2:]} {name!r}; docs/kills.md lists them")
        changes.append(known[name].change)
    return faults.reader_with(changes) if changes else read_file, arguments


def main(arguments):
    dialect = "default"
    if arguments[:1] == ["--dialect"] and arguments[1:2] and arguments[1] in DIALECTS:
        dialect, arguments = arguments[1], arguments[2:]
    read, arguments = without_options(arguments)
    if not arguments:
        serve(lambda: HELLO | {"dialect": dialect}, lambda *asked: answer(*asked, dialect, read)[0], sys.stdin.buffer, sys.stdout)
        return 0
    if len(arguments) == 3 and arguments[0] == "read":
        found, notes = answer(arguments[1], arguments[2], dialect, read)
        print(dump(found))
        for note in notes:
            print(note, file=sys.stderr)
        return EXIT_REJECTED if "rejection" in found else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
