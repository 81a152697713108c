#!/usr/bin/env python3
"""Computes unrolled recurrent cells of several sizes with MXNet 1.9.1: rnn/cells/CELL_hN_LAYOUT.

  benchmarks/peers/setup_venv.sh            # MXNet, once
  ~/.cache/cooper-peers/bin/python tests/golden/make_cell_cases.py

With oneDNN, unlike the others: without it the gradient of a fused GRU is refused.
"""

import json
import os

import numpy

numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402

rnn, sym, nd = mxnet.rnn, mxnet.sym, mxnet.nd

BATCH, LENGTH, INPUT = 2, 3, 5
SIZES = (1, 3, 7)


def _Sequential(*cells):
    stack = rnn.SequentialRNNCell()
    for cell in cells:
        stack.add(cell)
    return stack


def _Fused(h, mode, layers, bidirectional):
    return rnn.FusedRNNCell(h, num_layers=layers, mode=mode, bidirectional=bidirectional,
                            get_next_state=not bidirectional, prefix="f%s_" % mode)


# The cell of each name. If a name has several cells, their sizes differ.
CELLS = {
    "rnn_tanh": lambda h: rnn.RNNCell(h, prefix="rnn_"),
    "rnn_relu": lambda h: rnn.RNNCell(h, activation="relu", prefix="rnn_"),
    "lstm": lambda h: rnn.LSTMCell(h, prefix="lstm_"),
    "gru": lambda h: rnn.GRUCell(h, prefix="gru_"),
    "sequential": lambda h: _Sequential(rnn.LSTMCell(h, prefix="l0_"),
                                        rnn.GRUCell(h + 2, prefix="l1_"),
                                        rnn.RNNCell(h + 1, prefix="l2_")),
    "bidirectional_gru": lambda h: rnn.BidirectionalCell(rnn.GRUCell(h, prefix="lf_"),
                                                         rnn.GRUCell(h + 1, prefix="rb_")),
    "residual": lambda h: _Sequential(rnn.RNNCell(h, prefix="l0_"),
                                      rnn.ResidualCell(rnn.GRUCell(h, prefix="l1_"))),
    "zoneout0": lambda h: rnn.ZoneoutCell(rnn.LSTMCell(h, prefix="lstm_")),
    "fused_lstm_l2_bi0": lambda h: _Fused(h, "lstm", 2, False),
    "fused_gru_l1_bi1": lambda h: _Fused(h, "gru", 1, True),
    "fused_rnn_tanh_l1_bi0": lambda h: _Fused(h, "rnn_tanh", 1, False),
    "unfused_lstm": lambda h: _Fused(h, "lstm", 2, False).unfuse(),
}


def _Flat(states):
    """Returns the states as one list; those of a bidirectional cell are a list of lists."""
    flat = []
    for state in states:
        flat += state if isinstance(state, list) else [state]
    return flat


def _Unroll(cell, layout):
    with mxnet.name.NameManager():
        outputs, states = cell.unroll(LENGTH, sym.Variable("data"), layout=layout,
                                      merge_outputs=True)
        return sym.Group([outputs] + _Flat(states))


def _Draw(random, shape):
    return nd.array(random.uniform(-1, 1, shape))


def _Run(symbol, args, random, io):
    """Runs forward and backward; stores outputs, head gradients and gradients in `io`."""
    grads = {name: nd.zeros(array.shape) for name, array in args.items()}
    executor = symbol.bind(mxnet.cpu(), args, args_grad=grads)
    outputs = executor.forward(is_train=True)
    heads = [_Draw(random, output.shape) for output in outputs]
    executor.backward(heads)
    for i, (output, head) in enumerate(zip(outputs, heads)):
        io["out:%d" % i] = output
        io["ograd:%d" % i] = head
    io.update({"grad:" + name: grad for name, grad in grads.items()})


def _WriteCase(name, make, h):
    layout = "TNC" if name.startswith("fused") else "NTC"
    shape = (LENGTH, BATCH, INPUT) if layout == "TNC" else (BATCH, LENGTH, INPUT)
    cell = make(h)
    symbol = _Unroll(cell, layout)
    random = numpy.random.RandomState(h)
    shapes, _, _ = symbol.infer_shape(data=shape)
    shapes = dict(zip(symbol.list_arguments(), map(tuple, shapes)))
    args = {arg: _Draw(random, s) for arg, s in shapes.items()}
    io = {"arg:" + arg: array.copy() for arg, array in args.items()}
    _Run(symbol, args, random, io)
    weights = {arg: array for arg, array in args.items() if arg != "data"}
    unpacked = cell.unpack_weights(dict(weights))
    io.update({"unpacked:" + arg: array for arg, array in unpacked.items()})
    case = {
        "cell": name,
        "length": LENGTH,
        "layout": layout,
        "merge_outputs": True,
        "arguments": symbol.list_arguments(),
        "outputs": symbol.list_outputs(),
        "num_output_symbols": 1,
        "inputs": {"data": shape},
        "arg_shapes": shapes,
        "rtol": 1e-3,
        "atol": 1e-5,
        "state_info": [{"shape": info["shape"], "layout": info["__layout__"]}
                       for info in cell.state_info],
        "unpacked_names": sorted(unpacked),
    }
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rnn", "cells",
                          "%s_h%d_%s_merged" % (name, h, layout.lower()))
    os.makedirs(folder, exist_ok=True)
    if name.startswith("fused"):
        stack = make(h).unfuse()
        unfused = _Unroll(stack, layout)
        packed = stack.pack_weights(dict(unpacked))
        io.update({"unfused_arg:" + arg: array for arg, array in packed.items()})
        case["unfused_arguments"] = unfused.list_arguments()
        unfused.save(os.path.join(folder, "unfused-symbol.json"))
    symbol.save(os.path.join(folder, "symbol.json"))
    nd.save(os.path.join(folder, "io.params"), io)
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump(case, file, indent=1)
        file.write("\n")


def main():
    for name, make in CELLS.items():
        for h in SIZES:
            _WriteCase(name, make, h)


if __name__ == "__main__":
    main()
