#!/usr/bin/env python3
"""Writes random cases of MXNet's operators, to compare cooper with MXNet beyond the golden cases.

  PYTHON=~/.cache/cooper-mxnet/bin/python
  $PYTHON tests/golden/make_random_cases.py /tmp/random --cases=20 --seed=1 [OP...]
  ./bazelw run //tests/conformance:run_cases -- --cases=/tmp/random

Attributes are drawn by the types that the wheel states, shapes have extents 1 to 7 (also 0, and no axes, for NumPy's
operators), values are small, large, or integers with ties and zeros, and some inputs need no gradient. A combination that
MXNet refuses, or that crashes it, is dropped. Without names it takes all operators that docs/mxnet_operators.md says are
there, but for those that draw random numbers. The same seed gives the same cases.
"""

import argparse
import ctypes
import mmap
import os
import re
import resource
import signal
import sys
import warnings
import zlib

os.environ.setdefault("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "1000")
os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")
os.environ.setdefault("MXNET_USE_MKLDNN_RNN", "0")  # reads what nobody wrote with the engine without threads
os.environ.setdefault("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
os.environ.setdefault("DMLC_LOG_STACK_TRACE_DEPTH", "0")  # most draws are refused; symbols of a stack take milliseconds
from make_op_case import OpSymbol, WriteCase
from random_case_rules import DRAWN, IsListed
import mxnet
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Draws random numbers, updates weights (make_optimizer_ops.py), contains graphs, or takes only arrays that other scripts
# make (make_quantized_cases.py, make_detection_cases.py, make_rare_cases.py), or has shapes that MXNet cannot infer.
LEFT_OUT = re.compile(
    r"quantize|Proposal|MultiBox[DT]|box_encode|PSROI|boolean_mask|_histogram|_sparse_retain|_scatter_set_nd|_square_sum|"
    r"IdentityAttach|_image_adjust_lighting|_npi_(norm|column_stack|[dh]stack)|reshape_like|_CrossDeviceCopy|"
    r"BatchNormWithReLU|Modulated|random|sample|normal|uniform|Dropout|shuffle|update|foreach|_while_loop|_cond|Custom|"
    r"bernoulli|exponential|gamma_sample|multinomial|choice|_mp_|lans|lamb|_adabelief|_ftml|reset_arrays")
# Operators that run with NumPy's shapes.
NP_SHAPES = re.compile(r"_np(?!_cumsum)|_contrib_allclose")
# Inputs that are positions, classes or lengths, which have no gradient.
POSITIONS = {"indices", "index", "index_vector", "idx", "label", "sequence_length", "data_lengths", "label_lengths"}
# Inputs that are looked at for their shape alone: MXNet may leave their gradient as it was.
WITHOUT_GRADIENT = {"like", "shape_like"}
# Inputs whose shapes follow from the data's.
PARAMETERS = {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "parameters", "state", "state_cell"}
# Inputs of a fixed last extent.
LAST_EXTENTS = {"rois": 5, "samples": 4, "refs": 4, "anchors": 4}
# Operators whose results on integers and booleans are exact.
INTEGER_OPS = re.compile(r"logical|equal|greater|lesser|bitwise|argm|argsort|topk|sort|one_hot|clip|max|min|mod|add|sub|"
                         r"mul|plus|minus|transpose|reshape|Reshape|slice|concat|Concat|stack|split|tile|repeat|reverse|"
                         r"flip|pad|Pad|take|pick|gather|where|dims|squeeze|ravel|copy|sign|abs|swap|Swap|diag|depth|"
                         r"broadcast|like|sum|prod|zeros|ones|arange|eye|shape|size|Embedding|Sequence|tri")
DTYPES = ["float64", "float64", "int32", "int64", "int8", "uint8", "float16"]


# Operators that cooper has without float16 on the CPU, and those that can lose all digits of float32.
WITHOUT_FLOAT16 = re.compile(r"softmax_cross_entropy|ROIPooling|BilinearSampler|Correlation|im2col|col2im|_contrib_ROIAlign|"
                             r"_contrib_(box_.*|bipartite_matching|.*Deformable.*|MultiBox.*)")
EXACT = re.compile(r"_linalg_(inverse|det|slogdet|potri|gelqf|syevd|potrf)")


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


def Choice(random, values):
    return values[random.randint(len(values))]


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
    if name == "num_outputs":
        return str(random.randint(1, 5))
    if name in ("eps", "epsilon"):
        return "%.3g" % random.uniform(1e-4, 0.5)
    if kind.startswith(("float", "double")):
        return "%.3g" % random.uniform(-2, 2) if random.rand() < 0.7 else str(random.randint(-2, 4))
    if "float" in kind:  # a tuple of floats
        return "(%s,)" % ", ".join("%.3g" % random.uniform(-1, 2) for _ in range(random.randint(1, 4)))
    return None


# Extents and their shares, as RandomState.choice takes time to draw by weights.
EXTENTS = (1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 7, 7)
RANKS = (1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5)


def DrawShape(random, rank=None):
    """Returns a shape. Only with MXNet's shapes of NumPy is it sometimes (), or has an extent of 0."""
    if rank is None:
        rank = 0 if mxnet.util.is_np_shape() and random.rand() < 0.04 else RANKS[random.randint(len(RANKS))]
    shape = [EXTENTS[random.randint(len(EXTENTS))] for _ in range(rank)]
    if shape and mxnet.util.is_np_shape() and random.rand() < 0.04:
        shape[random.randint(rank)] = 0
    return tuple(shape)


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
    inputs = op.inputs[:random.randint(1, len(op.inputs) + 1)] if op.inputs and random.rand() < 0.15 else list(op.inputs)
    if op.variadic:
        count = random.randint(1, 5)
        inputs += ["arg%d" % i for i in range(count)]
        for name in {op.key, "num_args", "num_arrays", "num_outputs"} & ({op.key} | {name for name, _ in op.attrs}) - {""}:
            attrs[name] = str(count)
    drawn = DRAWN[op.name](random) if op.name in DRAWN else {}
    known = set(dict(op.attrs)) | {op.key, "num"}
    attrs.update((name, value) for name, value in drawn.get("attrs", {}).items() if name in known)
    attrs = {name: value for name, value in attrs.items() if value is not None}
    inputs = drawn.get("inputs", op.inputs if drawn and not op.variadic else inputs)
    symbol = OpSymbol(op.name, inputs, attrs)
    if random.rand() < 0.5:  # all outputs
        symbol = OpSymbol(op.name, inputs, attrs, len(symbol.get_internals().list_outputs()) - len(symbol.list_inputs()))
    shapes = {}
    way = random.randint(4)
    for i, name in enumerate(symbol.list_arguments()):
        if "shapes" in drawn:
            shapes.update({name: drawn["shapes"][name]} if name in drawn["shapes"] else {})
        elif i > 0 and name.replace("op_", "") in PARAMETERS:
            continue
        elif i == 0 or way == 0:
            shapes[name] = data
        elif name in LAST_EXTENTS:
            shapes[name] = (int(random.randint(1, 5)), LAST_EXTENTS[name])
        elif way == 1 and i == 1:  # broadcast
            shapes[name] = tuple(1 if random.rand() < 0.4 else n for n in data)[random.randint(2) if len(data) > 1 else 0:]
        elif way == 2:
            shapes[name] = DrawShape(random, len(data) if random.rand() < 0.7 else None)
    arg_shapes, out_shapes, _ = symbol._infer_shape_impl(False, **shapes)  # infer_shape says at length what is unknown
    if arg_shapes is None:
        return None
    everything = list(arg_shapes) + list(out_shapes)
    if any(numpy.prod(s, dtype=float) > 20000 for s in everything):
        return None
    if any((-1 if mxnet.util.is_np_shape() else 0) in s for s in everything):
        return None  # an unknown extent
    dtype = "float32" if random.rand() < 0.7 else Choice(random, DTYPES + ["bool", "bool"] * mxnet.util.is_np_shape())
    if dtype == "float16" and WITHOUT_FLOAT16.fullmatch(op.name) or EXACT.fullmatch(op.name):
        dtype = "float64"
    if "float" not in dtype and not INTEGER_OPS.search(op.name):
        dtype = "float64"
    dtype = drawn.get("dtype", dtype)
    can_differentiate = "float" in dtype and not any(0 in s for s in out_shapes)  # of an empty one MXNet writes no gradient
    names = symbol.list_arguments()
    partial = random.rand() < 0.2
    largest, whole = Choice(random, [(None, False)] * 7 + [(20, False), (2, True), (2, True)])
    more = {
        "dtype": dtype,
        "grad_req": Choice(random, ["write", "write", "add", "null"]) if can_differentiate else "null",
        "seed": int(random.randint(1 << 30)),
        "indices": drawn.get("indices", {name: int(random.randint(1, 5)) for name in names if name in POSITIONS}),
        "index_dtype": "float32" if random.rand() < 0.3 else "int32",
        "without_gradient": [name for name in names if name in WITHOUT_GRADIENT or partial and random.rand() < 0.5],
        "values": drawn.get("values", {}),
        "largest": largest,
        "whole": whole,
        "rtol": 1e-4 if dtype != "float16" else 2e-2,
        "atol": (1e-5 if dtype != "float16" else 2e-2) * (largest or 1) ** 2,  # products that cancel
    }
    return None if IsListed(op.name, attrs, arg_shapes, more) else (symbol, shapes, more)


def WriteOne(op, seed, folder):
    """Writes case `seed` of the operator; returns whether MXNet took one of 250 draws."""
    random = numpy.random.RandomState(zlib.crc32(("%s %d" % (op.name, seed)).encode()))
    for _ in range(250):
        try:
            drawn = DrawCase(op, random)
            if drawn is None:
                continue
            symbol, shapes, more = drawn
            WriteCase(symbol, shapes, op.name, "r%d" % seed, root=folder, adds_writes=True, **more)
            return True
        except (mxnet.MXNetError, TypeError, ValueError):
            continue
    return False


STARTED, WRITTEN, REFUSED = 1, 2, 3


def WriteCases(tasks, states, folder):
    """Writes a case of each (operator, seed) in `tasks` and its state into `states`, beginning behind the states there.

    An operator is left out after two cases in turn without one that MXNet takes, whose draws take long.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    done = len(bytes(states).rstrip(b"\0"))
    for i in range(done, len(tasks)):
        op, seed = tasks[i]
        if i > 1 and tasks[i - 2][0] is op and states[i - 1] != WRITTEN and states[i - 2] != WRITTEN:
            states[i] = REFUSED
            continue
        states[i] = STARTED
        signal.setitimer(signal.ITIMER_PROF, 15)  # of processor time
        mxnet.util.set_np_shape(NP_SHAPES.match(op.name) is not None)
        states[i] = WRITTEN if WriteOne(op, seed, folder) else REFUSED


def WriteAll(tasks, folder):
    """Calls WriteCases in a child process, and in another one behind each case that crashes MXNet. Returns the states."""
    states = mmap.mmap(-1, len(tasks) + 1)
    while not all(states[:len(tasks)]):
        pid = os.fork()
        if pid == 0:
            try:
                WriteCases(tasks, states, folder)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
    return states[:len(tasks)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the cases are written: FOLDER/ops/OP/CASE")
    parser.add_argument("ops", nargs="*", metavar="OP")
    parser.add_argument("--cases", type=int, default=10, help="cases of each operator")
    parser.add_argument("--seed", type=int, default=1, help="number of the first case")
    flags = parser.parse_intermixed_args()
    names = flags.ops
    if not names:
        with open(os.path.join(ROOT, "docs/mxnet_operators.md")) as page:
            names = [m.group(1) for m in re.finditer(r"^\| `(\w+)` \| there \|$", page.read(), re.M)]
        names = [name for name in names if not LEFT_OUT.search(name)]
    ops = []
    for name in names:
        try:
            ops.append(Operator(name))
        except mxnet.MXNetError:
            continue
    states = WriteAll([(op, flags.seed + i) for op in ops for i in range(flags.cases)], flags.folder)
    for i, op in enumerate(ops):
        if WRITTEN not in states[i * flags.cases:(i + 1) * flags.cases]:
            print("%s: none of %d" % (op.name, flags.cases), file=sys.stderr)
    print("%d cases of %d operators; in %d MXNet crashed" % (states.count(WRITTEN), len(ops), states.count(STARTED)))


if __name__ == "__main__":
    main()
