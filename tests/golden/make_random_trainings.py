#!/usr/bin/env python3
"""Writes random training runs of MXNet's Module, to compare cooper with MXNet beyond the golden cases.

  PYTHON=~/.cache/cooper-mxnet/bin/python
  $PYTHON tests/golden/make_random_trainings.py /tmp/trainings --cases=200 --seed=1
  ./bazelw run //tests/conformance:run_cases -- --cases=/tmp/trainings

Network, optimizer, schedule, metric, fixed parameters, number and shares of contexts, rows, batch size and what becomes of
the last batch are drawn. Each case trains with fit, and compares all parameters, a score and predictions. A run that
MXNet refuses, or whose results are not finite, is dropped, and none depends on what docs/mxnet_differences_training.md
lists. The same seed gives the same cases.
"""

import argparse
import json
import os
import sys

import numpy

os.environ.setdefault("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "1000")
os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")
os.environ.setdefault("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402

sym = mxnet.sym
# Arguments beside the learning rate, of which each is given in half of the cases.
OPTIMIZERS = {
    "sgd": {"momentum": [0.5, 0.9], "lazy_update": [True, False], "multi_precision": [True]},
    "nag": {"momentum": [0.5, 0.9]},
    "signum": {"momentum": [0.5, 0.9], "wd_lh": [0.01]},
    "adam": {"beta1": [0.8], "beta2": [0.9, 0.99], "epsilon": [1e-6]},
    "adamax": {"beta1": [0.8], "beta2": [0.9]},
    "nadam": {"schedule_decay": [0.01], "beta1": [0.8]},
    "ftml": {"beta1": [0.5], "beta2": [0.9]},
    "rmsprop": {"gamma1": [0.8], "centered": [True], "gamma2": [0.7], "clip_weights": [0.5]},
    "adagrad": {"eps": [1e-5]},
    "adadelta": {"rho": [0.8], "epsilon": [1e-4]},
    "ftrl": {"lamda1": [0.001, 0.1], "beta": [0.5]},
    "lamb": {"bias_correction": [False], "lower_bound": [0.1], "upper_bound": [2.0]},
    "lars": {"momentum": [0.9], "eta": [0.01], "momentum_correction": [False]},
    "dcasgd": {"lamda": [0.1]},
}
SHARED = {"wd": [0.0, 0.01, 0.1], "clip_gradient": [0.05, 1.0], "rescale_grad": [0.1, 1.0], "begin_num_update": [3]}


def Draw(random, choices):
    value = choices[random.randint(len(choices))]
    return value


def DrawOptions(random, table):
    return {name: Draw(random, values) for name, values in table.items() if random.rand() < 0.5}


def DrawScheduler(random, rate):
    kind = Draw(random, ["factor", "multifactor", "poly", "cosine", None, None])
    if kind is None:
        return None
    made = {"kind": kind, "base_lr": rate}
    if kind == "factor":
        made.update(step=int(random.randint(1, 4)), factor=Draw(random, [0.5, 0.9]))
        made.update(DrawOptions(random, {"stop_factor_lr": [1e-3]}))
    elif kind == "multifactor":
        made.update(step=sorted(random.choice(range(1, 9), 3, replace=False).tolist()), factor=Draw(random, [0.3, 0.9]))
    else:
        made.update(max_update=int(random.randint(2, 12)), final_lr=Draw(random, [0.0, rate / 4]))
        if kind == "poly":
            made.update(DrawOptions(random, {"pwr": [1, 2, 3]}))
    if random.rand() < 0.5:
        made.update(warmup_steps=int(random.randint(0, 2)), warmup_begin_lr=Draw(random, [0, rate / 2]))
        made.update(DrawOptions(random, {"warmup_mode": ["linear", "constant"]}))
    return made


def Scheduler(given):
    kwargs = dict(given)
    kinds = {"factor": "FactorScheduler", "multifactor": "MultiFactorScheduler", "poly": "PolyScheduler", "cosine": "CosineScheduler"}
    return getattr(mxnet.lr_scheduler, kinds[kwargs.pop("kind")])(**kwargs)


def DrawNetwork(random, contexts):
    """Returns (symbol, shape of a row, classes): 0 classes for a regression."""
    x, row = sym.var("data"), (int(random.randint(2, 7)),)
    if random.rand() < 0.35:
        row = (2, int(random.randint(4, 7)), int(random.randint(4, 7)))
        norm = random.rand() < 0.5  # a bias before it would have rounding errors for a gradient
        x = sym.Convolution(x, num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=norm or bool(random.randint(2)), name="conv")
        if norm:
            x = sym.BatchNorm(x, fix_gamma=contexts == 1 and bool(random.randint(2)), momentum=0.8, name="bn")
        x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type=Draw(random, ["max", "avg"]))
    for i in range(random.randint(0, 3)):
        hidden = int(random.randint(2, 7))
        x = sym.FullyConnected(x, num_hidden=hidden, no_bias=random.rand() < 0.2, name="fc%d" % i)
        if hidden > 3 and random.rand() < 0.3:  # two values are always normalised to 1 and -1
            x = sym.LayerNorm(x, name="ln%d" % i)
        x = sym.Activation(x, act_type=Draw(random, ["tanh", "sigmoid", "softrelu"]))
    classes = int(Draw(random, [0, 2, 3, 4]))
    variable = {"lr_mult": Draw(random, [1.0, 0.1, 2.0]), "wd_mult": Draw(random, [1.0, 0.0])} if random.rand() < 0.3 else {}
    weight = sym.var("out_weight", **variable)
    x = sym.FullyConnected(x, weight=weight, num_hidden=max(classes, 1), name="out")
    label = sym.var("softmax_label")
    if classes == 0:
        kind = Draw(random, [sym.LinearRegressionOutput, sym.MAERegressionOutput, sym.LogisticRegressionOutput])
        return kind(x, label, name="softmax"), row, 0
    options = {"normalization": Draw(random, ["null", "batch", "valid"])} if contexts == 1 and random.rand() < 0.4 else {}
    return sym.SoftmaxOutput(x, label, name="softmax", **options), row, classes


def DrawMetric(random, classes, contexts):
    """Returns a metric; on several contexts one that is a mean over rows, if there is such a one."""
    if classes == 0:
        return Draw(random, [("mse", {}), ("mae", {}), ("rmse", {})])
    metrics = [("acc", {}), ("ce", {}), ("nll_loss", {}), ("Perplexity", {"ignore_label": None}), ("top_k_accuracy", {"top_k": 2})]
    return Draw(random, metrics + ([("f1", {}), ("mcc", {})] if classes == 2 and contexts == 1 else []))


def WriteOne(seed, root):
    """Writes case `seed`; returns whether MXNet ran it."""
    random = numpy.random.RandomState(seed)
    contexts = int(Draw(random, [1, 1, 2, 3]))
    symbol, row, classes = DrawNetwork(random, contexts)
    shares = [int(random.randint(1, 4)) for _ in range(contexts)] if random.rand() < 0.3 else None
    batch = int(random.randint(1, 4)) * sum(shares or [1] * contexts)
    rows = int(random.randint(batch, 3 * batch + 5))
    data = random.uniform(-1, 1, (rows,) + row).astype("float32")
    label = random.randint(0, classes, rows).astype("float32") if classes else random.uniform(0, 1, (rows, 1)).astype("float32")
    name = Draw(random, sorted(OPTIMIZERS))
    if name == "signum" and "MAERegressionOutput" in symbol.tojson():
        return False  # gradients of +1 and -1 cancel, and their rounding errors have signs
    rate = float(Draw(random, [0.01, 0.05, 0.2]))
    params = dict({"learning_rate": rate}, **DrawOptions(random, OPTIMIZERS[name]))
    params.update({k: v for k, v in DrawOptions(random, SHARED).items() if random.rand() < 0.6})
    if name in ("adadelta",):
        params.pop("learning_rate")
    schedule = DrawScheduler(random, rate) if "learning_rate" in params and "momentum_correction" not in params else None
    if params.get("wd_lh"):
        params.setdefault("momentum", 0.9)
    if name == "lars":
        params["momentum_correction"] = False
    handle = Draw(random, ["pad", "discard", "roll_over"])
    metric, kwargs = DrawMetric(random, classes, contexts)
    epochs = int(random.randint(1, 4))
    store = Draw(random, ["local", "device"])

    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(data=(batch,) + row)[0]))
    auxs = dict(zip(symbol.list_auxiliary_states(), symbol.infer_shape(data=(batch,) + row)[2]))
    names = [n for n in shapes if n not in ("data", "softmax_label")]
    fixed = [n for n in names if random.rand() < 0.3] if random.rand() < 0.25 else []
    args = {n: random.uniform(-0.7, 0.7, shapes[n]).astype("float32") for n in names}
    states = {n: random.uniform(0.5, 1.5, s).astype("float32") for n, s in auxs.items()}

    def Arrays(values):
        return {n: mxnet.nd.array(v) for n, v in values.items()}

    def Iter():
        return mxnet.io.NDArrayIter(data, label, batch, last_batch_handle=handle)

    module = mxnet.mod.Module(symbol, context=[mxnet.cpu(i) for i in range(contexts)], work_load_list=shares,
                              fixed_param_names=fixed)
    given = dict(params, lr_scheduler=Scheduler(schedule)) if schedule else params
    module.fit(Iter(), eval_metric=mxnet.metric.create(metric, **kwargs), optimizer=name, optimizer_params=given,
               kvstore=store, arg_params=Arrays(args), aux_params=Arrays(states), num_epoch=epochs, initializer=None)
    trace = {"X": mxnet.nd.array(data), "Y": mxnet.nd.array(label)}
    got_args, got_auxs = module.get_params()
    trace.update({"init/arg:" + n: a for n, a in Arrays(args).items()})
    trace.update({"init/aux:" + n: a for n, a in Arrays(states).items()})
    trace.update({"after/arg:" + n: a.copy() for n, a in got_args.items()})
    trace.update({"after/aux:" + n: a.copy() for n, a in got_auxs.items()})
    score = [list(pair) for pair in module.score(Iter(), mxnet.metric.create(metric, **kwargs))]
    trace["p/predict:0"] = module.predict(Iter())
    results = [a.asnumpy() for n, a in trace.items()] + [numpy.array([v for _, v in score])]
    if not all(numpy.isfinite(r).all() and numpy.abs(r).max(initial=0) < 1e4 for r in results):
        return False

    folder = os.path.join(root, "module", "t%d" % seed)
    os.makedirs(folder, exist_ok=True)
    symbol.save(os.path.join(folder, "symbol.json"))
    mxnet.nd.save(os.path.join(folder, "trace.params"), trace)
    of_module = {"type": "Module", "symbol": "symbol.json", "data_names": ["data"], "label_names": ["softmax_label"],
                 "contexts": [{"type": "cpu", "id": i} for i in range(contexts)]}
    if shares:
        of_module["work_load_list"] = shares
    if fixed:
        of_module["fixed_param_names"] = fixed
    tried = []
    if classes or contexts == 1:
        tried.append({"op": "score", "result": score})
    if handle != "roll_over":
        tried.append({"op": "predict", "prefix": "p", "keys": ["p/predict:0"]})
    over = {"data": "X", "label": "Y", "batch_size": batch, "last_batch_handle": handle}
    measured = {"metric": metric, "kwargs": kwargs}
    arguments = dict(params, lr_scheduler=schedule) if schedule else params
    with open(os.path.join(folder, "case.json"), "w") as file:
        json.dump({"module": of_module, "rtol": 2e-3, "atol": 2e-5, "batches": [], "steps": [
            dict(over, op="fit", optimizer=name, optimizer_params=arguments, kvstore=store, num_epoch=epochs, **measured,
                 **{"from": "init"}),
            {"op": "expect_params", "prefix": "after"}] + [dict(over, **step, **measured) for step in tried]}, file, indent=1)
        file.write("\n")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the cases are written: FOLDER/module/tSEED")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="number of the first case")
    flags = parser.parse_args()
    written, refused = 0, {}
    for seed in range(flags.seed, flags.seed + flags.cases):
        try:
            written += WriteOne(seed, flags.folder)
        except Exception as error:  # pylint: disable=broad-except
            text = " ".join(str(error).split())[-120:]
            refused[text] = refused.get(text, 0) + 1
    for text, count in sorted(refused.items(), key=lambda item: -item[1])[:8]:
        print("%d refused: %s" % (count, text), file=sys.stderr)
    print("%d cases" % written)


if __name__ == "__main__":
    main()
