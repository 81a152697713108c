#!/usr/bin/env python3
"""public_targets.py [--check]: writes docs/targets.md from the BUILD files, or says that it is old.

BUILD files are read as the Python that they are; the words on a target are the first sentence of
its header. tests/layering:public_targets_test compares the labels with what Bazel says.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = ["ndarray", "symbol", "executor", "io", "module"]
PAGE = ROOT / "docs" / "targets.md"
PUBLIC = "//visibility:public"
# Macros of operators.bzl that create public targets, except for the kernels of each file: a page that
# listed these would change with every operator.
PUBLIC_MACROS = ["op_family", "op_functions", "kernel_family"]

INTRO = """# Public targets

What other workspaces may name, made by `tools/public_targets.py` from the BUILD files. All else is cooper's own and may change.
Operators and kernels register themselves when they are linked: a kernel brings its operator, a family all of its folder,
`@cooper//executor/cpu:all_kernels` everything; `@cooper//symbol/ops:all_ops` without kernels is enough to load symbols and infer shapes.
The kernels of one file are public too, and not listed: those of `executor/kernels/pooling/pooling.cc` are
`@cooper//executor/kernels/pooling:pooling`, those of `pooling.cu` `pooling_cuda`. Kernels have labels by device too, such as
`@cooper//executor/cpu/nn:pooling` and `@cooper//executor/cuda/nn:pooling`, and families `@cooper//executor/cpu/loss`.
"""


class Rules(dict):
    """The names that a BUILD file may call; records each call and returns nothing."""

    def __init__(self):
        super().__init__({"True": True, "False": False, "None": None})
        self.calls = []

    def __missing__(self, rule):
        def Note(*args, **kwargs):
            self.calls.append((rule, kwargs))
            return collections.defaultdict(list) if rule == "select" else []

        return Note


def PublicTargets(folder):
    """Returns (name, rule, hdrs) of each, sorted by name; for an alias the target instead of hdrs."""
    rules = Rules()
    # Bazel's own functions are looked up before Python's.
    rules.update({name: rules.__missing__(name) for name in ["glob", "license", "exec"]})
    code = compile((folder / "BUILD").read_text(), str(folder / "BUILD"), "exec")
    exec(code, rules)  # pylint: disable=exec-used
    for rule, attributes in rules.calls:
        if PUBLIC in (attributes.get("visibility") or []) or rule in PUBLIC_MACROS:
            if "name" in attributes and attributes.get("testonly") is not True:
                hdrs = [attributes["actual"]] if rule == "alias" else attributes.get("hdrs") or []
                yield attributes["name"], rule, hdrs


def FirstSentence(header):
    """Returns the first sentence of the comment under the include guard."""
    lines = []
    for line in header.read_text().splitlines():
        if line.startswith("// "):
            lines.append(line[3:])
        elif lines:
            break
    text = re.split(r"(?<=[.:])(?:\s|$)", " ".join(lines))[0].rstrip(":")
    return text if text.endswith(".") or not text else text + "."


def Row(folder, name, rule, hdrs):
    header = folder / (name + ".h")
    if header.name not in hdrs and hdrs:
        header = folder / hdrs[0]
    if rule == "alias":
        words = "Short name of `@cooper%s`." % hdrs[0]
    elif rule == "op_family":
        words = "The operators of this folder."
    elif rule == "op_functions":
        words = "Functions that make nodes of the operators in `symbol/ops/%s`." % name
    elif rule == "kernel_family":
        words = "The kernels of this folder for CPUs."
    elif rule == "cc_binary":
        words = "A shared library."
    else:
        words = FirstSentence(header).replace("|", "\\|") if hdrs else ""
    return "| `%s` | %s |" % (name, words)


def Page():
    lines = [INTRO]
    for layer in LAYERS:
        for build in sorted((ROOT / layer).rglob("BUILD")):
            targets = sorted(PublicTargets(build.parent))
            if not targets:
                continue
            folder = build.parent.relative_to(ROOT)
            lines += ["## @cooper//%s" % folder, ""]
            lines += ["| target | |", "| --- | --- |"]
            lines += [Row(build.parent, *target) for target in targets] + [""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    page = Page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        sys.exit("docs/targets.md is not what the BUILD files say: run tools/public_targets.py")


if __name__ == "__main__":
    main()
