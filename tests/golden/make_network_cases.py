#!/usr/bin/env python3
"""Computes whole networks with MXNet 1.9.1: networks/NAME/{symbol.json.gz,case.json[,values.params]}.

  MXNET_MKLDNN_ENABLED=0 ~/.cache/cooper-mxnet/bin/python tests/golden/make_network_cases.py [NAME...]

Arrays that are not in values.params follow from their names, shapes and ranges by Fill(), so that no weights are stored,
and of each result a digest is kept. README.md describes both. --list prints the table of docs/conformance.md. Then

  ./bazelw run //tests/conformance:run_cases -- --cases=$PWD/tests/golden --filter=networks/ --write_networks=FOLDER
  ~/.cache/cooper-mxnet/bin/python tests/golden/make_network_cases.py --load=FOLDER

loads the checkpoints that cooper writes at the end of each case, and keeps what MXNet predicts with them in networks/loaded.json.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import zlib

import numpy

os.environ.setdefault("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "1000")
os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")
os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")
os.environ.setdefault("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
numpy.bool = bool  # MXNet uses the name that NumPy 1.24 removed
import mxnet  # noqa: E402

import network_list  # noqa: E402

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks")
OPTIMIZER = {"learning_rate": 0.05, "momentum": 0.9, "wd": 0.001, "rescale_grad": 0.25}


def Fill(name, shape, low, high):
    """Returns float64 numbers in [low, high), which depend on the name and each element's position alone."""
    x = numpy.arange(int(numpy.prod(shape)), dtype=numpy.uint32) * numpy.uint32(2654435761)
    x += numpy.uint32(zlib.crc32(name.encode()))
    for shift, factor in ((16, 0x7feb352d), (15, 0x846ca68b)):
        x = (x ^ (x >> numpy.uint32(shift))) * numpy.uint32(factor)
    x ^= x >> numpy.uint32(16)
    return (low + (high - low) * (x / 4294967296.0)).reshape(shape)


def Digest(array):
    """Returns [shape, root mean square, product with Fill("probe"), up to eight elements]."""
    values = array.asnumpy().astype(numpy.float64)
    flat = values.ravel()
    size = flat.size
    rms = numpy.sqrt(numpy.mean(flat * flat)) if size else 0
    numbers = [rms, numpy.dot(flat, Fill("probe", (size,), -1, 1))]
    numbers += [flat[k * size // 8] for k in range(8)] if size > 8 else list(flat)
    if not numpy.isfinite(numbers).all():
        raise ValueError("a result is not finite: %s" % numbers)
    return [list(values.shape)] + [float("%.7g" % x) for x in numbers]


def RangeOf(name, shape):
    """Returns the range of a parameter or auxiliary state."""
    if name.endswith(("gamma", "var")):
        return 0.5, 1.5
    if name.endswith(("bias", "beta", "mean")):
        return -0.2, 0.2
    if name.endswith("alpha"):
        return 0.1, 0.4
    inputs = numpy.prod(shape[1:]) if len(shape) > 1 else 12
    bound = float("%.3g" % numpy.sqrt(4 / max(inputs, 1)))
    return -bound, bound


def SetNumpy(network):
    (mxnet.npx.set_np if network.numpy else mxnet.npx.reset_np)()


class Case:
    """A network with its arrays."""

    def __init__(self, network):
        self.network = network
        with mxnet.name.NameManager(), mxnet.AttrScope():
            self.symbol = network.Build()
        self.values = {}
        self.inputs, known = {}, {}
        for name, given in network.inputs.items():
            known[name], dtype = given.shape, given.dtype
            self.inputs[name] = {"shape": list(given.shape)}
            if dtype != "float32":
                self.inputs[name]["dtype"] = dtype
            if given.values is not None:
                self.values[name] = mxnet.nd.array(given.values, dtype=dtype)
            elif given.below is not None:
                self.inputs[name]["below"] = given.below
            else:
                self.inputs[name]["range"] = list(given.range)
        for name, array in network.values.items():
            known[name] = array.shape
            self.values[name] = mxnet.nd.array(array, dtype=array.dtype)
        shapes = network.shapes
        if shapes is None:
            args, _, auxs = self.symbol.infer_shape(**known)
            shapes = dict(zip(self.symbol.list_arguments(), args))
            shapes.update(zip(self.symbol.list_auxiliary_states(), auxs))
        self.ranges = {name: list(network.ranges.get(name) or RangeOf(name, shape))
                       for name, shape in shapes.items() if name not in known}
        self.fixed = [name for name in network.values] + list(network.fixed)
        self.shapes = shapes

    def Array(self, name):
        if name in self.values:
            return self.values[name]
        given = self.inputs.get(name)
        if given is None:
            return mxnet.nd.array(Fill(name, self.shapes[name], *self.ranges[name]), dtype=self.network.dtype)
        low, high = given.get("range") or (0, given["below"])
        filled = Fill(name, given["shape"], low, high)
        return mxnet.nd.array(filled if "range" in given else numpy.floor(filled), dtype=given.get("dtype", "float32"))

    def Bind(self, train):
        """Returns an executor whose arrays have their values."""
        names = self.symbol.list_arguments()
        args = {name: self.Array(name) for name in names}
        auxs = {name: self.Array(name) for name in self.symbol.list_auxiliary_states()}
        grads = {name: mxnet.nd.zeros(args[name].shape, dtype=args[name].dtype)
                 for name in names if train and name in self.ranges and name not in self.fixed}
        if mxnet.util.is_np_array():
            args, auxs, grads = ({name: array.as_np_ndarray() for name, array in arrays.items()}
                                 for arrays in (args, auxs, grads))
        return self.symbol.bind(mxnet.cpu(), args, args_grad=grads, aux_states=auxs,
                                grad_req={name: "write" if name in grads else "null" for name in names})

    def Compute(self):
        """Returns the results: predictions, a step of training, and predictions after it."""
        train = self.network.train
        executor = self.Bind(train)
        results = {"predict": [Digest(output) for output in executor.forward(is_train=False)]}
        if not train:
            return results
        executor = self.Bind(train)  # an operator that MXNet runs as a graph of its own cannot change its mode
        outputs = executor.forward(is_train=True)
        heads = [mxnet.nd.array(Fill("head%d" % i, output.shape, -1, 1), dtype=output.dtype)
                 for i, output in enumerate(outputs)]
        if mxnet.util.is_np_array():
            heads = [head.as_np_ndarray() for head in heads]
        executor.backward(heads)
        names = [name for name in self.symbol.list_arguments() if executor.grad_dict.get(name) is not None]
        results["outputs"] = [Digest(output) for output in outputs]
        results["grads"] = {name: Digest(executor.grad_dict[name]) for name in names}
        results["auxs"] = {name: Digest(array) for name, array in executor.aux_dict.items()}
        optimizer = mxnet.optimizer.create("sgd", sym=self.symbol, param_idx2name=dict(enumerate(names)), **OPTIMIZER)
        update = mxnet.optimizer.get_updater(optimizer)
        for i, name in enumerate(names):
            update(i, executor.grad_dict[name], executor.arg_dict[name])
        trained = self.Bind(False)
        for name, array in executor.arg_dict.items():
            array.copyto(trained.arg_dict[name])
        for name, array in executor.aux_dict.items():
            array.copyto(trained.aux_dict[name])
        results["after"] = [Digest(output) for output in trained.forward(is_train=False)]
        return results

    def Load(self, prefix):
        """Returns what MXNet predicts with the files of a checkpoint."""
        with open(prefix + "-symbol.json") as file:
            is_numpy = "is_np_shape" in file.read()
        if not is_numpy:
            mxnet.npx.reset_np()  # the network has no NumPy operators
        self.symbol, args, auxs = mxnet.model.load_checkpoint(prefix, 1)
        SetNumpy(self.network)
        self.values.update(list(args.items()) + list(auxs.items()))
        outputs = [Digest(output) for output in self.Bind(False).forward(is_train=False)]
        if is_numpy:
            block = mxnet.gluon.SymbolBlock.imports(prefix + "-symbol.json", list(self.inputs), prefix + "-0001.params")
            again = block(*(self.Array(name).as_np_ndarray() for name in self.inputs))
            if outputs != [Digest(output) for output in (again if isinstance(again, list) else [again])]:
                raise ValueError("Gluon predicts something else")
        return outputs

    def Write(self):
        results = self.Compute()
        folder = os.path.join(FOLDER, self.network.name)
        os.makedirs(folder, exist_ok=True)
        for file in os.listdir(folder):
            os.remove(os.path.join(folder, file))
        with open(os.path.join(folder, "symbol.json.gz"), "wb") as file:
            with gzip.GzipFile("", "wb", 9, file, mtime=0) as zipped:
                zipped.write(self.symbol.tojson().encode())
        if self.values:
            mxnet.nd.save(os.path.join(folder, "values.params"), self.values)
        case = {"family": self.network.family, "inputs": self.inputs, "params": self.ranges}
        if self.network.dtype != "float32":
            case["dtype"] = self.network.dtype
        if self.fixed:
            case["fixed"] = self.fixed
        if self.network.train:
            case["optimizer"] = OPTIMIZER
        if self.network.note:
            case["note"] = self.network.note
        case["rtol"] = self.network.rtol
        case.update(results)
        lines = []
        for key, value in case.items():
            if isinstance(value, dict) and value:
                inner = ",\n  ".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in value.items())
                lines.append('"%s": {\n  %s}' % (key, inner))
            else:
                lines.append('"%s": %s' % (key, json.dumps(value)))
        with open(os.path.join(folder, "case.json"), "w") as file:
            file.write("{" + ",\n ".join(lines) + "}\n")


def KeepLoaded(loaded):
    """Adds predictions to loaded.json, a line for each network."""
    path = os.path.join(FOLDER, "loaded.json")
    if os.path.exists(path):
        with open(path) as file:
            loaded = dict(json.load(file), **loaded)
    with open(path, "w") as file:
        file.write("{%s}\n" % ",\n ".join("%s: %s" % (json.dumps(k), json.dumps(loaded[k])) for k in sorted(loaded)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the networks by family, as a table of docs")
    parser.add_argument("--load", metavar="FOLDER", help="of checkpoints that cooper wrote")
    flags = parser.parse_args()
    networks = network_list.Networks()
    if flags.list:
        families = {}
        for network in networks:
            families.setdefault(network.family, []).append(network.name)
        for family, names in families.items():
            print("| %s | %s |" % (family, ", ".join("`%s`" % name for name in names)))
        return 0
    if flags.names:
        networks = [network for network in networks if network.name in flags.names]
    has_onednn = os.environ["MXNET_MKLDNN_ENABLED"] == "1"
    failed, loaded = 0, {}
    for network in networks:
        if network.onednn != has_onednn:
            continue
        SetNumpy(network)
        try:
            case = Case(network)
            if flags.load:
                loaded[network.name] = case.Load(os.path.join(flags.load, network.name))
            else:
                case.Write()
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print("%s: %s: %s" % (network.name, type(error).__name__, " ".join(str(error).split())[-300:]),
                  file=sys.stderr, flush=True)
    if loaded:
        KeepLoaded(loaded)
    others = [network.name for network in networks if network.onednn]
    if others and not has_onednn:
        environment = dict(os.environ, MXNET_MKLDNN_ENABLED="1", MXNET_SUBGRAPH_BACKEND="NONE")
        arguments = ["--load=" + flags.load] if flags.load else []
        failed += subprocess.run([sys.executable, __file__] + arguments + others, env=environment, check=False).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
