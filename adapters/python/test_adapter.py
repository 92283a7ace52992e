"""The adapter as a process, and the checker against cases that are wrong on purpose."""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_cases

HERE = Path(__file__).parent
CALL = '{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"t","arguments":{"a":1.0}}}'
ANSWER = '{"jsonrpc":"2.0","id":"9007199254740993","result":"\\ud83d"}'
MEANING = (
    '{"events":[{"kind":"tool_call","id":"9007199254740993","tool":"t","arguments":{"a":1.0}},'
    '{"kind":"result","id":"9007199254740993","answers":0,"result":"\\ud83d"}],"authorization_discovery":null}'
)


class Adapter(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.good = self.file("jsonrpc.jsonl", f"{CALL}\n{ANSWER}\n")
        self.bad = self.file("ä.jsonl", "[]\n")

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def run_adapter(self, *arguments, lines=()):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return subprocess.run(
            [sys.executable, HERE / "adapter.py", *arguments], input=text, capture_output=True, text=True, timeout=60, check=False
        )  # fmt: skip

    def test_the_conversation(self):
        done = self.run_adapter(
            lines=[
                {"cmd": "start", "protocol": 1},
                {"cmd": "read", "seq": 1, "format": "jsonrpc", "path": self.good},
                {"cmd": "read", "seq": 2, "format": "jsonrpc", "path": self.bad},
                {"cmd": "read", "seq": 3, "format": "morse", "path": self.good},
                {"cmd": "stop"},
                {"cmd": "read", "seq": 4, "format": "jsonrpc", "path": self.good},
            ]
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        hello, meaning, rejection, unsupported = done.stdout.splitlines()
        hello = json.loads(hello)
        self.assertEqual((hello["protocol"], hello["level"]), (1, "events"))
        self.assertEqual(set(hello["formats"]), set(check_cases.TRANSCRIPTS))
        self.assertEqual(meaning, f'{{"seq":1,"meaning":{MEANING}}}')
        rejection = json.loads(rejection)
        self.assertEqual((rejection["seq"], rejection["rejection"]["code"]), (2, "batch"))
        self.assertEqual(set(json.loads(unsupported)), {"seq", "unsupported"})

    def test_one_answer(self):
        done = self.run_adapter("read", self.good, "jsonrpc")
        self.assertEqual((done.returncode, done.stdout), (0, f'{{"meaning":{MEANING}}}\n'))
        done = self.run_adapter("read", self.bad, "jsonrpc")
        self.assertEqual(done.returncode, 65)
        self.assertEqual(json.loads(done.stdout)["rejection"]["code"], "batch")

    def test_what_is_no_answer(self):
        self.assertNotIn(self.run_adapter("read", str(self.folder / "none"), "jsonrpc").returncode, (0, 65))
        self.assertEqual(self.run_adapter("write").returncode, 2)
        self.assertNotEqual(self.run_adapter(lines=[{"cmd": "start", "protocol": 2}]).returncode, 0)
        self.assertNotEqual(self.run_adapter(lines=[{"cmd": "dance"}]).returncode, 0)


class Checker(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def check(self, toml, meaning=None, **transcripts):
        case = self.folder / "topic" / "case"
        case.mkdir(parents=True, exist_ok=True)
        for old in case.iterdir():
            old.unlink()
        (case / "case.toml").write_text(toml)
        if meaning is not None:
            (case / "meaning.json").write_text(meaning)
        for name, text in transcripts.items():
            name = name.replace("_", "-")
            (case / check_cases.TRANSCRIPTS[name]).write_text(text)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = check_cases.main([self.folder])
        return code, said.getvalue()

    def test_a_meaning(self):
        expect = 'expect = "meaning"'
        lines, items = f"{CALL}\n{ANSWER}\n", f"[{CALL},{ANSWER}]"
        code, said = self.check(expect, MEANING, jsonrpc=lines, inspector=items)
        self.assertEqual((code, said), (0, "1 cases, 2 transcripts, 0 disagreements\n"))
        code, said = self.check(expect, MEANING.replace("1.0", "1.5"), jsonrpc=lines, inspector=items)
        self.assertEqual(code, 1)
        self.assertIn("topic/case: inspector: at /events/0/arguments/a: expected 1.5, read 1.0\n", said)
        self.assertIn("2 disagreements", said)
        code, said = self.check(expect, MEANING.replace('"answers":0', '"answers":null'), jsonrpc=lines)
        self.assertIn("at /events/1/answers: expected null, read 0", said)
        self.assertEqual(self.check(expect, MEANING, jsonrpc="[]")[0], 1)
        self.assertEqual(self.check(expect, jsonrpc=lines)[0], 1)  # no meaning.json

    def test_a_rejection_and_its_code(self):
        self.assertEqual(self.check('expect = "rejection"\nreject = "batch"', jsonrpc="[]")[0], 0)
        self.assertEqual(self.check('expect = "rejection"\nreject = "invalid-id"', jsonrpc="[]")[0], 1)
        self.assertEqual(self.check('expect = "rejection"\nreject = "batch"', jsonrpc=CALL)[0], 1)

    def test_either_way_but_the_same_way(self):
        expect = 'expect = "either"'
        self.assertEqual(self.check(expect, jsonrpc=CALL, inspector=f"[{CALL}]")[0], 0)
        self.assertEqual(self.check(expect, jsonrpc="7", inspector="[7]")[0], 0)
        self.assertEqual(self.check(expect, jsonrpc=CALL, inspector="[7]")[0], 1)
        self.assertEqual(self.check(expect, jsonrpc=CALL, inspector="[]")[0], 1)

    def test_nothing_to_check_is_no_success(self):
        self.assertEqual(self.check('expect = "either"')[0], 1)
        for toml in ("expect = ", 'expect = "luck"', 'expect = "rejection"', ""):
            self.assertEqual(self.check(toml, jsonrpc="[]")[0], 1, toml)
        (self.folder / "topic" / "case" / "case.toml").unlink()
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            self.assertEqual(check_cases.main([self.folder]), 2)


if __name__ == "__main__":
    unittest.main()
