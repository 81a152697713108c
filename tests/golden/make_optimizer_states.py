#!/usr/bin/env python3
"""Computes files of optimizer states, and training that goes on from them, with MXNet 1.9.1.

  ~/.cache/cooper-mxnet/bin/python tests/golden/make_optimizer_states.py  # see make_op_case.py

states/CASE: symbol.json, optimizer.states, case.json and io.params, as README.md describes. A training
of three steps saves its states; three more steps follow in a new module or trainer, which loads them.
The states of protocol_N and trainer_protocol_N are written again in protocol N of pickle. Then

  ./bazelw run //tests/conformance:run_cases -- --cases=$PWD/tests/golden --filter=states/ --write_states=FOLDER
  ~/.cache/cooper-mxnet/bin/python tests/golden/make_optimizer_states.py --load=FOLDER

goes on from the files that cooper writes, and keeps the parameters at the end in states/CASE/loaded.params.
"""

import json
import os
import pickle
import shutil
import sys

import numpy

os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
os.environ.setdefault("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "1000")
numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402

STEPS = 3  # before the states are saved, and after
ROWS, COLUMNS = 4, 3
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "states")


def Network(dtype):
    """Returns two layers and a regression; its parameters are not in alphabetical order.

    MXNet has no FullyConnected of float16 on a CPU: such a network scales its data instead. In NumPy mode a
    parameter is a scalar.
    """
    sym = mxnet.sym
    if dtype == "float16":
        x = sym.broadcast_mul(sym.var("data"), sym.var("z_weight", shape=(1, COLUMNS)), name="z")
        x = sym.broadcast_add(x, sym.var("a_bias", shape=(1, COLUMNS)), name="a")
        return sym.MakeLoss(sym.square(sym.broadcast_sub(x, sym.var("label"))), name="loss")
    x = sym.FullyConnected(sym.var("data"), num_hidden=4, name="z")
    x = sym.FullyConnected(sym.Activation(x, act_type="tanh", name="tanh"), num_hidden=1, name="a")
    if mxnet.util.is_np_shape():
        x = (x.as_np_ndarray() * sym.var("scale_weight", shape=()).as_np_ndarray()).as_nd_ndarray()
    return sym.LinearRegressionOutput(x, sym.var("label"), name="loss")


def GluonNetwork():
    """Returns layers whose moving means count among the positions of a Trainer.

    A bias before BatchNorm would have the rounding errors of its gradient, which is 0, for a gradient.
    """
    nn = mxnet.gluon.nn
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(4, use_bias=False, prefix="z_"), nn.BatchNorm(prefix="m_"), nn.Dense(1, prefix="a_"))
    return net


class Case:
    """The files of one case."""

    def __init__(self, name, optimizer, hyperparameters, dtype="float32", contexts=1, fixed=(), scheduler=None):
        self.folder = os.path.join(FOLDER, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.optimizer, self.dtype, self.contexts, self.fixed = optimizer, dtype, contexts, list(fixed)
        self.kvstore, self.update_on_kvstore = "local", True
        self.rtol = 2e-3 if dtype == "float16" else 1e-5
        self.hyperparameters = hyperparameters
        self.scheduler = scheduler
        random = numpy.random.RandomState(7)
        self.batches = [(random.uniform(-1, 1, (ROWS, COLUMNS)).astype(dtype),
                         random.uniform(-1, 1, (ROWS, 1)).astype(dtype)) for _ in range(2 * STEPS)]
        self.random = random
        self.arrays = {}
        for i, (data, label) in enumerate(self.batches[STEPS:]):
            self.arrays["data:%d" % i] = mxnet.nd.array(data, dtype=dtype)
            self.arrays["label:%d" % i] = mxnet.nd.array(label, dtype=dtype)

    def Path(self, name):
        return os.path.join(self.folder, name)

    def Arguments(self):
        """Returns the arguments of the optimizer, with a schedule of its own."""
        arguments = dict(self.hyperparameters)
        if self.scheduler:
            kwargs = dict(self.scheduler)
            assert kwargs.pop("kind") == "factor"
            arguments["lr_scheduler"] = mxnet.lr_scheduler.FactorScheduler(**kwargs)
        return arguments

    def Keep(self, prefix, args, auxs):
        for kind, arrays in (("arg", args), ("aux", auxs)):
            for name, array in arrays.items():
                self.arrays["%s%s:%s" % (prefix, kind, name)] = array.copy()

    def Write(self, symbol, begin_num_update, wd_mult=None):
        symbol.save(self.Path("symbol.json"))
        mxnet.nd.save(self.Path("io.params"), self.arrays)
        case = {
            "optimizer": self.optimizer,
            "hyperparameters": dict(self.hyperparameters, begin_num_update=begin_num_update),
            "contexts": self.contexts,
            "kvstore": self.kvstore,
            "update_on_kvstore": self.update_on_kvstore,
            "fixed_param_names": self.fixed,
            "steps": STEPS,
            "rtol": self.rtol,
            "atol": self.rtol / (2 if self.dtype == "float16" else 10),
        }
        if mxnet.util.is_np_shape():
            case["numpy"] = True
        if wd_mult:
            case["wd_mult"] = wd_mult
        if self.scheduler:
            case["lr_scheduler"] = self.scheduler
        with open(self.Path("case.json"), "w") as file:
            json.dump(case, file, indent=1)
            file.write("\n")


def ModuleOf(case, args, hyperparameters, kvstore):
    module = mxnet.mod.Module(Network(case.dtype), label_names=["label"], fixed_param_names=case.fixed,
                              context=[mxnet.cpu(i) for i in range(case.contexts)])
    desc = mxnet.io.DataDesc
    module.bind([desc("data", (ROWS, COLUMNS), case.dtype)], [desc("label", (ROWS, 1), case.dtype)])
    module.init_params(arg_params=args, initializer=None if args else mxnet.init.Zero())
    module.init_optimizer(kvstore, case.optimizer, hyperparameters)
    return module


def Steps(module, batches):
    for data, label in batches:
        module.forward_backward(mxnet.io.DataBatch([mxnet.nd.array(data, dtype=data.dtype)],
                                                   [mxnet.nd.array(label, dtype=label.dtype)]))
        module.update()


def OfModule(name, optimizer, hyperparameters, kvstore="local", protocol=None, dump_optimizer=False, **options):
    """Writes a case of Module. Its file has no counts, unless it is of a store and has its optimizer."""
    case = Case(name, optimizer, hyperparameters, **options)
    case.kvstore = kvstore or ""
    case.update_on_kvstore = os.environ.get("MXNET_UPDATE_ON_KVSTORE") != "0"
    symbol = Network(case.dtype)
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(data=(ROWS, COLUMNS), label=(ROWS, 1))[0]))
    start = {n: mxnet.nd.array(case.random.uniform(-1, 1, shape), dtype=case.dtype)
             for n, shape in shapes.items() if n not in ("data", "label")}
    module = ModuleOf(case, start, case.Arguments(), kvstore)
    Steps(module, case.batches[:STEPS])
    args, auxs = module.get_params()
    case.Keep("", args, auxs)
    path = case.Path("optimizer.states")
    if dump_optimizer:
        module._kvstore.save_optimizer_states(path, dump_optimizer=True)
    else:
        module.save_optimizer_states(path)
    if protocol is not None:
        with open(path, "rb") as file:
            states = pickle.load(file)
        with open(path, "wb") as file:
            pickle.dump(states, file, protocol=protocol)
    # Without the optimizer the user says where the counts begin.
    begin = 0 if dump_optimizer else STEPS
    module = ModuleOf(case, args, dict(case.Arguments(), begin_num_update=begin), kvstore)
    module.load_optimizer_states(path)
    Steps(module, case.batches[STEPS:])
    case.Keep("expect:", *module.get_params())
    case.Write(symbol, begin)


def OfTrainer(name, optimizer, hyperparameters, protocol=None, **options):
    """Writes a case of Gluon's Trainer, whose file has the optimizer. The module has its loss."""
    case = Case(name, optimizer, hyperparameters, **options)
    case.rtol = 1e-4  # BatchNorm divides rounding errors by a deviation of four values

    def Trainer(net):
        return mxnet.gluon.Trainer(net.collect_params(), optimizer, case.Arguments())

    def Run(net, trainer, batches):
        for data, label in batches:
            with mxnet.autograd.record():
                loss = mxnet.gluon.loss.L2Loss()(net(mxnet.nd.array(data)), mxnet.nd.array(label))
            loss.backward()
            trainer.step(ROWS)

    def Params(net):
        params = net.collect_params()
        values = {n: params[n].data() for n in params}
        is_aux = [n for n in params if "running" in n]
        return ({n: v for n, v in values.items() if n not in is_aux}, {n: values[n] for n in is_aux})

    mxnet.random.seed(5)
    net = GluonNetwork()
    net.initialize(mxnet.init.Uniform(1))
    trainer = Trainer(net)
    Run(net, trainer, case.batches[:STEPS])
    case.Keep("", *Params(net))
    path = case.Path("optimizer.states")
    trainer.save_states(path)
    trainer = Trainer(net)
    trainer.load_states(path)
    if protocol is not None:
        with open(path, "rb") as file:
            states = pickle.load(file)
        with open(path, "wb") as file:
            pickle.dump(states, file, protocol=protocol)
    Run(net, trainer, case.batches[STEPS:])
    case.Keep("expect:", *Params(net))
    symbol = mxnet.sym.LinearRegressionOutput(net(mxnet.sym.var("data")), mxnet.sym.var("label"), name="loss")
    # A Trainer decays every parameter, a Module only weights and gammas.
    case.Write(symbol, 0, {name: 1 for name in Params(net)[0]})


def GoOn(folder, path):
    """Trains with states that cooper wrote, and keeps the parameters; returns the largest difference, in tolerances."""
    with open(os.path.join(folder, "case.json")) as file:
        case = json.load(file)
    mxnet.util.set_np_shape(case.get("numpy", False))
    arrays = mxnet.nd.load(os.path.join(folder, "io.params"))

    def Named(prefix):
        return {name[len(prefix):]: array for name, array in arrays.items() if name.startswith(prefix)}

    module = mxnet.mod.Module(mxnet.sym.load(os.path.join(folder, "symbol.json")), label_names=["label"],
                              fixed_param_names=case["fixed_param_names"],
                              context=[mxnet.cpu(i) for i in range(case["contexts"])])
    desc = mxnet.io.DataDesc
    module.bind([desc("data", arrays["data:0"].shape, arrays["data:0"].dtype)],
                [desc("label", arrays["label:0"].shape, arrays["label:0"].dtype)])
    module.init_params(arg_params=Named("arg:"), aux_params=Named("aux:"), initializer=None)
    hyperparameters = dict(case["hyperparameters"], begin_num_update=STEPS)
    if "lr_scheduler" in case:
        kwargs = dict(case["lr_scheduler"])
        assert kwargs.pop("kind") == "factor"
        hyperparameters["lr_scheduler"] = mxnet.lr_scheduler.FactorScheduler(**kwargs)
    os.environ["MXNET_UPDATE_ON_KVSTORE"] = "1" if case["update_on_kvstore"] else "0"
    module.init_optimizer(case["kvstore"], case["optimizer"], hyperparameters)
    if "wd_mult" in case:
        module._optimizer.set_wd_mult(case["wd_mult"])
    module.load_optimizer_states(path)
    Steps(module, [(arrays["data:%d" % i].asnumpy(), arrays["label:%d" % i].asnumpy()) for i in range(case["steps"])])
    args, auxs = module.get_params()
    expected = Named("expect:")
    got = {"arg:" + name: array for name, array in args.items()}
    got.update({"aux:" + name: array for name, array in auxs.items()})
    mxnet.nd.save(os.path.join(folder, "loaded.params"), {"expect:" + name: got[name] for name in expected})
    return max(float((abs(got[name].asnumpy() - array.asnumpy()) /
                      (case["atol"] + case["rtol"] * abs(array.asnumpy()))).max()) for name, array in expected.items())


def main():
    if len(sys.argv) == 2 and sys.argv[1].startswith("--load="):
        written = sys.argv[1][len("--load="):]
        for name in sorted(os.listdir(written)):
            case = os.path.splitext(name)[0]
            if case == "trainer_nadam":
                continue  # a file of Module has no product of momenta
            print("%s: %.2g tolerances" % (case, GoOn(os.path.join(FOLDER, case), os.path.join(written, name))))
        return
    rate = {"learning_rate": 0.1}
    decay = dict(rate, wd=0.01)
    kinds = {
        "sgd": dict(decay), "sgd_momentum": dict(decay, momentum=0.9), "nag": dict(decay, momentum=0.8),
        "signum": dict(rate, momentum=0.7), "adam": dict(decay), "adamax": dict(rate), "nadam": dict(rate),
        "ftml": dict(rate), "rmsprop": dict(decay), "rmsprop_centered": dict(rate, centered=True),
        "adagrad": dict(decay), "adadelta": dict(wd=0.01), "ftrl": dict(rate), "lamb": dict(decay),
        "lars": dict(decay, momentum=0.9), "dcasgd": dict(rate),  # MXNet fails with momentum
       
        "lbsgd": dict(rate, momentum=0.9),
    }
    for name, hyperparameters in kinds.items():
        OfModule(name, name.split("_")[0], hyperparameters)
    half = {"learning_rate": 0.1, "multi_precision": True}
    momenta = {"sgd": {}, "sgd_momentum": {"momentum": 0.9}, "adam": {}, "rmsprop": {},
               "signum": {"momentum": 0.9}, "nag": {"momentum": 0.9}}
    for name, more in momenta.items():
        OfModule(name + "_multi_precision", name.split("_")[0], dict(half, **more), dtype="float16")
    OfModule("adam_float64", "adam", kinds["adam"], dtype="float64")
    momentum = kinds["sgd_momentum"]
    OfModule("fixed_parameter", "sgd", momentum, fixed=["z_bias"])
    OfModule("names", "adam", kinds["adam"], contexts=2)
    OfModule("names_with_optimizer", "adam", kinds["adam"], contexts=2, dump_optimizer=True)
    os.environ["MXNET_UPDATE_ON_KVSTORE"] = "0"
    OfModule("positions_of_two_contexts", "sgd", momentum, contexts=2)
    del os.environ["MXNET_UPDATE_ON_KVSTORE"]
    OfModule("two_contexts_without_store", "adam", kinds["adam"], contexts=2, kvstore=None)
    for protocol in range(5):
        OfModule("protocol_%d" % protocol, "adam", kinds["adam"], protocol=protocol)
        OfTrainer("trainer_protocol_%d" % protocol, "adam", kinds["adam"], protocol=protocol)
    mxnet.util.set_np_shape(True)
    OfModule("numpy", "adam", kinds["adam"])
    mxnet.util.set_np_shape(False)
    OfModule("lars_with_optimizer", "lars", kinds["lars"], contexts=2, dump_optimizer=True)
    for name in ("sgd_momentum", "nadam", "ftml", "adagrad"):
        OfTrainer("trainer_" + name, name.split("_")[0], kinds[name])
    schedule = {"kind": "factor", "step": 2, "factor": 0.5, "base_lr": 0.2}
    OfTrainer("trainer_schedule", "adam", {"learning_rate": 0.2}, scheduler=schedule)
    # A number of NumPy among the arguments.
    OfTrainer("trainer_numpy_rate", "adam", dict(learning_rate=numpy.float64(0.05)))


if __name__ == "__main__":
    main()
