#!/usr/bin/env python3
"""Computes a case of one operator with MXNet 1.9.1: ops/OP/CASE/{symbol.json,io.params,case.json}.

  python3.11 -m venv ~/.cache/cooper-mxnet  # once, with the next line
  ~/.cache/cooper-mxnet/bin/pip install -r benchmarks/peers/requirements_mxnet.txt
  ~/.cache/cooper-mxnet/bin/python tests/golden/make_op_case.py _contrib_quadratic basic \\
      data=3,4,2 --attr=a=2 --attr=b=-1.5 --attr=c=0.25

Arguments are drawn from [-1, 1), integers from -8 to 8, head gradients and what gradients are added to likewise. Inputs
that are positions are named by --index, and have no gradient:

      ... _contrib_index_copy basic old_tensor=5,3 index_vector=2 new_tensor=2,3 \\
          --index=index_vector=5

Of an input that is looked at for its shape alone MXNet may leave the gradient as it was:

      ... _contrib_BilinearResize2D like data=1,2,3,4 like=3,1,5,2 --attr=mode=like \\
          --without_gradient=like
"""

import argparse
import ast
import json
import os

import numpy

# Without threads, the engine cannot overwrite an array before its readers have run.
os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402


def Infos(symbol, infer, known):
    """Returns the result of `infer`, a method of Symbol, for `known`: infer_shape or infer_type.

    Only "known" if it cannot tell, as of an output whose rows are counted as they are computed.
    """
    args, outs, auxs = infer(**known)

    def Plain(value):
        if isinstance(value, tuple) and mxnet.util.is_np_shape() and (value == () or 0 in value):
            return str(value)  # [] is an unknown shape, 0 in [] an unknown extent
        return list(value) if isinstance(value, tuple) else numpy.dtype(value).name

    known = {name: Plain(value) for name, value in known.items()}
    if args is None:
        return {"known": known}
    return {
        "known": known,
        "arg": dict(zip(symbol.list_arguments(), map(Plain, args))),
        "out": list(map(Plain, outs)),
        "aux": dict(zip(symbol.list_auxiliary_states(), map(Plain, auxs))),
    }


def WriteCase(symbol, shapes, op, case, dtype="float32", grad_req="write", seed=1, rtol=1e-4,
              atol=1e-5, indices={}, index_dtype="int32", without_gradient=(), values={}, dtypes={},
              valid_rows={}, root=None, adds_writes=False, largest=None, whole=False):
    """Computes `symbol` on random arrays and writes ops/op/case; returns the folder.

    `indices`: {name: n} of arguments that are integers in [0, n), different ones if n allows it.
    `without_gradient`: names of further arguments whose grad_req is null.
    `values`: {name: array} of arguments that are not drawn.
    `dtypes`: {name: dtype} of arguments whose dtype is not `dtype`.
    `valid_rows`: {i: n} of outputs whose rows from n on MXNet leaves as they were; zeros are written.
    `root`: the folder of `ops`; by default tests/golden.
    `largest`, `whole`: limit of the values, by default 1 and 9 for integers; whether they are integers.
    `adds_writes`: compute what a gradient is under "add" from what it is under "write", because many of MXNet's backward
    passes overwrite, or add another gradient twice.
    """
    random = numpy.random.RandomState(seed)

    def Draw(shape, dtype=dtype):
        limit = largest or 1 if numpy.dtype(dtype).kind == "f" else 9
        drawn = random.uniform(-limit, limit, shape)
        if whole:
            drawn = numpy.rint(drawn)
        if numpy.dtype(dtype).kind == "b":
            drawn = drawn > 0
        return mxnet.nd.array(drawn, dtype=dtype)

    def DrawArgument(name, shape):
        if name in values:
            return mxnet.nd.array(values[name], dtype=dtypes.get(name, dtype))
        if name not in indices:
            return Draw(shape, dtypes.get(name, dtype))
        n = indices[name]
        return mxnet.nd.array(random.choice(n, shape, replace=numpy.prod(shape) > n),
                              dtype=index_dtype)

    types = {name: index_dtype if name in indices else dtypes.get(name, dtype) for name in shapes}
    shape_info = Infos(symbol, symbol.infer_shape, shapes)

    def Arguments(shapes):
        return {name: DrawArgument(name, ast.literal_eval(shape) if isinstance(shape, str) else shape)
                for name, shape in shapes.items()}

    args = Arguments(shape_info.get("arg", shapes))
    auxs = Arguments(shape_info.get("aux", {}))
    backward = grad_req != "null"
    reqs = {name: "null" if name in indices or name in without_gradient else grad_req
            for name in args}
    initial = {name: Draw(array.shape, array.dtype) for name, array in args.items()
               if reqs[name] != "null"}
    io = {"arg:" + name: array.copy() for name, array in args.items()}
    io.update({"aux:" + name: array.copy() for name, array in auxs.items()})
    if grad_req == "add":
        io.update({"grad_init:" + name: array.copy() for name, array in initial.items()})
    # Variables with one name share the array, and each has a gradient of its own.
    names = symbol.list_arguments()
    grads = []
    for i, name in enumerate(names):
        first = name not in names[:i]
        grads.append((initial[name].copy() if first else mxnet.nd.zeros(args[name].shape, dtype=dtype))
                     if name in initial else None)
    bound = {name: "write" if adds_writes and req == "add" else req for name, req in reqs.items()}
    executor = symbol.bind(mxnet.cpu(), [args[name] for name in names],
                           args_grad=grads if backward else None,
                           grad_req=[bound[name] for name in names],
                           aux_states=[auxs[name] for name in symbol.list_auxiliary_states()])
    outputs = executor.forward(is_train=backward)
    if backward:
        heads = [Draw(output.shape, output.dtype) for output in outputs]
        io.update({"ograd:%d" % i: head for i, head in enumerate(heads)})
        executor.backward(heads)
    for i, rows in valid_rows.items():
        outputs[i][rows:] = 0
    io.update({"out:%d" % i: output for i, output in enumerate(outputs)})
    for name in initial:
        io["grad:" + name] = sum(grad for i, grad in enumerate(grads) if names[i] == name)
        if bound[name] != reqs[name]:
            io["grad:" + name] = io["grad:" + name] + initial[name]
    for name, array in auxs.items():
        if not (array == io["aux:" + name]).asnumpy().all():
            io["aux_after:" + name] = array

    folder = os.path.join(root or os.path.dirname(os.path.abspath(__file__)), "ops", op, case)
    os.makedirs(folder, exist_ok=True)
    symbol.save(os.path.join(folder, "symbol.json"))
    mxnet.nd.save(os.path.join(folder, "io.params"), io)
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump({
            "op": op,
            "mode": "train" if backward else "predict",
            "grad_req": reqs,
            "backward": backward,
            "rtol": rtol,
            "atol": atol,
            "infer_shape": shape_info,
            "infer_type": Infos(symbol, symbol.infer_type, types),
        }, file, indent=1)
        file.write("\n")
    return folder


def OpSymbol(op, inputs, attrs, outputs=1):
    """The first outputs of the node "op" of an operator over variables of these names."""
    count = len(inputs)
    variables = [{"op": "null", "name": name, "inputs": []} for name in inputs]
    node = {"op": op, "name": "op", "attrs": attrs, "inputs": [[i, 0, 0] for i in range(count)]}
    return mxnet.sym.load_json(json.dumps({
        "nodes": variables + [node],
        "arg_nodes": list(range(count)),
        "heads": [[count, i, 0] for i in range(outputs)],
        "attrs": {"mxnet_version": ["int", 10901]},
    }))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("op")
    parser.add_argument("case")
    parser.add_argument("inputs", nargs="+", metavar="NAME=SHAPE")
    parser.add_argument("--attr", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--index", action="append", default=[], metavar="NAME=N",
                        help="an input of integers in [0, N)")
    parser.add_argument("--without_gradient", action="append", default=[], metavar="NAME",
                        help="an input whose grad_req is null")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--index_dtype", default="int32")
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
    indices = {name: int(n) for name, n in (text.split("=") for text in flags.index)}
    symbol = OpSymbol(flags.op, shapes, attrs)
    WriteCase(symbol, shapes, flags.op, flags.case, flags.dtype, flags.grad_req, flags.seed,
              flags.rtol, flags.atol, indices, flags.index_dtype, flags.without_gradient)


if __name__ == "__main__":
    main()
