"""The mapping on outputs that Assay gave, and the adapter around a program that ends in every way. Needs no Assay."""

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import mapping
from adapter import reason
from comparing import difference  # found by mapping
from jsontext import Number, dump, parse  # found by mapping
from keep import CASES, KEPT, WORTH_KEEPING

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
VERSIONS = ("3.36.0", "6.21.0")


def projection(meaning, format_name):
    """The calls level of a case's expectation."""
    outcomes = {}
    for event in meaning["events"]:
        if event["kind"] in ("result", "error") and event["answers"] is not None:
            outcomes[int(event["answers"].text)] = {event["kind"]: event[event["kind"]]}
    calls = [
        {name: event[name] for name in ("tool", "arguments") if name in event} | {"outcome": outcomes.get(index)}
        for index, event in enumerate(meaning["events"])
        if event["kind"] == "tool_call"
    ]
    seen = meaning["authorization_discovery"] if format_name in ("streamable-http", "http-sse") else None
    return {"calls": calls, "authorization_discovery": seen}


def expected(case, format_name):
    """None where the case expects a rejection."""
    meaning = CASES / case / "meaning.json"
    return projection(parse(meaning.read_text("utf-8")), format_name) if meaning.exists() else None


def trace(*entries):
    start = {"type": "episode_start", "meta": {"mcp": {"authorization_discovery": {"visible": False}}}}
    return "".join(dump(entry) + "\n" for entry in (start, *entries)).encode()


def step(number, name, jsonrpc_id):
    return {"type": "step", "step_id": f"step_{number:03}", "name": name, "meta": {"jsonrpc_id": jsonrpc_id}}


def tool_call(number, name, args=None, result=None, error=None):
    return {
        "type": "tool_call", "step_id": f"step_{number:03}", "tool_name": name, "args": args, "result": result, "error": error
    }  # fmt: skip


class Rules(unittest.TestCase):
    """The rules of the mapping one by one, on the least trace that shows each."""

    def calls(self, *entries):
        return mapping.answer(trace(*entries))["calls"]

    def test_calls_stand_in_the_order_of_their_steps(self):
        found = self.calls(
            step(0, "a", "1"), step(1, "b", "2"), tool_call(1, "b", result={}), tool_call(0, "a", error="timeout/no_response")
        )  # fmt: skip
        self.assertEqual([call["tool"] for call in found], ["a", "b"])
        self.assertEqual([call["outcome"] for call in found], [None, {"result": {}}])

    def test_a_null_result_is_an_answer_and_silence_is_none(self):
        answered = self.calls(step(0, "a", "1"), tool_call(0, "a"))
        self.assertEqual(answered[0]["outcome"], {"result": None})
        without_id = self.calls(step(0, "a", None), tool_call(0, "a"))
        self.assertIsNone(without_id[0]["outcome"])
        replaced = self.calls(step(0, "a", "1"))
        self.assertEqual(replaced, [{"tool": "a", "outcome": None}])

    def test_an_error_is_told_from_a_result_with_a_member_error(self):
        failed = self.calls(step(0, "a", "1"), tool_call(0, "a", result={"error": {"message": "m"}}, error="mcp_error"))
        self.assertEqual(failed[0]["outcome"], {"error": {"message": "m"}})
        fine = self.calls(step(0, "a", "1"), tool_call(0, "a", result={"error": {"message": "m"}}))
        self.assertEqual(fine[0]["outcome"], {"result": {"error": {"message": "m"}}})

    def test_numbers_and_halves_of_pairs_keep_their_text(self):
        kept = trace(step(0, "a", "1"), tool_call(0, "a", args={"n": Number("1.0e400"), "s": "\ud83d"}, result=Number("1.0")))
        self.assertEqual(
            dump(mapping.answer(kept)["calls"]),
            '[{"tool":"a","arguments":{"n":1.0e400,"s":"\\ud83d"},"outcome":{"result":1.0}}]',
        )

    def test_other_steps_are_no_calls(self):
        listed = {"type": "step", "step_id": "step_000", "name": "tools/list", "meta": {}}
        self.assertEqual(self.calls(listed), [])

    def test_the_summary_is_there_when_it_is_visible(self):
        seen = {"visible": True, "source_kind": "www_authenticate"}
        start = {"type": "episode_start", "meta": {"mcp": {"authorization_discovery": seen}}}
        self.assertEqual(mapping.answer(dump(start).encode())["authorization_discovery"], seen)
        self.assertIsNone(mapping.answer(trace())["authorization_discovery"])
        silent = {"type": "episode_start", "meta": {"mcp": {}}}
        self.assertNotIn("authorization_discovery", mapping.answer(dump(silent).encode()))

    def test_what_is_no_trace_gives_no_answer(self):
        for broken in (b"", trace() + trace(), trace(tool_call(0, "a")), trace(step(0, "a", "1"), tool_call(0, "a", error="?"))):
            with self.assertRaises(mapping.NotATrace):
                mapping.answer(broken)


class Kept(unittest.TestCase):
    """What Assay gave for some cases, mapped, beside what the contract says or, where the two part, what it did."""

    def test_every_output_is_looked_at(self):
        for version in VERSIONS:
            kept = {path.relative_to(KEPT / version) for path in (KEPT / version).rglob("*.*")}
            known = {Path(case, f"{format_name}{end}") for case, format_name, end in self.outputs(version)}
            self.assertEqual(kept, known, version)
            self.assertEqual(len(kept), len(WORTH_KEEPING), version)

    def test_readings(self):
        for version in VERSIONS:
            for case, format_name, end in self.outputs(version):
                if end != ".trace.jsonl":
                    continue
                with self.subTest(version=version, case=case, format=format_name):
                    found = mapping.answer((KEPT / version / case / f"{format_name}{end}").read_bytes())
                    wanted = expected(case, format_name)
                    if (version, case, format_name) in PARTED:
                        self.assertTrue(wanted is None or difference(wanted, found), "they do not part")
                        wanted = parse(PARTED[version, case, format_name])
                    self.assertIsNone(difference(wanted, found), dump(found))

    def test_refusals(self):
        for version in VERSIONS:
            for case, format_name, end in self.outputs(version):
                if end != ".refusal.txt":
                    continue
                with self.subTest(version=version, case=case, format=format_name):
                    said = (KEPT / version / case / f"{format_name}{end}").read_text("utf-8")
                    self.assertEqual(reason(said), REFUSED[version, case, format_name])

    def outputs(self, version):
        """(case, format, the ending of its file) of everything that should be kept."""
        for case, format_name in WORTH_KEEPING:
            refused = (version, case, format_name) in REFUSED
            yield case, format_name, ".refusal.txt" if refused else ".trace.jsonl"


# Where Assay's reading is not the contract's, written down from the traces; see docs/importers.md for each.
PARTED = {
    # An id that was answered may be used again; the contract rejects the transcript.
    ("6.21.0", "correlation/duplicate-answered", "jsonrpc"): """{"calls": [
        {"tool": "a", "arguments": {}, "outcome": {"result": {"n": 1}}},
        {"tool": "b", "arguments": {}, "outcome": {"result": {"n": 2}}}], "authorization_discovery": null}""",
    # A number and a string are two ids.
    ("6.21.0", "ids/number-answered-as-string", "http-sse"): """{"calls": [
        {"tool": "echo", "arguments": {}, "outcome": null},
        {"tool": "echo", "arguments": {}, "outcome": null}], "authorization_discovery": null}""",
    # An entry of an Inspector export is passed over.
    ("3.36.0", "inspector/export-folded", "inspector"): """{"calls": [], "authorization_discovery": null}""",
} | {
    (version, case, format_name): answer
    for version in VERSIONS
    for case, format_name, answer in (
        # The client's copy of the answer comes first, and is taken for the answer.
        ("direction/echoed-answer", "http-sse", """{"calls": [
            {"tool": "echo", "arguments": {}, "outcome": {"result": {"content": ["client"]}}}],
            "authorization_discovery": null}"""),
        # The words stand in the text of another parameter.
        ("k2a/text-in-quotes", "http-sse", """{"calls": [
            {"tool": "echo", "arguments": {}, "outcome": {"error": {"code": -32001, "message": "Unauthorized"}}}],
            "authorization_discovery": {"visible": true, "source_kind": "www_authenticate",
                "resource_metadata_visible": true, "authorization_servers_visible": false,
                "scope_challenge_visible": true}}"""),
        # Sorted by time, the calls change places and the answers stand before them.
        ("order/time-runs-backwards", "streamable-http", """{"calls": [
            {"tool": "b", "arguments": {}, "outcome": null},
            {"tool": "a", "arguments": {}, "outcome": null}], "authorization_discovery": null}"""),
        # The trace has no way to say that arguments are absent.
        ("values/arguments-absent-null-empty", "jsonrpc", """{"calls": [
            {"tool": "now", "arguments": null, "outcome": null},
            {"tool": "now", "arguments": null, "outcome": null},
            {"tool": "now", "arguments": {}, "outcome": null}], "authorization_discovery": null}"""),
        # Integers of 64 bits keep their digits, longer ones become doubles.
        ("values/integer-beyond-double", "jsonrpc", """{"calls": [
            {"tool": "echo", "arguments": {"n": 9007199254740993, "ns": 1788256800123456789}, "outcome": {"result": {
                "max": 18446744073709551615, "more": 1.8446744073709552e+19, "least": -9.223372036854776e+18,
                "long": 1.2345678901234568e+29}}}], "authorization_discovery": null}"""),
    )
}  # fmt: skip

REFUSED = {
    ("3.36.0", "correlation/duplicate-answered", "jsonrpc"): 'duplicate tools/call request id "1" at source line 3',
    ("6.21.0", "ids/null-tool-call", "jsonrpc"): "JSON-RPC id on source line 1 must be a string or a number",
    ("6.21.0", "inspector/export-folded", "inspector"): "MCP event at source line 1 must carry JSON-RPC version 2.0",
} | {
    (version, case, format_name): why
    for version in VERSIONS
    for case, format_name, why in (
        ("sse/keepalives", "streamable-http", "0: invalid streamable-http transcript / 1: missing field `data` at line 13 column 45"),
        ("survival/utf8-latin-1", "jsonrpc", "stream did not contain valid UTF-8"),
    )
}  # fmt: skip

STAND_IN = """\
    #!{python}
    import signal, sys, os
    if sys.argv[1] == "--version":
        print("assay 0.0.0")
        sys.exit(0)
    second = sys.argv[1:4] == ["trace", "import-mcp", "--input"]
    if second:
        sys.argv[1:4] = ["import"]
    assert sys.argv[1] == "import" and sys.argv[3] == "--format" and sys.argv[5] == "--out-trace", sys.argv
    try:
        how = open(sys.argv[2]).read()
    except OSError:  # as Assay does, which the adapter must not take for a rejection
        print("fatal: failed to read input\\n\\nCaused by:\\n    No such file", file=sys.stderr)
        sys.exit(2)
    if how == "read":
        print("Importing")
        open(sys.argv[6], "wb").write({trace!r})
    elif how == "differ":
        open(sys.argv[6], "wb").write({trace!r}.replace(b"1.0", b"2.0") if second else {trace!r})
    elif how == "refuse":
        print("fatal: failed to parse MCP transcript\\n\\nCaused by:\\n    0: invalid JSON on line 1\\n    1: EOF", file=sys.stderr)
        sys.exit(2)
    elif how == "misunderstand":
        print("error: unexpected argument", file=sys.stderr)
        sys.exit(2)
    elif how == "panic":
        print("thread 'main' panicked at parser.rs", file=sys.stderr)
        sys.exit(101)
    elif how == "abort":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "write nothing":
        pass
    """


class Process(unittest.TestCase):
    """The adapter as a process, around a stand-in for Assay."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.program = self.folder / "stand-in"
        kept = trace(step(0, "a", "1"), tool_call(0, "a", args={"n": Number("1.0")}))
        self.program.write_text(textwrap.dedent(STAND_IN).format(python=sys.executable, trace=kept), "utf-8")
        self.program.chmod(0o755)

    def ask(self, *hows, program=None):
        lines = [{"cmd": "start", "protocol": 1}]
        for seq, how in enumerate(hows):
            path = self.folder / f"{seq}.jsonl"
            path.write_text(how, "utf-8")
            lines.append({"cmd": "read", "seq": seq, "format": "jsonrpc", "path": str(path)})
        return self.converse(*lines, {"cmd": "stop"}, program=program)

    def converse(self, *lines, program=None):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return subprocess.run(
            [sys.executable, HERE / "adapter.py", program or self.program],
            input=text, capture_output=True, text=True, timeout=60, check=False, env=os.environ | {"LC_ALL": "C"},
        )  # fmt: skip

    def test_the_conversation(self):
        done = self.ask("read", "refuse", "read")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        hello, first, refused, again = done.stdout.splitlines()
        hello = json.loads(hello)
        self.assertEqual((hello["protocol"], hello["name"], hello["version"], hello["level"]), (1, "assay", "0.0.0", "calls"))
        self.assertEqual(hello["dialect"], "typed-ids")
        self.assertEqual(set(hello["formats"]), {"jsonrpc", "streamable-http", "http-sse", "inspector"})
        self.assertEqual(
            first,
            '{"seq":0,"calls":[{"tool":"a","arguments":{"n":1.0},"outcome":{"result":null}}],"authorization_discovery":null}',
        )
        self.assertEqual(refused, '{"seq":1,"rejection":{"message":"0: invalid JSON on line 1 / 1: EOF"}}')
        self.assertEqual(again, first.replace('"seq":0', '"seq":2'))

    def test_a_format_that_assay_has_not(self):
        done = self.converse({"cmd": "read", "seq": 7, "format": "har", "path": "/nowhere"})
        self.assertEqual(set(json.loads(done.stdout)), {"seq", "unsupported"})

    def test_another_end_is_no_answer(self):
        for how, said in (("panic", "panicked"), ("abort", "-9"), ("misunderstand", "unexpected argument")):
            done = self.ask("read", how)
            self.assertEqual(len(done.stdout.splitlines()), 2, how)
            self.assertEqual(done.returncode, 1, how)
            self.assertIn(said, done.stderr)
        done = self.ask("differ")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, 1))
        self.assertIn("its two commands differ", done.stderr)
        # The trace of the reading before must not be taken for this one's.
        done = self.ask("read", "write nothing")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, 2))

    def test_what_cannot_be_asked(self):
        missing = self.converse({"cmd": "read", "seq": 0, "format": "jsonrpc", "path": str(self.folder / "none")})
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertEqual(self.ask(program=self.folder / "no-program").returncode, 1)
        self.assertNotEqual(self.converse({"cmd": "start", "protocol": 2}).returncode, 0)
        self.assertNotEqual(self.converse({"cmd": "dance"}).returncode, 0)


class ThePage(unittest.TestCase):
    """docs/importers.md counts what the published records hold."""

    READ = ("jsonrpc", "streamable-http", "http-sse", "inspector")

    def record(self, version, dialect):
        suffix = "-default" if (version, dialect) == ("6.21.0", "default") else ""
        return json.loads((DOCS / f"results/assay-{version}{suffix}.json").read_text("utf-8"))

    def counts(self, version, dialect):
        """What was asked, what passed, what was expected to fail, and what shows nothing at the level `calls`."""
        record = self.record(version, dialect)
        totals, compact = record["totals"], record["compact"]
        # A skip that is listed has another reason.
        listed = {result for results in compact["skipped"].values() for result in results}
        skipped = sum(
            verdict == "s" and format_name in self.READ and f"{case}/{format_name}" not in listed
            for case, verdicts in compact["verdicts"].items()
            for format_name, verdict in zip(compact["formats"], verdicts)
        )
        judged = [totals["pass"], totals["expected-fail"], skipped]
        return [sum(judged), *judged]

    def test_the_counts_are_those_of_the_records(self):
        page = (DOCS / "importers.md").read_text("utf-8")
        rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in page.splitlines() if "| `assay-cli` |" in line]
        self.assertEqual(len(rows), 3)
        for _, version, dialect, *counts, _ in rows:
            with self.subTest(version=version, dialect=dialect):
                self.assertEqual([int(count.replace(",", "")) for count in counts], self.counts(version, dialect))

    def test_each_difference_is_in_a_row(self):
        page = (DOCS / "importers.md").read_text("utf-8")
        for dialect in ("typed-ids", "default"):
            with self.subTest(dialect=dialect):
                _, section = page.split("`typed-ids`, the dialect" if dialect == "typed-ids" else "`--dialect default`**", 1)
                table = section.split("| --- | --- | --- |\n", 1)[1].split("\n\n", 1)[0]
                cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
                self.assertEqual(sum(int(count) for _, _, count in cells), self.counts("6.21.0", dialect)[2])
                rows = {number: frozenset(clauses.split(", ")) for number, clauses, _ in cells}
                explained = dict.fromkeys(rows, 0)
                for known in self.record("6.21.0", dialect)["compact"]["known"]:
                    explained[self.row(rows, known["reason"])] += len(known["results"])
                self.assertEqual({number: int(count) for number, _, count in cells}, explained)

    def row(self, rows, reason):
        """The row that a reason of the baseline is in, by the clauses that it begins with. Two rows are of ID-NUMBER."""
        clauses = frozenset(re.match(r"[A-Z0-9-]+(?: and [A-Z0-9-]+)*", reason).group().split(" and "))
        if clauses == {"ID-NUMBER"}:
            return "9" if "every digit" in reason else "8"
        same = [number for number, named in rows.items() if named == clauses]
        (number,) = same or [number for number, named in rows.items() if clauses < named]
        return number


if __name__ == "__main__":
    unittest.main()
