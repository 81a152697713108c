#!/usr/bin/env python3
"""Tests what count_characters leaves out."""

import unittest

from count_characters import count_cpp, count_python

CPP = [
    ("int a = 1;", 10),
    ("  int a = 1;  \n\n", 10),
    ("int a = 1;  // One.", 10),
    ("/* of two\n lines */ int a = 1;", 10),
    ('const char* a = "//b";', 22),
    ('const char* a = R"(/*b*/ // c)";', 32),
    ("int a = 1'000; char b = '\"';  // It's", 28),
    ("namespace cooper {\nnamespace {\nint a = 1;\n}  // namespace\n}  // namespace cooper", 10),
    ("#ifndef A_H_\n#define A_H_\n#include <a>\n#include \"b.h\"  // why\nusing a::b;\n#endif", 0),
    ("#define A 1", 11),
    ("using_a();\nnamespaces = {", 24),
]

PYTHON = [
    ("a = 1", 5),
    ("\n\na = 1  # One.\n", 5),
    ('a = "#b"', 8),
    ('"""Of the\nmodule."""\na = 1', 5),
    ('def f():\n    """Of f."""\n    return 1', 16),
    ('class A:\n    """Of A."""\n\n    def f(self):\n        return 1', 28),
    ('a = """no\n  docstring"""', 21),
    ("import a\nfrom b import (\n    c,\n    d)\na = 1", 5),
    ("a = 1\n\n\ndef main():\n    a()\n\n\nif __name__ == '__main__':\n    main()", 5),
]


class CountCharactersTest(unittest.TestCase):
    def test_cpp(self):
        for text, count in CPP:
            with self.subTest(text):
                self.assertEqual(count_cpp(text), count)

    def test_python(self):
        for text, count in PYTHON:
            with self.subTest(text):
                self.assertEqual(count_python(text), count)


if __name__ == "__main__":
    unittest.main()
