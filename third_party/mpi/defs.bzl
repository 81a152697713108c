"""mpi_test: a program run as several MPI processes on this machine."""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("@rules_shell//shell:sh_test.bzl", "sh_test")

# cooper's labels, in the workspace of a consumer too.
_MPI = str(Label("@mpi//:mpi"))
_RUNNER = str(Label("//third_party/mpi:mpi_test.sh"))

def mpi_test(name, srcs, deps, processes = [2], size = "small", tags = [], **kwargs):
    """Runs the program of srcs under mpirun; passes if every process exits with 0.

    Skipped where Open MPI is not installed. Not run under tsan: Open MPI is not instrumented.

    Args:
      name: with one number of processes, the test; with several, their suite, of tests NAME_N.
      srcs: the program's.
      deps: the program's, but for MPI.
      processes: how many, for each test one number.
      size: of each test.
      tags: of each test.
      **kwargs: likewise.
    """
    cc_binary(
        name = name + "_program",
        testonly = True,
        srcs = srcs,
        tags = ["manual"],
        visibility = ["//visibility:private"],
        deps = deps + [_MPI],
    )
    for number in processes:
        sh_test(
            name = name if len(processes) == 1 else "%s_%d" % (name, number),
            size = size,
            srcs = [_RUNNER],
            args = [str(number), "$(rootpath :%s_program)" % name],
            data = [":%s_program" % name],
            tags = tags + ["cpu:%d" % min(number, 2), "no_tsan"],
            **kwargs
        )
    if len(processes) > 1:
        native.test_suite(
            name = name,
            tests = ["%s_%d" % (name, number) for number in processes],
        )
