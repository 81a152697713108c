#!/usr/bin/env python3
"""Computes with MXNet 1.9.1 what Gluon's cells make of padded sequences: rnn/valid_length.json.

  benchmarks/peers/setup_venv.sh            # MXNet, once
  ~/.cache/cooper-peers/bin/python tests/golden/make_valid_length.py tests/golden/rnn/valid_length.json

Inputs, weights and head gradients are drawn from [-1, 1).
"""

import json
import sys

import numpy

numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402
from mxnet.gluon import rnn  # noqa: E402

LENGTH, BATCH, FEATURES = 5, 4, 3
VALID = [5, 2, 1, 4]


def Sequential(*cells):
    stack = rnn.SequentialRNNCell(prefix="")
    for cell in cells:
        stack.add(cell)
    return stack


# Prefixes are those of the cells in the test.
CASES = {
    "rnn": lambda: rnn.RNNCell(4, activation="tanh", prefix="rnn_"),
    "lstm": lambda: rnn.LSTMCell(4, prefix="lstm_"),
    "gru": lambda: rnn.GRUCell(4, prefix="gru_"),
    "bidirectional": lambda: rnn.BidirectionalCell(
        rnn.LSTMCell(4, prefix="l_"), rnn.GRUCell(2, prefix="r_")),
    "residual": lambda: rnn.ResidualCell(rnn.GRUCell(FEATURES, prefix="gru_")),
    # A BidirectionalCell within a SequentialRNNCell fails in MXNet 1.9.1 (it stacks outputs twice).
    "sequential": lambda: Sequential(
        rnn.LSTMCell(4, prefix="low_"), rnn.ResidualCell(rnn.GRUCell(4, prefix="top_"))),
}


def Plain(array):
    array = array.asnumpy()
    return {"shape": list(array.shape), "data": [float("%.9g" % x) for x in array.ravel()]}


def Compute(name, layout, random):
    cell = CASES[name]()
    cell.initialize()
    shape = (BATCH, LENGTH, FEATURES) if layout == "NTC" else (LENGTH, BATCH, FEATURES)
    draw = lambda shape: mxnet.nd.array(random.uniform(-1, 1, shape))
    data = draw(shape)
    data.attach_grad()
    cell.unroll(LENGTH, data, layout=layout, merge_outputs=True)  # gives parameters their shapes
    for param in cell.collect_params().values():
        param.set_data(draw(param.shape))
    with mxnet.autograd.record():
        outputs, states = cell.unroll(
            LENGTH, data, layout=layout, merge_outputs=True, valid_length=mxnet.nd.array(VALID))
    head = draw(outputs.shape)
    outputs.backward(head)
    flat = []
    for state in states:  # of a BidirectionalCell a list for each cell
        flat += state if isinstance(state, list) else [state]
    params = cell.collect_params()
    return {
        "cell": name,
        "layout": layout,
        "length": LENGTH,
        "data": Plain(data),
        "valid_length": VALID,
        "weights": {key: Plain(param.data()) for key, param in params.items()},
        "outputs": Plain(outputs),
        "states": [Plain(state) for state in flat],
        "head_gradient": Plain(head),
        "data_gradient": Plain(data.grad),
        "weight_gradients": {key: Plain(param.grad()) for key, param in params.items()},
    }


def main():
    random = numpy.random.RandomState(1)
    cases = [Compute(name, layout, random) for name in CASES for layout in ("NTC", "TNC")]
    with open(sys.argv[1], "w") as out:
        json.dump({"mxnet": mxnet.__version__, "cases": cases}, out)
        out.write("\n")


main()
