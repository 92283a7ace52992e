"""Runs a player, and writes what it says and how it ended where a fixture reads it.

    python _player.py FILE COMMAND [ARGUMENT…]

A client starts its server itself and is rid of it when it ends, so that nobody else sees what a player says. This file
needs nothing of the package, which that client may hide.
"""

from __future__ import annotations

import signal
import subprocess
import sys


def main(said: str, *command: str) -> int:
    """Exit code: the player's."""
    with open(said, "wb", buffering=0) as out:
        player = subprocess.Popen(command, stderr=out)
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), lambda number, _: player.send_signal(number))
        code = player.wait()
        out.write(f"exit {code}\n".encode())
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
