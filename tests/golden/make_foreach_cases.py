#!/usr/bin/env python3
"""Computes loops (mx.sym.contrib.foreach) with MXNet 1.9.1: ops/_foreach/CASE, as make_op_case.py does operators.

  MXNET_MKLDNN_ENABLED=0 ~/.cache/cooper-mxnet/bin/python tests/golden/make_foreach_cases.py
"""

from make_op_case import WriteCase, mxnet

sym = mxnet.sym


def _Sums(data, states):
    """Scaled running sums, with a parameter of the network in the body."""
    total = states[0] * sym.Variable("k") + data
    return sym.tanh(total), [total]


def _Lstm(data, states):
    cell = mxnet.rnn.LSTMCell(3, prefix="lstm_")
    return cell(data, states)


def _TwoOfEach(outer):
    """Returns a step with two data inputs, two states, two outputs, and a value that is computed before the loop."""

    def Step(data, states):
        a, b = states
        a = a + data[0] * outer
        b = sym.broadcast_maximum(b, sym.sum(data[1], axis=1, keepdims=True))
        return [sym.broadcast_mul(a, b), sym.sin(data[1])], [sym.cos(a), b]

    return Step


def _Nested(data, states):
    """A loop over the rows of each step."""
    inner, last = sym.contrib.foreach(lambda x, s: (x * s, s + x), data, states[0], name="inner")
    return inner, [last]


def _Loop(step, data, states, name="loop"):
    outputs, last = sym.contrib.foreach(step, data, states, name=name)

    def Flat(value):
        return list(value) if isinstance(value, (list, tuple)) else [value]

    return sym.Group(Flat(outputs) + Flat(last))


def main():
    var = sym.Variable
    data, begin = var("data"), var("begin")
    # Not with grad_req="add": MXNet 1.9.1 adds wrong gradients of states.
    WriteCase(_Loop(_Sums, data, [begin]), {"data": (4, 2, 3), "begin": (2, 3), "k": (2, 3)}, "_foreach", "sums")
    WriteCase(_Loop(_Sums, data, [begin]), {"data": (1, 2), "begin": (2,), "k": (2,)}, "_foreach", "one_step")
    WriteCase(_Loop(_Sums, data, [begin]), {"data": (5,), "begin": (1,), "k": (1,)}, "_foreach", "vector")
    WriteCase(_Loop(_Sums, data, [begin]), {"data": (3, 2), "begin": (2,), "k": (2,)}, "_foreach", "float64",
              dtype="float64")
    WriteCase(_Loop(_Lstm, data, [var("h"), var("c")]), {"data": (3, 2, 4), "h": (2, 3), "c": (2, 3)}, "_foreach",
              "lstm")
    outer = sym.square(var("w"), name="outer")
    WriteCase(sym.Group([_Loop(_TwoOfEach(outer), [data, var("other")], [begin, var("peak")]), outer + 1]),
              {"data": (3, 2, 4), "other": (3, 2, 5), "begin": (2, 4), "peak": (2, 1), "w": (2, 4)}, "_foreach",
              "two_of_each")
    WriteCase(_Loop(_Nested, data, [begin]), {"data": (2, 3, 4), "begin": (4,)}, "_foreach", "nested")


if __name__ == "__main__":
    main()
