#!/usr/bin/env python3
"""Writes mxnet_names.txt: the names of MXNet 1.9.1's operator registry, one a line. Each alias is
followed by the canonical name, which MXNet writes into files.

  ~/.cache/cooper-mxnet/bin/python tools/ops/list_mxnet_names.py  # see tests/golden/make_op_case.py
"""

import ctypes
import os

import numpy

numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402,F401
from mxnet.base import _LIB, check_call  # noqa: E402


def Names():
    """Returns all names of the registry, sorted."""
    count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    return sorted(names[i].decode() for i in range(count.value))


def CanonicalName(name):
    """Returns the name that the operator of `name` has in files."""
    handle, canonical = ctypes.c_void_p(), ctypes.c_char_p()
    check_call(_LIB.NNGetOpHandle(name.encode(), ctypes.byref(handle)))
    check_call(_LIB.MXSymbolGetAtomicSymbolName(handle, ctypes.byref(canonical)))
    return canonical.value.decode()


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mxnet_names.txt")
    with open(path, "w") as file:
        for name in Names():
            canonical = CanonicalName(name)
            file.write(name + ("" if name == canonical else " " + canonical) + "\n")


if __name__ == "__main__":
    main()
