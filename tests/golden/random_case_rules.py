"""What make_random_cases.py draws in a way of its own, and what it leaves out."""

import re

import numpy


def Extents(random, rank, low=1):
    return tuple(int(n) for n in random.randint(low, 6, rank))


def Text(values):
    return "(%s,)" % ", ".join(str(v) for v in values)


def Regions(random, count, images, size):
    """Returns regions (image, left, top, right, bottom) within `size` for the inputs called rois."""
    corners = numpy.sort(random.uniform(0, size, (count, 2, 2)), axis=1).reshape(count, 4)
    return numpy.hstack([random.randint(0, images, (count, 1)), corners])


# Functions that return {"attrs", "inputs", "shapes", "indices", "values", "dtype"} of operators that MXNet hardly takes
# otherwise. An attribute that is None is not given.


def _Pad(random):
    rank = random.randint(4, 6)
    pads = [0] * 4 + [int(p) for p in random.randint(0, 2, 2 * (rank - 2))]
    return {"attrs": {"pad_width": Text(pads)}, "shapes": {"data": Extents(random, rank, 2)}}


def _Normalization(random):
    return {"inputs": ["data", "gamma", "beta", "moving_mean", "moving_var"], "attrs": {"key": "k", "ndev": "1", "axis": "1"},
            "shapes": {"data": Extents(random, 4)}}


def _GatherNd(random):
    data, count = Extents(random, random.randint(1, 5)), 1
    count = int(random.randint(1, len(data) + 1))
    return {"shapes": {"data": data, "indices": (count,) + Extents(random, random.randint(1, 3))},
            "indices": {"indices": min(data[:count])}}


def _ScatterNd(random):
    shape = Extents(random, random.randint(1, 4))
    rows = int(random.randint(1, shape[0] + 1))  # different ones
    return {"attrs": {"shape": Text(shape)}, "indices": {"indices": shape[0]},
            "shapes": {"lhs": shape, "data": (rows,) + shape[1:], "rhs": (rows,) + shape[1:], "indices": (1, rows)}}


def _UnravelIndex(random):
    shape = Extents(random, random.randint(1, 4))
    return {"attrs": {"shape": Text(shape)}, "shapes": {"data": Extents(random, 1)},
            "indices": {"data": int(numpy.prod(shape))}}


def _RavelIndex(random):
    shape = Extents(random, random.randint(1, 4))
    return {"attrs": {"shape": Text(shape)}, "shapes": {"data": (len(shape),) + Extents(random, 1)},
            "indices": {"data": min(shape)}}


def _Rois(random):
    data, count = Extents(random, 4, 2), int(random.randint(1, 4))
    return {"attrs": {"pooled_size": Text(random.randint(1, 4, 2)), "position_sensitive": None, "aligned": None,
                      "spatial_scale": str(random.choice([0.5, 1.0]))},
            "shapes": {"data": data, "rois": (count, 5)}, "values": {"rois": Regions(random, count, data[0], min(data[2:]))}}


def _Deformable(random):
    kernel, stride, dilate, pad = ([int(n) for n in random.randint(low, high, 2)]
                                   for low, high in ((1, 4), (1, 3), (1, 3), (0, 3)))
    data = (int(random.randint(1, 3)), 4) + Extents(random, 2, 3)
    image = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, d, p in zip(data[2:], kernel, stride, dilate, pad)]
    points = 2 * kernel[0] * kernel[1]
    return {"attrs": {"kernel": Text(kernel), "stride": Text(stride), "dilate": Text(dilate), "pad": Text(pad),
                      "num_filter": "4", "num_group": str(random.randint(1, 3)), "num_deformable_group": "2", "layout": None,
                      "no_bias": None},
            "shapes": {"data": data, "offset": (data[0], 2 * points) + tuple(image)}}


def _SpatialTransformer(random):
    data = Extents(random, 4)
    return {"attrs": {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": Text(Extents(random, 2, 2))},
            "shapes": {"data": data, "loc": (data[0], 6)}}


def _Crop(random):
    data = Extents(random, 4, 2)
    return {"attrs": {"num_args": "1", "h_w": Text([random.randint(1, n + 1) for n in data[2:]]), "offset": None},
            "inputs": ["arg0"], "shapes": {"arg0": data}}


def _Col2Im(random):
    image, kernel, stride = Extents(random, 2, 3), Extents(random, 2), [int(s) for s in random.randint(1, 3, 2)]
    kernel = [min(k, 3) for k in kernel]
    columns = [(n - k) // s + 1 for n, k, s in zip(image, kernel, stride)]
    channels = int(random.randint(1, 4))
    return {"attrs": {"output_size": Text(image), "kernel": Text(kernel), "stride": Text(stride), "dilate": None, "pad": None},
            "shapes": {"data": (int(random.randint(1, 4)), channels * int(numpy.prod(kernel)), int(numpy.prod(columns)))}}


def _KhatriRao(random):
    columns, count = int(random.randint(1, 5)), int(random.randint(1, 4))
    names = ["arg%d" % i for i in range(count)]
    return {"attrs": {"num_args": str(count)}, "inputs": names, "shapes": {n: Extents(random, 1) + (columns,) for n in names}}


def _Tensordot(random):
    a, b = list(Extents(random, random.randint(1, 4))), list(Extents(random, random.randint(1, 4)))
    count = int(random.randint(0, min(len(a), len(b)) + 1))
    of_a, of_b = random.permutation(len(a))[:count], random.permutation(len(b))[:count]
    for i, j in zip(of_a, of_b):
        b[j] = a[i]
    return {"attrs": {"a_axes_summed": Text(of_a) if count else "()", "b_axes_summed": Text(of_b) if count else "()"},
            "shapes": {"a": tuple(a), "b": tuple(b)}}


def _TensordotOfAxes(random):
    count = int(random.randint(0, 3))
    shared = Extents(random, count)
    return {"attrs": {"axes": str(count)}, "shapes": {"a": Extents(random, random.randint(0, 3)) + shared,
                                                      "b": shared + Extents(random, random.randint(0, 3))}}


def _EvenImage(random):
    height, width = Extents(random, 2)
    return {"shapes": {"data": (2 * height, 2 * width, 1 + 2 * int(random.randint(2)))}}


def _Deconvolution(random):
    rank = int(random.randint(1, 4))
    kernel, stride, dilate = ([int(n) for n in random.randint(1, high, rank)] for high in (4, 4, 3))
    if random.rand() < 0.8:
        stride, dilate = (stride, [1] * rank) if random.rand() < 0.5 else ([1] * rank, dilate)
    groups = int(random.randint(1, 3))
    return {"attrs": {"kernel": Text(kernel), "stride": Text(stride), "dilate": Text(dilate), "layout": None,
                      "pad": Text([random.randint(0, k) for k in kernel]), "adj": Text([random.randint(0, s) for s in stride]),
                      "target_shape": None, "num_filter": str(2 * groups), "num_group": str(groups), "no_bias": "False"},
            "shapes": {"data": (int(random.randint(1, 4)), 2 * groups) + Extents(random, rank)}}


def _ImageResize(random):
    return {"attrs": {"size": Text(Extents(random, 2)), "interp": str(random.randint(0, 2)), "keep_ratio": None},
            "shapes": {"data": Extents(random, random.randint(3, 5))}}


def _Attention(decoder):
    def Drawn(random):
        heads, (queries, keys, batch, size) = int(random.randint(1, 4)), Extents(random, 4)
        return {"attrs": {"heads": str(heads)}, "shapes": {
            "queries_keys_values": (queries, batch, heads * size * 3), "queries": (queries, batch, heads * size),
            "keys_values": (keys, batch, heads * size * 2),
            "attention": (batch * heads, queries, keys if decoder else queries)}}
    return Drawn


def _Sequence(random):
    data = Extents(random, random.randint(2, 5))
    axis = 0 if random.rand() < 0.6 else 1
    lengths = (data[1 - axis],)
    used = bool(random.randint(2))
    return {"attrs": {"axis": str(axis), "use_sequence_length": str(used)}, "inputs": ["data"] + ["sequence_length"] * used,
            "shapes": {"data": data, "sequence_length": lengths},
            "values": {"sequence_length": random.randint(1, data[axis] + 1, lengths)}}


def _BatchTake(random):
    data = Extents(random, 2)
    return {"shapes": {"a": data, "indices": data[:1]}, "indices": {"indices": data[1]}}


def _IndexCopy(random):
    old = Extents(random, random.randint(1, 4))
    rows = int(random.randint(1, old[0] + 1))
    return {"shapes": {"old_tensor": old, "index_vector": (rows,), "new_tensor": (rows,) + old[1:]},
            "indices": {"index_vector": old[0]}}


def _SoftmaxCrossEntropy(random):
    data = Extents(random, 2)
    return {"shapes": {"data": data, "label": data[:1]}, "values": {"label": random.randint(0, data[1], data[:1])}}


def _Rnn(random):
    mode = ["rnn_relu", "rnn_tanh", "lstm", "gru"][random.randint(4)]
    attrs = {"mode": mode, "state_size": str(random.randint(1, 5)), "num_layers": str(random.randint(1, 4)), "p": None,
             "projection_size": None, "use_sequence_length": None, "lstm_state_clip_nan": None}
    attrs.update(dict.fromkeys(["lstm_state_clip_min", "lstm_state_clip_max"]) if mode != "lstm" or random.rand() < 0.7 else
                 {"lstm_state_clip_min": "-0.1", "lstm_state_clip_max": "0.15"})
    return {"attrs": attrs, "inputs": ["data", "parameters", "state"] + ["state_cell"] * (mode == "lstm"),
            "shapes": {"data": Extents(random, 3)}}


def _Correlation(random):
    data = Extents(random, 4)
    return {"attrs": {name: str(random.randint(low, high)) for name, low, high in (
                ("kernel_size", 1, 4), ("max_displacement", 0, 3), ("stride1", 1, 3), ("stride2", 1, 3), ("pad_size", 0, 4))},
            "shapes": {"data1": data, "data2": data}}


def _BoxDecode(random):
    data = Extents(random, 2) + (4,)
    return {"shapes": {"data": data, "anchors": (1,) + data[1:]}}


def _NumpyPad(random):
    data = Extents(random, random.randint(1, 5), 2)
    pads = ["(%d, %d)" % tuple(random.randint(0, 2, 2)) for _ in data]
    return {"attrs": {"pad_width": Text(pads), "reflect_type": None}, "shapes": {"data": data}}


def _SliceAssign(random):
    shape = Extents(random, random.randint(1, 5))
    begin = [int(random.randint(0, n)) for n in shape]
    end = [int(random.randint(b + 1, n + 1)) for b, n in zip(begin, shape)]
    return {"attrs": {"begin": Text(begin), "end": Text(end), "step": None},
            "shapes": {"lhs": shape, "rhs": tuple(e - b for b, e in zip(begin, end))}}


def _ImageCrop(random):
    image = Extents(random, random.randint(3, 5))
    x, y = (int(random.randint(0, n)) for n in (image[-2], image[-3]))
    return {"attrs": {"x": str(x), "y": str(y), "width": str(random.randint(1, image[-2] - x + 1)),
                      "height": str(random.randint(1, image[-3] - y + 1))}, "shapes": {"data": image}}


def _Ctc(random):
    batch, classes = int(random.randint(1, 4)), int(random.randint(3, 7))
    labels = (batch, int(random.randint(1, 4)))
    steps = 2 * labels[1] + int(random.randint(0, 4))  # enough for equal labels, which need a blank between them
    return {"shapes": {"data": (steps, batch, classes), "label": labels}, "inputs": ["data", "label"],
            "attrs": {"use_data_lengths": None, "use_label_lengths": None},
            "values": {"label": random.randint(1, classes - 1, labels)}}


def _Whole(random):
    return {"dtype": ["int32", "int64"][random.randint(2)]}


def _Count(random):
    return {"attrs": {"M": str(random.randint(0, 9)), "N": None}}


def _Linspace(random):
    return {"attrs": {"num": str(random.randint(1, 9)), "stop": "%.3g" % random.uniform(-3, 3), "step": None, "repeat": None,
                      "dtype": None, "infer_range": None}}


DRAWN = {
    "Pad": _Pad, "BatchNorm_v1": _Normalization, "_contrib_SyncBatchNorm": _Normalization, "gather_nd": _GatherNd,
    "scatter_nd": _ScatterNd, "_unravel_index": _UnravelIndex, "_ravel_multi_index": _RavelIndex,
    "_contrib_ROIAlign": _Rois, "ROIPooling": _Rois, "_contrib_DeformableConvolution": _Deformable,
    "SpatialTransformer": _SpatialTransformer, "Crop": _Crop,
    "col2im": _Col2Im, "khatri_rao": _KhatriRao, "_npi_tensordot": _Tensordot, "batch_take": _BatchTake,
    "_contrib_index_copy": _IndexCopy, "CTCLoss": _Ctc, "softmax_cross_entropy": _SoftmaxCrossEntropy, "_npi_lcm": _Whole,
    "_npi_lcm_scalar": _Whole, "_npi_hanning": _Count, "_npi_hamming": _Count, "_npi_blackman": _Count,
    "_linspace": _Linspace, "RNN": _Rnn, "Correlation": _Correlation, "_contrib_box_decode": _BoxDecode,
    "_npi_pad": _NumpyPad, "_slice_assign": _SliceAssign, "_image_crop": _ImageCrop, "SequenceLast": _Sequence,
    "SequenceMask": _Sequence, "SequenceReverse": _Sequence, "all_finite": lambda random: {"inputs": ["data"]},
    "_npi_tensordot_int_axes": _TensordotOfAxes, "_image_flip_left_right": _EvenImage, "_image_flip_top_bottom": _EvenImage,
    "_image_resize": _ImageResize, "Deconvolution": _Deconvolution,
    "_contrib_interleaved_matmul_selfatt_qk": _Attention(False),
    "_contrib_interleaved_matmul_selfatt_valatt": _Attention(False),
    "_contrib_interleaved_matmul_encdec_qk": _Attention(True),
    "_contrib_interleaved_matmul_encdec_valatt": _Attention(True),
}

# Cases whose difference is known. Each rule: operators, and a function of the attributes, the shapes of the arguments in
# their order, and the arguments of WriteCase. docs/mxnet_differences.md has those in which MXNet's results are wrong.


def _Rank(shapes):
    return len(shapes[0]) if shapes else 0


def _Axes(text):
    return [int(n) for n in re.findall(r"-?\d+", text or "")]


def _HasAxisTwice(shapes, text):
    axes = _Axes(text)
    return len({n % max(_Rank(shapes), 1) for n in axes}) < len(axes)


LISTED = [
    # MXNet reads out of bounds, or what nobody wrote.
    (r"_contrib_allclose|Correlation", lambda attrs, shapes, more: len(set(shapes)) > 1),
    (r"(multi_)?all_finite", lambda attrs, shapes, more: attrs.get("init_output") == "False"),
    (r"_image_flip_.*", lambda attrs, shapes, more: any(n % 2 for n in shapes[0][-3:-1])),
    (r"_contrib_SyncBatchNorm", lambda attrs, shapes, more: attrs.get("output_mean_var") == "True"),
    (r"LeakyReLU", lambda attrs, shapes, more: attrs.get("act_type") == "rrelu"),  # the slopes of prediction
    (r"_contrib_interleaved_matmul_(selfatt_valatt|encdec_qk)", lambda attrs, shapes, more: len(more["without_gradient"]) > 0),
    # The gradient is that of a copy.
    (r"_image_(?!crop|normalize).*", lambda attrs, shapes, more: more["grad_req"] != "null"),
    (r"_npi_where_[lr]scalar|_npi_rarctan2_scalar|_npi_r?copysign_scalar",
     lambda attrs, shapes, more: more["grad_req"] != "null"),
    # Wrong uses that MXNet does not look at.
    (r"RNN", lambda attrs, shapes, more: attrs["num_layers"] != "1" and more["grad_req"] != "null" and
     ("data" in more["without_gradient"] or attrs["num_layers"] != "2" and attrs["mode"].startswith("rnn"))),
    (r"RNN", lambda attrs, shapes, more: attrs["mode"] != "lstm" and more["grad_req"] != "null" and
     "parameters" in more["without_gradient"]),
    (r"stack|_npi_stack", lambda attrs, shapes, more: len(set(shapes)) > 1),
    (r"SoftmaxOutput", lambda attrs, shapes, more: float(attrs.get("smooth_alpha", 0)) != 0 and 1 in shapes[0][1:]),
    (r"Reshape", lambda attrs, shapes, more: not _Axes(attrs.get("shape")) and not _Axes(attrs.get("target_shape"))),
    (r"_npi_flip|_np_squeeze", lambda attrs, shapes, more: _HasAxisTwice(shapes, attrs.get("axis"))),
    (r"_np_moveaxis", lambda attrs, shapes, more: _HasAxisTwice(shapes, attrs.get("source"))),
    (r"_split_v2", lambda attrs, shapes, more: int(attrs.get("sections", 0)) < 0),
    (r"norm", lambda attrs, shapes, more: more["whole"]),  # of zeros
    (r"_npi_matmul", lambda attrs, shapes, more: more["grad_req"] != "null" and max(map(len, shapes)) > 3 and
     shapes[0][:-2] != shapes[1][:-2]),  # sums over the first axes only
    (r"_npi_pad", lambda attrs, shapes, more: attrs.get("mode") in ("maximum", "minimum")),
    (r"_linalg_(gelqf|inverse|potri|det|slogdet)", lambda attrs, shapes, more: more["whole"]),  # singular
    (r"Convolution_v1|Deconvolution", lambda attrs, shapes, more: max(_Axes(attrs.get("stride", "1"))) > 1 and
     max(_Axes(attrs.get("dilate", "1"))) > 1),
    (r"_np_prod|_npi_mean", lambda attrs, shapes, more: 0 in shapes[0]),
    (r"_linalg_trsm", lambda attrs, shapes, more: float(attrs.get("alpha", 1)) == 0),
    (r"Pooling.*", lambda attrs, shapes, more: attrs.get("count_include_pad") == "False" and attrs.get("pool_type") == "avg"),
    (r"_npi_identity", lambda attrs, shapes, more: not re.fullmatch(r"\((\d+), \1,\)", attrs.get("shape", ""))),
    (r"_contrib_arange_like", lambda attrs, shapes, more: int(attrs.get("repeat", 1)) < 1),
    (r"_linalg_.*", lambda attrs, shapes, more: _Rank(shapes) < 2),
    (r"_npi_tensordot_int_axes", lambda attrs, shapes, more: int(attrs["axes"]) < 0),
    (r"clip", lambda attrs, shapes, more: float(attrs["a_min"]) > float(attrs["a_max"]) and "int" in more["dtype"]),
    (r"_contrib_AdaptiveAvgPooling2D", lambda attrs, shapes, more: len(_Axes(attrs.get("output_size"))) > 2),
    (r"_contrib_MultiBoxPrior", lambda attrs, shapes, more: _Rank(shapes) != 4),
    (r"_npi_argm.*", lambda attrs, shapes, more: _Rank(shapes) == 0),
    (r"_npi_(std|var)", lambda attrs, shapes, more: int(attrs.get("ddof", 0)) > 1),
    (r"LeakyReLU", lambda attrs, shapes, more: attrs.get("act_type", "leaky") == "leaky" and float(attrs.get("slope", 0)) < 0),
    (r"transpose|_np_transpose", lambda attrs, shapes, more: _HasAxisTwice(shapes, attrs.get("axes"))),
    (r"where", lambda attrs, shapes, more: shapes[0] not in (shapes[1], shapes[1][:1])),
    (r"_npi_logspace", lambda attrs, shapes, more: "int" in attrs.get("dtype", "")),  # beyond the dtype
    (r".*power.*", lambda attrs, shapes, more: "int" in more["dtype"]),  # beyond the dtype
    # Refused, or computed in another way.
    (r"_npi_(hanning|hamming|blackman)", lambda attrs, shapes, more: "int" in attrs.get("dtype", "")),  # 0.9999999
    (r"_npi_(mod|true_divide)", lambda attrs, shapes, more: more["dtype"] == "bool"),  # MXNet refuses all that have elements
    (r".*_scalar", lambda attrs, shapes, more: more["dtype"] == "bool" or
     attrs.get("is_int") == "False" and "int" in more["dtype"]),
    (r"_npi_(var|std)", lambda attrs, shapes, more: "int" in attrs.get("dtype", more["dtype"])),
    (r"_np_(sum|prod)|_npi_mean", lambda attrs, shapes, more: "int" in attrs.get("dtype", "") and "float" in more["dtype"]),
    (r"_image_resize", lambda attrs, shapes, more: attrs.get("interp", "1") not in ("0", "1") or "int" in more["dtype"]),
    (r"SpatialTransformer|_linalg_syevd", lambda attrs, shapes, more: more["whole"]),  # kinks, and ties of the sign
    (r"_contrib_arange_like", lambda attrs, shapes, more: more["dtype"] == "float16"),  # whole numbers
    (r"_npi_r?copysign.*", lambda attrs, shapes, more: more["whole"]),  # the sign of -0
    (r"_npi_einsum|_contrib_quadratic", lambda attrs, shapes, more: "float" not in more["dtype"] or "16" in more["dtype"]),
    (r"digamma|gamma|gammaln", lambda attrs, shapes, more: more["whole"]),  # infinite, or the largest number, at poles
]


def IsListed(op, attrs, shapes, more):
    return any(re.fullmatch(ops, op) and listed(attrs, shapes, more) for ops, listed in LISTED)
