#!/bin/bash
# tools/tidy.sh [FILE...]: clang-tidy over the named sources, or over every tracked one.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy-14 >/dev/null || { echo "tidy.sh: apt-get install clang-tidy-14" >&2; exit 1; }
tools/compile_commands.py
files=("$@")
(($#)) || mapfile -t files < <(git ls-files '*.cc')
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 -p . --quiet 2> >(grep -v 'warnings\? generated' >&2)
