#!/usr/bin/env python3
"""tools/count_characters.py [--max_ratio=R] DIR...: characters of an example in C++ and in Python.

An example DIR/NAME is NAME.h and NAME.cc, and NAME.py, its twin for MXNet. Both are counted without
comments, docstrings, blank lines, white space at the ends of lines, line ends, and the lines that
say where names come from (#include, import, using, namespace, guards); without main too, which is
a file of its own in C++. With R, exit status 1 if one of them has more than R times the characters
of its twin.
"""

import argparse
import ast
import io
import os
import re
import sys
import tokenize

# Literals are found so that what looks like a comment in them stays.
CPP_COMMENT = re.compile(
    r"""(?P<literal>R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<digits>\b\d[\w']*)
      | //[^\n]* | /\*.*?\*/""",
    re.VERBOSE | re.DOTALL)
CPP_NAMES = re.compile(
    r"""(?:\#include\b.* | \#(?:ifndef|define)\ \w+_H_ | \#endif | using\b.*; | namespace\b.*\{
         | \}(?=\ *//\ *namespace\b))\s*(?://.*)?""", re.VERBOSE)


def count_lines(text):
    return sum(len(line.strip()) for line in text.splitlines())


def count_cpp(text):
    text = "\n".join(line for line in text.splitlines() if not CPP_NAMES.fullmatch(line.strip()))
    return count_lines(CPP_COMMENT.sub(lambda m: m[0] if m["literal"] or m["digits"] else "", text))


def is_main(node):
    return (isinstance(node, ast.FunctionDef) and node.name == "main"
            or isinstance(node, ast.If) and "__name__" in ast.dump(node.test))


def count_python(text):
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    tree = ast.parse(text)
    left_out = [node for node in tree.body if is_main(node)]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out.append(node)
        elif (isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
              and ast.get_docstring(node) is not None):
            left_out.append(node.body[0])
    for node in left_out:
        lines[node.lineno - 1:node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return count_lines("\n".join(lines))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--max_ratio", type=float, default=float("inf"), metavar="R")
    parser.add_argument("examples", nargs="+", metavar="DIR")
    args = parser.parse_args()
    too_long = False
    print("%-14s %7s %7s %6s" % ("example", "C++", "Python", "ratio"))
    for directory in args.examples:
        name = os.path.basename(os.path.normpath(directory))
        stem = os.path.join(directory, name)
        cpp = count_cpp(read(stem + ".h")) + count_cpp(read(stem + ".cc"))
        python = count_python(read(stem + ".py"))
        ratio = cpp / python
        too_long = too_long or ratio > args.max_ratio
        print("%-14s %7d %7d %6.2f%s" % (name, cpp, python, ratio,
                                         "  too long" if ratio > args.max_ratio else ""))
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
