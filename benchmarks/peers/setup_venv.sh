#!/bin/bash
# Makes the virtual environment that the peer workers run in: MXNet 1.9.1, PyTorch and, in a folder
# `onnx` of it with a NumPy of its own, ONNX Runtime and OpenVINO.
#
#   setup_venv.sh [DIR]      DIR defaults to $HOME/.cache/cooper-peers (about 4.5 GB)
#
# Running it again completes or repairs an existing environment. A peer that cannot be installed is
# reported and left out: compare.py then shows it as absent.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${1:-$HOME/.cache/cooper-peers}

# MXNet 1.9.1 needs a NumPy that Python 3.12 and later have no wheel for.
find_python() {
  local candidate
  for candidate in python3.11 python3.10 python3; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 11))' \
        2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "setup_venv.sh: needs Python 3.10 or 3.11 (Debian 12: python3.11 and python3-venv)" >&2
  return 1
}

if [[ ! -x $venv/bin/python ]]; then
  python=$(find_python)
  "$python" -m venv "$venv"
fi

# --no-cache-dir: the wheels are gigabytes that pip would keep a second time.
pip=("$venv/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check)
failed=0
"${pip[@]}" -r "$here/requirements_mxnet.txt" || failed=1
"${pip[@]}" --no-deps -r "$here/requirements_torch.txt" || failed=1

# These need a newer NumPy than MXNet can use.
[[ -x $venv/onnx/bin/python ]] || "$venv/bin/python" -m venv "$venv/onnx"
"$venv/onnx/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check \
  -r "$here/requirements_onnx.txt" || failed=1

for module in mxnet torch onnxruntime openvino; do
  python=$venv/bin/python
  [[ $module != o* ]] || python=$venv/onnx/bin/python
  "$python" -W ignore -c "
import $module
print('setup_venv.sh: $module', $module.__version__)" ||
    { echo "setup_venv.sh: $module does not import" >&2; failed=1; }
done
exit $failed
