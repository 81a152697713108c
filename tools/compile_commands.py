#!/usr/bin/env python3
"""Writes compile_commands.json at the root, for clang-tidy and clangd, from `bazel aquery`.

  tools/compile_commands.py [bazel flags]          for example -c dbg
  clang-tidy -p . ndarray/base/shape.cc

Each command runs in Bazel's execution root. BAZEL names another Bazel than ./bazelw; STARTUP its start-up options.
"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BAZEL = [os.environ.get("BAZEL", os.path.join(ROOT, "bazelw")), *os.environ.get("STARTUP", "").split()]

# g++'s own; clang would warn of them.
GCC_FLAGS = {
    "-Wno-free-nonheap-object", "-Wno-maybe-uninitialized", "-Wunused-but-set-parameter",
    "-fno-canonical-system-headers",
}


def bazel(*args):
    run = subprocess.run([*BAZEL, *args], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return run.stdout


def joined_sources(source):
    """Returns the tests in the folder of a source that cc_tests (//:cc_test.bzl) has made of them."""
    if not source.startswith("bazel-out/") or os.path.basename(source) != "tests.cc":
        return []
    folder = os.path.dirname(source).split("/bin/", 1)[1]
    return subprocess.check_output(["git", "ls-files", f":(glob){folder}/*_test.cc"], cwd=ROOT, text=True).split()


def compile_commands(flags):
    """Yields an entry per source of cooper's own; third-party archives have none."""
    directory = bazel("info", "execution_root").strip()
    output_base = bazel("info", "output_base").strip()
    query = 'mnemonic("CppCompile", //...)'
    graph = json.loads(bazel("aquery", query, "--output=jsonproto", "--noshow_progress", *flags))
    for action in graph.get("actions", []):
        arguments = action["arguments"]
        if "-c" not in arguments:
            continue
        source = arguments[arguments.index("-c") + 1]
        if source.startswith("external/"):
            continue
        # g++'s precompiled header, whose includes every test names itself (//:cc_test.bzl).
        if "-include" in arguments:
            at = arguments.index("-include")
            del arguments[at:at + 2]
        # Cooper's own files in the source tree, and others where they are, rather than by links of
        # the execution root, which the next build may take away. "." is the root in -iquote.
        for own in joined_sources(source) or [source]:
            path = os.path.join(ROOT, own)
            here = {source: path, ".": ROOT}
            command = [
                os.path.join(output_base, a) if a.startswith("external/") else here.get(a, a)
                for a in arguments if a not in GCC_FLAGS
            ]
            yield {"directory": directory, "file": path, "arguments": command}


def main():
    entries = list(compile_commands(sys.argv[1:]))
    with open(os.path.join(ROOT, "compile_commands.json"), "w", encoding="utf-8") as out:
        json.dump(entries, out, indent=1)
    print(len(entries), "compile commands")


if __name__ == "__main__":
    main()
