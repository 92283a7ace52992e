"""The pytest plugin, on tests that people would write with the SDKs: recorded, played, and failing as a person sees it."""

import re
import shutil
from pathlib import Path

import mcp_concord
import pytest
from conftest import CALL, NULL_ID, session
from mcp_concord.pytest_plugin import _file_name
from mcp_concord.testing import assert_conforms, assert_same_session

pytest_plugins = ["pytester"]
SDK = Path(__file__).with_name("sdk")


@pytest.fixture(params=["test_calculator.py", "test_fast.py"])
def project(request, pytester):
    """A folder with somebody's server and test."""
    pytest.importorskip("fastmcp" if "fast" in request.param else "mcp")
    for name in ("server.py", request.param):
        shutil.copy(SDK / name, pytester.path)
    pytester.recording = pytester.path / "recordings" / request.param[:-3] / "test_add.jsonl"
    pytester.test = pytester.path / request.param
    return pytester


def run(project, *options):
    return project.runpytest_inprocess("-p", "no:cacheprovider", *options, project.test.name)


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_first_run_records_and_later_runs_play(project):
    run(project).assert_outcomes(passed=1)
    recorded = project.recording.read_bytes()
    tools = [call["tool"] for call in mcp_concord.read(recorded, calls=True)["calls"]]
    assert tools == ["add"]
    # Without its server the test passes all the same.
    (project.path / "server.py").write_text("raise SystemExit(1)\n")
    run(project).assert_outcomes(passed=1)
    run(project, "--mcp-record", "none").assert_outcomes(passed=1)
    assert project.recording.read_bytes() == recorded


def test_a_client_that_does_otherwise_fails_and_sees_where(project):
    run(project).assert_outcomes(passed=1)
    change(project.test, "server, 1, 2)", "server, 1, 5)")
    done = run(project)
    # The call itself fails, with the recorded one and the difference.
    done.assert_outcomes(failed=1)
    output = done.stdout.str()
    assert "/arguments/b" in output and "expected 2, got 5" in output and "(message" in output, output


def test_a_client_that_says_less_has_an_error_at_its_end(project):
    run(project).assert_outcomes(passed=1)
    *lines, end = project.recording.read_text().splitlines(keepends=True)
    ping = '{"t":"2026-11-22T17:05:49.019Z","dir":"in","raw":{"jsonrpc":"2.0","id":99,"method":"ping"}}\n'
    project.recording.write_text("".join([*lines, ping, end]))
    done = run(project)
    done.assert_outcomes(passed=1, errors=1)
    output = done.stdout.str()
    assert "the client did not do what it did in" in output and "--mcp-record all" in output


def test_new_records_what_the_recording_does_not_have(project):
    run(project, "--mcp-record", "new").assert_outcomes(passed=1)
    before = mcp_concord.read(project.recording, calls=True)["calls"]
    run(project, "--mcp-record", "new").assert_outcomes(passed=1)
    assert mcp_concord.read(project.recording, calls=True)["calls"] == before
    change(project.test, "server, 1, 2) == {\"result\": 3}", "server, 1, 5) == {\"result\": 6}")
    run(project, "--mcp-record", "new").assert_outcomes(passed=1)
    added = mcp_concord.read(project.recording, calls=True)["calls"]
    assert len(added) == len(before) + 1, added
    (project.path / "server.py").write_text("raise SystemExit(1)\n")
    run(project, "--mcp-record", "new").assert_outcomes(passed=1)


def test_secrets_are_left_out_unless_they_are_to_be_kept(pytester):
    pytester.makepyfile(
        test_secret="""
        import subprocess, sys

        SECRET = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"token":"' + "s3cr" + 'et-value"}}'

        def test_it(mcp_recording):
            server = mcp_recording.server(sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.readline())")
            assert "jsonrpc" in subprocess.run(server.words, input=SECRET + "\\n", text=True, capture_output=True).stdout
        """
    )
    path = pytester.path / "recordings/test_secret/test_it.jsonl"
    for options, kept in (((), False), (("--mcp-keep-secrets", "--mcp-record", "all"), True)):
        pytester.runpytest_inprocess("-p", "no:cacheprovider", *options).assert_outcomes(passed=1)
        assert ("s3cret-value" in path.read_text()) == kept


def test_tests_of_one_name_in_two_classes_have_recordings_of_their_own(pytester):
    pytester.makepyfile(
        test_two="""
        import subprocess, sys

        def ask(mcp_recording, method):
            server = mcp_recording.server(sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.readline())")
            said = '{"jsonrpc":"2.0","id":1,"method":"%s"}\\n' % method
            assert method in subprocess.run(server.words, input=said, text=True, capture_output=True).stdout

        class TestOne:
            def test_it(self, mcp_recording):
                ask(mcp_recording, "ping")

        class TestOther:
            def test_it(self, mcp_recording):
                ask(mcp_recording, "tools/list")
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)
    kept = sorted(path.name for path in (pytester.path / "recordings/test_two").iterdir())
    assert kept == ["TestOne-test_it.jsonl", "TestOther-test_it.jsonl"]


def test_names_of_tests_that_differ_in_punctuation_have_recordings_of_their_own():
    plain = {"test_a": "test_a", "TestA::test_b": "TestA-test_b", "test_a[b-1.0]": "test_a-b-1.0", "test_a[é]": "test_a-é"}
    for test, name in plain.items():
        assert _file_name(test) == name
    names = [_file_name(f"test_a[{value}]") for value in ("b c", "b/c", "b::c", "b-c", "b-c-", "b!c", "[b]c", "")]
    assert len(set(names)) == len(names)
    assert names[0] == _file_name("test_a[b c]") and re.fullmatch("test_a-b-c-[0-9a-f]{8}", names[0])


def test_a_recording_that_cannot_be_kept_leaves_the_one_before(pytester, monkeypatch):
    pytester.makepyfile(
        test_full="""
        import subprocess, sys

        def test_it(mcp_recording):
            server = mcp_recording.server(sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.readline())")
            subprocess.run(server.words, input='{"jsonrpc":"2.0","id":1,"method":"ping"}\\n', text=True, capture_output=True)
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    path = pytester.path / "recordings/test_full/test_it.jsonl"
    before = path.read_bytes()

    def full(_, to):
        Path(to).write_bytes(b"half")
        raise OSError("the disk is full")

    monkeypatch.setattr(shutil, "move", full)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--mcp-record", "all")
    done.assert_outcomes(passed=1, errors=1)
    assert [it.name for it in path.parent.iterdir()] == [path.name] and path.read_bytes() == before


def test_what_is_recorded_of_a_test_that_fails_is_not_kept(project):
    change(project.test, "sys.executable, SERVER)", "sys.executable, SERVER, 'WRONG')")
    run(project).assert_outcomes(failed=1)
    assert not project.recording.exists()


def test_none_makes_no_recording_and_all_makes_each_again(project):
    done = run(project, "--mcp-record", "none")
    done.assert_outcomes(failed=1)
    assert "there is no recording" in done.stdout.str()
    run(project).assert_outcomes(passed=1)
    change(project.test, "server, 1, 2) == {\"result\": 3}", "server, 1, 5) == {\"result\": 6}")
    run(project, "--mcp-record", "all").assert_outcomes(passed=1)
    run(project).assert_outcomes(passed=1)


def test_a_recording_is_a_server(pytester):
    pytest.importorskip("mcp")
    shutil.copy(SDK / "server.py", pytester.path)
    shutil.copy(SDK / "test_calculator.py", pytester.path)
    pytester.runpytest_inprocess("-p", "no:cacheprovider", "test_calculator.py").assert_outcomes(passed=1)
    pytester.makepyfile(
        test_from="""
        import anyio, pytest
        from test_calculator import added

        RECORDING = "recordings/test_calculator/test_add.jsonl"

        def test_plays(mcp_server_from):
            assert anyio.run(added, mcp_server_from(RECORDING), 1, 2) == {"result": 3}

        def test_a_departure_may_be_allowed(mcp_server_from):
            server = mcp_server_from(RECORDING, ignore="/arguments/b")
            assert anyio.run(added, server, 1, 7) == {"result": 3}

        def test_departs(mcp_server_from):
            anyio.run(added, mcp_server_from(RECORDING), 1, 7)

        def test_gone(mcp_server_from):
            with pytest.raises(FileNotFoundError):
                mcp_server_from("gone.jsonl")
        """
    )
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "test_from.py")
    done.assert_outcomes(passed=3, failed=1)
    assert "expected 2, got 7" in done.stdout.str()


def test_a_server_that_was_never_started_is_told(pytester):
    pytester.makepyfile("def test_nothing(mcp_recording):\n    mcp_recording.server('true')\n")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, errors=1)
    assert "the server was never started" in done.stdout.str()


def test_the_program_is_found(mcp_command):
    assert Path(mcp_command).name.startswith("mcp-concord")


def test_assert_conforms_shows_the_finding_in_its_place(tmp_path):
    assert assert_conforms(session("2025-11-25"), require="2025-11-25").ok
    path = tmp_path / "a.jsonl"
    path.write_bytes(session("2025-11-25") + NULL_ID)
    for options in ({}, {"require": "2025-11-25"}, {"select": "jsonrpc.id"}):
        with pytest.raises(AssertionError) as raised:
            assert_conforms(path, **options)
        output = str(raised.value)
        assert output.startswith(f"{path} does not conform to 2025-11-25")
        assert "error[jsonrpc.id.null]" in output and f"{path}:4" in output and NULL_ID.decode().strip() in output
    assert_conforms(path, select="lifecycle")
    with pytest.raises(AssertionError, match="is a session of 2025-11-25, but the required rules are those of 2025-06-18"):
        assert_conforms(path, require="2025-06-18")
    with pytest.raises(AssertionError, match="reading stopped at line 4"):
        assert_conforms(session("2025-11-25") + b"\xff\n")


def test_assert_same_session_shows_the_difference_in_its_place(tmp_path):
    other = tmp_path / "b.jsonl"
    other.write_bytes(CALL.replace(b"890.10", b"890.11"))
    with pytest.raises(AssertionError) as raised:
        assert_same_session(CALL, other)
    output = str(raised.value)
    assert f"B is {other}" in output and "event 1 differs at /result/sum" in output and "- 12345678901234567890.10" in output
    assert assert_same_session(CALL, other, ignore="/result/sum").same
    assert assert_same_session(CALL, CALL.replace(b'"id":1', b'"id":9'), ids="renumbered").same
