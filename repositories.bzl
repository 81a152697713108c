"""What cooper needs under WORKSPACE (Bazel 4.2.3), for cooper itself and for who depends on it.

A consumer calls cooper_deps() too. A repository that it has defined before the call is left alone:
so it puts its own Abseil, under the same name, in the place of the system's.
"""

load("//third_party/cuda:cuda_configure.bzl", "cuda_configure")
load("//third_party/system:system_library.bzl", "absl_repository", "system_library")

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def _shim_repository_impl(rctx):
    root = rctx.path(Label("//:WORKSPACE")).dirname
    for entry in root.get_child("third_party").get_child(rctx.attr.folder).readdir():
        rctx.symlink(entry, entry.basename)

_shim_repository = repository_rule(
    implementation = _shim_repository_impl,
    attrs = {"folder": attr.string(mandatory = True, doc = "A folder of third_party.")},
    local = True,
)

def cooper_deps():
    """Defines every external repository, each from an installed Debian package."""

    # Build rules, under the names that BUILD files load with bzlmod too.
    for name in ["rules_cc", "rules_shell", "remote_coverage_tools"]:
        _maybe(_shim_repository, name = name, folder = name)
    _maybe(native.local_repository, name = "bazel_skylib", path = "/usr/share/bazel/tools/skylib")
    _maybe(native.local_repository, name = "platforms", path = "/usr/share/bazel/tools/platforms")
    _maybe(native.local_repository, name = "rules_java", path = "/usr/share/bazel/rules/java")
    _maybe(native.local_repository, name = "rules_proto", path = "/usr/share/bazel/rules/proto")

    # Libraries.
    _maybe(absl_repository, name = "com_google_absl")
    for name, attributes in SYSTEM_LIBRARIES.items():
        _maybe(system_library, name = name, **attributes)
    _maybe(cuda_configure, name = "local_config_cuda")

# headers: path under /usr/include -> path in the repository. libs: files in the multiarch library
# folder. Label(), since a plain string would be looked up in the consumer's repository.
SYSTEM_LIBRARIES = {
    "com_google_googletest": {
        "deb": "libgtest-dev libgmock-dev",
        "headers": {"gtest": "include/gtest", "gmock": "include/gmock"},
        "libs": ["libgtest.a", "libgmock.a", "libgmock_main.a"],
        "build_file": Label("//third_party/system:googletest.BUILD"),
    },
    "com_github_google_benchmark": {
        "deb": "libbenchmark-dev",
        "headers": {"benchmark": "include/benchmark"},
        "libs": ["libbenchmark.so", "libbenchmark_main.a"],
        "build_file": Label("//third_party/system:benchmark.BUILD"),
    },
    "com_github_google_glog": {
        "deb": "libgoogle-glog-dev",
        "headers": {"glog": "include/glog", "gflags": "include/gflags"},
        "libs": ["libglog.a", "libglog.so", "libgflags.a", "libgflags.so", "libunwind.so"],
        "build_file": Label("//third_party/system:glog.BUILD"),
    },
    "nlohmann_json": {
        "deb": "nlohmann-json3-dev",
        "headers": {"nlohmann": "include/nlohmann"},
        "build_file": Label("//third_party/system:nlohmann_json.BUILD"),
    },
    "zlib": {
        "deb": "zlib1g-dev",
        "headers": {"zconf.h": "include/zconf.h", "zlib.h": "include/zlib.h"},
        "libs": ["libz.a", "libz.so"],
        "build_file": Label("//third_party/system:zlib.BUILD"),
    },
    "zstd": {
        "deb": "libzstd-dev",
        "headers": {"zstd.h": "include/zstd.h", "zstd_errors.h": "include/zstd_errors.h"},
        "libs": ["libzstd.a", "libzstd.so"],
        "optional_target": "zstd",
        "define_if_missing": "COOPER_WITHOUT_ZSTD",
        "build_file": Label("//third_party/system:zstd.BUILD"),
    },
    "libjpeg_turbo": {
        "deb": "libjpeg-dev",
        "headers": {
            "jerror.h": "include/jerror.h",
            "jmorecfg.h": "include/jmorecfg.h",
            "jpeglib.h": "include/jpeglib.h",
        },
        "multiarch_headers": {"jconfig.h": "include/jconfig.h"},
        "libs": ["libjpeg.a", "libjpeg.so"],
        "build_file": Label("//third_party/system:libjpeg_turbo.BUILD"),
    },
    "libpng": {
        "deb": "libpng-dev",
        "headers": {
            "libpng16/png.h": "include/png.h",
            "libpng16/pngconf.h": "include/pngconf.h",
            "libpng16/pnglibconf.h": "include/pnglibconf.h",
        },
        "libs": ["libpng16.a", "libpng16.so"],
        "build_file": Label("//third_party/system:libpng.BUILD"),
    },
    "eigen": {
        "deb": "libeigen3-dev",
        "headers": {"eigen3/Eigen": "include/Eigen", "eigen3/unsupported": "include/unsupported"},
        "build_file": Label("//third_party/system:eigen.BUILD"),
    },
    "onednn": {
        "deb": "libdnnl-dev",
        "headers": {"oneapi": "include/oneapi"},
        "libs": ["libdnnl.so"],
        "optional_target": "onednn",
        "build_file": Label("//third_party/system:onednn.BUILD"),
    },
    "onetbb": {
        "deb": "libtbb-dev",
        "headers": {"oneapi/tbb": "include/oneapi/tbb", "tbb": "include/tbb"},
        "libs": ["libtbb.so"],
        "build_file": Label("//third_party/system:onetbb.BUILD"),
    },
    "cpp_httplib": {
        "deb": "libcpp-httplib-dev",
        "headers": {"httplib.h": "include/httplib.h", "openssl": "include/openssl"},
        "multiarch_headers": {"openssl": "multiarch/openssl"},
        "libs": ["libcpp-httplib.so"],
        "optional_target": "cpp_httplib",
        "build_file": Label("//third_party/system:cpp_httplib.BUILD"),
    },
    "mpi": {
        "deb": "libopenmpi-dev openmpi-bin",
        "multiarch_headers": {"mpi": "include"},
        "libs": ["libmpi.so"],
        "optional_target": "mpi",
        "build_file": Label("//third_party/system:mpi.BUILD"),
    },
}
