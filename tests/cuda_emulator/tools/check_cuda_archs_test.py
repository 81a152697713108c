#!/usr/bin/env python3
"""Tests how check_cuda_archs parses nvcc's output."""

import re
import unittest

from check_cuda_archs import kernels_of, problems_of

INFO = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z1fv' for 'sm_90'
ptxas info    : Function properties for _Z6helperv
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for _Z1fv
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 16 bytes cumulative stack size
ptxas info    : Compiling entry function '_Z1gv' for 'sm_90'
ptxas info    : Function properties for _Z1gv
    0 bytes stack frame, 0 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
"""


class CheckCudaArchsTest(unittest.TestCase):
    def test_kernels(self):
        found = [(k.name, k.registers, k.stack) for k in kernels_of("a.cu", "90", INFO)]
        self.assertEqual(found, [("_Z1fv", 24, 16), ("_Z1gv", 255, 0)])

    def test_problems(self):
        self.assertEqual(problems_of(INFO, 0), [
            "_Z6helperv: 8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads",
            "_Z1gv: 0 bytes stack frame, 0 bytes spill stores, 12 bytes spill loads"])
        self.assertEqual(problems_of(INFO, 0, re.compile("_Z6")), [
            "_Z6helperv: 8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"])
        self.assertEqual(problems_of("", 0), [])
        self.assertEqual(problems_of("a.cu(3): warning #177-D: unused", 1), ["a.cu(3): warning #177-D: unused"])
        self.assertEqual(problems_of("nothing is said", 1), ["nvcc ended with 1: nothing is said"])


if __name__ == "__main__":
    unittest.main()
