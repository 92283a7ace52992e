"""The faults: each has a name of its own, and none outlives a reading."""

import subprocess
import sys
import unittest
from pathlib import Path

import faults
from concord_reader import read_bytes

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


if __name__ == "__main__":
    unittest.main()
