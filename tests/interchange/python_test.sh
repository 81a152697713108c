#!/bin/bash
# python_test.sh MODULE SCRIPT ARGS...: runs the script with a Python that has the module, which is
# $COOPER_PYTHON or python3.
set -uo pipefail
python=${COOPER_PYTHON:-python3}
if ! "$python" -c "import $1" 2>/dev/null; then
  echo "SKIPPED: $python has no $1: --test_env=COOPER_PYTHON=PATH names another one"
  exit 0
fi
shift
exec "$python" "$@"
