"""Writes the cases of operators that update weights, computed with Apache MXNet 1.9.1 on the CPU.

    python make_optimizer_ops.py tests/golden/ops
"""
import json
import os
import shutil
import sys

import mxnet as mx
import numpy as np

out = sys.argv[1]
rng = np.random.RandomState(7)
def make_symbol(op, names, attrs, num_outputs, written=()):
    nodes = [{"op": "null", "name": n, "inputs": []} for n in names]
    nodes.append({"op": op, "name": "op", "attrs": {k: str(v) for k, v in attrs.items()},
                  "inputs": [[i, 0, int(n in written)] for i, n in enumerate(names)]})
    g = {"nodes": nodes, "arg_nodes": list(range(len(names))),
         "node_row_ptr": list(range(len(nodes))) + [len(nodes) - 1 + num_outputs],
         "heads": [[len(names), i, 0] for i in range(num_outputs)], "attrs": {"mxnet_version": ["int", 10901]}}
    return mx.sym.load_json(json.dumps(g))
def case(op, name, names, arrays, attrs, num_outputs=1, known=None, rtol=1e-5, atol=1e-6):
    sym = make_symbol(op, names, attrs, num_outputs)
    # The version that MXNet gives to variables that an operator writes.
    sym = make_symbol(op, names, attrs, num_outputs, sym.list_auxiliary_states())
    data = {n: mx.nd.array(a, dtype=a.dtype) for n, a in zip(names, arrays)}
    auxn, argn = sym.list_auxiliary_states(), sym.list_arguments()
    known = known or names
    kshape = {n: data[n].shape for n in known}
    ktype = {n: data[n].dtype for n in argn}
    if num_outputs == 1:
        arg_s, out_s, aux_s = sym.infer_shape(**kshape)
        arg_t, out_t, aux_t = sym.infer_type(**ktype)
        assert arg_s is not None and arg_t is not None, (op, name)
        ex = sym.bind(mx.cpu(), {n: data[n].copy() for n in argn}, grad_req="null",
                      aux_states={n: data[n].copy() for n in auxn})
        outs = ex.forward(is_train=False)
        mx.nd.waitall()  # else states are read before they are written
        after_arg, after_aux = ex.arg_dict, ex.aux_dict
        if "nag_mom" in op or "adamw" in op:
            # The operators are called as by MXNet's optimizers, with the output over the weight.
            # Otherwise nag's momentum takes the old weight, and adamw writes no output if it skips
            # the update.
            after_aux = {n: data[n].copy() for n in names}
            outs = [after_aux["weight"]]
            run = getattr(mx.nd, op, None) or getattr(mx.nd._internal, op)
            run(*[after_aux[n] for n in names], out=outs, **attrs)
    else:  # MXNet 1.9.1 cannot infer their shapes in a graph
        after = {n: data[n].copy() for n in names}
        nd_attrs = {k: eval(v) if isinstance(v, str) else v for k, v in attrs.items()}
        weights = [n for n in names if n.startswith("weight_")]
        outs = [mx.nd.zeros(data[w].shape, dtype=data[w].dtype) for w in weights]
        getattr(mx.nd, op)(*[after[n] for n in names], out=outs, **nd_attrs)
        after_arg = after_aux = after
        arg_s, out_s, aux_s = [[x.shape for x in l] for l in ([data[n] for n in argn], outs, [data[n] for n in auxn])]
        arg_t, out_t, aux_t = [[x.dtype for x in l] for l in ([data[n] for n in argn], outs, [data[n] for n in auxn])]
    io = {}
    for n in argn: io["arg:" + n] = data[n]
    for n in auxn: io["aux:" + n] = data[n]
    for n in argn:
        if not np.array_equal(after_arg[n].asnumpy(), data[n].asnumpy(), equal_nan=True): print(op, "writes its argument", n)
    for n in auxn:
        if not np.array_equal(after_aux[n].asnumpy(), data[n].asnumpy()): io["aux_after:" + n] = after_aux[n]
    for i, o in enumerate(outs): io["out:%d" % i] = o
    d = os.path.join(out, op, name)
    shutil.rmtree(d, ignore_errors=True); os.makedirs(d)
    mx.nd.save(os.path.join(d, "io.params"), io)
    with open(os.path.join(d, "symbol.json"), "w") as f: f.write(sym.tojson())
    tn = lambda t: np.dtype(t).name
    js = {"op": op, "mode": "predict", "grad_req": {n: "null" for n in argn}, "backward": False,
          "rtol": rtol, "atol": atol,
          "infer_shape": {"known": {n: list(s) for n, s in kshape.items()},
                          "arg": {n: list(s) for n, s in zip(argn, arg_s)}, "out": [list(s) for s in out_s],
                          "aux": {n: list(s) for n, s in zip(auxn, aux_s)}},
          "infer_type": {"known": {n: tn(t) for n, t in ktype.items()},
                         "arg": {n: tn(t) for n, t in zip(argn, arg_t)}, "out": [tn(t) for t in out_t],
                         "aux": {n: tn(t) for n, t in zip(auxn, aux_t)}}}
    with open(os.path.join(d, "case.json"), "w") as f: json.dump(js, f, indent=1); f.write("\n")
    count[0] += 1
count = [0]
S = (3, 5)
def n(dtype="float32", shape=S): return rng.randn(*shape).astype(dtype)
def pos(dtype="float32", shape=S): return np.abs(rng.randn(*shape)).astype(dtype)
COMMON = {"lr": 0.1, "wd": 0.03, "rescale_grad": 0.7, "clip_gradient": 0.5}
# op: (states, positive states, attributes beside the common ones)
KINDS = {"sgd_update": ([], {}), "sgd_mom_update": (["mom"], {"momentum": 0.9}),
  "nag_mom_update": (["mom"], {"momentum": 0.9}), "signsgd_update": ([], {}),
  "signum_update": (["mom"], {"momentum": 0.9, "wd_lh": 0.02}),
  "adam_update": (["mean", "var"], {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}),
  "ftml_update": (["d", "v", "z"], {"beta1": 0.5, "beta2": 0.95, "epsilon": 1e-4, "t": 3}),
  "ftrl_update": (["z", "n"], {"lamda1": 0.3, "beta": 0.8}),
  "rmsprop_update": (["n"], {"gamma1": 0.9, "epsilon": 1e-4, "clip_weights": 0.8}),
  "rmspropalex_update": (["n", "g", "delta"], {"gamma1": 0.9, "gamma2": 0.8, "epsilon": 1e-2, "clip_weights": 0.8})}
POSITIVE = {"var", "v", "n", "d"}
def state(s, dtype):
    if s == "g": return (0.1 * rng.randn(*S)).astype(dtype)
    if s == "n": return (1 + pos(dtype)).astype(dtype)
    return pos(dtype) if s in POSITIVE else n(dtype)
for op, (states, extra) in KINDS.items():
    req = {"lr": 0.1} | ({"t": 2} if "t" in extra else {})
    full = dict(COMMON, **extra)
    if op == "ftml_update": full["clip_grad"] = full.pop("clip_gradient")
    names = ["weight", "grad"] + states
    for cname, attrs in [("defaults", req), ("all", full)]:
        arrays = [n(), n()] + [state(s, "float32") for s in states]
        case(op, cname, names, arrays, attrs, known=["weight"], rtol=1e-4 if op == "ftml_update" else 1e-5)
    arrays = [n("float64"), n("float64")] + [state(s, "float64") for s in states]
    case(op, "float64", names, arrays, full, rtol=1e-5)
for op in ["sgd_update", "sgd_mom_update", "nag_mom_update"]:
    states, extra = KINDS[op]
    names = ["weight", "grad"] + states + ["weight32"]
    for cname, attrs in [("defaults", {"lr": 0.1}), ("all", dict(COMMON, **extra))]:
        w = n("float16")
        case("mp_" + op, cname, names, [w, n("float16")] + [state(s, "float32") for s in states] +
             [w.astype("float32") + 1e-4 * n()], attrs, rtol=1e-3, atol=1e-4)
# adamw
A = {"lr": 0.1, "eta": 0.7, "wd": 0.03, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, "clip_gradient": 0.5}
for cname, attrs, scale in [("defaults", {"lr": 0.1, "eta": 1}, 1.0), ("all", A, 0.7), ("scale_is_zero", A, 0.0),
                            ("scale_is_infinite", A, np.inf), ("scale_is_nan", A, np.nan)]:
    r = np.array([scale], "float32")
    case("_adamw_update", cname, ["weight", "grad", "mean", "var", "rescale_grad"], [n(), n(), n(), pos(), r], attrs)
    w = n("float16")
    case("_mp_adamw_update", cname, ["weight", "grad", "mean", "var", "weight32", "rescale_grad"],
         [w, n("float16"), n(), pos(), w.astype("float32"), r], attrs, rtol=1e-3, atol=1e-4)
# lamb
L = {"t": 3, "wd": 0.03, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, "rescale_grad": 0.7, "clip_gradient": 0.5}
for cname, attrs in [("defaults", {"t": 1, "wd": 0.1}), ("all", L), ("no_bias_correction", dict(L, bias_correction=False))]:
    case("lamb_update_phase1", cname, ["weight", "grad", "mean", "var"], [n(), n(), n(), pos()], attrs)
    w = n("float16")
    case("mp_lamb_update_phase1", cname, ["weight", "grad", "mean", "var", "weight32"],
         [w, n("float16"), n(), pos(), w.astype("float32")], attrs, rtol=1e-3, atol=1e-4)
one = lambda x: np.array([x], "float32")
for cname, attrs, r1, r2 in [("plain", {"lr": 0.1}, 2.0, 3.0), ("lower", {"lr": 0.1, "lower_bound": 2.5}, 2.0, 3.0),
        ("upper", {"lr": 0.1, "upper_bound": 1.5}, 2.0, 3.0), ("no_weight", {"lr": 0.1}, 0.0, 3.0),
        ("no_gradient", {"lr": 0.1}, 2.0, 0.0)]:
    case("lamb_update_phase2", cname, ["weight", "g", "r1", "r2"], [n(), n(), one(r1), one(r2)], attrs)
    w = n("float16")
    case("mp_lamb_update_phase2", cname, ["weight", "g", "r1", "r2", "weight32"],
         [w, n(), one(r1), one(r2), w.astype("float32")], attrs, rtol=1e-3, atol=1e-4)
# several weights at once
def multi(op, per, dtype="float32", preloaded=False, mom=False, **tol):
    names, arrays = [], []
    for i in range(2):
        shape = [(3, 5), (4,)][i]
        w = n(dtype, shape)
        for p in per:
            names.append("%s_%d" % (p, i))
            arrays.append(w if p == "weight" else n(dtype, shape) if p == "grad" else
                          w.astype("float32") if p == "weight32" else n("float32", shape))
    attrs = {"num_weights": 2, "rescale_grad": 0.7, "clip_gradient": 0.5}
    if mom: attrs["momentum"] = 0.9
    if preloaded:
        names += ["lrs", "wds"]; arrays += [np.array([0.1, 0.2], "float32"), np.array([0.03, 0.01], "float32")]
    else: attrs.update(lrs="(0.1, 0.2)", wds="(0.03, 0.01)")
    case(op, "all", names, arrays, attrs, num_outputs=2, **tol)
half = dict(dtype="float16", rtol=1e-3, atol=1e-4)
for pre in [False, True]:
    p = "preloaded_" if pre else ""
    multi(p + "multi_sgd_update", ["weight", "grad"], preloaded=pre)
    multi(p + "multi_sgd_mom_update", ["weight", "grad", "mom"], preloaded=pre, mom=True)
    multi(p + "multi_mp_sgd_update", ["weight", "grad", "weight32"], preloaded=pre, **half)
    multi(p + "multi_mp_sgd_mom_update", ["weight", "grad", "mom", "weight32"], preloaded=pre, mom=True, **half)
# norms and checks
case("multi_sum_sq", "float32", ["a", "b"], [n(), n(shape=(4,))], {"num_arrays": 2})
case("multi_sum_sq", "float64", ["a"], [n("float64")], {"num_arrays": 1})
case("multi_lars", "all", ["lrs", "weights_sum_sq", "grads_sum_sq", "wds"],
     [pos(shape=(4,)), np.array([1, 0, 2, 3], "float32"), np.array([1, 2, 0, .5], "float32"), pos(shape=(4,))],
     {"eta": 0.01, "eps": 1e-4, "rescale_grad": 0.7})
bad = lambda x, dtype="float32": np.array([1, x, 2], dtype)
for cname, x, dt in [("finite", 1, "float32"), ("infinite", np.inf, "float32"), ("nan", np.nan, "float32"), ("float16", -np.inf, "float16"), ("float64", 1, "float64")]:
    case("all_finite", cname, ["data"], [bad(x, dt)], {"init_output": True})
    case("multi_all_finite", cname, ["a", "b"], [bad(1, dt), bad(x, dt)], {"num_arrays": 2, "init_output": True})
print(count[0], "cases")
