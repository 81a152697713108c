#!/usr/bin/env python3
"""Computes choices and loops (mx.sym.contrib.cond, while_loop) with MXNet 1.9.1: ops/_cond, ops/_while_loop.

  MXNET_MKLDNN_ENABLED=0 ~/.cache/cooper-mxnet/bin/python tests/golden/make_branch_cases.py

MXNet infers no shapes of them, so all arguments are given, and a loop without any step fails. It leaves the rows of
steps that did not run, and gradients of arguments that only the other branch or the condition reads, as they were.
"""

from make_op_case import WriteCase, mxnet

sym = mxnet.sym
var = sym.Variable


def _Flat(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _WriteCond(case, condition, then, other, shapes, **options):
    outputs = sym.contrib.cond(condition, then, other, name="choice")
    WriteCase(sym.Group(_Flat(outputs)), shapes, "_cond", case, **options)


def _WriteLoop(case, condition, body, variables, max_iterations, steps, shapes, **options):
    """`steps` is how often the body runs for the given values."""
    outputs, last = sym.contrib.while_loop(condition, body, variables, max_iterations=max_iterations, name="loop")
    valid = {i: steps for i in range(len(_Flat(outputs)))}
    WriteCase(sym.Group(_Flat(outputs) + _Flat(last)), shapes, "_while_loop", case, valid_rows=valid, **options)


def _Conds():
    a, b, p = var("a"), var("b"), var("p")
    shapes = {"p": (1,), "a": (2, 3), "b": (2, 3)}

    def Then():
        return sym.tanh(a) * b

    def Else():
        return sym.sin(a + b)

    for name, value in (("then", 0.5), ("else", 0)):
        for suffix, options in (("", {}), ("_add", {"grad_req": "add"}), ("_predict", {"grad_req": "null"}),
                                ("_float64", {"dtype": "float64"})):
            if name + suffix == "else_add":
                continue  # MXNet adds the sum of a's gradients to b's: the step's gradients are one value
            # MXNet takes a condition of float32 only.
            _WriteCond(name + suffix, p, Then, Else, shapes, values={"p": [value]}, dtypes={"p": "float32"},
                       without_gradient=["p"], **options)
    # The condition is computed from what the branches read, and has no gradient.
    _WriteCond("computed", sym.sum(a) < sym.sum(b), Then, Else, {"a": (2, 3), "b": (2, 3)})
    # Two outputs, one of which is an argument and one a value from outside.
    outer = sym.square(a, name="outer")
    _WriteCond("two_outputs", p, lambda: [a, outer * b], lambda: [b, outer], shapes, values={"p": [1]},
               without_gradient=["p"])
    _WriteCond("layer", p, lambda: sym.FullyConnected(a, var("w"), var("bias"), num_hidden=2),
               lambda: sym.FullyConnected(b, var("w"), var("bias"), num_hidden=2),
               {"p": (1,), "a": (4, 3), "w": (2, 3), "bias": (2,), "b": (4, 3)}, values={"p": [1]},
               without_gradient=["p", "b"])


def _Loops():
    i, x, w = var("i"), var("x"), var("w")
    shapes = {"i": (1,), "x": (2, 3), "w": (2, 3)}

    def Below(bound):
        return lambda i, x: i < bound

    def Body(i, x):
        x = sym.sin(x * w)
        return [x + w], [i + 1, x]

    for suffix, options in (("", {}), ("_add", {"grad_req": "add"}), ("_predict", {"grad_req": "null"}),
                            ("_float64", {"dtype": "float64"})):
        _WriteLoop("ends" + suffix, Below(3), Body, [i, x], 5, 3, shapes, values={"i": [0]}, **options)
    _WriteLoop("bounded", Below(9), Body, [i, x], 4, 4, shapes, values={"i": [0]})
    _WriteLoop("one_step", Below(1), Body, [i, x], 1, 1, shapes, values={"i": [0]})

    def Silent(i, x):
        return [], [i + 1, sym.tanh(x) * w]

    _WriteLoop("no_outputs", Below(3), Silent, [i, x], 4, 3, shapes, values={"i": [1]})

    def TwoOutputs(x, y):
        x, y = y * outer, x + y
        return [x, sym.sum(y, axis=1)], [x, y]

    outer = sym.cos(w, name="outer")
    # The values decide how long it runs: the first sum is 6, then 12 |outer| and so on.
    _WriteLoop("computed", lambda x, y: sym.sum(sym.abs(y)) < 30, TwoOutputs, [x, var("y")], 6, 4,
               {"y": (2, 3), "x": (2, 3), "w": (2, 3)},
               values={"x": [[1] * 3] * 2, "y": [[1] * 3] * 2, "w": [[.5] * 3] * 2})


if __name__ == "__main__":
    _Conds()
    _Loops()
