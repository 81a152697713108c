#!/usr/bin/env python3
"""check_cuda_archs.py [--archs=75,80,...] [--jobs=N] [SOURCE...]: compiles the device code of every .cu file of
executor/kernels and ndarray/cuda, or of the named ones, for each compute capability, with warnings as errors.

It prints the most registers and the most local memory that a kernel needs on each, with the kernel's name. It fails if
nvcc or ptxas warns, or if a kernel spills registers; spills of CUB's kernels are only printed. Needs a CUDA toolkit and
no GPU; a first run takes about an hour of one processor.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from cuda_commands import Commands, bazel, without_codes

ARCHS = "75,80,86,89,90,100,120"
CONFIG = ["--config=cuda_emulated"]
TARGETS = ["//executor/cuda:all_kernels", "//ndarray/cuda/..."]

# CUB chooses its tile sizes by compute capability; cooper cannot change whether its kernels spill registers.
CUBS = re.compile("_ZN3cub")
COOPERS = re.compile("(?!_ZN3cub)")

Kernel = collections.namedtuple("Kernel", "source arch name registers stack")


def kernels_of(source, arch, text):
    """Returns the kernels that the output `text` of ptxas -v lists."""
    name, stack = None, 0
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '(\S+)' for", line)
        if entry:
            name, stack = entry.group(1), 0
        frame = re.search(r"(\d+) bytes stack frame", line)
        if frame:  # the last one before "Used" is the kernel's own
            stack = int(frame.group(1))
        used = re.search(r"Used (\d+) registers", line)
        if used and name:
            yield Kernel(source, arch, name, int(used.group(1)), stack)
            name = None


def problems_of(text, status, spilling=re.compile("")):
    """Returns the problems of a compilation as lines: warnings, errors, and register spills of functions whose mangled
    names begin with `spilling`."""
    lines, function = [], ""
    for line in text.splitlines():
        if re.search(r"\b(warning|error)\b", line):
            lines.append(line)
        named = re.search(r"Function properties for (\S+)", line)
        function = named.group(1) if named else function
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)
        if spills and spills.groups() != ("0", "0") and spilling.match(function):
            lines.append("%s: %s" % (function, line.strip()))
    return lines or (["nvcc ended with %d: %s" % (status, text)] if status else [])


def compile_for(commands, source, arch, folder):
    """Compiles one file and returns its kernels, its problems, and the problems of CUB's kernels."""
    arguments = without_codes(commands.compiles[source][0])
    output = os.path.join(folder, "%s.sm_%s" % (source.replace("/", "_"), arch))
    arguments[arguments.index("-c")] = "-cubin"
    arguments[arguments.index("-o") + 1] = output
    arguments += ["-arch=sm_" + arch, "-Werror=all-warnings", "-Xptxas=-v"]
    run = subprocess.run(arguments, cwd=commands.directory, stderr=subprocess.PIPE, text=True, check=False)
    if os.path.exists(output):
        os.remove(output)
    return (list(kernels_of(source, arch, run.stderr)), problems_of(run.stderr, run.returncode, COOPERS),
            problems_of(run.stderr, 0, CUBS))


def demangled(names):
    run = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True)
    return [re.sub(r"\(.*", "", re.sub(r"\(anonymous namespace\)::|cooper::", "", n))
            for n in run.stdout.splitlines()]


def table(kernels):
    """Returns a line for each compute capability."""
    by_arch = collections.defaultdict(list)
    for kernel in kernels:
        by_arch[kernel.arch].append(kernel)
    yield "%7s %8s %10s %8s  %s" % ("sm", "kernels", "registers", "local", "the kernel with most registers")
    for arch in sorted(by_arch, key=int):
        most = max(by_arch[arch], key=lambda k: k.registers)
        local = max(k.stack for k in by_arch[arch])
        yield "%7s %8d %10d %8d  %s: %s" % (
            arch, len(by_arch[arch]), most.registers, local, most.source, demangled([most.name])[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archs", default=ARCHS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("sources", nargs="*")
    options = parser.parse_args()
    bazel("build", *CONFIG, "--build_tests_only=false", "--keep_going", *TARGETS)
    commands = Commands("deps(%s)" % " + ".join(TARGETS), CONFIG)
    sources = options.sources or sorted(s for s in commands.compiles if s.endswith(".cu"))
    kernels, failed = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {pool.submit(compile_for, commands, source, arch, folder): (source, arch)
                for arch in options.archs.split(",") for source in sources}
        for done, run in enumerate(concurrent.futures.as_completed(runs), 1):
            source, arch = runs[run]
            found, problems, told = run.result()
            kernels += found
            failed += bool(problems)
            print("[%d / %d] %s, sm_%s: %d kernels, at most %d registers" % (
                done, len(runs), source, arch, len(found),
                max([k.registers for k in found], default=0)), flush=True)
            for problem in problems + ["not counted: " + line for line in told if line not in problems]:
                print("    " + problem, flush=True)
    print("\n".join(table(kernels)))
    print("%d compilations, %d with warnings or spills" % (len(runs), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
