"""A fuzz target is an ordinary test that replays its seeds, and a fuzzer with --config=fuzz."""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_cc//cc:cc_library.bzl", "cc_library")
load("@rules_cc//cc:cc_test.bzl", "cc_test")

def fuzz_target(name, deps, seeds = [], data = [], srcs = [], size = "small", dictionary = None):
    """NAME_test, and NAME, which tests/fuzz/fuzz.sh builds.

    Args:
      name: of the target, whose source is NAME.cc: it defines LLVMFuzzerTestOneInput.
      deps: of the source.
      seeds: folders of inputs to begin with, from the workspace's root.
      data: the targets that have them.
      srcs: further sources.
      size: of the test.
      dictionary: words of the format, for libFuzzer.
    """
    cc_library(
        name = name + "_target",
        testonly = True,
        srcs = [name + ".cc"] + srcs,
        deps = deps + [
            ":fuzz_input",
            ":fuzz_seeds",
        ],
        alwayslink = True,  # nothing refers to the entry point but a main function
    )
    cc_test(
        name = name + "_test",
        size = size,
        args = seeds,
        data = data,
        tags = ["fuzz_replay"],
        deps = [
            ":%s_target" % name,
            ":replay_main",
        ],
    )
    cc_binary(
        name = name,
        testonly = True,
        data = data + ([dictionary] if dictionary else []),
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],  # g++ has no libFuzzer
        deps = [
            ":%s_target" % name,
            ":seed_writer",
        ],
    )
