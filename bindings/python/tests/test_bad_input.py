"""Bad input, interruption and threads: each ends in an exception that says what is wrong."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mcp_concord
import pytest
from conftest import CALL, NULL_ID
from mcp_concord import ConcordError

FUNCTIONS = [
    mcp_concord.read,
    mcp_concord.read_text,
    mcp_concord.check,
    mcp_concord.identify,
    mcp_concord.summary,
    mcp_concord.show,
    lambda recording: mcp_concord.convert(recording, "har"),
    lambda recording: mcp_concord.diff(CALL, recording),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_no_recording(function, tmp_path):
    with pytest.raises(FileNotFoundError):
        function(tmp_path / "gone.jsonl")
    with pytest.raises(IsADirectoryError):
        function(str(tmp_path))
    for wrong in (None, 7, ["a"], CALL.decode().splitlines()):
        with pytest.raises(TypeError, match="a recording is a path or bytes"):
            function(wrong)
    half_a_unit = b"\xff\xfe\x00"
    for data, code in (
        (b"\xff{", "invalid-utf8"), (half_a_unit, "unreadable"), (b"", "unknown-format"), (b"hello", "unknown-format")
    ):
        with pytest.raises(ConcordError) as raised:
            function(data)
        assert raised.value.code == code


def test_a_rejection_has_its_place():
    with pytest.raises(ConcordError) as raised:
        mcp_concord.read(CALL + b'{"jsonrpc":"2.0","id":[],"method":"a"}\n', name="a.jsonl")
    error = raised.value
    assert (error.code, error.clause, error.name) == ("invalid-id", "ID-REJECT", "a.jsonl")
    assert (error.line, error.column, error.pointer) == (3, 23, "")
    assert str(error).startswith("a.jsonl:3:23: ") and isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


@pytest.mark.parametrize(
    "call, option",
    [
        (lambda: mcp_concord.read(CALL, format="x"), "format"),
        (lambda: mcp_concord.read(CALL, dialect="x"), "dialect"),
        (lambda: mcp_concord.check(CALL, select="nothing"), "select"),
        (lambda: mcp_concord.check(CALL, level="may"), "level"),
        (lambda: mcp_concord.check(CALL, require="2020-01-01"), "require"),
        (lambda: mcp_concord.check(CALL, require="2025-11-25", ignore="jsonrpc"), "require"),
        (lambda: mcp_concord.diff(CALL, CALL, ids="any"), "ids"),
        (lambda: mcp_concord.diff(CALL, CALL, ignore="a"), "ignore"),
        (lambda: mcp_concord.convert(CALL, "x"), "to"),
        (lambda: mcp_concord.show(CALL, "png"), "output"),
    ],
)
def test_an_option_without_such_a_value_is_named(call, option):
    with pytest.raises(ConcordError, match=f"^{option}: ") as raised:
        call()
    assert raised.value.code == "bad-option" and raised.value.line is None


@pytest.mark.filterwarnings("ignore::mcp_concord.ConcordWarning")
def test_a_meaning_that_would_change_is_refused(repository):
    path = repository / "cases/direction/both-count-from-zero/mcp-replay.jsonl"
    with pytest.raises(ConcordError, match="COR-DIRECTION-FLAT") as raised:
        mcp_concord.convert(path, "jsonrpc")
    assert raised.value.code == "cannot-carry"
    with pytest.warns(mcp_concord.ConcordWarning, match="COR-DIRECTION-FLAT"):
        mcp_concord.convert(path, "jsonrpc", lossy=True)


#: A recording that takes a while.
LARGE = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n' * 400_000


def test_an_interrupted_call_ends_with_what_its_handler_raises():
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    broken = LARGE + b"\xff"
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(Alarm) as raised:
            # In here, since a busy machine may be at the call only when it has rung.
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            mcp_concord.identify(broken)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # At its end the recording is rejected, and the call did not get there.
    assert raised.value.__context__ is None
    with pytest.raises(ConcordError):
        mcp_concord.identify(LARGE + b"\xff")


def test_other_threads_go_on_while_one_works():
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    # No thread is made to give up the interpreter's lock: the call does it, or nothing is counted.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=count)
    try:
        thread.start()
        while not counted[0]:
            time.sleep(0.001)
        before, calls = counted[0], 0
        # On a busy machine the other thread may get no processor during one call.
        while counted[0] == before and calls < 100:
            mcp_concord.identify(LARGE)
            calls += 1
        after = counted[0]
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert after > before


def test_calls_of_a_pool_overlap():
    lock, running, most = threading.Lock(), set(), []

    def judged(number):
        with lock:
            running.add(number)
            most.append(len(running))
        mcp_concord.check(NULL_ID * 2000)
        with lock:
            running.remove(number)

    # As above: only a call that gives up the lock lets another one begin.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(judged, range(40)))
    finally:
        sys.setswitchinterval(interval)
    assert max(most) > 1


def test_many_threads_and_recordings():
    sessions = [NULL_ID * (1 + number % 7) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(mcp_concord.check, sessions))
    for one, report in zip(sessions, reports):
        assert report.json == mcp_concord.check(one).json


def test_bytes_that_change_while_they_are_read_are_read_as_they_were():
    data = bytearray(CALL)
    expected = mcp_concord.read_text(CALL)
    with ThreadPoolExecutor(1) as pool:
        answers = [pool.submit(mcp_concord.read_text, data) for _ in range(3)]
        assert [answer.result() for answer in answers] == [expected] * 3
    data[:1] = b"!"
    with pytest.raises(ConcordError):
        mcp_concord.read_text(data)


def test_a_package_for_another_platform_says_so(tmp_path):
    shutil.copytree(Path(mcp_concord.__file__).parent, tmp_path / "mcp_concord", ignore=shutil.ignore_patterns("_core.*so", "_core*.pyd"))
    done = subprocess.run(
        [sys.executable, "-c", "import mcp_concord"], env={**os.environ, "PYTHONPATH": str(tmp_path)}, stderr=subprocess.PIPE
    )
    stderr = done.stderr.decode()
    assert done.returncode == 1 and "ImportError: mcp_concord was installed for another platform than this" in stderr, stderr
