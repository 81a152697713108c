"""mpi_test: a program run as several MPI processes on this machine."""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_shell//shell:sh_test.bzl", "sh_test")

def mpi_test(name, srcs, deps, processes = 2, size = "small", tags = [], **kwargs):
    """Runs the program of srcs under mpirun; passes if every process exits with 0.

    Skipped where Open MPI is not installed. Not run under tsan: Open MPI is not instrumented.
    """
    cc_binary(
        name = name + "_program",
        testonly = True,
        srcs = srcs,
        tags = ["manual"],
        visibility = ["//visibility:private"],
        deps = deps + ["@mpi"],
    )
    sh_test(
        name = name,
        size = size,
        srcs = [str(Label("//third_party/mpi:mpi_test.sh"))],
        args = [str(processes), "$(rootpath :%s_program)" % name],
        data = [":%s_program" % name],
        tags = tags + ["cpu:%d" % processes, "no_tsan"],
        **kwargs
    )
