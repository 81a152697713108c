#!/usr/bin/env python3
"""Writes the cases of MXNet's NumPy operators, ops/_np*: what Gluon writes under npx.set_np().

  ~/.cache/cooper-mxnet/bin/python tests/golden/make_numpy_cases.py [OP...]

Shapes are NumPy's: () is a scalar, and is "()" in case.json. With names only the cases of these operators are written.
"""

import sys

from make_op_case import OpSymbol, WriteCase
import mxnet
import numpy

# op -> case -> (shapes, attributes, further arguments of WriteCase).
CASES = {}


def Case(op, case, shapes, attrs=None, **more):
    CASES.setdefault(op, {})[case] = (shapes, attrs or {}, more)


def UnaryCases():
    domains = {name: (0.1, 2) for name in "log log10 log1p log2 reciprocal sqrt".split()}
    domains.update({name: (-0.9, 0.9) for name in "arccos arcsin arctanh".split()})
    domains["arccosh"] = (1.1, 3)
    for name, given in [(n, "x") for n in (
            "absolute arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor log log10 "
            "log1p log2 negative radians reciprocal rint sign sin sinh sqrt square tan tanh trunc").split()] + [
                ("relu", "data"), ("sigmoid", "data"), ("copy", "a")]:
        op = {"relu": "_npx_", "sigmoid": "_npx_", "copy": "_np_"}.get(name, "_npi_") + name
        random = numpy.random.RandomState(3)
        low, high = domains.get(name, (-2, 2))
        Case(op, "basic", {given: (2, 3)}, values={given: random.uniform(low, high, (2, 3))})
        Case(op, "scalar_add", {given: ()}, values={given: random.uniform(low, high, ())}, grad_req="add",
             dtype="float64")
    Case("_npi_absolute", "int8", {"x": (3, 2)}, dtype="int8", grad_req="null")
    Case("_npi_negative", "int32", {"x": (3, 2)}, dtype="int32", grad_req="null")
    Case("_npi_square", "int32", {"x": (3, 2)}, dtype="int32", grad_req="null")
    for dtype in "float32", "int32", "bool":
        Case("_npi_logical_not", dtype, {"x": (2, 3)}, dtype=dtype, grad_req="null",
             values={"x": [[0, 1, -2], [3, 0, 0.25]]})
    Case("_npi_logical_not", "scalar", {"x": ()}, grad_req="null")
    for name in "isnan isinf isposinf isneginf isfinite".split():
        for dtype in "float32", "float64", "float16":
            Case("_npi_" + name, dtype, {"x": (2, 3)}, dtype=dtype, grad_req="null",
                 values={"x": [[0, numpy.inf, -2], [numpy.nan, -numpy.inf, 0.25]]})
        Case("_npi_" + name, "int32", {"x": (3,)}, dtype="int32", grad_req="null")
    few = [0.5, 1.5, -2.5, 12.345, -0.0049, 149.99]
    for decimals in "0", "2", "-1":
        Case("_npi_around", "decimals_" + decimals, {"x": (6,)}, {"decimals": decimals}, values={"x": few}, grad_req="null")
    Case("_npi_around", "float64", {"x": (6,)}, {"decimals": "1"}, values={"x": few}, dtype="float64", grad_req="null")
    Case("_npi_around", "int32", {"x": (3,)}, {"decimals": "1"}, values={"x": [4, -5, 16]}, dtype="int32", grad_req="null")
    some = [[0, numpy.inf, -2], [numpy.nan, -numpy.inf, 0.25]]
    for case, attrs in {"default": {}, "numbers": {"nan": "7", "posinf": "1e6", "neginf": "-3"}}.items():
        Case("_npi_nan_to_num", case, {"data": (2, 3)}, attrs, values={"data": some})
        Case("_npi_nan_to_num", case + "_float64", {"data": (2, 3)}, attrs, values={"data": some}, dtype="float64",
             grad_req="add", adds_writes=True)
    Case("_npi_nan_to_num", "int32", {"data": (3,)}, dtype="int32", grad_req="null")
    for dtype in "int8", "uint8", "int64", "bool":
        Case("_npi_bitwise_not", dtype, {"x": (2, 3)}, dtype=dtype, grad_req="null",
             values={"x": [[0, 1, 100], [3, 7, 64]]})


def ArithmeticCases():
    random = numpy.random.RandomState(4)
    for name in "add", "subtract", "multiply", "mod", "power", "true_divide":
        op = "_npi_" + name
        positive = {"lhs": random.uniform(0.5, 2, (2, 1, 3)), "rhs": random.uniform(0.5, 2, (4, 1))}
        Case(op, "broadcast", {"lhs": (2, 1, 3), "rhs": (4, 1)}, values=positive)
        Case(op, "broadcast_add", {"lhs": (2, 1, 3), "rhs": (4, 1)}, values=positive, grad_req="add",
             dtype="float64")
        Case(op, "scalar", {"lhs": (), "rhs": (2, 2)},
             values={"lhs": 1.5, "rhs": random.uniform(0.5, 2, (2, 2))})
        Case(op, "scalars", {"lhs": (), "rhs": ()}, values={"lhs": 1.5, "rhs": 0.75})
        small = {"lhs": [[1, 2, 3]], "rhs": [[2], [1]]}
        Case(op, "int32", {"lhs": (1, 3), "rhs": (2, 1)}, values=small, dtype="int32", grad_req="null")
        Case(op, "float32_int32", {"lhs": (1, 3), "rhs": (2, 1)}, values=small, dtypes={"rhs": "int32"},
             grad_req="null")
        Case(op, "int64_float32", {"lhs": (1, 3), "rhs": (2, 1)}, values=small, dtypes={"lhs": "int64"},
             grad_req="null")
        if name != "true_divide":
            Case(op, "float32_float64", {"lhs": (1, 3), "rhs": (2, 1)}, values=small,
                 dtypes={"rhs": "float64"}, grad_req="null")
        Case(op, "bool_float32", {"lhs": (1, 3), "rhs": (2, 1)}, values=small, dtypes={"lhs": "bool"},
             grad_req="null")
    Case("_npi_add", "bool", {"lhs": (2, 3), "rhs": (3,)}, dtype="bool", grad_req="null")
    Case("_npi_multiply", "mixed_gradient", {"lhs": (2, 3), "rhs": (3,)}, dtypes={"rhs": "int32"},
         without_gradient=["rhs"])
    for name in "arctan2", "hypot", "copysign", "ldexp":
        op = "_npi_" + name
        lhs, rhs = ("x1", "x2") if name in ("arctan2", "hypot") else ("lhs", "rhs")
        values = {lhs: random.uniform(-2, 2, (2, 1, 3)), rhs: random.uniform(-2, 2, (4, 1))}
        shapes = {lhs: (2, 1, 3), rhs: (4, 1)}
        Case(op, "broadcast", shapes, values=values)
        Case(op, "broadcast_add", shapes, values=values, grad_req="add", dtype="float64", adds_writes=True)
        Case(op, "scalar", {lhs: (), rhs: (2, 2)}, values={lhs: 1.5, rhs: random.uniform(-2, 2, (2, 2))})
        if name in ("copysign", "ldexp"):
            Case(op, "int32", {lhs: (1, 3), rhs: (2, 1)}, values={lhs: [[1, 2, 3]], rhs: [[2], [1]]}, dtype="int32",
                 grad_req="null")
    # MXNet's gradient of rarctan2_scalar is that of data as the other operand; those of copysign's cannot be bound.
    for name in "arctan2 rarctan2 copysign rcopysign ldexp rldexp".split():
        op = "_npi_" + name + "_scalar"
        data = {"data": random.uniform(-2, 2, (2, 3))}
        grad_req = "null" if name in ("rarctan2", "copysign", "rcopysign") else "write"
        Case(op, "basic", {"data": (2, 3)}, {"scalar": "-1.25", "is_int": "False"}, values=data, grad_req=grad_req)
        Case(op, "scalar", {"data": ()}, {"scalar": "2.0"}, values={"data": 1.5}, grad_req=grad_req)
        Case(op, "int32", {"data": (3,)}, {"scalar": "2.0", "is_int": "True"}, values={"data": [1, 2, 3]}, dtype="int32",
             grad_req="null")
    for name in "bitwise_and", "bitwise_or", "bitwise_xor", "lcm":
        op = "_npi_" + name
        pair = {"lhs": [[12, 10, 7]], "rhs": [[5], [18]]}
        for dtype in "int32", "uint8", "int64":
            Case(op, dtype, {"lhs": (1, 3), "rhs": (2, 1)}, values=pair, dtype=dtype, grad_req="null")
        Case(op, "negative", {"lhs": (3,), "rhs": ()}, values={"lhs": [-12, 0, 7], "rhs": -6}, dtype="int8", grad_req="null")
        Case(op + "_scalar", "int32", {"data": (4,)}, {"scalar": "6", "is_int": "True"}, values={"data": [12, -10, 0, 7]},
             dtype="int32", grad_req="null")
    for name in ("add subtract rsubtract multiply mod rmod power rpower true_divide rtrue_divide").split():
        op = "_npi_" + name + "_scalar"
        positive = {"data": random.uniform(0.5, 2, (2, 3))}
        Case(op, "basic", {"data": (2, 3)}, {"scalar": "1.25", "is_int": "False"}, values=positive)
        Case(op, "scalar_add", {"data": ()}, {"scalar": "2.0"}, values={"data": 1.5}, grad_req="add")
        for dtype in "int32", "bool":
            for scalar, is_int in ("2.0", "True"), ("0.5", "False"):
                Case(op, dtype + ("" if is_int == "True" else "_fraction"), {"data": (2, 3)},
                     {"scalar": scalar, "is_int": is_int}, values={"data": [[1, 0, 3], [2, 4, 1]]},
                     dtype=dtype, grad_req="null")


def ComparisonCases():
    few = [[0.25, 0.5, 1], [1, 2, -0.5]]
    for name in "equal", "not_equal", "greater", "greater_equal", "less", "less_equal":
        op = "_npi_" + name
        Case(op, "broadcast", {"lhs": (2, 3), "rhs": (3,)}, values={"lhs": few, "rhs": [0.25, 2, 1]},
             grad_req="null")
        Case(op, "int64", {"lhs": (2, 1), "rhs": (3,)}, values={"lhs": [[1], [3]], "rhs": [1, 2, 3]},
             dtype="int64", grad_req="null")
        Case(op, "bool", {"lhs": (2,), "rhs": ()}, values={"lhs": [0, 1], "rhs": 1}, dtype="bool",
             grad_req="null")
        op += "_scalar"
        Case(op, "basic", {"data": (2, 3)}, {"scalar": "0.5", "is_int": "False"}, values={"data": few},
             grad_req="null")
        Case(op, "int32_fraction", {"data": (2, 3)}, {"scalar": "0.5", "is_int": "False"},
             values={"data": [[0, 1, 2], [-1, 0, 1]]}, dtype="int32", grad_req="null")
        Case(op, "bool", {"data": (2,)}, {"scalar": "2.0"}, values={"data": [0, 1]}, dtype="bool",
             grad_req="null")
        Case(op, "scalar", {"data": ()}, {"scalar": "1.0"}, values={"data": 1}, grad_req="null")


def ReductionCases():
    few = [[[1, -2, 0.5], [3, 0.25, -1]]]
    for op in "_np_sum", "_np_prod", "_np_max", "_np_min", "_npi_mean":
        for case, attrs in {"all": {}, "axes": {"axis": "(0, -1)"}, "keepdims": {"axis": "1", "keepdims": "True"},
                            "no_axis": {"axis": "()"}, "all_keepdims": {"keepdims": "True"}}.items():
            Case(op, case, {"a": (1, 2, 3)}, attrs, values={"a": few}, **({"grad_req": "null"} if case == "no_axis" else {}))
        # MXNet divides what was in the gradient of a mean before by the number of elements, too.
        Case(op, "add", {"a": (1, 2, 3)}, {"axis": "(2,)"}, values={"a": few}, dtype="float64",
             grad_req="write" if op == "_npi_mean" else "add")
        Case(op, "scalar", {"a": ()}, values={"a": 2.5})
        Case(op, "int32", {"a": (2, 2)}, {"axis": "0"}, values={"a": [[1, 4], [4, 2]]}, dtype="int32", grad_req="null")
        if op in ("_np_sum", "_np_prod", "_npi_mean"):
            Case(op, "bool", {"a": (2, 2)}, values={"a": [[1, 0], [1, 1]]}, dtype="bool", grad_req="null")
            Case(op, "dtype", {"a": (2, 2)}, {"dtype": "float64"}, values={"a": [[1, 4], [4, 2]]}, dtype="int32",
                 grad_req="null")
    for op in "_np_all", "_np_any":
        some = [[[0, 0.25, 0], [0, 0, 0]], [[1, 1, 0.5], [-1, 2, 3]]]
        for case, attrs in {"all": {}, "axes": {"axis": "(0, -1)"}, "keepdims": {"axis": "1", "keepdims": "True"}}.items():
            Case(op, case, {"data": (2, 2, 3)}, attrs, values={"data": some}, grad_req="null")
        Case(op, "int32", {"data": (2, 2)}, {"axis": "(1,)"}, values={"data": [[0, 2], [256, 1]]}, dtype="int32", grad_req="null")
        Case(op, "bool", {"data": (2, 2)}, {"axis": "(0,)"}, values={"data": [[0, 1], [1, 1]]}, dtype="bool", grad_req="null")
    for op in "_npi_var", "_npi_std":
        Case(op, "all", {"a": (1, 2, 3)}, values={"a": few}, grad_req="null")
        Case(op, "axis_ddof", {"a": (1, 2, 3)}, {"axis": "(1, 2)", "ddof": "1"}, values={"a": few}, grad_req="null",
             dtype="float64")
        Case(op, "keepdims", {"a": (1, 2, 3)}, {"axis": "2", "keepdims": "True"}, values={"a": few})
        # MXNet truncates the mean of integers, so it is an integer here.
        Case(op, "dtype", {"a": (2, 2)}, {"dtype": "float32"}, values={"a": [[1, 4], [4, 3]]}, dtype="int32",
             grad_req="null")
    for case, attrs in {"flat": {"flag": "-2"}, "axis": {"axis": "1", "flag": "0"}, "one": {"axis": "2", "ord": "1.0"},
                        "two_keepdims": {"axis": "1", "ord": "2.0", "keepdims": "True"},
                        "frobenius": {"axis": "(1, 2)", "flag": "1"}}.items():
        Case("_npi_norm", case, {"data": (1, 2, 3)}, attrs, values={"data": few})
    for op in "_npi_argmax", "_npi_argmin":
        Case(op, "all", {"data": (2, 3)}, values={"data": few[0]}, grad_req="null")
        Case(op, "axis", {"data": (2, 3)}, {"axis": "-1"}, values={"data": few[0]}, grad_req="null")
        Case(op, "keepdims", {"data": (2, 3)}, {"axis": "0", "keepdims": "True"}, values={"data": few[0]},
             grad_req="null")
        Case(op, "int32", {"data": (4,)}, values={"data": [2, 5, 5, 1]}, dtype="int32", grad_req="null")
        Case(op, "scalar", {"data": ()}, grad_req="null")


def ShapeCases():
    Case("_np_reshape", "infer", {"a": (2, 3)}, {"newshape": "(3, -1)"})
    Case("_np_reshape", "scalar", {"a": (1, 1)}, {"newshape": "()"})
    Case("_np_reshape", "of_scalar_add", {"a": ()}, {"newshape": "(1, 1)"}, grad_req="add")
    for case, shape, newshape in (("copy", (2, 3, 4), "(-2, -1)"), ("skip", (1, 2, 3), "(-3, -4)"),
                                  ("merge", (2, 3, 4), "(-5, -2)"), ("split", (6, 2), "(-6, -1, 2, -4)"),
                                  ("rest", (2, 3, 4), "(1, -1, -4)"), ("extents", (2, 3), "(3, 2)"),
                                  ("more_axes", (3,), "(1, 1, 3)")):
        Case("_npx_reshape", case, {"a": shape}, {"newshape": newshape})
    Case("_npx_reshape", "reverse", {"a": (2, 3, 4)}, {"newshape": "(-1, -2)", "reverse": "True"})
    Case("_np_squeeze", "all", {"a": (1, 2, 1)})
    Case("_np_squeeze", "axis_add", {"a": (1, 2, 1)}, {"axis": "(-1,)"}, grad_req="add")
    Case("_np_squeeze", "to_scalar", {"a": (1, 1)})
    Case("_np_transpose", "opposite", {"a": (2, 3, 4)})
    Case("_np_transpose", "axes_add", {"a": (2, 3, 4)}, {"axes": "(1, -1, 0)"}, grad_req="add")
    Case("_np_transpose", "scalar", {"a": ()}, grad_req="null")
    Case("_npi_broadcast_to", "new_axis", {"array": (3, 1)}, {"shape": "(2, 3, 4)"})
    Case("_npi_broadcast_to", "kept", {"array": (3, 1)}, {"shape": "(2, -2, 4)"}, grad_req="add")
    Case("_npi_broadcast_to", "scalar", {"array": ()}, {"shape": "(2, 3)"})
    Case("_npi_concatenate", "default", {"data0": (1, 2), "data1": (3, 2)}, {"num_args": "2"})
    Case("_npi_concatenate", "last_add", {"data0": (2, 1), "data1": (2, 3)}, {"num_args": "2", "axis": "-1"},
         grad_req="add")
    Case("_npi_stack", "scalars", {"arg0": (), "arg1": ()}, {"num_args": "2"})
    Case("_npi_stack", "last_add", {"arg0": (2, 3), "arg1": (2, 3)}, {"num_args": "2", "axis": "-1"}, grad_req="add")
    Case("_npi_flip", "axes", {"data": (2, 3)}, {"axis": "(0, 1)"})
    # MXNet overwrites the gradient where it has to add to it.
    Case("_npi_flip", "axis", {"data": (2, 3)}, {"axis": "(1,)"})


def MovementCases():
    Case("_np_moveaxis", "first", {"a": (2, 3, 4)}, {"source": "(0,)", "destination": "(-1,)"})
    Case("_np_moveaxis", "two", {"a": (2, 3, 4)}, {"source": "(2, 0)", "destination": "(0, 1)"}, dtype="float64")
    for case, attrs in {"vector": {"shift": "(2,)"}, "axis": {"shift": "(-1,)", "axis": "(1,)"},
                        "axes": {"shift": "(1, 2)", "axis": "(0, -1)"}, "one_shift": {"shift": "(1,)", "axis": "(0, 2)"},
                        "far": {"shift": "(7,)", "axis": "(2,)"}}.items():
        Case("_np_roll", case, {"data": (2, 3, 4)}, attrs)
    Case("_np_roll", "add", {"data": (5,)}, {"shift": "(2,)"}, grad_req="add", adds_writes=True)
    for case, shape, k in ("matrix", (3, 4), "0"), ("above", (3, 4), "1"), ("vector", (3,), "-1"):
        Case("_np_diag", case, {"data": shape}, {"k": k})
    Case("_np_diag", "outside", {"data": (2, 3)}, {"k": "5"}, grad_req="null")
    for case, attrs in {"default": {}, "offset": {"offset": "1"}, "axes": {"axis1": "2", "axis2": "0", "offset": "-1"}}.items():
        Case("_np_diagonal", case, {"data": (3, 2, 4)}, attrs)
    Case("_np_diagonal", "outside", {"data": (3, 2, 4)}, {"offset": "-5"}, grad_req="null")
    for op, shapes in (("hstack", [(2, 3), (2, 1)]), ("hstack", [(2,), (3,)]), ("hstack", [(), (2,)]),
                       ("vstack", [(2, 3), (1, 3)]), ("vstack", [(3,), (2, 3)]), ("vstack", [(), ()]),
                       ("dstack", [(2, 3), (2, 3)]), ("dstack", [(3,), (3,)]), ("dstack", [(2, 3, 2), (2, 3)]),
                       ("column_stack", [(2, 3), (2, 1)])):
        # MXNet infers wrong shapes of vectors in a column_stack.
        name = "data%d" if op in ("hstack", "dstack") else "arg%d"
        Case("_npi_" + op, "case%d" % len(CASES.get("_npi_" + op, {})), {name % i: shape for i, shape in enumerate(shapes)},
             {"num_args": str(len(shapes))})


def PadCases():
    widths = "((1, 2), (2, 0))"
    # MXNet has the gradient of constants alone.
    for mode in "constant", "edge", "reflect", "symmetric":
        Case("_npi_pad", mode, {"data": (3, 4)}, {"pad_width": widths, "mode": mode},
             grad_req="write" if mode == "constant" else "null")
    Case("_npi_pad", "add", {"data": (3, 4)}, {"pad_width": widths}, dtype="float64", grad_req="add", adds_writes=True)
    Case("_npi_pad", "value", {"data": (2, 2, 3)}, {"pad_width": "((0, 0), (1, 0), (0, 2))", "constant_value": "1.5"})
    Case("_npi_pad", "int32", {"data": (3, 1)}, {"pad_width": "((3, 3), (0, 1))", "mode": "symmetric"}, dtype="int32",
         grad_req="null")
    Case("_npi_pad", "one", {"data": (1, 2)}, {"pad_width": "((1, 1), (0, 0))", "mode": "symmetric"}, grad_req="null")


def CreationCases():
    for op in "_npi_zeros", "_npi_ones":
        Case(op, "matrix", {}, {"shape": "(2, 3)", "dtype": "int32"}, grad_req="null")
        Case(op, "scalar", {}, {"shape": "()"}, grad_req="null")
        Case(op, "bool", {}, {"shape": "2", "dtype": "bool"}, grad_req="null")
    Case("_npi_arange", "stop", {}, {"start": "3"}, grad_req="null")
    Case("_npi_arange", "step", {}, {"start": "1", "stop": "2", "step": "0.3", "dtype": "float64"}, grad_req="null")
    Case("_npi_arange", "int64", {}, {"start": "5", "stop": "0", "step": "-2", "dtype": "int64"}, grad_req="null")
    Case("_npi_arange", "infer_range", {}, {"start": "1", "stop": "3", "infer_range": "True"}, grad_req="null")
    for op, attrs in (("_npi_eye", {"N": "3"}), ("_npi_eye", {"N": "2", "M": "4", "k": "1", "dtype": "float64"}),
                      ("_npi_eye", {"N": "3", "k": "-1", "dtype": "int32"}), ("_npi_identity", {"shape": "(3, 3)"}),
                      ("_npi_indices", {"dimensions": "(2, 3)"}),
                      ("_npi_indices", {"dimensions": "(4,)", "dtype": "float32"}),
                      ("_npi_logspace", {"start": "0", "stop": "2", "num": "5"}),
                      ("_npi_logspace", {"start": "-1", "stop": "3", "num": "4", "endpoint": "False", "base": "2", "dtype": "float64"})):
        Case(op, "case%d" % len(CASES.get(op, {})), {}, attrs, grad_req="null")
    for op in "_npi_hanning", "_npi_hamming", "_npi_blackman":
        Case(op, "seven", {}, {"M": "7"}, grad_req="null")
        Case(op, "even", {}, {"M": "4", "dtype": "float64"}, grad_req="null")
        Case(op, "one", {}, {"M": "1"}, grad_req="null")
    Case("_npi_full_like", "float32", {"a": (2, 3)}, {"fill_value": "2.5"}, grad_req="null")
    Case("_npi_full_like", "dtype", {"a": ()}, {"fill_value": "2.5", "dtype": "int32"}, grad_req="null")


def WhereCases():
    three = {"condition": (2, 1), "x": (3,), "y": ()}
    Case("_npi_where", "broadcast", three, values={"condition": [[0], [1]]}, without_gradient=["condition"])
    # MXNet adds wrong gradients of arrays that are broadcast, and computes wrong ones with conditions that are bools.
    Case("_npi_where", "add", {"condition": (2, 1), "x": (2, 3), "y": (2, 3)}, values={"condition": [[0], [1]]},
         without_gradient=["condition"], grad_req="add")
    Case("_npi_where", "bool", three, values={"condition": [[0], [1]]}, dtypes={"condition": "bool"}, grad_req="null")
    Case("_npi_where", "same", {"condition": (2, 2), "x": (2, 2), "y": (2, 2)},
         values={"condition": [[0, 1], [-1, 0.25]]}, without_gradient=["condition"])
    Case("_npi_where", "fraction_int32", {"condition": (2,), "x": (2,), "y": (2,)}, values={"condition": [0.25, 0]},
         dtype="int32", dtypes={"condition": "float32"}, grad_req="null")
    for side, array in ("lscalar", "x"), ("rscalar", "y"):
        op = "_npi_where_" + side
        # MXNet gives the head gradient of the number to x, and to y of the output's shape.
        Case(op, "broadcast", {"condition": (2, 1), array: (3,)}, {"scalar": "1.5"},
             values={"condition": [[0], [1]]}, without_gradient=["condition"],
             grad_req="null" if array == "x" else "write")
        Case(op, "bool", {"condition": (2, 1), array: (2, 3)}, {"scalar": "1.5"},
             values={"condition": [[0], [1]]}, dtypes={"condition": "bool"}, grad_req="null")
    Case("_npi_where_scalar2", "int32", {"condition": (2, 2)}, {"x": "1.5", "y": "-2"},
         values={"condition": [[0, 1], [2, 0]]}, dtype="int32", grad_req="null")
    Case("_npi_where_scalar2", "scalar", {"condition": ()}, {"x": "1.5"}, values={"condition": 1}, grad_req="null")


def ProductCases():
    def Both(op, case, a, b, attrs=None):
        # MXNet sums no gradient over the axes along which matmul repeats an extent of 1 beside others.
        wrong = op == "_npi_matmul" and case == "broadcast"
        Case(op, case, {"a": a, "b": b}, attrs, grad_req="null" if wrong else "write")
        # MXNet overwrites the gradients of tensordot where it has to add to them.
        overwrites = op == "_npi_tensordot" or (op == "_np_dot" and case == "arrays")
        if not wrong and not overwrites:
            Case(op, case + "_add", {"a": a, "b": b}, attrs, grad_req="add", dtype="float64")

    for case, a, b in (("matrices", (2, 3), (3, 4)), ("vectors", (3,), (3,)), ("scalar", (), (2, 3)),
                       ("of_scalar", (2, 3), ()), ("vector", (2, 4, 3), (3,)), ("row", (3,), (3, 2)),
                       ("arrays", (2, 4, 3), (5, 3, 2))):
        Both("_np_dot", case, a, b)
    for case, a, b in (("matrices", (2, 3), (3, 4)), ("vectors", (3,), (3,)), ("row", (3,), (2, 3, 4)),
                       ("column", (2, 4, 3), (3,)), ("batch", (2, 4, 3), (2, 3, 5)),
                       ("broadcast", (2, 1, 4, 3), (5, 3, 2)), ("one", (1, 4, 3), (5, 3, 2)), ("matrix", (5, 4, 3), (3, 2))):
        Both("_npi_matmul", case, a, b)
    for case, a, b, a_axes, b_axes in (("one", (2, 3, 4), (5, 3), "(1,)", "(-1,)"), ("two", (2, 3, 4), (4, 5, 3), "(2, 1)", "(0, 2)"),
                                       ("none", (2,), (3, 2), "()", "()"), ("all", (2, 3), (3, 2), "(0, 1)", "(1, 0)")):
        Both("_npi_tensordot", case, a, b, {"a_axes_summed": a_axes, "b_axes_summed": b_axes})
    for case, a, b, axes in (("one", (2, 3), (3, 4), "1"), ("two", (2, 3, 4), (3, 4, 5), "2"), ("none", (2,), (3,), "0"),
                             ("all", (2, 3), (2, 3), "2")):
        Both("_npi_tensordot_int_axes", case, a, b, {"axes": axes})
    for case, subscripts, shapes in (
            ("product", "ij,jk->ik", [(2, 3), (3, 4)]), ("implicit", "ij,jk", [(2, 3), (3, 4)]),
            ("swapped", "ij,jk->ki", [(2, 3), (3, 4)]), ("batch", "bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]),
            ("trace", "ii", [(3, 3)]), ("diagonal", "ii->i", [(3, 3)]), ("sum", "ij->", [(2, 3)]),
            ("ellipsis_equal", "...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)]),
            ("sum_axis", "ij->j", [(2, 3)]), ("transpose", "ijk->kij", [(2, 3, 4)]), ("outer", "i,j->ij", [(2,), (3,)]),
            ("hadamard", "ij,ij->ij", [(2, 3), (2, 3)]), ("inner", "i,i", [(3,), (3,)]),
            ("three", "ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("bilinear", "bi,ijk,bk->bj", [(2, 3), (3, 4, 5), (2, 5)]),
            ("alone", "ij,k->ik", [(2, 3), (4,)]), ("ellipsis", "...ij,...jk->...ik", [(2, 3, 4), (1, 4, 5)]),
            ("ellipsis_implicit", "i...,i...", [(2, 3), (2, 3)]),
            ("diagonal_product", "iij,j->i", [(2, 2, 3), (3,)])):
        inputs = {"arg%d" % i: shape for i, shape in enumerate(shapes)}
        # MXNet does not write the gradient beside a diagonal, and sums none over axes that "..." repeats.
        grad_req = {"trace": "add", "diagonal": "add", "diagonal_product": "add", "ellipsis": "null"}.get(case, "write")
        Case("_npi_einsum", case, inputs, {"subscripts": subscripts, "num_args": str(len(shapes))}, grad_req=grad_req)
    Case("_npi_einsum", "product_add", {"arg0": (2, 3), "arg1": (3, 4)}, {"subscripts": "ij,jk->ik", "num_args": "2"},
         grad_req="add", dtype="float64")


def TriangleCases():
    Case("_npi_tril", "matrices", {"data": (2, 3, 4)})
    Case("_npi_tril", "above_add", {"data": (3, 4)}, {"k": "1"}, grad_req="add")
    Case("_npi_tril", "below", {"data": (3, 2)}, {"k": "-1"}, dtype="float64")
    Case("_npi_tril", "vector", {"data": (3,)})
    Case("_npi_tril", "vector_add", {"data": (3,)}, {"k": "1"}, grad_req="add")
    Case("_npi_tril", "int32", {"data": (2, 2)}, dtype="int32", grad_req="null")


def ComposedCases():
    """Cases of operators without kernels of cooper. MXNet's gradients of atleast, eigh and masks are zeros."""
    for least in 1, 2, 3:
        for rank, shape in enumerate([(), (3,), (2, 3), (2, 3, 4)]):
            Case("_np_atleast_%dd" % least, "rank%d" % rank, {"ary0": shape}, {"num_args": "1"}, grad_req="null")
        Case("_np_atleast_%dd" % least, "one_int32", {"ary0": (2,)}, {"num_args": "1"}, dtype="int32", grad_req="null")
    for op, wide, axis in ("_npi_hsplit", (2, 7), "1"), ("_npi_dsplit", (2, 1, 7), "2"):
        for case, attrs in {"indices": {"indices": "(0, 2, 3)"}, "sections": {"indices": "()", "sections": "7"},
                            "empty": {"indices": "(0, 2, 2)"}}.items():
            # MXNet splits along the attribute, which its front end sets.
            Case(op, case, {"data": wide}, dict(attrs, axis=axis))
    Case("_npi_hsplit", "vector_add", {"data": (6,)}, {"indices": "()", "sections": "3", "axis": "1"}, grad_req="add",
         dtype="float64", adds_writes=True)
    for k in -1, 0, 1, 2, 3, 5:
        # MXNet's gradient turns on instead of back.
        Case("_npi_rot90", "k%d" % k, {"data": (2, 3)}, {"k": str(k), "axes": "(0, 1)"},
             grad_req="null" if k % 2 else "write")
    Case("_npi_rot90", "axes", {"data": (2, 3, 4)}, {"k": "1", "axes": "(2, -3)"}, dtype="float64", grad_req="null")
    for case, shape, k in ("matrix", (2, 2), "0"), ("above", (3,), "2"), ("below", (2, 1), "-1"):
        Case("_np_diagflat", case, {"data": shape}, {"k": k})
    for case, attrs in {"default": {}, "offset": {"offset": "1"}, "axes": {"axis1": "2", "axis2": "0", "offset": "-1"}}.items():
        Case("_np_trace", case, {"data": (3, 2, 4)}, attrs)
    Case("_np_trace", "matrix", {"data": (3, 4)}, dtype="float64")
    Case("_np_trace", "int32", {"data": (3, 3)}, dtype="int32", grad_req="null")
    for case, attrs in {"default": {}, "axis": {"axis": "0"}, "twice": {"n": "2"}, "none": {"n": "0"}}.items():
        Case("_npi_diff", case, {"a": (3, 5)}, attrs)
    Case("_npi_diff", "int32", {"a": (5,)}, {"n": "3"}, dtype="int32", grad_req="null")
    random = numpy.random.RandomState(6)
    a, weights = {"a": random.uniform(-1, 1, (2, 3, 4))}, random.uniform(0.5, 2, (2, 3, 4))
    for case, attrs, shape in (("all", {}, (2, 3, 4)), ("axis", {"axis": "(1,)"}, (2, 3, 4)),
                               ("vector", {"axis": "(-1,)"}, (4,)), ("returned", {"axis": "(1,)", "returned": "True"}, (2, 3, 4)),
                               ("vector_returned", {"axis": "(1,)", "returned": "True"}, (3,))):
        # MXNet's gradient of weights that are a vector is wrong.
        Case("_npi_average", case, {"a": (2, 3, 4), "weights": shape}, attrs,
             values=dict(a, weights=weights.ravel()[:int(numpy.prod(shape))].reshape(shape)), without_gradient=["weights"] if shape != (2, 3, 4) else [])
    Case("_npi_average", "plain", {"a": (2, 3, 4)}, {"axis": "(0, 2)", "weighted": "False", "returned": "True"}, values=a)
    whole = {"a": [[1, 2], [3, 5], [-8, 1]], "weights": [[1, 2], [3, 1], [2, 2]]}
    Case("_npi_average", "int32", {"a": (3, 2)}, {"axis": "(0,)", "weighted": "False", "returned": "True"},
         values={"a": whole["a"]}, dtype="int32", grad_req="null")
    Case("_npi_average", "int32_weights", {"a": (3, 2), "weights": (3, 2)}, {"axis": "(1,)"}, values=whole,
         dtype="int32", grad_req="null")
    for case, p, x in ("matrix", (4,), (2, 3)), ("constant", (1,), (3,)), ("scalar", (3,), ()):
        Case("_npi_polyval", case, {"p": p, "x": x})
    Case("_npi_polyval", "int32", {"p": (3,), "x": (4,)}, dtype="int32", grad_req="null")
    square = random.uniform(-1, 1, (2, 3, 3))
    symmetric = square + square.transpose(0, 2, 1)
    positive = numpy.matmul(square, square.transpose(0, 2, 1)) + numpy.eye(3)
    Case("_npi_cholesky", "batch", {"A": (2, 3, 3)}, values={"A": positive})
    Case("_npi_cholesky", "float64", {"A": (3, 3)}, values={"A": positive[0]}, dtype="float64")
    for uplo in "L", "U":
        for op in "_npi_eigh", "_npi_eigvalsh":
            Case(op, uplo, {"A": (2, 3, 3)}, {"UPLO": uplo}, values={"A": symmetric}, grad_req="null")
        Case("_npi_eigvalsh", "triangle_" + uplo, {"A": (3, 3)}, {"UPLO": uplo}, values={"A": square[0]}, grad_req="null",
             dtype="float64")
    Case("_npi_solve", "matrix", {"A": (2, 3, 3), "B": (2, 3, 2)}, values={"A": positive})
    # MXNet's gradient fails if B is a vector.
    Case("_npi_solve", "vector", {"A": (3, 3), "B": (3,)}, values={"A": positive[0]}, grad_req="null")
    Case("_npi_solve", "float64", {"A": (3, 3), "B": (3, 2)}, values={"A": positive[0]}, dtype="float64")
    tall = (random.uniform(-1, 1, (6, 6)) + 3 * numpy.eye(6))
    Case("_npi_tensorinv", "default", {"a": (2, 3, 6)}, values={"a": tall.reshape(2, 3, 6)})
    Case("_npi_tensorinv", "ind", {"a": (6, 3, 2)}, {"ind": "1"}, values={"a": tall.reshape(6, 3, 2)}, dtype="float64")
    Case("_npi_tensorsolve", "default", {"a": (2, 3, 6), "b": (2, 3)}, values={"a": tall.reshape(2, 3, 6)})
    Case("_npi_tensorsolve", "axes", {"a": (3, 6, 2), "b": (3, 2)}, {"a_axes": "(1,)"},
         values={"a": tall.reshape(3, 2, 6).transpose(0, 2, 1)}, dtype="float64")


def main():
    mxnet.util.set_np_shape(True)
    UnaryCases()
    ArithmeticCases()
    ComparisonCases()
    ReductionCases()
    ShapeCases()
    MovementCases()
    PadCases()
    CreationCases()
    WhereCases()
    ProductCases()
    TriangleCases()
    ComposedCases()
    for op, cases in CASES.items():
        if sys.argv[1:] and op not in sys.argv[1:]:
            continue
        for case, (shapes, attrs, more) in cases.items():
            try:
                WriteCase(OpSymbol(op, shapes, attrs), shapes, op, case, **more)
            except Exception as error:
                raise RuntimeError("%s/%s" % (op, case)) from error


if __name__ == "__main__":
    main()
