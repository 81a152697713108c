#!/bin/bash
# Tests which program bazelw runs, and with which USE_BAZEL_VERSION, using fake programs.
set -uo pipefail
bazelw=$(cd "$(dirname "$0")/.." && pwd)/bazelw
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
failed=0

# program NAME SCRIPT: puts a program on PATH.
program() {
  printf '#!/bin/bash\n%s\n' "$2" >"$temporary/bin/$1"
  chmod +x "$temporary/bin/$1"
}

# Each fake program prints its name and the version that it would run.
BAZELISK='echo "bazel ${USE_BAZEL_VERSION:-9.1.0} of bazelisk"'
BAZELISK_AS_BAZEL='version=${USE_BAZEL_VERSION:-9.1.0}; echo "bazel ${version/x/4.2} of bazelisk"'
BAZEL_8='echo "bazel 8.4.1"'
BAZEL_7_3='echo "bazel 7.3.9"'
# The wrapper in Bazel's packages runs only installed versions.
WRAPPER='[[ -z "${USE_BAZEL_VERSION:-}" || "$USE_BAZEL_VERSION" == 9.0.2 ]] || exit 1; echo "bazel 9.0.2"'
DEBIAN='[[ -z "${USE_BAZEL_VERSION:-}" ]] || exit 1; echo "bazel no_version"'

# expect NAME PATTERN ENVIRONMENT...: checks the last line that bazelw prints.
expect() {
  local name=$1 pattern=$2 said
  shift 2
  said=$(env -u USE_BAZEL_VERSION -u COOPER_BAZEL "$@" PATH="$temporary/bin:/usr/bin:/bin" \
    "$bazelw" version 2>&1 | tail -n 1)
  if [[ "$said" != $pattern ]]; then
    echo "FAIL: $name: bazelw says '$said', expected '$pattern'"
    failed=1
  fi
}

# machine: sets a new PATH, on which nothing can be installed.
machine() {
  rm -rf "$temporary/bin"
  mkdir "$temporary/bin"
  program apt-get 'exit 1'
  program dpkg-query 'exit 1'
  program sleep ''
  program sudo '"$@"'
}

machine
program bazelisk "$BAZELISK"
program bazel "$BAZEL_8"
expect "bazelisk" "bazel 8.x of bazelisk"
expect "bazelisk, as asked for" "bazel 9.x of bazelisk" USE_BAZEL_VERSION=9.x
expect "Debian's, as asked for" "bazelw: could not install: *" COOPER_BAZEL=debian

machine
program bazel "$BAZELISK_AS_BAZEL"
expect "bazelisk as bazel" "bazel 8.4.2 of bazelisk"
expect "bazelisk as bazel, as asked for" "bazel 7.4.2 of bazelisk" USE_BAZEL_VERSION=7.x

machine
program bazel "$BAZEL_8"
expect "a Bazel" "bazel 8.4.1"

machine
program bazel "$WRAPPER"
expect "the wrapper in Bazel's packages" "bazel 9.0.2"

machine
program bazel "$BAZEL_7_3"
expect "a Bazel that is too old" "bazelw: could not install: *"

machine
program bazel "$DEBIAN"
expect "Debian's Bazel" "bazelw: could not install: *"

((failed)) || echo "PASS"
exit "$failed"
