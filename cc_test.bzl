"""rules_cc's cc_test for GoogleTest, which g++ compiles in two thirds of the time, and cc_tests."""

load("@rules_cc//cc:cc_test.bzl", _cc_test = "cc_test")

# The prelude of cooper's tests, and of its consumers'.
_PRELUDE = str(Label("//third_party/prelude:test_prelude"))

def cc_test(name, copts = [], deps = [], **kwargs):
    """A cc_test whose sources begin with a precompiled header (third_party/prelude).

    They still include what they use: clang, and clang-tidy, see them without it.
    """
    _cc_test(
        name = name,
        copts = ["-include", "test_prelude.h"] + copts,
        deps = deps + [_PRELUDE],
        **kwargs
    )

# A source's text under its own name and lines, so that errors and failures tell them.
_JOIN = """
for source in $(SRCS); do
    file=$${source##*/}
    echo "#line 1 \\"$$source\\""
    sed "s/^namespace {$$/namespace $${file%.cc} {/" "$$source"
done > "$@"
"""

def cc_tests(name, srcs, deps, size = "small", **kwargs):
    """One test program of several sources, which are compiled as one.

    Instances of templates, of GoogleTest's above all, are most of a test's code: together the
    sources compile in less than half of the time, and link once. They stay independent: the
    unnamed namespace of a source becomes one with the source's name. What they change in the
    process, such as the number of threads, they restore. A source alone:

        ./bazelw test //io/batch:tests --test_filter='KeyValues*'

    Args:
      name: of the target.
      srcs: sources without main, each with its own includes.
      deps: those of all sources.
      size: as for cc_test.
      **kwargs: other attributes of cc_test.
    """
    native.genrule(
        name = name + "_source",
        testonly = True,
        srcs = srcs,
        outs = [name + ".cc"],
        cmd = _JOIN,
    )
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"],
        deps = deps,
        **kwargs
    )
