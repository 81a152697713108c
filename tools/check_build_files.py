#!/usr/bin/env python3
"""tools/check_build_files.py [--fix] [FILE...]: BUILD and .bzl files are in buildifier's style.

Neither Debian nor PyPI has buildifier, and black, which formats Python, sorts no labels and wants
other spaces. So this checks buildifier's most important rules, in the named files or in every
tracked one. --fix sorts lists and loads; other faults are reported by file and line.

- Double quotes, no tabs, no space at the end of a line, no two blank lines, one newline at the end.
- 4 columns of indentation for each bracket that stays open over a line; its elements on lines of
  their own, the last with a comma.
- load() first: other repositories, then //, then `:`, each by label; the loaded names sorted.
- In a target: name, size, srcs, hdrs and so on, other attributes by name, then deps.
- Lists of labels and files sorted (`:` before // before @), nothing twice. A comment between two
  elements starts a new run.
"""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize

# Attributes that are not in alphabetical order, and lists that are sorted.
FIRST = ["name", "size", "timeout", "testonly", "src", "srcs", "out", "outs", "hdrs"]
LAST = ["deps", "alwayslink"]
SORTED = {
    "data", "deps", "exports", "hdrs", "implementation_deps", "srcs", "tags", "tests",
    "textual_hdrs", "tools", "visibility",
}
# After a line that ends with one of these, the indentation is free.
GOES_ON = {"+", "-", "*", "/", "%", "=", "and", "or", "not", "in", "if", "else"}

OPEN = "([{"
CLOSE = ")]}"


def label_key(label):
    """Orders labels as buildifier does: files, then `:x`, then `//x`, then `@x`."""
    phases = [":", "//", "@"]
    phase = next((i + 1 for i, prefix in enumerate(phases) if label.startswith(prefix)), 0)
    return phase, re.split("[:.]", label), label


def load_key(label):
    phase = 0 if label.startswith("@") else 1 if label.startswith("//") else 2
    return phase, label.replace(":", "\0")


def attribute_key(name):
    if name in FIRST:
        return 0, FIRST.index(name), name
    return (2, LAST.index(name), name) if name in LAST else (1, 0, name)


def check_text(lines):
    for number, line in enumerate(lines, 1):
        if "\t" in line or "\r" in line:
            yield number, "a tab or carriage return"
        if line.rstrip() != line:
            yield number, "space at the end of the line"
        if not line and number > 1 and not lines[number - 2]:
            yield number, "two blank lines"
    if not lines or not lines[-1]:
        yield len(lines), "expected one newline at the end of the file"


def check_tokens(text):
    """Checks quotes and indentation. Brackets that open on one line indent by 4 together."""
    stack = []  # the indentation of the line in which each open bracket is
    indent = 0
    previous = None  # the last token that is no comment and no line break
    fresh = True  # at the first token of a line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind, string, (line, column) = token.type, token.string, token.start
        if kind in (tokenize.NEWLINE, tokenize.NL):
            fresh = True
            continue
        if kind in (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            if kind == tokenize.INDENT and len(string) % 4:
                yield line, "a block is indented by 4"
            continue
        if fresh:
            fresh = False
            goes_on = previous is not None and previous.string in GOES_ON
            if stack and not goes_on:
                expected = stack[-1] + (0 if string in CLOSE else 4)
                if column != expected:
                    yield line, "expected %d columns of indentation, found %d" % (expected, column)
            indent = column
        if kind == tokenize.STRING and "'" in (string[0], string[1:2]) and '"' not in string:
            yield line, "a string in single quotes"
        if kind == tokenize.OP and string in OPEN:
            stack.append(indent)
        elif kind == tokenize.OP and string in CLOSE:
            stack.pop()
        if kind != tokenize.COMMENT:
            previous = token


def elements_of(node):
    if isinstance(node, ast.Call):
        values = node.args + [k.value for k in node.keywords]
        return sorted(values, key=lambda n: (n.lineno, n.col_offset))
    if isinstance(node, ast.Dict):
        return node.keys
    return node.elts


def check_layout(tree, lines):
    """Checks that a bracket at a line's end has an element per line, and a comma after the last."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Call, ast.List, ast.Dict)) or node.lineno == node.end_lineno:
            continue
        elements = [e for e in elements_of(node) if e is not None]
        if not elements:
            continue
        opened = node.func.end_lineno if isinstance(node, ast.Call) else node.lineno
        if elements[0].lineno == opened or any(isinstance(e, ast.Starred) for e in elements):
            continue
        for one, next_one in zip(elements, elements[1:]):
            if next_one.lineno == one.end_lineno:
                yield next_one.lineno, "expected one element on each line"
                break
        end = lines[node.end_lineno - 1][:node.end_col_offset - 1]
        if end.strip(" )]}"):
            yield node.end_lineno, "expected the closing bracket on a line of its own"
        last = elements[-1] if not isinstance(node, ast.Dict) else node.values[-1]
        after = "\n".join(lines[last.end_lineno - 1:node.end_lineno])[last.end_col_offset:]
        unpacked = isinstance(node, ast.Call) and node.keywords and node.keywords[-1].arg is None
        comma = after.lstrip(" )").startswith(",") or last.end_lineno == node.end_lineno
        if not unpacked and not comma:
            yield last.end_lineno, "expected a comma after the last element"


def is_load(statement):
    return (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
            and getattr(statement.value.func, "id", "") == "load")


def check_loads(tree):
    loads = [s for s in tree.body if is_load(s)]
    seen_other = False
    for statement in tree.body:
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_load(statement) and seen_other:
            yield statement.lineno, "load() stands at the top"
        seen_other |= not is_load(statement) and not docstring
    for one, two in zip(loads, loads[1:]):
        labels = [load.value.args[0].value for load in (one, two)]
        if load_key(labels[0]) > load_key(labels[1]):
            yield two.lineno, "load() of %s comes before that of %s" % (labels[1], labels[0])
    for load in loads:
        names = [a.value for a in load.value.args[1:]]
        if names != sorted(names):
            yield load.lineno, "loaded names are sorted"


def targets_of(tree):
    """Yields the calls with a name and only keyword arguments: rules and macros."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not node.args and node.keywords:
            names = [k.arg for k in node.keywords]
            if "name" in names and None not in names:
                yield node


def runs_of(elements, lines):
    """Splits the elements of a list at comments and at elements that are no strings."""
    run = []
    for element in elements:
        comment = element.lineno > 1 and lines[element.lineno - 2].lstrip().startswith("#")
        if comment or not isinstance(element, ast.Constant):
            yield run
            run = []
        if isinstance(element, ast.Constant):
            run.append(element)
    yield run


def lists_of(target):
    for keyword in target.keywords:
        if keyword.arg in SORTED:
            for node in ast.walk(keyword.value):
                if isinstance(node, ast.List):
                    yield keyword.arg, node


def check_targets(tree, lines):
    for target in targets_of(tree):
        names = [k.arg for k in target.keywords]
        for one, two in zip(names, names[1:]):
            if attribute_key(one) > attribute_key(two):
                yield target.lineno, "attribute '%s' comes before '%s'" % (two, one)
                break
        for attribute, node in lists_of(target):
            for run in runs_of(node.elts, lines):
                values = [e.value for e in run]
                if values != sorted(values, key=label_key):
                    yield run[0].lineno, "%s is not sorted" % attribute
                if len(values) != len(set(values)):
                    yield run[0].lineno, "%s names something twice" % attribute


def check(text, is_build):
    """Returns (line, message) pairs."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    else:
        return [(len(lines), "expected one newline at the end of the file")]
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return [(error.lineno or 0, "cannot be parsed: %s" % error.msg)]
    found = [*check_text(lines), *check_tokens(text)]
    found += [*check_layout(tree, lines), *check_loads(tree)]
    if is_build:
        found += check_targets(tree, lines)
    return sorted(found)


def fix(text):
    """Sorts loads and lists of strings that have one element per line."""
    lines = text.split("\n")
    tree = ast.parse(text)
    for target in targets_of(tree):
        for _, node in lists_of(target):
            for run in runs_of(node.elts, lines):
                numbers = [e.lineno - 1 for e in run]
                if len(set(numbers)) != len(run):
                    values = sorted({e.value for e in run}, key=label_key)
                    if node.lineno == node.end_lineno and len(run) == len(node.elts):
                        line = lines[node.lineno - 1]
                        row = ", ".join('"%s"' % v for v in values)
                        before, after = line[:node.col_offset], line[node.end_col_offset:]
                        lines[node.lineno - 1] = "%s[%s]%s" % (before, row, after)
                    continue
                ordered = sorted(run, key=lambda e: label_key(e.value))
                for number, line in zip(numbers, [lines[e.lineno - 1] for e in ordered]):
                    lines[number] = line
    loads = [s for s in tree.body if is_load(s)]
    together = all(two.lineno == one.end_lineno + 1 for one, two in zip(loads, loads[1:]))
    if loads and together:
        ordered = sorted(loads, key=lambda s: load_key(s.value.args[0].value))
        block = [line for s in ordered for line in text.split("\n")[s.lineno - 1:s.end_lineno]]
        lines[loads[0].lineno - 1:loads[-1].end_lineno] = block
    return "\n".join(lines)


def main(arguments):
    fixing = "--fix" in arguments
    paths = [a for a in arguments if a != "--fix"]
    if not paths:
        os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        command = ["git", "ls-files", "*BUILD", "*.BUILD", "*.bzl"]
        listed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        paths = [p for p in listed.stdout.split() if os.path.exists(p)]
    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if fixing:
            fixed = fix(text)
            if fixed != text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(fixed)
                text = fixed
        for line, message in check(text, not path.endswith(".bzl")):
            print("%s:%d: %s" % (path, line, message))
            wrong += 1
    if wrong:
        print("check_build_files: %d lines are not in buildifier's style" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
