#!/usr/bin/env python3
"""Computes a case of one operator with MXNet 1.9.1: ops/OP/CASE/{symbol.json,io.params,case.json}.

  benchmarks/peers/setup_venv.sh            # MXNet, once
  ~/.cache/cooper-peers/bin/python tests/golden/make_op_case.py _contrib_quadratic basic \\
      data=3,4,2 --attr=a=2 --attr=b=-1.5 --attr=c=0.25

Arguments are drawn from [-1, 1), head gradients and what gradients are added to likewise.
"""

import argparse
import json
import os

import numpy

numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402


def Infos(symbol, infer, known):
    """What `infer`, a method of Symbol, makes of `known`: a case's infer_shape or infer_type."""
    args, outs, auxs = infer(**known)

    def Plain(value):
        return list(value) if isinstance(value, tuple) else numpy.dtype(value).name

    return {
        "known": {name: Plain(value) for name, value in known.items()},
        "arg": dict(zip(symbol.list_arguments(), map(Plain, args))),
        "out": list(map(Plain, outs)),
        "aux": dict(zip(symbol.list_auxiliary_states(), map(Plain, auxs))),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("op")
    parser.add_argument("case")
    parser.add_argument("inputs", nargs="+", metavar="NAME=SHAPE")
    parser.add_argument("--attr", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--grad_req", choices=["write", "add", "null"], default="write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rtol", type=float, default=1e-4)
    parser.add_argument("--atol", type=float, default=1e-5)
    flags = parser.parse_args()

    shapes = {}
    for text in flags.inputs:
        name, _, shape = text.partition("=")
        shapes[name] = tuple(int(extent) for extent in shape.split(","))
    attrs = dict(text.split("=", 1) for text in flags.attr)
    count = len(shapes)
    variables = [{"op": "null", "name": name, "inputs": []} for name in shapes]
    node = {"op": flags.op, "name": "op", "attrs": attrs, "inputs": [[i, 0, 0] for i in range(count)]}
    symbol = mxnet.sym.load_json(json.dumps({
        "nodes": variables + [node],
        "arg_nodes": list(range(count)),
        "heads": [[count, 0, 0]],
        "attrs": {"mxnet_version": ["int", 10901]},
    }))

    random = numpy.random.RandomState(flags.seed)

    def Draw(shape):
        return mxnet.nd.array(random.uniform(-1, 1, shape), dtype=flags.dtype)

    types = {name: flags.dtype for name in shapes}
    shape_info = Infos(symbol, symbol.infer_shape, shapes)
    args = {name: Draw(shape) for name, shape in shape_info["arg"].items()}
    auxs = {name: Draw(shape) for name, shape in shape_info["aux"].items()}
    backward = flags.grad_req != "null"
    grads = {name: Draw(array.shape) for name, array in args.items()} if backward else {}
    io = {"arg:" + name: array.copy() for name, array in args.items()}
    io.update({"aux:" + name: array.copy() for name, array in auxs.items()})
    if flags.grad_req == "add":
        io.update({"grad_init:" + name: array.copy() for name, array in grads.items()})
    executor = symbol.bind(mxnet.cpu(), args, args_grad=grads, grad_req=flags.grad_req,
                           aux_states=auxs)
    outputs = executor.forward(is_train=backward)
    if backward:
        heads = [Draw(output.shape) for output in outputs]
        io.update({"ograd:%d" % i: head for i, head in enumerate(heads)})
        executor.backward(heads)
    io.update({"out:%d" % i: output for i, output in enumerate(outputs)})
    io.update({"grad:" + name: array for name, array in grads.items()})
    for name, array in auxs.items():
        if not (array == io["aux:" + name]).asnumpy().all():
            io["aux_after:" + name] = array

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops", flags.op, flags.case)
    os.makedirs(folder, exist_ok=True)
    symbol.save(os.path.join(folder, "symbol.json"))
    mxnet.nd.save(os.path.join(folder, "io.params"), io)
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump({
            "op": flags.op,
            "mode": "train" if backward else "predict",
            "grad_req": {name: flags.grad_req for name in args},
            "backward": backward,
            "rtol": flags.rtol,
            "atol": flags.atol,
            "infer_shape": shape_info,
            "infer_type": Infos(symbol, symbol.infer_type, types),
        }, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
