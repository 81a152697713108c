#!/usr/bin/env python3
"""Writes random cases of MXNet's operators, to compare cooper with MXNet beyond the golden cases.

  PYTHON=~/.cache/cooper-mxnet/bin/python
  $PYTHON tests/golden/make_random_cases.py /tmp/random --cases=20 --seed=1 [OP...]
  ./bazelw run //tests/conformance:run_cases -- --cases=/tmp/random

Attributes are drawn by the types that the wheel states, shapes have extents 1 to 7, and each input has a request for its
gradient. A combination that MXNet refuses, that crashes it, or that gives NaN is dropped. Without names it takes all
operators that docs/mxnet_operators.md says are there, but for those that draw random numbers. The same seed gives the
same cases.
"""

import argparse
import ctypes
import json
import os
import re
import resource
import signal
import sys
import zlib

os.environ.setdefault("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "1000")
os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")
from make_op_case import OpSymbol, WriteCase
import mxnet
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Draws random numbers, updates weights (tests/golden/make_optimizer_ops.py), or contains graphs.
LEFT_OUT = re.compile(r"random|sample|normal|uniform|Dropout|shuffle|update|foreach|_while_loop|_cond|Custom|bernoulli|"
                      r"exponential|gamma_sample|multinomial|choice|_mp_|lans|lamb|_adabelief|_ftml|reset_arrays")
# Inputs that are positions, classes or lengths, which have no gradient.
POSITIONS = {"indices", "index", "index_vector", "idx", "label", "sequence_length", "data_lengths", "label_lengths"}
# Inputs whose shapes follow from the data's.
PARAMETERS = {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters", "state", "state_cell"}
# Inputs of a fixed last extent.
LAST_EXTENTS = {"rois": 5, "samples": 4, "refs": 4, "anchors": 4}
# Operators whose results on integers and booleans are exact.
INTEGER_OPS = re.compile(r"logical|equal|greater|lesser|bitwise|argm|argsort|topk|sort|one_hot|clip|max|min|mod|add|sub|"
                         r"mul|plus|minus|transpose|reshape|Reshape|slice|concat|Concat|stack|split|tile|repeat|reverse|"
                         r"flip|pad|Pad|take|pick|gather|where|dims|squeeze|ravel|copy|sign|abs|swap|Swap|diag|depth|"
                         r"broadcast|like|sum|prod|zeros|ones|arange|eye|shape|size|Embedding|Sequence|tri")


class Operator:
    """The names and types of an operator's arguments, as the wheel lists them."""

    def __init__(self, name):
        handle = ctypes.c_void_p()
        lib = mxnet.base._LIB
        mxnet.base.check_call(lib.NNGetOpHandle(mxnet.base.c_str(name), ctypes.byref(handle)))
        real, doc, count = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_uint()
        names, types, docs = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(3))
        key, kind = ctypes.c_char_p(), ctypes.c_char_p()
        mxnet.base.check_call(lib.MXSymbolGetAtomicSymbolInfo(
            handle, ctypes.byref(real), ctypes.byref(doc), ctypes.byref(count), ctypes.byref(names),
            ctypes.byref(types), ctypes.byref(docs), ctypes.byref(key), ctypes.byref(kind)))
        arguments = [(names[i].decode(), types[i].decode()) for i in range(count.value)]
        self.name = name
        self.key = (key.value or b"").decode()
        self.inputs = [n for n, t in arguments if t.startswith("NDArray-or-Symbol") and "[]" not in t]
        self.variadic = [n for n, t in arguments if t.startswith("NDArray-or-Symbol[]")]
        self.attrs = [(n, t) for n, t in arguments if not t.startswith("NDArray-or-Symbol")]


def DrawTuple(random, low, high, length=None):
    length = length or random.randint(1, 4)
    return "(%s,)" % ", ".join(str(random.randint(low, high)) for _ in range(length))


def DrawAttr(random, name, kind, rank):
    """Returns a value for an attribute of the type that MXNet describes as `kind`, or None."""
    choices = re.match(r"\{(.*?)\}", kind)
    if choices:
        values = [v.strip().strip("'") for v in choices.group(1).split(",")]
        values = [v for v in values if v not in ("None",)]
        if name == "dtype":
            values = [v for v in values if v in ("float32", "float64", "int32", "int64", "int8", "uint8")] or values
        return values[random.randint(len(values))]
    if kind.startswith("boolean"):
        return random.choice(["True", "False"])
    if kind.startswith("Shape") or kind.startswith("tuple of <int") or kind.startswith(", optional") or "Shape" in kind:
        if "axis" in name or "axes" in name:
            return DrawTuple(random, -rank, rank, random.randint(1, max(2, rank + 1)))
        if name in ("kernel", "stride", "dilate", "pad", "adj"):
            return DrawTuple(random, 0 if name in ("pad", "adj") else 1, 3, max(1, rank - 2))
        return DrawTuple(random, -1 if random.rand() < 0.2 else 0, 4, rank if random.rand() < 0.6 else None)
    if kind.startswith(("int", "long")):
        if "axis" in name or name.startswith("dim"):
            return str(random.randint(-rank, rank + 1))
        return str(random.randint(0 if "non-negative" in kind else -2, 6))
    if kind.startswith(("float", "double")):
        return "%.3g" % random.uniform(-2, 2) if random.rand() < 0.7 else str(random.randint(-2, 4))
    if "float" in kind:  # a tuple of floats
        return "(%s,)" % ", ".join("%.3g" % random.uniform(-1, 2) for _ in range(random.randint(1, 4)))
    return None


def DrawShape(random, rank=None):
    rank = rank or random.choice([1, 2, 3, 4, 5], p=[0.1, 0.3, 0.25, 0.25, 0.1])
    return tuple(int(random.choice([1, 2, 3, 4, 5, 7], p=[0.2, 0.25, 0.2, 0.15, 0.1, 0.1])) for _ in range(rank))


def DrawCase(op, random):
    """Returns (symbol, shapes, arguments of WriteCase), or None if MXNet refuses it."""
    data = DrawShape(random)
    attrs = {}
    for name, kind in op.attrs:
        if name == op.key or (", optional" in kind and random.rand() < 0.55) or name in ("ctx", "cudnn_tune", "workspace"):
            continue
        value = DrawAttr(random, name, kind, len(data))
        if value is not None:
            attrs[name] = value
    inputs = op.inputs[:random.randint(1, len(op.inputs) + 1)] if op.inputs and random.rand() < 0.4 else list(op.inputs)
    if op.variadic:
        count = random.randint(1, 5)
        inputs += ["arg%d" % i for i in range(count)]
        for name, _ in op.attrs:
            if name in (op.key, "num_args", "num_arrays"):
                attrs[name] = str(count)
    symbol = OpSymbol(op.name, inputs, attrs)
    shapes = {}
    way = random.randint(4)
    for i, name in enumerate(symbol.list_arguments()):
        if i > 0 and name.replace("op_", "") in PARAMETERS:
            continue
        if i == 0 or way == 0:
            shapes[name] = data
        elif name in LAST_EXTENTS:
            shapes[name] = (int(random.randint(1, 5)), LAST_EXTENTS[name])
        elif way == 1 and i == 1:  # broadcast
            shapes[name] = tuple(1 if random.rand() < 0.4 else n for n in data)[random.randint(2) if len(data) > 1 else 0:]
        elif way == 2:
            shapes[name] = DrawShape(random, len(data) if random.rand() < 0.7 else None)
    known = {n: s for n, s in shapes.items()}
    arg_shapes, out_shapes, _ = symbol.infer_shape(**known)
    if arg_shapes is None:
        return None
    everything = list(arg_shapes) + list(out_shapes)
    if any(numpy.prod(s, dtype=float) > 20000 for s in everything):
        return None
    if any(0 in s for s in everything):
        return None  # an unknown extent, which cooper's cases cannot say otherwise
    dtype = "float32" if random.rand() < 0.7 else random.choice(["float64", "float64", "int32", "int64", "int8", "uint8", "float16"])
    if "float" not in dtype and not INTEGER_OPS.search(op.name):
        dtype = "float64"
    indices = {name: int(random.randint(1, 5)) for name in symbol.list_arguments() if name in POSITIONS}
    return symbol, shapes, {
        "dtype": str(dtype),
        "grad_req": str(random.choice(["write", "write", "add", "null"])) if "float" in str(dtype) else "null",
        "seed": int(random.randint(1 << 30)),
        "indices": indices,
        "index_dtype": "float32" if random.rand() < 0.3 else "int32",
        "rtol": 1e-4 if dtype != "float16" else 2e-2,
        "atol": 1e-5 if dtype != "float16" else 2e-2,
    }


def WriteOne(op, seed, folder):
    """Writes case `seed` of the operator in a process of its own, which MXNet may crash."""
    pid = os.fork()
    if pid != 0:
        _, status = os.waitpid(pid, 0)
        return status == 0
    signal.alarm(15)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    code = 1
    try:
        random = numpy.random.RandomState(zlib.crc32(("%s %d" % (op.name, seed)).encode()))
        for _ in range(400):
            try:
                drawn = DrawCase(op, random)
            except (mxnet.MXNetError, TypeError, ValueError):
                drawn = None
            if drawn is None:
                continue
            symbol, shapes, more = drawn
            try:
                WriteCase(symbol, shapes, op.name, "r%d" % seed, root=folder, adds_writes=True, **more)
            except (mxnet.MXNetError, TypeError, ValueError):
                continue
            code = 0
            break
    finally:
        os._exit(code)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the cases are written: FOLDER/ops/OP/CASE")
    parser.add_argument("ops", nargs="*", metavar="OP")
    parser.add_argument("--cases", type=int, default=10, help="cases of each operator")
    parser.add_argument("--seed", type=int, default=1, help="number of the first case")
    flags = parser.parse_args()
    ops = flags.ops
    if not ops:
        with open(os.path.join(ROOT, "docs/mxnet_operators.md")) as page:
            ops = [m.group(1) for m in re.finditer(r"^\| `(\w+)` \| there \|$", page.read(), re.M)]
        ops = [op for op in ops if not LEFT_OUT.search(op)]
    written = 0
    for name in ops:
        mxnet.util.set_np_shape(name.startswith("_np"))
        try:
            op = Operator(name)
        except mxnet.MXNetError:
            continue
        done = 0
        for i in range(flags.cases):
            done += WriteOne(op, flags.seed + i, flags.folder)
            if i == 1 and done == 0:
                break  # each of these trials takes seconds
        written += done
        if done == 0:
            print("%s: none of %d" % (name, flags.cases), file=sys.stderr)
    print("%d cases of %d operators" % (written, len(ops)))


if __name__ == "__main__":
    main()
