#!/usr/bin/env python3
"""Tests that check_bzlmod finds faults planted in a copy of the repository and in module graphs."""

import os
import pathlib
import shutil
import tempfile
import unittest

from resolution import compatible, resolve, version_key
from check_bzlmod import check

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CUDA = "third_party/cuda/defs.bzl"
EMBED = "tests/embed/MODULE.bazel"
PIC = "third_party/system/pic_dependencies.bzl"
SCRIPT = "tests/embed/infer_only_test.sh"

# name, file, what to replace there, by what, Bazel, workspace, the message
FAULTS = [
    ("AbseilOfAnotherLevel", "MODULE.bazel", '"20260107.1"', '"20260817.0"', "8.0.0", "cooper",
     "abseil-cpp 20260107.1 (compatibility level 1, for protobuf 35.0) and 20260817.0 (level 0, "
     "for cooper (local)) are both needed"),
    ("AbseilOfAnotherLevelInNine", "MODULE.bazel", '"20260107.1"', '"20260817.0"', "9.0.0",
     "tests/embed", "20260817.0 (level 0, for cooper (local)) are both needed"),
    ("AbseilThatSevenCannotHave", "MODULE.bazel", '"20260107.1"', '"20260817.0"', "7.4.0",
     "consumer", "gloop 20260708.rc1, for abseil-cpp 20260817.0, needs Bazel >=8.0.0"),
    ("OneTbbWithNativeRules", "MODULE.bazel", '"2022.3.0"', '"2022.1.0"', "9.1.0", "cooper",
     "onetbb 2022.1.0 uses rules that Bazel 9 does not have; 2022.3.0 does not"),
    ("GoogleTestWithNativeRules", "MODULE.bazel", '"1.17.0.bcr.2"', '"1.17.0.bcr.1"', "9.0.0",
     "cooper", "googletest 1.17.0.bcr.1 uses rules that Bazel 9 does not have"),
    ("CcInfoWithoutLoad", PIC, 'load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")\n', "", "9.1.0",
     "cooper", "CcInfo is no name that Bazel 9 has without a load"),
    ("CcCommonInAFunction", PIC, 'load("@rules_cc//cc/common:cc_common.bzl", "cc_common")\n', "",
     "9.1.0", "cooper", "cc_common is no name that Bazel 9 has without a load"),
    ("OldToolchainFile", PIC, "@rules_cc//cc:find_cc_toolchain.bzl",
     "@bazel_tools//tools/cpp:toolchain_utils.bzl", "9.1.0", "cooper",
     "bazel_tools has no tools/cpp/toolchain_utils.bzl that is known here"),
    ("OldToolchainLabel", PIC, "@rules_cc//cc:current_cc_toolchain",
     "@bazel_tools//tools/cpp:current_cc_toolchain", "9.1.0", "cooper",
     "@@bazel_tools//tools/cpp:current_cc_toolchain is no target of bazel_tools"),
    ("NativeRuleInAMacro", "third_party/mpi/defs.bzl", "    cc_binary(", "    native.cc_binary(",
     "9.1.0", "cooper", "//third_party/mpi/defs.bzl:24: Bazel 9 has no native.cc_binary"),
    ("NativeRuleInABuildFile", "ndarray/cuda/BUILD",
     'load("//:layers.bzl", "cc_library")\n', "", "9.1.0", "cooper",
     "//ndarray/cuda/BUILD:7: cc_library is no name that Bazel 9 has"),
    ("NameThatNoFileHas", "cc_test.bzl", '_cc_test = "cc_test"', '_cc_test = "cc_tests"', "8.0.0",
     "cooper", "@rules_cc//cc:cc_test.bzl has no cc_tests"),
    ("UnknownTarget", "third_party/prelude/BUILD", '"@com_google_googletest//:gtest"',
     '"@com_google_googletest//:gmock"', "8.0.0", "cooper",
     "@@googletest+//:gmock is no target of googletest"),
    ("NoAbseilForTheConsumer", EMBED,
     'bazel_dep(name = "abseil-cpp", version = "20260107.1", repo_name = "com_google_absl")\n', "",
     "7.4.0", "tests/embed", "no repository is visible as @com_google_absl in module embedder"),
    ("IncompatibleOfTheConsumer", CUDA, 'str(Label("@platforms//:incompatible"))',
     '"@platforms//:incompatible"', "9.1.0", "consumer",
     "@platforms//:incompatible: no repository is visible as @platforms in module consumer"),
    ("CudartOfTheConsumer", CUDA, 'str(Label("@local_config_cuda//:cudart"))',
     '"@local_config_cuda//:cudart"', "9.1.0", "consumer",
     "no repository is visible as @local_config_cuda in module consumer"),
    ("EnabledOfTheConsumer", CUDA, 'str(Label("//third_party/cuda:enabled"))',
     '"//third_party/cuda:enabled"', "7.4.0", "consumer",
     "@@//third_party/cuda:enabled is in no package"),
    ("MpiOfTheConsumer", "third_party/mpi/defs.bzl", 'str(Label("@mpi//:mpi"))', '"@mpi"', "8.0.0",
     "consumer", "@mpi: no repository is visible as @mpi in module consumer"),
    ("LawForAConsumer", "layers.bzl", "    if not _in_cooper():\n        return\n", "", "8.0.0",
     "consumer", "layer law: module may use only"),
    ("HiddenFixture", "ndarray/cuda/BUILD",
     '    visibility = ["//visibility:public"],\n    deps = [\n'
     '        "@com_google_googletest//:gtest"',
     '    deps = [\n        "@com_google_googletest//:gtest"',
     "8.0.0", "consumer", "@@cooper+//ndarray/cuda:require_gpu is not visible"),
    ("MacroThatNobodyTries", "third_party/mpi/defs.bzl", "def mpi_test(",
     "def mpi_suite():\n    pass\n\ndef mpi_test(", "8.0.0", "consumer",
     "third_party/mpi/defs.bzl: tools/bzlmod/consumer does not use mpi_suite"),
    ("PatternOfLayers", SCRIPT, "${targets//\"$cooper\"/cooper//}", "$targets", "8.0.0",
     "tests/embed, cooper as @engine",
     "infer_only_test.sh does not see @@cooper+//executor:executor"),
    ("PatternOfLibraries", SCRIPT, "'^@+([^/]*[~+])?(onednn", "'^@+(onednn", "7.4.0",
     "tests/embed", "infer_only_test.sh does not see @@cooper~~system~mpi//:mpi"),
    ("PatternOfInferShape", SCRIPT, "s|//symbol:infer_shape$|//|p",
     "s|^@cooper//symbol:infer_shape$|//|p", "9.1.0", "tests/embed",
     "infer_only_test.sh refuses its own labels"),
]


class PlantedFaultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.copy = pathlib.Path(cls.temporary.name) / "cooper"
        shutil.copytree(ROOT, cls.copy, copy_function=os.symlink,
                        ignore=shutil.ignore_patterns(".git", ".cache", "bazel-*", "__pycache__"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_each_fault_is_found(self):
        for name, path, old, new, bazel, workspace, message in FAULTS:
            with self.subTest(name):
                text = (ROOT / path).read_text()
                self.assertIn(old, text)
                planted = self.copy / path
                planted.unlink()
                planted.write_text(text.replace(old, new, 1))
                planted.chmod(0o755)
                try:
                    errors = check(self.copy, [bazel], [workspace])
                finally:
                    planted.unlink()
                    planted.symlink_to(ROOT / path)
                self.assertIn(message, "\n".join(errors))


def _module(level=1, **deps):
    return {"level": level, "deps": deps}


TABLE = {
    "a": {"1": _module(c="1"), "2": _module(c="2")},
    "b": {"1": _module(c="3"), "2": _module(d="1")},
    "c": {"1": _module(), "2": _module(), "3": _module(), "4": _module(2)},
    "d": {"1": {**_module(), "yanked": "a hole", "bazel_compatibility": [">=8.0.0", "-8.1.0"]}},
}


class ResolutionTest(unittest.TestCase):
    def resolve(self, bazel, **deps):
        return resolve(bazel, "root", _module(**deps), {}, TABLE)

    def test_highest_of_those_asked_for(self):
        found = self.resolve("8.0.0", a="1", b="1", c="2")
        self.assertEqual(found.selected, {"root": "", "a": "1", "b": "1", "c": "3"})
        self.assertEqual(found.errors, [])

    def test_levels(self):
        for bazel, count in (("7.4.0", 1), ("8.5.9", 1), ("8.6.0", 0), ("9.0.3", 1), ("9.1.0", 0)):
            with self.subTest(bazel):
                self.assertEqual(len(self.resolve(bazel, a="1", c="4").errors), count)

    def test_yanked_and_bazel_compatibility(self):
        self.assertEqual(self.resolve("8.0.0", d="1").errors,
                         ["d 1, for root (local), is yanked: a hole"])
        self.assertIn("d 1, for root (local), needs Bazel >=8.0.0",
                      self.resolve("7.4.0", d="1").errors)
        self.assertIn("d 1, for root (local), needs Bazel -8.1.0",
                      self.resolve("8.1.0", d="1").errors)

    def test_left_out(self):
        found = self.resolve("8.0.0", a="3", e="1")
        self.assertEqual(found.left_out, {("a", "3"), ("e", "1")})

    def test_order_of_versions(self):
        versions = ["0.0.9", "0.0.10", "1.0.0-rc1", "1.0.0-rc2", "1.0.0", "1.0.0.bcr.1", 
                    "1.0.0.bcr.2", "1.1", ""]
        self.assertEqual(sorted(reversed(versions), key=version_key), versions)

    def test_compatible(self):
        self.assertTrue(compatible("7.10.0", ">=7.4.0"))
        self.assertFalse(compatible("7.4.0", "<7.4.0"))


if __name__ == "__main__":
    unittest.main()
