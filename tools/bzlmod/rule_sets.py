"""Names, loadable files, targets and native rules of Bazel 9 and of the modules of MODULE.bazel.

Taken from Bazel's documentation and the modules' sources. Before cooper uses a further name, check
that every version that can be selected has it, and add it here.
"""

# Names that need no load in both Bazel 7.4 and Bazel 9, in .bzl files and in BUILD files.
_EVERYWHERE = set("""
    False None True abs all any bool dict dir enumerate fail float getattr hasattr hash int len list
    max min print range repr reversed sorted str tuple type zip
    depset load select struct
""".split())
NATIVE_RULES = set("""
    alias config_setting constraint_setting constraint_value filegroup genquery genrule label_flag
    label_setting platform test_suite toolchain toolchain_type
""".split())
_PACKAGE_FUNCTIONS = set("""
    exports_files existing_rule existing_rules glob package_group package_name
    package_relative_label repo_name repository_name subpackages
""".split())
NATIVE_NAMES = NATIVE_RULES | _PACKAGE_FUNCTIONS
BUILD_NAMES = _EVERYWHERE | NATIVE_NAMES | {"licenses", "package"}
BZL_NAMES = _EVERYWHERE | set("""
    DefaultInfo Label OutputGroupInfo RunEnvironmentInfo aspect attr config config_common
    coverage_common exec_group json module_extension native platform_common proto provider
    repository_rule rule tag_class testing transition visibility
""".split())

# Module -> file -> names, in the versions that MODULE.bazel requests. bazel_tools has no files for
# C++: rules_cc has them.
LOADS = {
    "bazel_skylib": {
        "lib/selects.bzl": ["selects"],
        "rules/common_settings.bzl": ["BuildSettingInfo", "bool_flag", "string_flag"],
        "rules/write_file.bzl": ["write_file"],
    },
    "bazel_tools": {},
    "rules_cc": {
        "cc/cc_binary.bzl": ["cc_binary"],
        "cc/cc_import.bzl": ["cc_import"],
        "cc/cc_library.bzl": ["cc_library"],
        "cc/cc_test.bzl": ["cc_test"],
        "cc/common/cc_common.bzl": ["cc_common"],
        "cc/common/cc_info.bzl": ["CcInfo"],
        "cc/find_cc_toolchain.bzl": ["find_cc_toolchain", "use_cc_toolchain"],
    },
    "rules_shell": {
        "shell/sh_test.bzl": ["sh_test"],
    },
}

# Module -> targets. check_bzlmod.py adds abseil-cpp's from third_party/system/absl_labels.bzl.
TARGETS = {
    "bazel_tools": ["//tools/cpp:toolchain_type"],
    "eigen": ["//:eigen"],
    "glog": ["//:glog"],
    "google_benchmark": ["//:benchmark", "//:benchmark_main"],
    "googletest": ["//:gtest", "//:gtest_main"],
    "libjpeg_turbo": ["//:jpeg"],
    "libpng": ["//:png"],
    "nlohmann_json": ["//:json"],
    "onednn": ["//:onednn"],
    "onetbb": ["//:tbb"],
    "platforms": ["//:incompatible"],
    "rules_cc": ["//cc:current_cc_toolchain"],
    "zlib": ["//:zlib"],
}

# Module -> (the first version whose BUILD files load the cc rules that they use, later versions
# that do not).
LOADS_CC_RULES_SINCE = {
    "gflags": ("2.2.2.bcr.1", []),
    "glog": ("0.7.1.bcr.1", []),
    "googletest": ("1.16.0.bcr.2", ["1.17.0", "1.17.0.bcr.1"]),
    "nlohmann_json": ("3.12.0.bcr.2", []),
    "onetbb": ("2022.3.0", []),
}

# Attributes of native rules and of other modules' rules that name targets.
LABEL_ATTRIBUTES = set("""
    actual additional_linker_inputs constraint_setting constraint_values data deps flag_values hdrs
    implementation_deps match_all match_any scope shared_library srcs static_library
    target_compatible_with tests textual_hdrs tools
""".split())
# Attributes that name the output files of a target.
OUTPUT_ATTRIBUTES = {"out", "outs"}
