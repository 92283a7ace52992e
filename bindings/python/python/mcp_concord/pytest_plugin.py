"""Fixtures for tests of MCP clients and servers: the first run records a real server, later runs play the recording.

    async def test_add(mcp_recording):
        server = mcp_recording.server("python", "server.py")
        async with stdio_client(StdioServerParameters(command=server.command, args=server.args)) as streams:
            …

Recordings lie in the folder ``recordings`` beside the test's file, one for each server of a test, and are kept when the test
passes, without secrets. Where the name of a test has other characters than letters, digits, ``_``, ``.`` and ``-``, as parameters
may, its recording ends with a hash of the name. ``--mcp-record`` says when a server is recorded. A call that is not in the recording fails at the call.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Tuple, Union

import pytest

from . import _player
from .testing import assert_conforms, assert_same_session

__all__ = ["MCPRecording", "ServerCommand", "assert_conforms", "assert_same_session"]

#: A player that was asked to end reports within this time, in seconds.
_PATIENCE = 10.0

_PASSED = pytest.StashKey[bool]()

#: How secrets are left out of a recording, and what equals any of them when it is played.
_REDACT = ("--redact-preset", "common")
_REDACTED = ("--redacted", "[REDACTED]")


@dataclass(frozen=True)
class ServerCommand:
    """How to start a server over stdio."""

    #: The program.
    command: str
    #: Its arguments.
    args: List[str]

    @property
    def words(self) -> List[str]:
        """Both, as :mod:`subprocess` takes them."""
        return [self.command, *self.args]


class _Player:
    """A server that plays a recording, and what it says of its client."""

    def __init__(
        self, program: str, recording: Path, said: Path, ignore: Union[str, Tuple[str, ...]] = (), live: Tuple[str, ...] = ()
    ) -> None:
        pointers = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        options = [*_REDACTED, *(word for pointer in pointers for word in ("--ignore", pointer))]
        options += ["--match", "request", "--once", "--record-new", shlex.join(live)] if live else ["--match", "strict"]
        play = [program, "-q", "play", "--as", "server", str(recording), *options]
        self.said = said
        self.recording = recording
        self.command = ServerCommand(sys.executable, [_player.__file__, str(said), *play])

    def fault(self) -> Optional[str]:
        """What its client did otherwise than in the recording, if it was started at all."""
        if not self.said.exists():
            return None
        patience = time.monotonic() + _PATIENCE
        while not (ended := re.search(r"^exit (-?\d+)\n\Z", text := self.said.read_text("utf-8", "replace"), re.M)):
            if time.monotonic() > patience:
                return f"the player of {self.recording} was ended before the session was over\n{text}"
            time.sleep(0.02)
        if ended[1] == "0":
            return None
        return f"the client did not do what it did in {self.recording}; --mcp-record all records it again\n\n{text[: ended.start()]}"


class MCPRecording:
    """The recordings of one test."""

    def __init__(self, path: Path, mode: str, program: str, scratch: Path, secrets: bool = False) -> None:
        self._path = path
        self._mode = mode
        self._secrets = secrets
        self._program = program
        self._scratch = scratch
        self._servers = 0
        self._recorded: List[Tuple[Path, Path]] = []
        self._players: List[_Player] = []

    @property
    def path(self) -> Path:
        """The recording of the test's first server. While it is recorded, where it is written."""
        return self._recorded[0][0] if self._recorded and not self.playing else self._path

    @property
    def playing(self) -> bool:
        """Whether a recording is played, and no server started, or with ``new`` only for what it does not have."""
        return self._plays(self._path)

    def _plays(self, path: Path) -> bool:
        return self._mode == "none" or (self._mode in ("once", "new") and path.exists())

    def server(self, command: str, *args: str, ignore: Union[str, Tuple[str, ...]] = ()) -> ServerCommand:
        """The command of a server over stdio: this one, recorded; or one that plays its recording.

        :param ignore: JSON pointers into the client's messages that may differ from the recording, such as
            ``/params/clientInfo/version``.
        """
        number = self._servers
        self._servers += 1
        path = self._path if number == 0 else self._path.with_name(f"{self._path.stem}-{number + 1}{self._path.suffix}")
        if self._mode == "none" and not path.exists():
            pytest.fail(f"there is no recording {path}, and --mcp-record none does not make one", pytrace=False)
        new = self._scratch / path.name
        if not self._plays(path):
            self._recorded.append((new, path))
            redact = () if self._secrets else _REDACT
            return ServerCommand(self._program, ["-q", "record", "-o", str(new), *redact, "--", command, *args])
        live: Tuple[str, ...] = ()
        if self._mode == "new":
            # What is new is added to a copy, which is kept when the test passes.
            shutil.copyfile(path, new)
            self._recorded.append((new, path))
            live = (command, *args)
        player = _Player(self._program, new if live else path, self._scratch / f"{path.stem}.said", ignore, live)
        self._players.append(player)
        return player.command

    def _finish(self, passed: bool) -> Optional[str]:
        """Keeps what was recorded if the test passed, and says what was wrong that the test did not see."""
        if not passed:
            return None
        fault = _faults(self._players)
        for new, path in self._recorded if fault is None else []:
            if not new.exists():
                return f"the server was never started, so {path} was not recorded"
            if self._mode == "new" and not self._secrets:
                subprocess.run([self._program, "-q", "redact", str(new), "-o", str(new), "--force"], check=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Its name never refers to half of it, also where the scratch folder is on another disk.
            aside = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                shutil.move(str(new), str(aside))
                os.replace(aside, path)
            finally:
                aside.unlink(missing_ok=True)
        return fault


def _file_name(test: str) -> str:
    """The name of a test's recording: ``TestA::test_b[c]`` is ``TestA-test_b-c``. Where the parameters have characters that no file
    should have in its name, they are replaced, and a hash tells the names apart that then are the same."""
    function, bracket, parameters = test.partition("[")
    plain = function.replace("::", "-") + (f"-{parameters[:-1]}" if bracket else "")
    name = re.sub(r"[^\w.-]+", "-", plain).strip("-")
    return name if name == plain else f"{name}-{hashlib.sha256(test.encode(errors='replace')).hexdigest()[:8]}"


def _faults(players: List[_Player]) -> Optional[str]:
    return "\n".join(fault for fault in (player.fault() for player in players) if fault) or None


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcp-concord", "recordings of MCP sessions")
    group.addoption(
        "--mcp-record",
        choices=["once", "new", "none", "all"],
        default="once",
        help="when mcp_recording starts a real server: where there is no recording (once, the default), for calls that the recording "
        "does not have, too (new), never (none), or always (all)",
    )
    group.addoption("--mcp-keep-secrets", action="store_true", help="leave tokens, passwords and keys in what is recorded")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "call":
        item.stash[_PASSED] = report.passed


@pytest.fixture(scope="session")
def mcp_command() -> str:
    """The path of the program ``mcp-concord``."""
    name = "mcp-concord.exe" if os.name == "nt" else "mcp-concord"
    beside = Path(sysconfig.get_path("scripts")) / name
    found = str(beside) if beside.exists() else shutil.which("mcp-concord")
    if found is None:
        pytest.fail("the program mcp-concord is not installed: pip install mcp-concord", pytrace=False)
    return found


@pytest.fixture
def mcp_recording(request: pytest.FixtureRequest, mcp_command: str, tmp_path: Path) -> Iterator[MCPRecording]:
    """The recordings of this test: its first run makes them, later runs play them. A client that then does otherwise fails."""
    # Two classes of a file may have tests of one name.
    name = _file_name(request.node.nodeid.partition("::")[2] or request.node.name)
    path = request.node.path.parent / "recordings" / request.node.path.stem / f"{name}.jsonl"
    mode, secrets = (request.config.getoption(name) for name in ("--mcp-record", "--mcp-keep-secrets"))
    recording = MCPRecording(path, mode, mcp_command, tmp_path, secrets)
    yield recording
    if fault := recording._finish(request.node.stash.get(_PASSED, False)):
        pytest.fail(fault, pytrace=False)


@pytest.fixture
def mcp_server_from(
    request: pytest.FixtureRequest, mcp_command: str, tmp_path: Path
) -> Iterator[Callable[..., ServerCommand]]:
    """A function that makes a recording into a server over stdio: its path in, a :class:`ServerCommand` out."""
    players: List[_Player] = []

    def server_from(recording: Union[str, "os.PathLike[str]"], *, ignore: Union[str, Tuple[str, ...]] = ()) -> ServerCommand:
        path = Path(recording).resolve(strict=True)
        said = tmp_path / f"player-{len(players)}.said"
        players.append(_Player(mcp_command, path, said, ignore))
        return players[-1].command

    yield server_from
    if request.node.stash.get(_PASSED, False) and (fault := _faults(players)):
        pytest.fail(fault, pytrace=False)
