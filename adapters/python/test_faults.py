"""The faults and choices: each has a name of its own, and none outlives a reading."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import faults
from concord_reader import read_bytes
from faults import choices, choices_of_files
from jsontext import dump

HERE = Path(__file__).parent
TWO = b'{"jsonrpc":"2.0","id":1,"method":"a"}\n{"jsonrpc":"2.0","id":1,"method":"b"}\n{"jsonrpc":"2.0","id":1,"result":0}\n'


class Faults(unittest.TestCase):
    def test_each_has_a_name_and_a_sentence_of_its_own(self):
        self.assertEqual(len(faults.ALL), sum(len(rows) for module in faults.MODULES for rows in module.FAULTS.values()))
        self.assertEqual(len({(fault.clause, fault.does) for fault in faults.ALL.values()}), len(faults.ALL))
        self.assertLessEqual(faults.BROAD | faults.SURVIVE.keys(), faults.ALL.keys())
        for fault in faults.ALL.values():
            self.assertFalse(fault.does.endswith("."), fault.name)

    def test_a_fault_is_gone_after_its_reading(self):
        fault = faults.ALL["newest-first"]
        honest = read_bytes(TWO, "jsonrpc").meaning
        self.assertEqual(honest["events"][2]["answers"], 0)
        self.assertEqual(faults.read(fault.change, TWO, "jsonrpc").meaning["events"][2]["answers"], 1)
        self.assertEqual(read_bytes(TWO, "jsonrpc").meaning, honest)

    def test_a_change_of_the_meaning_leaves_the_honest_one_alone(self):
        honest = read_bytes(TWO, "jsonrpc")
        other = faults.read(faults.ALL["by-kind"].change, TWO, "jsonrpc", honest=honest)
        self.assertEqual(len(other.meaning["events"]), 3)
        self.assertEqual(honest.meaning, read_bytes(TWO, "jsonrpc").meaning)

    def test_the_adapter_makes_the_mistake_that_it_is_asked_for(self):
        def run(name):
            file = HERE.parent.parent / "cases" / "correlation" / "list-and-call-share-an-id" / "jsonrpc.jsonl"
            command = [sys.executable, HERE / "adapter.py", "--fault", name, "read", file, "jsonrpc"]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

        self.assertEqual(run("rejects-everything").returncode, 65)
        self.assertIn("there is no fault 'none'", run("none").stderr)


class Choices(unittest.TestCase):
    def test_each_has_a_name_and_a_sentence_of_its_own(self):
        rows = (*choices.CHOICES.values(), *choices_of_files.CHOICES.values())
        self.assertEqual(len(faults.CHOICES), sum(map(len, rows)))
        self.assertFalse(faults.CHOICES.keys() & faults.ALL.keys())
        self.assertEqual(len({choice.does for choice in faults.CHOICES.values()}), len(faults.CHOICES))
        self.assertLessEqual(faults.IDLE.keys() | {name for name, _ in faults.UNFAIR}, faults.CHOICES.keys())
        for choice in faults.CHOICES.values():
            self.assertFalse(choice.does.endswith("."), choice.name)

    def test_several_are_made_at_once(self):
        both = [faults.CHOICES[name].change for name in ("ids-without-a-point", "no-summaries", "numbers-shortened")]
        data = b'{"jsonrpc":"2.0","id":1.0,"method":"a","params":[1.0]}'
        meaning = faults.read(faults.together(both, "jsonrpc"), data, "jsonrpc").meaning
        self.assertEqual(dump(meaning), '{"events":[{"kind":"request","id":"1","method":"a","params":[1]}]}')

    def test_a_choice_is_made_only_in_its_formats(self):
        self.assertEqual(faults.together([faults.CHOICES["endless-refused"].change], "jsonrpc").patches, ())

    def test_the_adapter_makes_the_choices_that_it_is_asked_for(self):
        def run(*options):
            with tempfile.NamedTemporaryFile() as empty:
                command = [sys.executable, HERE / "adapter.py", *options, "read", empty.name, "jsonrpc"]
                return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

        self.assertEqual(run().returncode, 0)
        self.assertEqual(run("--choice", "blank-files-refused").returncode, 65)
        self.assertEqual(run("--choice", "no-summaries", "--choice", "blank-files-refused").returncode, 65)
        self.assertEqual(run("--choice", "no-summaries").stdout, '{"meaning":{"events":[]}}\n')
        self.assertIn("there is no choice 'none'", run("--choice", "none").stderr)
        self.assertNotEqual(run("--choice", "none").returncode, 0)


if __name__ == "__main__":
    unittest.main()
