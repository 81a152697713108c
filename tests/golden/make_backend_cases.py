#!/usr/bin/env python3
"""Computes graphs whose layers MXNet 1.9.1 has fused for oneDNN: ops/_graph/fused_*.

  benchmarks/peers/setup_venv.sh            # MXNet, once
  ~/.cache/cooper-peers/bin/python tests/golden/make_backend_cases.py

saved.json is the graph of the nodes that the fused ones stand for, the last of each with its name.
"""

import os

import numpy

from make_op_case import WriteCase, mxnet

sym = mxnet.sym


def _Network(conv_bn, conv_add, dense, sum_of):
    """Builds convolutions with BatchNorm, sum and relu, then products. The arguments name the last node of each part."""
    x = sym.Convolution(sym.Variable("data"), kernel=(3, 3), pad=(1, 1), num_filter=2, name="c1")
    x = sym.BatchNorm(x, fix_gamma=False, name="b1")
    x = sym.Activation(x, act_type="relu", name=conv_bn)
    y = sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=2, no_bias=True, name="c2")
    x = sym.Activation(sym.elemwise_add(*sum_of(x, y), name="sum"), act_type="relu", name=conv_add)
    y = sym.FullyConnected(x, num_hidden=3, name="f1")
    return sym.Group([sym.Activation(y, act_type="relu", name=dense), x])


def main():
    network = _Network("r1", "r2", "r3", lambda x, y: (x, y))
    fused = network.get_backend_symbol("MKLDNN")
    names = [name[:-len("_output")] for name in fused.list_outputs()]
    inner = [node for node in fused.get_internals().list_outputs() if "conv_bn" in node][0]
    # MXNet puts the convolution of a sum on its left.
    x = _Network(inner[:-len("_output")], names[1], names[0], lambda x, y: (y, x))
    folder = WriteCase(fused, {"data": (2, 3, 4, 4)}, "_graph", "fused_for_onednn", grad_req="null",
                       values={"b1_moving_var": numpy.array([0.5, 1.5])})
    x.save(os.path.join(folder, "saved.json"))


if __name__ == "__main__":
    main()
