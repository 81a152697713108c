#!/usr/bin/env python3
"""Computes the int8 layers that MXNet 1.9.1 fuses for oneDNN: ops/_sg_mkldnn_*/CASE as make_op_case.py writes them, whose
environment it needs, and whole networks that quantize_model makes of them: ops/_graph/int8_*."""

import json

import numpy

from make_op_case import WriteCase, mxnet

sym = mxnet.sym
RANDOM = numpy.random.RandomState(7)
CALIBRATED = {"min_calib_range": "-2", "max_calib_range": "3.5"}
POSITIVE = {"min_calib_range": "0", "max_calib_range": "3.5"}


def Int8(*shape):
    return RANDOM.randint(-127, 128, shape).astype("int8")


def Uint8(*shape):
    return RANDOM.randint(0, 256, shape).astype("uint8")


def Float(low, high, *shape):
    return RANDOM.uniform(low, high, shape).astype("float32")


def Range(low, high):
    return [numpy.array([low], "float32"), numpy.array([high], "float32")]


def LayerSymbol(op, subgraph, names, attrs, outputs):
    """Returns the outputs of a node "op" with that subgraph, over variables of these names."""
    inner = json.loads(subgraph.tojson())
    node = {"op": op, "name": "op", "attrs": attrs, "inputs": [[i, 0, 0] for i in range(len(names))],
            "subgraphs": [{key: inner[key] for key in ("nodes", "arg_nodes", "node_row_ptr", "heads")}]}
    return mxnet.sym.load_json(json.dumps({
        "nodes": [{"op": "null", "name": name, "inputs": []} for name in names] + [node],
        "arg_nodes": list(range(len(names))),
        "heads": [[len(names), i, 0] for i in range(outputs)],
        "attrs": {"mxnet_version": ["int", 10901]},
    }))


def Write(op, case, subgraph, values, attrs, outputs=3, auxs=()):
    shapes = {name: value.shape for name, value in values.items() if name not in auxs}
    dtypes = {name: str(value.dtype) for name, value in values.items()}
    WriteCase(LayerSymbol(op, subgraph, values, dict(attrs, quantized="true"), outputs), shapes, op, case,
              grad_req="null", values=values, dtypes=dtypes)


def Conv(case, data, attrs, weight, calibrated, norm=False, addend=None, act=None, no_bias=False):
    """Writes a case of _sg_mkldnn_conv. `weight` is the shape of the weight."""
    filters = weight[0]
    values = {"data": data, "weight": Float(-0.5, 0.5, *weight)}
    flags = {}
    x = sym.Convolution(sym.var("data0"), num_filter=filters, no_bias=no_bias, name="conv", **attrs)
    if not no_bias:
        values["bias"] = Float(-0.5, 0.5, filters)
    if norm:
        x = sym.BatchNorm(x, fix_gamma=False, eps=1e-3, name="bn")
        values.update({"gamma": Float(0.5, 1.5, filters), "beta": Float(-0.5, 0.5, filters),
                       "mean": Float(-0.5, 0.5, filters), "var": Float(0.5, 1.5, filters)})
        flags["with_bn"] = "true"
    if addend is not None:
        x = sym.elemwise_add(x, sym.var("sum0"), name="sum")
        values["sum"] = addend
        flags["with_sum"] = "true"
    if act is not None:
        x = act(x)
        flags["with_act" if addend is None else "with_postsum_act"] = "true"
    # The magnitude of unsigned data is its maximum.
    values["data_min"], values["data_max"] = Range(0 if data.dtype == "uint8" else -1, 1.5)
    if addend is not None:
        values["sum_min"], values["sum_max"] = Range(0 if addend.dtype == "uint8" else -2, 1.5)
    Write("_sg_mkldnn_conv", case, x, values, dict(flags, **calibrated), auxs=("mean", "var") if norm else ())


def Relu(x):
    return sym.Activation(x, act_type="relu", name="relu")


def Leaky(x):
    return sym.LeakyReLU(x, act_type="leaky", slope=0.3, name="leaky")


def Clip(x):
    return sym.clip(x, a_min=0, a_max=6, name="clip")


def Convolutions():
    window = {"kernel": (3, 3), "pad": (1, 1)}
    Conv("norm_relu", Uint8(2, 3, 6, 5), window, (4, 3, 3, 3), POSITIVE, norm=True, act=Relu)
    Conv("signed", Int8(2, 3, 6, 5), window, (4, 3, 3, 3), CALIBRATED)
    Conv("sum_relu", Uint8(2, 4, 5, 5), window, (4, 4, 3, 3), POSITIVE, addend=Uint8(2, 4, 5, 5), act=Relu, no_bias=True)
    Conv("norm_sum", Int8(1, 4, 5, 5), window, (4, 4, 3, 3), CALIBRATED, norm=True, addend=Int8(1, 4, 5, 5), no_bias=True)
    Conv("strided_leaky", Uint8(1, 4, 7, 8), {"kernel": (3, 2), "stride": (2, 1), "dilate": (1, 2)}, (8, 4, 3, 2),
         CALIBRATED, act=Leaky)
    Conv("clip", Uint8(2, 3, 4, 4), {"kernel": (1, 1)}, (5, 3, 1, 1), POSITIVE, act=Clip)
    # With a calibrated range MXNet takes the scales of other filters for groups of several filters.
    Conv("groups", Uint8(2, 6, 5, 5), dict(window, num_group=3), (6, 2, 3, 3), {})
    Conv("depthwise_relu", Uint8(2, 4, 5, 5), dict(window, num_group=4), (4, 1, 3, 3), POSITIVE, norm=True, act=Relu)
    Conv("three_axes", Int8(1, 2, 4, 4, 3), {"kernel": (3, 3, 3), "pad": (1, 1, 1)}, (3, 2, 3, 3, 3), CALIBRATED)
    Conv("by_data", Uint8(2, 3, 6, 5), window, (4, 3, 3, 3), {}, act=Relu)
    Conv("signed_by_data", Int8(2, 3, 6, 5), window, (4, 3, 3, 3), {}, norm=True)
    Conv("sum_by_data", Int8(2, 4, 5, 5), window, (4, 4, 3, 3), {}, addend=Int8(2, 4, 5, 5), act=Relu, no_bias=True)


def Dense(case, data, attrs, weight, by_filter, act=None, no_bias=False, flatten=True, **options):
    """Writes a case of _sg_mkldnn_fully_connected."""
    values = {"data": data}
    draw = (lambda *shape: Float(-0.5, 0.5, *shape)) if by_filter else Int8
    arrays = ["weight"] if no_bias else ["weight", "bias"]
    for name in arrays:
        values[name] = draw(*(weight if name == "weight" else weight[:1]))
    values["min_data"], values["max_data"] = Range(0 if data.dtype == "uint8" else -1, 1.5)
    if not by_filter:
        for name in arrays:
            values["min_" + name], values["max_" + name] = Range(-0.5, 0.4)
    x = sym.FullyConnected(sym.var("data0"), num_hidden=weight[0], no_bias=no_bias, flatten=flatten, name="fc")
    attrs = dict(attrs, **({"channel_wise_quantize": "True"} if by_filter else {}))
    if act is not None:
        x = act(x)
        attrs["with_eltwise"] = "True"
    Write("_sg_mkldnn_fully_connected", case, x, values, attrs, **options)


def DenseLayers():
    real = {"enable_float_output": "True"}
    Dense("by_filter_relu", Uint8(3, 10), POSITIVE, (4, 10), True, act=Relu)
    Dense("by_filter", Int8(2, 3, 5), CALIBRATED, (6, 15), True)
    Dense("by_filter_float", Uint8(2, 3, 5), real, (6, 5), True, flatten=False, outputs=1)
    Dense("by_filter_float_relu", Int8(4, 7), real, (3, 7), True, act=Relu, no_bias=True, outputs=1)
    Dense("calibrated", Uint8(3, 10), CALIBRATED, (4, 10), False)
    Dense("abs", Int8(3, 10), POSITIVE, (4, 10), False, act=sym.abs)
    Dense("float", Uint8(3, 10), real, (4, 10), False, outputs=1)
    Dense("by_data", Int8(3, 10), {}, (4, 10), False)
    Dense("relu_by_data", Uint8(3, 10), {}, (4, 10), False, act=Relu)
    Dense("no_bias_by_data", Uint8(2, 3, 4), {}, (5, 4), False, no_bias=True, flatten=False)


def Attention():
    heads, real = {"heads": "2"}, {"enable_float_output": "True"}
    for case, attrs, outputs in (("calibrated", CALIBRATED, 3), ("float", real, 1)):
        values = {"queries_keys_values": Int8(5, 2, 24)}
        values["min_qkv"], values["max_qkv"] = Range(-1, 1.5)
        x = sym.contrib.interleaved_matmul_selfatt_qk(sym.var("data0"), heads=2, name="qk")
        Write("_sg_mkldnn_selfatt_qk", case, x, values, dict(heads, **attrs), outputs)
    for case, attrs, outputs in (("calibrated", CALIBRATED, 3), ("float", real, 1), ("by_data", {}, 3)):
        values = {"queries_keys_values": Int8(5, 2, 24), "attention": Uint8(4, 5, 5)}
        values["min_qkv"], values["max_qkv"] = Range(-1, 1.5)
        values["min_attention"], values["max_attention"] = Range(0, 1)
        x = sym.contrib.interleaved_matmul_selfatt_valatt(sym.var("data0"), sym.var("att0"), heads=2, name="valatt")
        Write("_sg_mkldnn_selfatt_valatt", case, x, values, dict(heads, **attrs), outputs)


def Network():
    x = sym.Convolution(sym.var("data"), num_filter=8, kernel=(3, 3), pad=(1, 1), name="conv0")
    x = Relu(sym.BatchNorm(x, fix_gamma=False, name="bn0"))
    y = sym.Convolution(x, num_filter=8, kernel=(3, 3), pad=(1, 1), no_bias=True, name="conv1")
    x = sym.Activation(sym.elemwise_add(x, y, name="sum"), act_type="relu", name="relu1")
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool0")
    a = sym.Convolution(x, num_filter=8, kernel=(1, 1), name="conv2")
    b = sym.Convolution(x, num_filter=8, kernel=(3, 3), pad=(1, 1), num_group=8, name="conv3")
    x = sym.Pooling(sym.concat(a, b, dim=1, name="concat"), global_pool=True, kernel=(1, 1), pool_type="avg", name="pool1")
    x = sym.FullyConnected(sym.Flatten(x, name="flat"), num_hidden=6, name="fc0")
    x = sym.FullyConnected(sym.Activation(x, act_type="relu", name="relu2"), num_hidden=5, name="fc1")
    return sym.softmax(x, name="softmax")


def Networks():
    network, shape = Network(), (2, 4, 8, 8)
    args, _, auxs = network.infer_shape(data=shape)
    arrays = {n: mxnet.nd.array(Float(-0.5, 0.5, *s)) for n, s in zip(network.list_arguments(), args) if n != "data"}
    states = {n: mxnet.nd.array(Float(0.5, 1.5, *s)) for n, s in zip(network.list_auxiliary_states(), auxs)}
    data = Float(0, 1, *shape)
    for case, mode, granularity in (("int8_by_filter", "naive", "channel-wise"), ("int8_calibrated", "naive", "tensor-wise"),
                                    ("int8_by_data", "none", "tensor-wise")):
        options = {}
        if mode != "none":
            batches = mxnet.io.NDArrayIter({"data": mxnet.nd.array(data)}, batch_size=shape[0])
            options = {"calib_data": batches, "num_calib_examples": shape[0]}
        symbol, args, auxs = mxnet.contrib.quantization.quantize_model(
            network.get_backend_symbol("MKLDNN_QUANTIZE"), arrays, states, label_names=None, ctx=mxnet.cpu(), calib_mode=mode,
            quantized_dtype="auto", quantize_granularity=granularity, **options)
        values = {n: a.asnumpy() for n, a in list(args.items()) + list(auxs.items())}
        WriteCase(symbol.get_backend_symbol("MKLDNN_QUANTIZE"), {"data": shape}, "_graph", case, grad_req="null",
                  values=dict(values, data=data), dtypes={n: str(v.dtype) for n, v in values.items()}, rtol=2e-2)


def main():
    Convolutions()
    DenseLayers()
    Attention()
    Networks()


if __name__ == "__main__":
    main()
