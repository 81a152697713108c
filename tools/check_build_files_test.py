#!/usr/bin/env python3
"""Tests each rule of check_build_files on a file that obeys it and on one that does not."""

import unittest

from check_build_files import check, fix

GOOD = '''load("@rules_cc//cc:cc_test.bzl", "cc_test")
load("//:layers.bzl", "LAYERS", "cc_library")
load(":defs.bzl", "layering_test")

# A comment.
cc_library(
    name = "a",
    testonly = True,
    srcs = ["a.cc", ":generated"],
    hdrs = ["a.h"],
    copts = ["-DB"] + ["-DA"],
    visibility = ["//visibility:public"],
    deps = [
        ":b",
        "//ndarray",
        "//ndarray:shape",
        "//ndarray/cuda:device",
        # One that needs a word.
        "//io",
        "@com_google_absl//absl/strings",
    ],
)

[layering_test(
    name = layer + "_test",
    size = "small",
    roots = select({
        ":x": ["y"],
        "//conditions:default": [],
    }),
) for layer in LAYERS]
'''

# name, what to replace in GOOD, by what, the message
CASES = [
    ("Tab", "# A comment.", "#\tA", "a tab"),
    ("TrailingSpace", "# A comment.", "# A ", "space at the end"),
    ("TwoBlankLines", "# A comment.", "\n# A comment.", "two blank lines"),
    ("NoLastNewline", "for layer in LAYERS]\n", "for layer in LAYERS]", "one newline"),
    ("TwoLastNewlines", "for layer in LAYERS]\n", "for layer in LAYERS]\n\n", "one newline"),
    ("Syntax", "for layer in LAYERS]", "for layer in LAYERS", "cannot be parsed"),
    ("SingleQuotes", '"//io"', "'//io'", "single quotes"),
    ("Indentation", '    srcs = ["a.cc"', '  srcs = ["a.cc"', "expected 4 columns"),
    ("IndentationInList", '        ":b"', '      ":b"', "expected 8 columns"),
    ("ClosingBracket", "    ],\n)", "        ],\n)", "expected 4 columns"),
    ("NoLastComma", "absl/strings\",\n", "absl/strings\"\n", "a comma after"),
    ("TwoOnALine", '        ":b",\n        "//ndarray",', '        ":b", "//ndarray",',
     "one element on each line"),
    ("LoadOrder", 'load(":defs.bzl", "layering_test")\n', 'load("//:a.bzl", "a")\n',
     "comes before that of //:layers.bzl"),
    ("LoadedNames", '"LAYERS", "cc_library"', '"cc_library", "LAYERS"', "names are sorted"),
    ("LateLoad", "for layer in LAYERS]\n", 'for layer in LAYERS]\n\nload(":z.bzl", "z")\n',
     "at the top"),
    ("NameFirst", '    name = "a",\n    testonly = True,', '    testonly = True,\n    name = "a",',
     "'name' comes before 'testonly'"),
    ("AttributeOrder", '    hdrs = ["a.h"],\n    copts', '    copts = [],\n    hdrs',
     "'hdrs' comes before 'copts'"),
    ("Unsorted", '"//ndarray:shape"', '"//zlib"', "deps is not sorted"),
    ("Twice", '"//ndarray:shape"', '"//ndarray"', "twice"),
]


class CheckBuildFilesTest(unittest.TestCase):
    def test_good_file(self):
        self.assertEqual(check(GOOD, True), [])
        self.assertEqual(fix(GOOD), GOOD)

    def test_each_rule(self):
        for name, old, new, message in CASES:
            with self.subTest(name):
                self.assertEqual(GOOD.count(old), 1)
                found = [m for _, m in check(GOOD.replace(old, new), True)]
                self.assertIn(message, "\n".join(found))

    def test_attributes_of_a_bzl_file_are_free(self):
        text = 'rule(\n    deps = ["b", "a"],\n    name = "x",\n)\n'
        self.assertEqual(check(text, False), [])
        self.assertEqual(len(check(text, True)), 2)

    def test_line_is_told(self):
        self.assertEqual(check(GOOD.replace('"//ndarray:shape"', '"//ndarray"'), True)[0][0], 14)

    def test_fix_sorts(self):
        device = '        "//ndarray/cuda:device",\n'
        mixed = GOOD.replace('        ":b",\n', "").replace(device, device + '        ":b",\n')
        lines = mixed.split("\n")
        lines[0:3] = lines[2::-1]
        self.assertNotEqual(check("\n".join(lines), True), [])
        self.assertEqual(fix("\n".join(lines)), GOOD)

    def test_fix_sorts_on_one_line(self):
        self.assertEqual(fix('x(\n    name = "x",\n    deps = [":b", ":a"],\n)\n'),
                         'x(\n    name = "x",\n    deps = [":a", ":b"],\n)\n')


if __name__ == "__main__":
    unittest.main()
