#!/bin/bash
# tools/format.sh [--check]: formats every C++ file that git does not ignore, or names those that are
# not formatted.
#
# The version is fixed, since each release of clang-format breaks lines in its own way.
set -euo pipefail
cd "$(dirname "$0")/.."
format=${CLANG_FORMAT:-clang-format-14}
command -v "$format" >/dev/null || { echo "format.sh: apt-get install clang-format-14" >&2; exit 1; }
mode=(-i)
[[ "${1:-}" == --check ]] && mode=(--dry-run --Werror)
git ls-files -z --cached --others --exclude-standard '*.h' '*.cc' '*.cu' | xargs -0 -r "$format" "${mode[@]}"
