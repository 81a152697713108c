#!/usr/bin/env python3
"""Computes loops (mx.sym.contrib.foreach) with MXNet 1.9.1: ops/_foreach/CASE, as make_op_case.py does operators,
and module/foreach_contexts, a Module on two contexts.

  MXNET_MKLDNN_ENABLED=0 ~/.cache/cooper-mxnet/bin/python tests/golden/make_foreach_cases.py
"""

import json
import os

import numpy

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


def _WriteModule():
    """Trains a loop whose steps are axis 0 and whose samples are axis 1 of the data."""
    data = sym.Variable("data")
    begin = sym.FullyConnected(sym.sum(data, axis=0), num_hidden=3, name="begin")
    outputs, last = sym.contrib.foreach(_Lstm, data, [begin, sym.zeros_like(begin)], name="loop")
    joined = sym.concat(last[0], sym.max(outputs, axis=0), dim=1)
    symbol = sym.SoftmaxOutput(sym.FullyConnected(joined, num_hidden=3, name="fc"), name="softmax")
    descs = {"data": mxnet.io.DataDesc("data", (5, 6, 2), layout="TNC"),
             "label": mxnet.io.DataDesc("softmax_label", (6,), layout="N")}
    module = mxnet.mod.Module(symbol, context=[mxnet.cpu(0), mxnet.cpu(1)])
    module.bind([descs["data"]], [descs["label"]])
    module.init_params()
    random = numpy.random.RandomState(9)
    args = {name: mxnet.nd.array(random.uniform(-0.5, 0.5, array.shape))
            for name, array in sorted(module.get_params()[0].items())}
    module.set_params(args, {})
    options = {"learning_rate": 0.1, "momentum": 0.9}
    module.init_optimizer(optimizer="sgd", optimizer_params=options)
    trace = {"init/arg:" + name: array for name, array in args.items()}
    batches, steps = [], []
    given = {which: [{"name": desc.name, "shape": list(desc.shape), "layout": desc.layout}]
             for which, desc in descs.items()}
    for i in range(2):
        values = {"data": random.uniform(-1, 1, (5, 6, 2)), "label": random.randint(0, 3, 6)}
        keys = {which: "batch:%d:%s" % (i, which) for which in values}
        trace.update({keys[which]: mxnet.nd.array(values[which]) for which in values})
        batches.append({"data": [keys["data"]], "label": [keys["label"]], "provide_data": given["data"],
                        "provide_label": given["label"], "pad": 0})
        module.forward_backward(mxnet.io.DataBatch([trace[keys["data"]]], [trace[keys["label"]]]))
        trace["step%d/out:0" % i] = module.get_outputs()[0].copy()
        module.update()
        trace.update({"step%d/arg:%s" % (i, name): array.copy() for name, array in module.get_params()[0].items()})
        steps += [{"op": "forward", "batch": i}, {"op": "expect_outputs", "prefix": "step%d" % i, "keys": ["step%d/out:0" % i]},
                  {"op": "backward"}, {"op": "update"}, {"op": "expect_params", "prefix": "step%d" % i}]
    steps = [{"op": "bind", "data_shapes": given["data"], "label_shapes": given["label"]},
             {"op": "init_params", "from": "init"},
             {"op": "init_optimizer", "optimizer": "sgd", "optimizer_params": options, "kvstore": "local"}] + steps
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "module", "foreach_contexts")
    os.makedirs(folder, exist_ok=True)
    symbol.save(os.path.join(folder, "symbol.json"))
    mxnet.nd.save(os.path.join(folder, "trace.params"), trace)
    of_module = {"type": "Module", "symbol": "symbol.json", "data_names": ["data"], "label_names": ["softmax_label"],
                 "contexts": [{"type": "cpu", "id": i} for i in range(2)]}
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump({"module": of_module, "rtol": 1e-4, "atol": 1e-5, "batches": batches, "steps": steps}, file, indent=1)
        file.write("\n")


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
    _WriteModule()


if __name__ == "__main__":
    main()
