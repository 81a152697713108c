#!/usr/bin/env python3
"""Computes the cases of operators on 8-bit integers under MXNet 1.9.1: ops/OP/CASE as
make_op_case.py writes them, whose environment it needs."""

import numpy

from make_op_case import OpSymbol, WriteCase

RANDOM = numpy.random.RandomState(5)


def Int8(*shape):
    return RANDOM.randint(-127, 128, shape).astype("int8")


def Uint8(*shape):
    return RANDOM.randint(0, 256, shape).astype("uint8")


def Range(low, high):
    """Returns the arrays of a range."""
    return numpy.array([low], "float32"), numpy.array([high], "float32")


def Write(op, case, values, attrs, outputs=1, auxs=(), **options):
    """Writes a case of _contrib_OP. `auxs` names the auxiliary states among the values."""
    shapes = {name: value.shape for name, value in values.items() if name not in auxs}
    dtypes = {name: str(value.dtype) for name, value in values.items()}
    WriteCase(OpSymbol("_contrib_" + op, values, attrs, outputs), shapes, "_contrib_" + op, case,
              grad_req="null", values=values, dtypes=dtypes, **options)


def main():
    def Quantize(case, data, attrs, **options):
        Write("quantize_v2", case, {"data": data.astype("float32")}, attrs, **options)

    Quantize("calibrated", RANDOM.uniform(-2, 2, (3, 4, 5)),
             {"min_calib_range": "-1.5", "max_calib_range": "1.2"})
    Quantize("by_data", RANDOM.uniform(-2, 3, (2, 3, 4, 4)), {"out_type": "int8"})
    Quantize("unsigned", RANDOM.uniform(-0.5, 3, (2, 7)), {"out_type": "uint8"})
    Quantize("auto", RANDOM.uniform(0, 3, (2, 7)),
             {"out_type": "auto", "min_calib_range": "0", "max_calib_range": "2.5"})
    Write("quantize_v2", "quantized_already", {"data": Int8(3, 4)}, {})

    def Dequantize(case, data, low, high):
        low, high = Range(low, high)
        Write("dequantize", case, {"data": data, "min_range": low, "max_range": high}, {})

    Dequantize("int8", Int8(2, 3, 4, 4), -1.5, 2)
    Dequantize("uint8", Uint8(5, 3), 0, 4)

    def Requantize(case, attrs, magnitude=2 ** 24, **options):
        low, high = Range(-300, 300)
        data = RANDOM.randint(-magnitude, magnitude, (2, 3, 5)).astype("int32")
        Write("requantize", case, {"data": data, "min_range": low, "max_range": high}, attrs,
              **options)

    Requantize("by_data", {})
    Requantize("calibrated", {"min_calib_range": "-1", "max_calib_range": "1.5"})
    Requantize("unsigned", {"out_type": "uint8", "min_calib_range": "0", "max_calib_range": "2"})

    def Ranged(*arrays):
        """Returns inputs named data, weight and bias, followed by a range of each."""
        values = dict(zip(["data", "weight", "bias"], arrays))
        for i, name in enumerate(list(values)):
            low, high = Range(-1.5 - i, 1.2 + i / 2)
            values.update({"min_" + name: low, "max_" + name: high})
        return values

    dense = "quantized_fully_connected"
    Write(dense, "signed", Ranged(Int8(3, 10), Int8(4, 10), Int8(4)), {"num_hidden": "4"})
    Write(dense, "unsigned", Ranged(Uint8(2, 3, 5), Int8(6, 15), Int8(6)), {"num_hidden": "6"})
    Write(dense, "last_axis", Ranged(Uint8(2, 3, 5), Int8(4, 5)),
          {"num_hidden": "4", "no_bias": "True", "flatten": "False"})

    conv = "quantized_conv"
    Write(conv, "no_bias", Ranged(Uint8(2, 3, 6, 5), Int8(4, 3, 3, 3)),
          {"kernel": "(3, 3)", "num_filter": "4", "no_bias": "True", "pad": "(1, 1)"})
    Write(conv, "strided", Ranged(Uint8(1, 4, 7, 8), Int8(8, 4, 3, 2), Int8(8)),
          {"kernel": "(3, 2)", "num_filter": "8", "stride": "(2, 1)", "dilate": "(1, 2)",
           "layout": "NCHW"})

    Write("quantized_act", "relu", Ranged(Int8(2, 3, 4, 4)), {"act_type": "relu"})
    Write("quantized_flatten", "int8", Ranged(Int8(2, 3, 4)), {})
    Write("quantized_flatten", "uint8", Ranged(Uint8(2, 3, 4, 2)), {})

    def Add(case, lhs, rhs, attrs):
        values = {"lhs": lhs, "rhs": rhs}
        values["lhs_min"], values["lhs_max"] = Range(-1.5, 1)
        values["rhs_min"], values["rhs_max"] = Range(-0.5, 2.5)
        Write("quantized_elemwise_add", case, values, attrs)

    pooling = "quantized_pooling"
    Write(pooling, "max", Ranged(Int8(2, 3, 6, 7)), {"kernel": "(3, 2)", "pad": "(1, 0)"})
    Write(pooling, "avg", Ranged(Uint8(2, 3, 6, 7)),
          {"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "pool_type": "avg",
           "count_include_pad": "False"})
    Write(pooling, "global_avg", Ranged(Int8(2, 4, 5, 5)),
          {"global_pool": "True", "kernel": "(1, 1)", "pool_type": "avg"})

    def Concat(case, arrays, attrs):
        values = {"arg%d" % i: array for i, array in enumerate(arrays)}
        for i in range(len(arrays)):
            low, high = Range(-i - 1, 1.5)
            values.update({"arg%d_min" % i: low, "arg%d_max" % i: high})
        Write("quantized_concat", case, values, dict(attrs, num_args=str(len(arrays))))

    Concat("signed", [Int8(2, 3, 4, 4), Int8(2, 5, 4, 4)], {})
    Concat("unsigned", [Uint8(2, 3), Uint8(2, 1), Uint8(2, 4)], {"dim": "1"})
    Concat("mixed", [Uint8(2, 3, 4, 2), Int8(2, 3, 4, 5)], {"dim": "3"})

    calibrated = {"min_calib_range": "-2", "max_calib_range": "3"}
    Add("signed", Int8(2, 3, 4, 4), Int8(2, 3, 4, 4), {})
    Add("signed_calibrated", Int8(2, 3, 4, 4), Int8(2, 3, 4, 4), calibrated)
    Add("unsigned_calibrated", Uint8(2, 9), Uint8(2, 9), calibrated)
    Add("mixed_calibrated", Uint8(2, 9), Int8(2, 9), calibrated)

    def ToRange(case, low, high, attrs):
        data = RANDOM.uniform(-2, 2, (2, 3, 4, 5)).astype("float32")
        low, high = Range(low, high)
        Write("quantize", case, {"data": data, "min_range": low, "max_range": high}, attrs, outputs=3)

    ToRange("signed", -1.5, 1, {"out_type": "int8"})
    ToRange("unsigned", 0, 1.75, {})

    def Asymmetric(case, shape, attrs):
        data = RANDOM.uniform(-1, 2, shape).astype("float32")
        Write("quantize_asym", case, {"data": data}, attrs, outputs=3)

    Asymmetric("by_data", (2, 3, 7), {})
    Asymmetric("calibrated", (4, 2, 5), {"min_calib_range": "-0.5", "max_calib_range": "1.5"})

    def Multiply(case, attrs, outputs=3):
        values = {"lhs": Int8(2, 3, 5), "rhs": Int8(2, 3, 5)}
        values["lhs_min"], values["lhs_max"] = Range(-1.5, 1)
        values["rhs_min"], values["rhs_max"] = Range(-0.5, 2.5)
        Write("quantized_elemwise_mul", case, values, attrs, outputs=outputs)

    Multiply("by_data", {})
    Multiply("calibrated", {"min_calib_range": "-4", "max_calib_range": "3.5"})
    Multiply("float", {"enable_float_output": "True"}, outputs=1)

    def Norm(case, data, low, high, attrs):
        channels = data.shape[1]
        values = {"data": data, "gamma": RANDOM.uniform(0.5, 1.5, channels).astype("float32"),
                  "beta": RANDOM.uniform(-1, 1, channels).astype("float32"),
                  "moving_mean": RANDOM.uniform(-0.5, 0.5, channels).astype("float32"),
                  "moving_var": RANDOM.uniform(0.5, 1.5, channels).astype("float32")}
        values["min_data"], values["max_data"] = Range(low, high)
        Write("quantized_batch_norm", case, values, attrs, outputs=3, auxs=("moving_mean", "moving_var"))

    Norm("signed", Int8(2, 3, 4, 5), -1.5, 1,
         {"min_calib_range": "-2", "max_calib_range": "2.5", "fix_gamma": "False"})
    Norm("unsigned", Uint8(2, 4, 3, 3), 0, 3,
         {"min_calib_range": "-3", "max_calib_range": "2.5", "eps": "0.01"})

    low, high = Range(-1.5, 2)
    Write("quantized_embedding", "basic",
          {"data": numpy.array([[0, 4, 2], [7, -1, 3]], "float32"), "weight": Int8(5, 4), "min_weight": low,
           "max_weight": high}, {"input_dim": "5", "output_dim": "4"}, outputs=3)


if __name__ == "__main__":
    main()
