#!/usr/bin/env python3
"""Computes the cases of operators that few networks have, under MXNet 1.9.1: ops/OP/CASE as make_op_case.py
writes them, whose environment it needs.

  ~/.cache/cooper-mxnet/bin/python tests/golden/make_rare_cases.py [GROUP...]
"""

import json
import os
import sys

import numpy

from make_op_case import OpSymbol, WriteCase
import mxnet

RANDOM = numpy.random.RandomState(7)


def Write(op, case, values, attrs=None, outputs=1, numpy_file=False, **options):
    """Writes a case with the given arrays, or arrays drawn of given shapes.

    `numpy_file`: whether the symbol is saved as one with NumPy's shapes.
    """
    shapes = {name: value if isinstance(value, tuple) else numpy.shape(value)
              for name, value in values.items()}
    fixed = {name: value for name, value in values.items() if not isinstance(value, tuple)}
    symbol = OpSymbol(op, shapes, attrs or {}, outputs)
    folder = WriteCase(symbol, shapes, op, case, values=fixed, **options)
    if numpy_file:
        with mxnet.util.np_shape(True):
            symbol.save(os.path.join(folder, "symbol.json"))


WriteAny = Write


def Densities():
    def Above(shape, low=0.3, high=2):
        return RANDOM.uniform(low, high, shape)

    def Counts(shape):
        return RANDOM.randint(0, 6, shape)

    def Vectors(*shape):
        drawn = RANDOM.uniform(0.1, 1, shape)
        return drawn / drawn.sum(axis=-1, keepdims=True)

    distributions = {
        "uniform": lambda s, p: {"sample": Above(s), "low": -Above(p), "high": Above(p, 2, 3)},
        "normal": lambda s, p: {"sample": Above(s), "mu": Above(p, -1, 1), "sigma": Above(p)},
        "gamma": lambda s, p: {"sample": Above(s), "alpha": Above(p), "beta": Above(p)},
        "exponential": lambda s, p: {"sample": Above(s), "lam": Above(p)},
        "poisson": lambda s, p: {"sample": Counts(s), "lam": Above(p)},
        "negative_binomial": lambda s, p: {"sample": Counts(s), "k": Above(p, 1, 4), "p": Above(p, 0.2, 0.8)},
        "generalized_negative_binomial": lambda s, p: {"sample": Counts(s), "mu": Above(p), "alpha": Above(p)},
        "dirichlet": lambda s, p: {"sample": Vectors(*s, 3), "alpha": Above(p + (3,))},
    }
    for name, draw in distributions.items():
        op = "_random_pdf_" + name
        Write(op, "basic", draw((2, 4), (2,)))
        Write(op, "log_add", draw((2, 1, 3), (2, 1)), {"is_log": "True"}, grad_req="add", adds_writes=True)
        Write(op, "one_draw", draw((3, 2), (3, 2)), dtype="float64")
        Write(op, "float16", draw((2, 2), (2,)), dtype="float16", grad_req="null", rtol=2e-2, atol=1e-2)
    Write("_random_pdf_dirichlet", "vector", {"sample": Vectors(4), "alpha": Above(4)})


def Positions():
    array = "_contrib_index_array"
    Write(array, "all", {"data": (2, 3)}, grad_req="null")
    Write(array, "axes", {"data": (2, 1, 3)}, {"axes": "(2, 0, -1)"}, grad_req="null")
    histogram = "_histogram"
    few = [[0, 1, 2.5], [2.5, 4, numpy.nan], [5, -1, 3.999]]
    Write(histogram, "range", {"data": few}, {"bin_cnt": "5", "range": "(0, 5)"}, outputs=2, grad_req="null")
    Write(histogram, "thirds", {"data": RANDOM.uniform(-1, 2, (40,))}, {"bin_cnt": "7", "range": "(-0.7, 1.6)"},
          outputs=2, grad_req="null")
    Write(histogram, "one_number", {"data": [1, 1.25, 1.5, 2]}, {"bin_cnt": "3", "range": "(1, 1)"}, outputs=2, grad_req="null")
    Write(histogram, "int32", {"data": [[1, 2, 3], [4, 5, 9]]}, {"bin_cnt": "2", "range": "(1, 6)"}, dtype="int32",
          outputs=2, grad_req="null")
    Write(histogram, "bins", {"data": few, "bins": [0, 2.5, 3, 5]}, outputs=2, grad_req="null", dtype="float64")


def Sparse():
    """Operators on sparse arrays in MXNet, between conversions, which cooper ignores."""

    def Graph(*nodes):
        """Returns the symbol of nodes (op, name, names of inputs, attributes); an op of "null" is a variable."""
        at = {node[1]: i for i, node in enumerate(nodes)}
        return mxnet.sym.load_json(json.dumps({
            "nodes": [{"op": op, "name": name, "attrs": attrs, "inputs": [[at[i], 0, 0] for i in inputs]}
                      for op, name, inputs, attrs in nodes],
            "arg_nodes": [i for i, node in enumerate(nodes) if node[0] == "null"],
            "heads": [[len(nodes) - 1, 0, 0]],
            "attrs": {"mxnet_version": ["int", 10901]},
        }))

    def Cast(name, source, stype):
        return "cast_storage", name, [source], {"stype": stype}

    def Variable(name):
        return "null", name, [], {}

    data = RANDOM.uniform(-1, 1, (5, 3))
    data[[1, 3]] = 0
    for case, axis, keepdims in ("rows", "1", "False"), ("columns", "0", "False"), ("kept", "1", "True"):
        symbol = Graph(Variable("data"), Cast("sparse", "data", "row_sparse"),
                       ("_square_sum", "sum", ["sparse"], {"axis": axis, "keepdims": keepdims}),
                       Cast("dense", "sum", "default"))
        WriteCase(symbol, {"data": (5, 3)}, "_square_sum", case, values={"data": data})
    retain = Graph(Variable("data"), Cast("sparse", "data", "row_sparse"), Variable("indices"),
                   ("_sparse_retain", "retain", ["sparse", "indices"], {}), Cast("dense", "retain", "default"))
    for case, rows in ("some", [0, 1, 4]), ("one", [2]):
        WriteCase(retain, {"data": (5, 3), "indices": (len(rows),)}, "_sparse_retain", case,
                  values={"data": data, "indices": rows}, without_gradient=["indices"], dtypes={"indices": "int64"})
    embedding = Graph(Variable("data"), Variable("weight"), Cast("sparse", "weight", "row_sparse"),
                      ("_contrib_SparseEmbedding", "embedding", ["data", "sparse"],
                       {"input_dim": "6", "output_dim": "4", "deterministic": "True"}))
    WriteCase(embedding, {"data": (2, 3)}, "_contrib_SparseEmbedding", "basic",
              values={"data": [[0, 5, 2], [2, 1, 2]]}, without_gradient=["data"])


def Scalars():
    mxnet.util.set_np_shape(True)
    a = RANDOM.uniform(-2, 2, (3, 4))
    close, nan = a * (1 + 1e-6), a.copy()
    nan[1, 1] = numpy.nan
    for case, pair, attrs in (
            ("close", (a, close), {}), ("apart", (a, close), {"rtol": "1e-8"}), ("absolute", (a, a + 0.01), {"atol": "0.02"}),
            ("nan", (nan, nan), {}), ("unequal_nan", (nan, nan), {"equal_nan": "False"}), ("one_nan", (a, nan), {})):
        Write("_contrib_allclose", case, {"a": pair[0], "b": pair[1]}, attrs, dtype="float64", grad_req="null")
    mxnet.util.set_np_shape(False)


def Images():
    def Image(*shape, dtype="float32"):
        return RANDOM.randint(0, 256, shape) if dtype == "uint8" else RANDOM.uniform(0, 255, shape)

    crop = {"x": "1", "y": "2", "width": "3", "height": "2"}
    Write("_image_crop", "image", {"data": Image(5, 4, 3)}, crop)
    Write("_image_crop", "batch_add", {"data": Image(2, 4, 6, 1)}, crop, grad_req="add", dtype="float64")
    Write("_image_crop", "uint8", {"data": Image(5, 4, 3, dtype="uint8")}, crop, dtype="uint8", grad_req="null")
    # MXNet does not write the middle of an odd number of rows or columns, and its gradient is the head gradient.
    for op in "_image_flip_left_right", "_image_flip_top_bottom":
        Write(op, "even", {"data": Image(2, 4, 3)}, grad_req="null")
        Write(op, "uint8", {"data": Image(4, 2, 1, dtype="uint8")}, dtype="uint8", grad_req="null")
    resize = "_image_resize"
    for case, shape, attrs in (("larger", (3, 4, 3), {"size": "(7, 5)"}), ("smaller", (9, 8, 1), {"size": "(3, 4)"}),
                               ("one_size", (2, 5, 4, 3), {"size": "3"}), ("to_one", (4, 6, 1), {"size": "(1, 1)"}),
                               ("ratio", (4, 7, 3), {"size": "5", "keep_ratio": "True"}),
                               ("ratio_high", (7, 4, 3), {"size": "3", "keep_ratio": "True"}),
                               ("nearest", (5, 7, 3), {"size": "(4, 9)", "interp": "0"})):
        Write(resize, case, {"data": Image(*shape)}, attrs, grad_req="null", rtol=1e-4, atol=1e-3)
    # OpenCV computes uint8 with weights of 11 bits.
    Write(resize, "uint8", {"data": Image(6, 5, 3, dtype="uint8")}, {"size": "(9, 4)"}, dtype="uint8", grad_req="null",
          atol=1)
    Write("_image_adjust_lighting", "float32", {"data": Image(3, 2, 3)}, {"alpha": "(0.1, -0.2, 0.05)"})
    Write("_image_adjust_lighting", "uint8", {"data": Image(3, 2, 3, dtype="uint8")}, {"alpha": "(1, -2, 0.5)"},
          dtype="uint8", grad_req="null")
    # With equal limits the factor is no random number.
    for name, factor in ("brightness", 1.3), ("contrast", 0.6), ("saturation", 1.7), ("hue", 0.4):
        factors = {"min_factor": str(factor), "max_factor": str(factor)}
        op = "_image_random_" + name
        Write(op, "float32", {"data": Image(3, 4, 3)}, factors, atol=1e-3)
        Write(op, "uint8", {"data": Image(4, 5, 3, dtype="uint8")}, factors, dtype="uint8", grad_req="null", atol=1)
        if name != "hue":  # MXNet writes nothing
            Write(op, "one_channel", {"data": Image(4, 3, 1)}, factors, grad_req="null", atol=1e-3)


def Counted():
    """Operators whose extents depend on values: under NumPy's shapes MXNet's bind gives outputs without elements."""

    def Write(*args, **options):
        WriteAny(*args, numpy_file=True, **options)

    flags = {"return_index": "True", "return_inverse": "True", "return_counts": "True"}
    few = [[3, 1, 2], [3, 1, 2], [0, 5, 1]]
    Write("_npi_unique", "flat", {"data": few})
    Write("_npi_unique", "flat_all", {"data": few}, flags, outputs=4, grad_req="null")
    Write("_npi_unique", "rows", {"data": few}, dict(flags, axis="0"), outputs=4, grad_req="null")
    Write("_npi_unique", "columns_add", {"data": [[3, 1, 3], [4, 1, 4]]}, {"axis": "-1"}, grad_req="add", dtype="float64")
    Write("_npi_unique", "counts", {"data": RANDOM.randint(-40, 40, (300,))},
          {"return_counts": "True", "return_inverse": "True"}, outputs=3, grad_req="null")
    Write("_npi_unique", "middle", {"data": RANDOM.randint(0, 2, (2, 9, 2))}, dict(flags, axis="1"), outputs=4,
          grad_req="null", dtype="int32")
    for dtype in "float16", "uint8", "int8", "int64":
        Write("_npi_unique", dtype, {"data": [[7, 1], [1, 5]]}, {"return_index": "True"}, outputs=2, dtype=dtype,
              grad_req="null")
    Write("_npx_nonzero", "basic", {"x": [[2, 0, 1], [0, 0, -3]]})
    Write("_npx_nonzero", "cube", {"x": RANDOM.randint(0, 2, (2, 3, 4))}, dtype="int32", grad_req="null")
    Write("_npx_nonzero", "bool", {"x": RANDOM.randint(0, 2, (5,))}, dtype="bool", grad_req="null")
    Write("_npx_nonzero", "float16", {"x": [0, 0.5, -0.0, numpy.nan]}, dtype="float16", grad_req="null")
    for case, shape, attrs in (
            ("position", (3, 2), {"int_ind": "1", "axis": "0"}), ("last", (2, 3, 2), {"int_ind": "-1", "axis": "1"}),
            ("flat", (2, 3), {"int_ind": "4"}), ("slice", (5, 2), {"start": "1", "stop": "4", "step": "2", "axis": "0"}),
            ("backwards", (2, 5), {"step": "-2", "axis": "-1"}), ("nothing", (2, 3), {"start": "2", "stop": "1", "step": "1", "axis": "1"}),
            ("clamped", (4,), {"start": "-9", "stop": "9", "step": "3"})):
        Write("_npi_delete", case, {"arr": shape}, attrs, grad_req="null")
    for case, obj, attrs, more in (
            ("positions", [1, 1, 7, -1], {"axis": "0"}, {}), ("columns", [2, 0], {"axis": "-1"}, {"dtype": "float64"}),
            ("matrix", [[1, 4], [5, 1]], {}, {}), ("floats", [1.5, 0], {"axis": "1"}, {"dtypes": {"obj": "float32"}}),
            ("int8", [0], {"axis": "0"}, {"dtype": "int8"})):
        more = dict({"dtypes": {"obj": "int32"}}, **more)
        Write("_npi_delete", case, {"arr": (3, 4), "obj": obj}, attrs, grad_req="null", **more)
    numbers = [1, 3, 3, 0, 5, 1]
    for case, attrs, dtype in (("basic", {}, "int64"), ("minlength", {"minlength": "9"}, "int32"), ("uint8", {}, "uint8"),
                               ("few", {"minlength": "2"}, "int8")):
        Write("_npi_bincount", case, {"data": numbers}, attrs, dtype=dtype, grad_req="null")
    for case, attrs, more in (("weights", {}, {}), ("weights_float64", {"minlength": "8"}, {"dtype": "float64"}),
                              ("weights_int32", {}, {"dtype": "int32", "grad_req": "null"})):
        Write("_npi_bincount", case, {"data": numbers, "weights": (6,)}, dict(attrs, has_weights="True"),
              **dict({"dtypes": {"data": "int32"}, "without_gradient": ("data",)}, **more))


def Spectra():
    def Symmetric(*shape):
        a = RANDOM.uniform(-1, 1, shape)
        return a + numpy.swapaxes(a, -1, -2)

    for case, shape, more in (("wide", (3, 5), {}), ("square", (3, 3), {}), ("one_row", (1, 4), {}),
                              ("batch_add", (2, 2, 4), {"grad_req": "add", "dtype": "float64", "adds_writes": True})):
        Write("_linalg_gelqf", case, {"A": RANDOM.uniform(-1, 1, shape)}, outputs=2, rtol=1e-3, **more)
    for case, shape, more in (("four", (4, 4), {}), ("one", (1, 1), {}),
                              ("batch_add", (2, 3, 3), {"grad_req": "add", "dtype": "float64", "adds_writes": True})):
        Write("_linalg_syevd", case, {"A": Symmetric(*shape)}, outputs=2, rtol=1e-3, **more)


GROUPS = {"counted": Counted, "spectra": Spectra, "images": Images, "densities": Densities, "positions": Positions, "sparse": Sparse, "scalars": Scalars}


def main():
    for name, group in GROUPS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            group()


if __name__ == "__main__":
    main()
