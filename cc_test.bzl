"""rules_cc's cc_test, for tests that use GoogleTest, which g++ compiles in two thirds of the time."""

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
