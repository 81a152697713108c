#!/usr/bin/env python3
"""Tests what kernel_mutants edits, and what it leaves alone."""

import unittest

from kernel_mutants import Mutant, apply, describe, mutants_of

# A source, and the (kind, edited source) of all mutants.
SOURCES = [
    ("  __syncthreads();\n", [("barrier", "  ;\n")]),
    ("  // __syncthreads(); if (i < n)\n", []),
    ('#include "a[i]"\n  Fail("x[i] < n");\n', []),
    ("  if (i < n) x = 1;\n", [("guard", "  if (true) x = 1;\n"), ("guard", "  if (i <= n) x = 1;\n")]),
    ("  if (n == 0) return;\n", [("guard", "  if (false) return;\n")]),
    ("  if (a && b) x = 1;\n", [("guard", "  if (b) x = 1;\n"), ("guard", "  if (true) x = 1;\n"),
                               ("guard", "  if (a) x = 1;\n")]),
    ("template <int n, bool b = (1 < 2)>\nstd::vector<int> v;\n", []),
    ("  y = x[i];\n", [("index", "  y = x[(i) + 1];\n")]),
    ("  __shared__ float x[kRows + 1];\n  int at[3];\n  F([&](auto a) {});\n", []),
    ("  n = c.inputs[i].size();\n", []),
    ("  StoreTo(out + i, sum, add);\n", [("index", "  StoreTo(out + i + 1, sum, add);\n"),
                                        ("add", "  StoreTo(out + i, sum, false);\n")]),
    ("  F(c.reqs[0] == WriteReq::kAdd);\n", [("add", "  F(c.reqs[0] == WriteReq::kNull);\n")]),
    ("  F(/*add=*/true);\n", [("add", "  F(/*add=*/false);\n")]),
    ("  sum += F(x);\n", [("add", "  sum = F(x);\n")]),
    ("  using C = ComputeType<T>;\n", [("dtype", "  using C = T;\n")]),
    ("  F(i * inner + outer);\n", [("stride", "  F(i * inner + inner);\n"), ("stride", "  F(i * outer + outer);\n")]),
    ("  F(i * inner);\n", []),  # there is no `outer` to take it for
    ("  for (;; i += ElementStep()) {}\n", [("stride", "  for (;; i += 2 * ElementStep()) {}\n")]),
    ("  F(StreamOf(c));\n", [("stream", "  F(nullptr);\n")]),
]


class KernelMutantsTest(unittest.TestCase):
    def test_edits(self):
        for text, expected in SOURCES:
            with self.subTest(text):
                found = [(m.kind, apply(m, text)) for m in mutants_of("a.cu", text)]
                self.assertEqual(sorted(found), sorted(expected))

    def test_description(self):
        text = "int a;\n  if (i <\n      n) x = 1;\n"
        mutant = Mutant("a.cu", "guard", text.index("i <"), text.index(") x"), "true")
        self.assertEqual(describe(mutant, text), "a.cu:2 guard\n      - if (i < n) x = 1;\n      + if (true) x = 1;")


if __name__ == "__main__":
    unittest.main()
