#!/usr/bin/env python3
"""mutate_kernels.py [--seed=S] [--count=N] [--under=PATH,...] [--kind=KIND] [--only=PATH:LINE[:KIND]]
[--with=ptx|asan|tsan] [--package_tests]: makes mistakes in CUDA kernels, one at a time, and tells whether tests find
them under the emulator, or compiled by g++ with sanitizers.

The mistakes (kernel_mutants.py) are drawn by the seed, spread over kinds and folders; --only tries all of one place,
--list prints them alone. A mutant is compiled beside the tree, never in it: with the commands that Bazel has for the
file, or for sources that include the header, and with the edited file before all others on the include path. It is
linked into the tests of its package, then, unless --package_tests is given, into run_cases_cuda, which runs the golden
cases of its operators, and into forward_requests_cuda_test. With --with=asan (and UBSan) or tsan, the sanitizer is in
the mutant and in the shim that runs its threads; the rest of the program is that of --config=cuda_host.
What does not compile is drawn anew. Exits with 1 where a mutant survived: a test is missing, or the mutant computes
the same, which somebody has to decide.
"""

import argparse
import collections
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from cuda_commands import Commands, ROOT, bazel
from kernel_mutants import KINDS, apply, describe, mutants_of

# Flags of Bazel; the host's kernels, except the mutant, are those that .ci/run compiles.
ON_HOST = ["--config=cuda_host", "--per_file_copt=/_cuda_host/@-O0"]
CONFIGS = {"ptx": ["--config=cuda_emulated"], "asan": ON_HOST, "tsan": ON_HOST}
SANITIZERS = {"ptx": [], "asan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
              "tsan": ["-fsanitize=thread"]}
SHIM = "tests/cuda_emulator/host/"
FOLDERS = ["executor/kernels", "ndarray/cuda"]
# Not mutated: tests, test fixtures, and cuDNN, which the emulator lacks.
LEFT_OUT = re.compile(r"_test\.cc$|/(?:compare_kernels|run_kernel|require_gpu|kernel_queue|cudnn_\w+|without_cudnn)\.(?:cc|h)$")
GOLDEN = "//tests/conformance:run_cases_cuda"
# Runs forward kernels with the request kAdd, which golden cases do not.
FORWARD = "//tests/conformance:forward_requests_cuda_test"
# Tests for packages without tests of their own, or whose own tests find no mutants.
ALSO = {"ndarray/cuda": ["//executor/cuda:executor_cuda_test"],
        "executor/kernels/loops": ["//executor/kernels/shape:shape_cuda_test"]}
GOLDEN_OF = {"executor/kernels/rnn": ["rnn/", "ops/RNN"],
             "executor/kernels/optimizer": ["_update", "multi_", "all_finite"]}
# Number of sources to compile for a mutant of a header, one after the other until the mutant is found.
SOURCES_OF_A_HEADER = 3
# Lazy: work in a stream that is not waited for does not run.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "GTEST_FAIL_FAST": "1", "COOPER_CUDA_EMULATOR_RACE_CHECK": "1",
               "COOPER_CUDA_EMULATOR_LAZY": "1", "ASAN_OPTIONS": "allocator_may_return_null=1",
               "TSAN_OPTIONS": "halt_on_error=1"}
# Golden cases are recorded; work in a stream other than the kernel's is an error.
GOLDEN_ENVIRONMENT = {"COOPER_DEVICE_GRAPHS": "2", "COOPER_CUDA_EMULATOR_STRICT_CAPTURE": "1"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def run(arguments, directory, seconds=None, environment=None):
    """Returns the exit status (-1: timeout) and the output."""
    try:
        done = subprocess.run(arguments, cwd=directory, env=environment, timeout=seconds, text=True, check=False,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, "more than %d s" % seconds


class Includes:
    """Finds the sources that include a header, directly or indirectly."""

    def __init__(self):
        self._direct = {}

    def _of(self, path):
        if path not in self._direct:
            text = read(path) if os.path.exists(os.path.join(ROOT, path)) else ""
            self._direct[path] = re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
        return self._direct[path]

    def reach(self, source, header):
        seen, left = set(), [source]
        while left:
            path = left.pop()
            if path == header:
                return True
            if path not in seen and (path == source or path.startswith(tuple(FOLDERS))):
                seen.add(path)
                left += [p for p in self._of(path) if p not in seen]
        return False


def cuda_files(paths):
    """Returns the files of `paths` that belong to GPU code: CPU kernels are in the same folders."""
    includes = Includes()
    sources = [path for path in paths if path.endswith(".cu")]
    for path in paths:
        if LEFT_OUT.search(path) or not path.endswith((".cu", ".h", ".cc")):
            continue
        if path.startswith("ndarray/cuda/") or any(includes.reach(source, path) for source in sources):
            yield path


class Laboratory:
    """Compiles, links and runs mutants in a scratch folder."""

    def __init__(self, scratch, interpreter, folders, package_tests):
        self.scratch = scratch
        self._sanitizer = SANITIZERS[interpreter]
        self._also = [] if package_tests else [GOLDEN, FORWARD]
        tests = ["attr(tags, gpu, kind(cc_test, //%s:*))" % folder for folder in folders]
        labels = bazel("query", "--noshow_progress", " + ".join(tests)).split()
        labels += [label for folder in folders for label in ALSO.get(folder, [])]
        self.tests = [label for label in labels if not label.endswith("cudnn_plan_test")]
        bazel("build", *CONFIGS[interpreter], *self.tests, *self._also)
        self.commands = Commands("deps(%s)" % " + ".join(self.tests + self._also), CONFIGS[interpreter])
        self._limits = {}
        shim = [s for s in self.commands.compiles if self._sanitizer and re.fullmatch(SHIM + r"\w+\.cc", s)]
        self._shim = [self.compile(None, source) for source in shim]

    def sources_for(self, path, draw):
        """Returns the sources to compile for a mutant of `path`, the most likely to find it first."""
        if path in self.commands.compiles:
            return [path]
        includes = Includes()
        sources = [s for s in self.commands.compiles
                   if s.startswith(tuple(FOLDERS)) and not LEFT_OUT.search(s) and includes.reach(s, path)]
        draw.shuffle(sources)
        sources.sort(key=lambda s: os.path.dirname(s) != os.path.dirname(path))
        return sources[:SOURCES_OF_A_HEADER]

    def compile(self, mutant, source):
        """Returns the object of `source` with the mutant, if one is given, or None if it does not compile."""
        overlay = os.path.join(self.scratch, "overlay")
        shutil.rmtree(overlay, ignore_errors=True)
        arguments, _ = self.commands.compiles[source]
        if mutant is not None:
            edited = os.path.join(overlay, mutant.path)
            os.makedirs(os.path.dirname(edited))
            with open(edited, "w", encoding="utf-8") as file:
                file.write(apply(mutant, read(mutant.path)))
            arguments = [edited if a == source == mutant.path else a for a in arguments]
        arguments = ["TMPDIR=" + self.scratch if a.startswith("TMPDIR=") else a for a in arguments
                     if not a.startswith("-Werror")]
        if "-MF" in arguments:
            arguments[arguments.index("-MF") + 1] = os.path.join(self.scratch, "mutant.d")
        made = os.path.join(self.scratch, "%s_%s.o" % ("mutant" if mutant else "original", os.path.basename(source)))
        arguments[arguments.index("-o") + 1] = made
        first = next(i for i, a in enumerate(arguments) if a.startswith(("-I", "-iquote")))
        nvcc = "--no-compress" in arguments
        before = ["-I" + overlay] if nvcc else ["-iquote", overlay]
        after = ["-Xcompiler", "-O0"] if nvcc else []  # the host's half; the device's stays
        if self._sanitizer:
            after = ["-O1", "-g1", *self._sanitizer]
        status, _ = run(arguments[:first] + before + arguments[first:] + after, self.commands.directory)
        return made if status == 0 else None

    def link(self, label, source, made):
        """Returns the program with the object `made` of `source`, or None if `source` is no part of it."""
        words = []
        for word in self.commands.links[label]:
            if word.startswith("@"):
                with open(os.path.join(self.commands.directory, word[1:]), encoding="utf-8") as file:
                    words += [self.commands.absolute(line) for line in file.read().splitlines()]
            else:
                words.append(word)
        built = self.commands.compiles[source][1]
        library = os.path.basename(os.path.dirname(built)).replace("_cuda_objects", "")
        folder = os.path.dirname(source)
        archive = re.compile(r"bazel-out/[^/]+/bin/%s/lib%s(?:\.pic)?\.(?:a|lo)$" % (re.escape(folder), re.escape(library)))
        replaced = [made if word == built or archive.match(word) else word for word in words]
        if replaced == words:
            return None
        program = re.sub(r"\.o$", "_test", made)
        replaced[replaced.index("-o") + 1] = program
        replaced[1:1] = self._sanitizer + self._shim  # the objects come before the archives that have them, too
        parameters = os.path.join(self.scratch, "mutant.params")
        with open(parameters, "w", encoding="utf-8") as file:
            file.write("\n".join(replaced[1:]))
        status, text = run([replaced[0], "@" + parameters], self.commands.directory)
        if status != 0:
            raise RuntimeError("linking %s: %s" % (label, text[-2000:]))
        return program

    def filters(self, source):
        """Returns parts of the names of the golden cases that run the code in `source`."""
        folder = os.path.dirname(source)
        if folder in GOLDEN_OF:
            return GOLDEN_OF[folder]
        paths = [source, *(s for s in self.commands.compiles if os.path.dirname(s) == folder)]
        for files in (paths[:1], paths[1:]):
            names = set(re.findall(r"COOPER_REGISTER_KERNEL\((\w+)", "".join(read(path) for path in files)))
            names = {re.sub(r"^_backward_", "", name) for name in names}
            found = ["ops/%s/" % n for n in sorted(names) if os.path.isdir(os.path.join(ROOT, "tests/golden/ops", n))]
            if found:
                return found
        return []

    def execute(self, label, program, source):
        """Returns whether the test passes, and the first line that says why it fails."""
        arguments, key = [program], label
        if label == GOLDEN:
            arguments += ["--context=gpu(0)", "--isolate=false", "--filter=" + ",".join(self.filters(source))]
            key = tuple(arguments[1:])
        environment = dict(ENVIRONMENT, TEST_TMPDIR=self.scratch, **(GOLDEN_ENVIRONMENT if label == GOLDEN else {}))
        if key not in self._limits:  # how long it takes as it is
            original = self.link(label, source, self.compile(None, source))
            began = time.monotonic()
            status, text = run([original, *arguments[1:]], ROOT, 1200, environment)
            if status != 0:
                raise RuntimeError("%s fails without any mutant: %s" % (label, text[-2000:]))
            self._limits[key] = 20 + 5 * (time.monotonic() - began)
            print("      (%s takes %.0f s)" % (label, time.monotonic() - began), flush=True)
        status, text = run(arguments, ROOT, self._limits[key], environment)
        if status == 0:
            return True, ""
        reasons = [line.strip() for line in text.splitlines()
                   if re.search(r"cuda emulator:|Failure|FAILED |Expected|more than|Check failed|Sanitizer:|"
                                r"runtime error:", line)]
        return False, (reasons or ["exit status %d" % status])[0][:320]

    def tests_of(self, source):
        folder = os.path.dirname(source)
        own = [label for label in self.tests if label.startswith("//%s:" % folder)]
        return own + ALSO.get(folder, []) + (self._also if self.filters(source) else [])

    def judge(self, mutant, draw):
        """Returns "killed", "survived" or "invalid", with the test and the reason."""
        compiled, tried = False, []
        for source in self.sources_for(mutant.path, draw):
            made = self.compile(mutant, source)
            if made is None:
                continue
            compiled = True
            for label in self.tests_of(source):
                program = self.link(label, source, made)
                if program is None:
                    continue
                passes, reason = self.execute(label, program, source)
                if not passes:
                    return "killed", "%s: %s" % (label, reason)
                tried.append("%s with %s" % (label, source))
        return ("survived", ", ".join(tried)) if compiled else ("invalid", "")


def draws(mutants, draw):
    """Yields mutants endlessly, alternating between kinds, and within a kind between folders."""
    by_kind = {}
    for kind in KINDS:
        folders = collections.defaultdict(list)
        for mutant in mutants:
            if mutant.kind == kind:
                folders[os.path.dirname(mutant.path)].append(mutant)
        for members in folders.values():
            draw.shuffle(members)
        order = sorted(folders)
        draw.shuffle(order)
        by_kind[kind] = [folders[f] for f in order]
    while any(by_kind.values()):
        for kind in KINDS:
            if by_kind[kind]:
                members = by_kind[kind].pop(0)
                yield members.pop()
                if members:
                    by_kind[kind].append(members)


def chosen(options):
    """Returns the mutants that the options select, in the order in which they are tried."""
    paths = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, check=True, stdout=subprocess.PIPE,
                           text=True).stdout.split()
    mutants = []
    for path in cuda_files(paths):
        mutants += mutants_of(path, read(path))
    under = tuple(options.under.split(","))
    mutants = [m for m in mutants if m.path.startswith(under) and options.kind in ("", m.kind)]
    if options.only:
        wanted = options.only.split(":")
        return [m for m in mutants if m.path == wanted[0] and wanted[2:3] in ([], [m.kind])
                and read(m.path).count("\n", 0, m.start) + 1 == int(wanted[1])]
    return draws(mutants, random.Random(options.seed))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=56)
    parser.add_argument("--under", default="")
    parser.add_argument("--kind", default="", choices=["", *KINDS])
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--with", dest="interpreter", default="ptx", choices=list(CONFIGS))
    parser.add_argument("--package_tests", action="store_true")
    options = parser.parse_args()
    if options.list:
        for mutant in itertools.islice(chosen(options), options.count):
            print(describe(mutant, read(mutant.path)))
        return 0
    scratch = tempfile.mkdtemp(prefix="mutate_kernels.")
    counts, survivors = collections.Counter(), []
    try:
        mutants = list(chosen(options))
        folders = sorted({os.path.dirname(m.path) for m in mutants})
        laboratory = Laboratory(scratch, options.interpreter, folders, options.package_tests)
        for mutant in mutants:
            if counts["killed"] + counts["survived"] == options.count:
                break
            text = describe(mutant, read(mutant.path))
            began = time.monotonic()
            verdict, reason = laboratory.judge(mutant, random.Random(options.seed))
            counts[verdict] += 1
            print("%s %s\n      %s, %.0f s" % (verdict, text, reason, time.monotonic() - began), flush=True)
            if verdict == "survived":
                survivors.append(text)
    finally:
        shutil.rmtree(scratch)
    print("%d killed, %d survived, %d did not compile" % tuple(
        counts[v] for v in ("killed", "survived", "invalid")))
    print("\n".join(survivors))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
