"""The module extension for what the registry has not. Bazel 4.2.3 never loads this."""

load("//third_party/cuda:cuda_configure.bzl", "cuda_configure")
load("//third_party/system:system_library.bzl", "system_library")
load(":repositories.bzl", "SYSTEM_LIBRARIES")

def _system(_module_ctx):
    cuda_configure(name = "local_config_cuda")
    for name in ["cpp_httplib", "mpi", "zstd"]:
        system_library(name = name, **SYSTEM_LIBRARIES[name])

system = module_extension(implementation = _system)
