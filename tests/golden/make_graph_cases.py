#!/usr/bin/env python3
"""Computes small graphs with MXNet 1.9.1: ops/_graph/CASE, as make_op_case.py does operators.

  benchmarks/peers/setup_venv.sh            # MXNet, once
  MXNET_MKLDNN_ENABLED=0 ~/.cache/cooper-peers/bin/python tests/golden/make_graph_cases.py

Where variables share a name, saved.json is the graph with one variable in their place.
"""

import os

from make_op_case import WriteCase, mxnet

sym = mxnet.sym


def _Sources(shared):
    """Returns a network in which "src" and "w" are each used twice: as one variable, or as two of one name."""
    if shared:
        src = src2 = sym.Variable("src")
        w = w2 = sym.Variable("w", lr_mult=2, wd_mult=3)
    else:
        src, src2 = sym.Variable("src"), sym.Variable("src")
        w, w2 = sym.Variable("w", lr_mult=2), sym.Variable("w", wd_mult=3)
    a = sym.FullyConnected(src, weight=w, num_hidden=4, no_bias=True, name="a")
    b = sym.FullyConnected(sym.elemwise_mul(src2, a, name="m"), weight=w2, num_hidden=4, no_bias=True, name="b")
    return sym.Group([sym.tanh(b, name="t"), sym.sum(src2, axis=1, name="s")])


def _Norms(shared):
    """Returns two BatchNorms of one name, with all their variables."""
    x = sym.Variable("x")
    names = ["bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    first = [sym.Variable(name) for name in names]
    second = first if shared else [sym.Variable(name) for name in names]
    y = sym.BatchNorm(x, *first, fix_gamma=False, name="bn")
    return sym.BatchNorm(sym.square(y, name="y"), *second, fix_gamma=False, name="bn")


def _SharedStates(second_first):
    """Returns two BatchNorms that share auxiliary states: one after the other, or the second made first."""
    x, y = sym.Variable("x"), sym.Variable("y")
    mean, var = sym.Variable("mean"), sym.Variable("var")

    def Norm(data, name):
        return sym.BatchNorm(data, moving_mean=mean, moving_var=var, fix_gamma=False, name=name)

    if second_first:
        b = Norm(y, "b")
        return sym.Group([Norm(x, "a"), b])
    return Norm(sym.broadcast_add(Norm(x, "a"), y, name="sum"), "b")


def _ReadStates():
    """Returns a state that is read before and after an operator has written it."""
    x, mean, var = sym.Variable("x"), sym.Variable("mean", shape=(3,)), sym.Variable("var", shape=(3,))
    before = sym.broadcast_add(x, mean.reshape((1, 3)), name="before")
    norm = sym.BatchNorm(before, moving_mean=mean, moving_var=var, fix_gamma=False, name="bn")
    return sym.broadcast_add(norm, sym.BlockGrad(var).reshape((1, 3)), name="after")


def _ColumnBiases(step):
    """Returns layers whose biases have shape (n, 1): a classifier, or recurrent cells.

    MXNet 1.9.1 computes them without oneDNN, but not their gradients.
    """
    def Layer(data, num_hidden, name):
        bias = sym.Variable(name + "_bias", shape=(num_hidden, 1))
        return sym.FullyConnected(data, bias=bias, num_hidden=num_hidden, name=name)

    if step is None:
        hidden = sym.relu(Layer(sym.Variable("data"), 4, "fc1"))
        return sym.SoftmaxOutput(Layer(hidden, 3, "fc2"), name="softmax")
    params = mxnet.rnn.RNNParams("lstm_")
    for gate in ("i2h", "h2h"):
        params._params["lstm_%s_bias" % gate] = sym.Variable("lstm_%s_bias" % gate, shape=(12, 1))
    cell = mxnet.rnn.LSTMCell(3, prefix="lstm_", params=params)
    outputs, _ = cell.unroll(step, sym.Variable("data"), merge_outputs=True)
    return outputs


def _Detector():
    """Returns a small SSD: predictions at two scales, their targets, both losses, and the detections."""
    data, label = sym.Variable("data"), sym.Variable("label")
    layer, locations, classes, anchors = data, [], [], []
    for scale, sizes in enumerate(["(0.3, 0.4)", "(0.6, 0.8)"]):
        layer = sym.Convolution(layer, num_filter=4, kernel=(3, 3), pad=(1, 1), stride=(2, 2), name="conv%d" % scale)
        layer = sym.Activation(layer, act_type="relu", name="relu%d" % scale)

        def Predict(filters, name):
            made = sym.Convolution(layer, num_filter=filters, kernel=(3, 3), pad=(1, 1), name=name + str(scale))
            return sym.Flatten(sym.transpose(made, axes=(0, 2, 3, 1)))

        locations.append(Predict(3 * 4, "loc"))
        classes.append(Predict(3 * 3, "cls"))
        anchors.append(sym.contrib.MultiBoxPrior(layer, sizes=sizes, ratios="(1, 2)", name="prior%d" % scale))
    loc_pred = sym.concat(*locations, dim=1, name="loc_pred")
    cls_pred = sym.transpose(sym.reshape(sym.concat(*classes, dim=1), (0, -1, 3)), axes=(0, 2, 1), name="cls_pred")
    anchor = sym.concat(*anchors, dim=1, name="anchors")
    target = sym.contrib.MultiBoxTarget(anchor, label, cls_pred, overlap_threshold=0.3, negative_mining_ratio=3,
                                        name="target")
    cls_prob = sym.SoftmaxOutput(cls_pred, target[2], ignore_label=-1, use_ignore=True, multi_output=True,
                                 normalization="valid", name="cls_prob")
    loc_loss = sym.MakeLoss(sym.smooth_l1(target[1] * (loc_pred - target[0]), scalar=1), normalization="valid",
                            name="loc_loss")
    found = sym.contrib.MultiBoxDetection(cls_prob, loc_pred, anchor, threshold=0.3, nms_topk=9, name="found")
    return sym.Group([cls_prob, loc_loss, sym.MakeLoss(target[2], grad_scale=0, name="cls_label"),
                      sym.MakeLoss(found, grad_scale=0, name="seen")])


def main():
    one_name = {"src": (3, 4)}
    for req in ("write", "add"):
        folder = WriteCase(_Sources(False), one_name, "_graph", "variables_of_one_name_" + req,
                           grad_req=req)
        _Sources(True).save(os.path.join(folder, "saved.json"))
    folder = WriteCase(_Norms(False), {"x": (5, 3)}, "_graph", "norms_of_one_name")
    _Norms(True).save(os.path.join(folder, "saved.json"))
    WriteCase(_SharedStates(False), {"x": (5, 3), "y": (5, 1)}, "_graph", "shared_states")
    # Prediction only: the graph does not determine which of the two writes the states last in
    # training.
    WriteCase(_SharedStates(True), {"x": (5, 3), "y": (4, 3)}, "_graph",
              "shared_states_made_in_reverse", grad_req="null")
    WriteCase(_ReadStates(), {"x": (5, 3)}, "_graph", "states_read_and_written")
    WriteCase(_ColumnBiases(None), {"data": (5, 6), "softmax_label": (5,)}, "_graph",
              "column_biases_softmax", grad_req="null")
    WriteCase(_ColumnBiases(3), {"data": (2, 3, 5)}, "_graph", "column_biases_lstm",
              grad_req="null")
    # Class, xmin, ymin, xmax, ymax; the second image has one object.
    objects = [[[0, 0.1, 0.1, 0.5, 0.4], [1, 0.3, 0.2, 0.9, 0.9]], [[1, 0.4, 0.5, 0.8, 0.9], [-1] * 5]]
    WriteCase(_Detector(), {"data": (2, 3, 16, 16), "label": (2, 2, 5)}, "_graph", "detector",
              without_gradient=["data", "label"], values={"label": objects})


if __name__ == "__main__":
    main()
