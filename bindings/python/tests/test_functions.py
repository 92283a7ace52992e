"""What the functions answer, and that it is what the program prints."""

import json
import pickle
import subprocess
import sysconfig
from decimal import Decimal
from pathlib import Path

import mcp_concord
import pytest
from conftest import CALL, NULL_ID, session

PROGRAM = str(Path(sysconfig.get_path("scripts")) / "mcp-concord")


def printed(*words: str, cwd: Path) -> str:
    return subprocess.run([PROGRAM, *words], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()


def test_the_module_and_the_program_are_of_one_version(tmp_path):
    assert printed("--version", cwd=tmp_path).split()[-1] == mcp_concord.__version__


def test_read_gives_events_and_exact_numbers():
    events = mcp_concord.read(CALL)["events"]
    assert [event["kind"] for event in events] == ["tool_call", "result"]
    assert events[0]["arguments"]["a"] == Decimal("1.50") and str(events[0]["arguments"]["a"]) == "1.50"
    assert events[1]["result"]["sum"] == Decimal("12345678901234567890.10")
    assert '"a":1.50' in mcp_concord.read_text(CALL)
    assert [call["tool"] for call in mcp_concord.read(CALL, calls=True)["calls"]] == ["add"]
    long = b'{"jsonrpc":"2.0","method":"a","params":{"n":' + b"9" * 6000 + b"}}"
    assert mcp_concord.read(long)["events"][0]["params"]["n"] == Decimal("9" * 6000)


def test_a_path_a_string_and_bytes_are_the_same_recording(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(CALL)
    for recording in (path, str(path), CALL, bytearray(CALL), memoryview(CALL)):
        assert mcp_concord.read_text(recording) == mcp_concord.read_text(CALL)
    assert mcp_concord.check(path).findings == mcp_concord.check(CALL, name=str(path)).findings


def test_check_gives_findings_as_data():
    report = mcp_concord.check(NULL_ID, name="a.jsonl")
    [finding] = [finding for finding in report if finding.rule == "jsonrpc.id.null"]
    assert (finding.verdict, finding.level, finding.party) == ("fail", "must", "sender")
    assert (finding.file, finding.line, finding.broken) == ("a.jsonl", 1, True)
    assert finding in report.errors and not report.ok
    assert (report.format, report.messages, report.stopped) == ("jsonrpc", 1, None)
    assert finding.link.startswith("https://modelcontextprotocol.io/specification/") and "link=" in repr(finding)
    assert all(found.link is None for found in report if not found.broken)
    text = str(finding)
    assert "error[jsonrpc.id.null]" in text and "a.jsonl:1" in text and NULL_ID.decode().strip() in text
    with pytest.raises(TypeError, match="report.ok"):
        bool(report)
    with pytest.raises(AttributeError):
        finding.rule = "another"
    assert pickle.loads(pickle.dumps(report)) == report


def test_the_options_of_check():
    def rules(**options):
        return {finding.rule for finding in mcp_concord.check(NULL_ID, **options) if finding.broken}

    assert "jsonrpc.id.null" in rules()
    assert rules(select="jsonrpc.id") == {"jsonrpc.id.null"} == rules(select=["jsonrpc.id.null"])
    assert "jsonrpc.id.null" not in rules(ignore="jsonrpc.id.null")
    assert "jsonrpc.id.null" not in rules(profile="recorder")
    every = mcp_concord.check(NULL_ID, every=True)
    assert {"pass", "not-applicable"} <= {finding.verdict for finding in every}
    assert mcp_concord.check(session("2025-11-25"), spec="2025-06-18").revision == "2025-06-18"


def test_a_frozen_set_is_a_revision_or_a_file(tmp_path):
    path = tmp_path / "set.toml"
    path.write_text('suite = "0.1.0"\nrevision = "2025-11-25"\nrules = ["jsonrpc.id.null"]\n')
    for require in ("2025-11-25", path, str(path)):
        report = mcp_concord.check(session("2025-11-25"), require=require)
        assert report.ok and report.required.broken == 0 and report.required.whole
        assert not mcp_concord.check(session("2025-11-25", NULL_ID.decode().strip()), require=require).ok
        with pytest.raises(mcp_concord.ConcordError) as raised:
            mcp_concord.check(session("2025-06-18"), require=require)
        assert raised.value.code == "other-revision"


def test_diff_gives_places_and_values():
    other = CALL.replace(b"890.10", b"890.11")
    found = mcp_concord.diff(CALL, other)
    assert (found.same, found.equal, found.differ) == (False, 1, 1)
    [difference] = found.differences
    assert (difference.pointer, difference.a.line, difference.b.line) == ("/result/sum", 2, 2)
    assert str(difference.a.value) == "12345678901234567890.10" and difference.a.has_value
    assert "event 1 differs at /result/sum" in str(found) and "different sessions" in str(found)
    twice = mcp_concord.diff(CALL, other.replace(b'"result":{', b'"result":{"n":1,'))
    assert "and in 1 other place: /result/" in str(twice) and len(twice.differences[0].also) == 1
    assert mcp_concord.diff(CALL, other, ignore="/result/sum").same
    assert mcp_concord.diff(CALL, CALL.replace(b'"id":1', b'"id":7'), ids="renumbered").same
    [only] = mcp_concord.diff(CALL, CALL + NULL_ID).differences
    assert only.pointer is None and only.a is None and only.b.index == 2
    with pytest.raises(TypeError, match="comparison.same"):
        bool(found)


def test_convert_says_what_is_left_out():
    with pytest.warns(mcp_concord.ConcordWarning):
        har = mcp_concord.convert(CALL, "har")
    assert "entries" in json.loads(har)["log"]
    with pytest.warns(mcp_concord.ConcordWarning, match="a span for each request"):
        assert "resourceSpans" in json.loads(mcp_concord.convert(CALL, "otlp-json"))
    with pytest.warns(mcp_concord.ConcordWarning, match="who sent each message"):
        assert mcp_concord.diff(mcp_concord.convert(har, "jsonrpc"), CALL).same


def test_identify_summary_and_show():
    assert mcp_concord.identify(session("2025-11-25"))["revision"] == "2025-11-25"
    assert mcp_concord.summary(CALL)["tools"][0]["name"] == "add"
    assert "result of add" in mcp_concord.show(CALL)
    assert "<svg " in mcp_concord.show(CALL, "svg")
