#!/usr/bin/env python3
"""Tests compile_times with a profile of three actions."""

import gzip
import json
import os
import tempfile
import unittest

from compile_times import actions, report

EVENTS = [
    {"cat": "action processing", "name": "Compiling a/b.cc", "dur": 1500000},
    {"cat": "action processing", "name": "Compiling a/c.cc", "dur": 2500000},
    {"cat": "action processing", "name": "Linking a/d", "dur": 500000},
    {"cat": "package creation", "name": "a", "dur": 9000000},
    {"ph": "M", "name": "thread_name"},
]


class CompileTimesTest(unittest.TestCase):
    def test_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.gz")
            with gzip.open(path, "wt", encoding="utf-8") as file:
                json.dump({"traceEvents": EVENTS}, file)
            self.assertEqual(report(list(actions(path)), 2), [
                "| action | seconds |",
                "| --- | ---: |",
                "| Compiling `a/c.cc` | 2.5 |",
                "| Compiling `a/b.cc` | 1.5 |",
                "",
                "| kind | actions | seconds |",
                "| --- | ---: | ---: |",
                "| Compiling | 2 | 4.0 |",
                "| Linking | 1 | 0.5 |",
                "| all | 3 | 4.5 |",
            ])


if __name__ == "__main__":
    unittest.main()
