#!/bin/bash
# mpi_test.sh PROCESSES PROGRAM [ARGS]: mpirun inside Bazel's sandbox, as root or not, without ssh.
set -euo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm=isolated OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# Open MPI leaks from modules that it has unloaded: no suppression by name can match.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
# One file cannot be all processes'.
unset TEST_PREMATURE_EXIT_FILE XML_OUTPUT_FILE
# Its session folder holds a unix socket, whose path may have 108 bytes at most.
TMPDIR="$(mktemp -d /tmp/mpi.XXXXXX)"
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
mpirun -np "$1" "./$2" "${@:3}"
