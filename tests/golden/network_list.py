"""The networks of make_network_cases.py: how one is described, and the list of all of them."""

import numpy


class Input:
    """An input: numbers in a range, whole numbers below a bound, or given values."""

    def __init__(self, *shape, below=None, range=(-1, 1), values=None, dtype="float32"):  # pylint: disable=redefined-builtin
        self.values = None if values is None else numpy.array(values)
        self.shape = self.values.shape if values is not None else shape
        self.below, self.range, self.dtype = below, range, dtype


class Network:
    """`build` returns its symbol, or a pair with values of all its parameters.

    Inputs whose names end in "label" are labels.
    """

    def __init__(self, family, name, inputs, build, **options):
        self.family, self.name, self.build = family, name, build
        self.inputs = {key: value if isinstance(value, Input) else Input(*value) for key, value in inputs.items()}
        self.values = options.pop("values", {})  # constants: parameters that are not trained
        self.ranges = options.pop("ranges", {})  # of parameters, in place of those of RangeOf
        self.shapes = options.pop("shapes", None)  # of parameters, where MXNet cannot infer them
        self.fixed = options.pop("fixed", ())
        self.train = options.pop("train", True)
        self.numpy = options.pop("numpy", False)
        self.onednn = options.pop("onednn", False)  # whether MXNet's plain kernels fail
        self.dtype = options.pop("dtype", "float32")  # of parameters
        self.rtol = options.pop("rtol", 1e-3)
        self.note = options.pop("note", "")
        assert not options, options

    def Build(self):
        """Returns the symbol; sets the values that come with it."""
        built = self.build()
        if isinstance(built, tuple):
            built, self.values = built
        return built


ALL = []


def network(family, inputs, **options):
    """Registers the function below it, whose name is the network's."""
    def Register(build):
        ALL.append(Network(family, options.pop("name", build.__name__), inputs, build, **options))
        return build
    return Register


def Networks():
    """Returns all networks in the order of their families."""
    import network_images, network_sequences, network_others  # noqa: F401,E401  pylint: disable=unused-import,multiple-imports,import-outside-toplevel
    return sorted(ALL, key=lambda n: (n.family, n.name))
