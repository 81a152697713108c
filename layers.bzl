"""The layer law, and the cc_library that enforces it while BUILD files are loaded.

The law is two tables. LAYERS says which layers (top-level folders) the libraries of a layer may use
beside their own. ROOMS orders the folders inside a layer. Programs (examples, tools, benchmarks,
tests) may use everything, every folder may use third_party, and nothing else is used by a layer.
What this check cannot see, a select() or a target made by another rule, tests/layering covers.
"""

load("@rules_cc//cc:cc_library.bzl", _cc_library = "cc_library")

LAYERS = {
    "ndarray": [],
    "symbol": ["ndarray"],
    "executor": ["ndarray", "symbol"],
    "io": ["ndarray"],
    "module": ["executor", "io", "ndarray", "symbol"],
}

# The folders of each layer, from below: the libraries of one may use those before it, never those
# behind it. The layer's own folder comes last. A folder that is not named belongs to the nearest one
# around it that is. A layer without a line has no order. What only tests use is not bound by it.
ROOMS = {
    "ndarray": [
        "base",
        "threads",
        "array",
        "dlpack",
        "files",
        "products",
        "random",
        "cuda",
    ],
    "symbol": [
        "schema",
        "graph",
        "json",
        "inference",
        "ops/rules",
        "ops/control",
        "ops/detection",
        "ops/elemwise",
        "ops/index",
        "ops/linalg",
        "ops/loss",
        "ops/nn",
        "ops/fused",
        "ops/optimizer",
        "ops/random",
        "ops/reduce",
        "ops/rnn",
        "ops/shape",
        "ops/numpy",
        "ops",
        "op",
        "control",
        "rnn",
        "visualization",
    ],
    "executor": [
        "program",
        "kernels/launch",
        "kernels/loops",
        "kernels/reducers",
        "kernels/elemwise",
        "kernels/control",
        "kernels/random",
        "kernels/norm",
        "kernels/softmax",
        "kernels/pooling",
        "kernels/attention",
        "kernels/index",
        "kernels/optimizer",
        "kernels/reduce",
        "kernels/shape",
        "kernels/linalg",
        "kernels/numpy",
        "kernels/loss",
        "kernels/rnn",
        "kernels/convolution",
        "kernels/quantized",
        "kernels/resample",
        "kernels/detection",
        "cpu",
        "cuda",
        "plan",
        "passes/graph",
        "passes/program",
        "compile",
        "run",
    ],
    "io": [
        "batch",
        "iterators",
        "buckets",
        "text",
        "records",
        "images/codec",
        "images/imgproc",
        "images/augment",
        "images",
        "streams",
    ],
    "module": [
        "kwargs",
        "metric",
        "lr_scheduler",
        "initializer",
        "pickle",
        "optimizer",
        "kvstore",
        "kvstore/mpi",
        "kvstore/nccl",
        "callback",
        "options",
        "parameters",
        "devices",
        "rows",
        "predict",
        "predict/requests",
        "predict/c_api",
        "onnx",
        "interface",
        "evaluate",
        "fit",
        "network",
        "bucketing",
        "checkpoint",
    ],
}

# Folders of programs that libraries name in a select(), and the configurations in which they do. In
# every other configuration nothing reaches them (tools/check_layering.sh).
SELECTED = {
    "tests/cuda_emulator": ["cuda_emulated", "cuda_host"],
}

# Attributes of a C++ rule that name other targets.
_LABEL_ATTRIBUTES = ["deps", "implementation_deps", "srcs", "hdrs", "textual_hdrs", "data"]

def _in_cooper():
    """Returns whether the BUILD file that is being loaded is cooper's, not a consumer's."""
    own = str(Label("//:layers.bzl")).partition("//")[0].strip("@")
    if hasattr(native, "repo_name"):
        return native.repo_name() == own
    return native.repository_name().strip("@") == own  # Bazel 4.2.3

def _package_of(label):
    """Returns the cooper package that a label string names: None for another repository's.

    The string is as written in a BUILD file of cooper, in which `//` is cooper itself whether it is
    the main repository or somebody's dependency.
    """
    repository, slashes, rest = label.partition("//")
    if not slashes:
        return native.package_name()
    if repository.strip("@") not in ["", "cooper"]:
        return None
    return rest.partition(":")[0]

def _room_of(package):
    """Returns the place in ROOMS of the folder that a package belongs to, and the folder."""
    layer, _, folder = package.partition("/")
    if not folder:
        return len(ROOMS[layer]), layer
    parts = folder.split("/")
    for depth in range(len(parts), 0, -1):
        room = "/".join(parts[:depth])
        if room in ROOMS[layer]:
            return ROOMS[layer].index(room), layer + "/" + room
    fail("layer law: ROOMS in layers.bzl has no place for %s" % package)

def check_layer_law(name, attributes):
    """Fails, in the law's words, if a target of a layer of cooper names a target above it.

    A consumer's folders may have the names of layers: nothing is checked there.

    Args:
      name: the target, in the package that is being loaded.
      attributes: its attributes, as given to the rule. A select() is not looked into.
    """
    layer = native.package_name().partition("/")[0]
    if not _in_cooper():
        return
    if layer == "third_party":
        allowed = []
    elif layer in LAYERS:
        allowed = LAYERS[layer]
    else:
        return
    for attribute in _LABEL_ATTRIBUTES:
        labels = attributes.get(attribute)
        for label in labels if type(labels) == "list" else []:
            package = _package_of(label)
            if package == None or package.partition("/")[0] in ["third_party"] + allowed:
                continue
            if package.partition("/")[0] == layer:
                if layer in ROOMS and not attributes.get("testonly"):
                    _check_rooms(name, layer, package, label)
                continue
            fail("layer law: %s may use only %s; //%s:%s depends on %s" % (
                layer,
                ", ".join(allowed) or "third_party",
                native.package_name(),
                name,
                label,
            ))

def _check_rooms(name, layer, package, label):
    """Fails if `label`, of `package`, is in a folder behind that of the BUILD file being loaded."""
    own_place, own = _room_of(native.package_name())
    place, other = _room_of(package)
    if place > own_place:
        fail("layer law: %s may not use %s; //%s:%s depends on %s; the order of %s is %s" % (
            own,
            other,
            native.package_name(),
            name,
            label,
            layer,
            " < ".join(ROOMS[layer] + [layer]),
        ))

# The levels of optimisation that a library may have.
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]

# The level of each package and of those below it. -O3 is for loops over elements; -O2 takes a fifth,
# -O1 two fifths less time to compile. -Os is for what runs once for a network, such as schemas,
# passes and files: it makes two fifths less code than -O1 and -O2. Modules run once per batch, row
# and parameter. Libraries that only tests use have -O0, as tests have (.bazelrc).
_LEVEL_OF = {
    "benchmarks": "-O1",
    "docs": "-O0",
    "examples": "-O1",
    "executor/compile": "-Os",
    "executor/kernels/linalg": "-O2",
    "executor/passes": "-Os",
    "executor/plan": "-Os",
    "executor/program": "-Os",
    "io": "-O2",
    "module": "-O1",
    "module/initializer": "-O3",
    "module/kvstore": "-O3",
    "module/metric": "-O3",
    "module/predict": "-Os",
    "ndarray/files": "-Os",
    "symbol": "-Os",
    "tests": "-O0",
    "tests/cuda_emulator": "-O3",
    "tools": "-O1",
}

def _level():
    """Returns what this package is optimised with: one of a consumer's with -O3."""
    level = "-O3"
    if not _in_cooper():
        return level
    folders = native.package_name().split("/")
    for depth in range(len(folders)):
        level = _LEVEL_OF.get("/".join(folders[:depth + 1]), level)
    return level

# g++'s -O3 writes the last elements of a loop again for each shorter vector, and unrolls loops of a
# known count up to 200 instructions: a quarter of the code of kernels. clang has no such parameters.
_SMALLER_LOOPS = [
    "--param=vect-epilogues-nomask=0",
    "--param=max-completely-peeled-insns=100",
]

# Packages whose loops lose a tenth to a quarter of their speed by it.
_LARGER_LOOPS = [
    "executor/kernels/convolution",
    "executor/kernels/norm",
    "executor/kernels/pooling",
    "executor/kernels/resample",
]

def optimised_copts(level):
    """Returns the copts of a library of `level` in an optimised build, in a consumer's workspace too.

    Nobody reads errno after exp(), nor the floating-point exceptions; without them loops over such
    functions vectorise. g++ 12 takes the unused part of an absl::InlinedVector for uninitialised.
    clang is told not to warn of g++'s flags.
    """
    smaller_loops = level == "-O3" and native.package_name() not in _LARGER_LOOPS
    return select({
        str(Label("//:optimised")): [
            level,
            "-fno-math-errno",
            "-fno-trapping-math",
            "-Wno-maybe-uninitialized",
            "-Wno-unknown-warning-option",
            "-Wno-unused-command-line-argument",
        ] + (_SMALLER_LOOPS if smaller_loops else []),
        "//conditions:default": [],
    })

def cc_library(name, srcs = [], copts = [], deps = [], level = None, **kwargs):
    """rules_cc's cc_library, for the libraries of a layer: it fails at loading against the law.

    g++ reads what most sources include from a precompiled header (third_party/prelude). They still
    include what they use: clang, and clang-tidy, see them without it.

    Args:
      name: the target's.
      srcs: as in rules_cc.
      copts: as in rules_cc; sources with flags of their own have no precompiled header.
      deps: as in rules_cc.
      level: one of LEVELS, if not the package's.
      **kwargs: other attributes of rules_cc's cc_library.
    """
    check_layer_law(name, dict(kwargs, srcs = srcs, deps = deps))
    level = level or _level()
    prelude = "library_prelude_" + level.strip("-")

    # A source with flags of its own could not take it.
    takes_prelude = srcs and not copts
    _cc_library(
        name = name,
        srcs = srcs,
        copts = optimised_copts(level) + (["-include", prelude + ".h"] if takes_prelude else copts),
        deps = deps + ([str(Label("//third_party/prelude:" + prelude))] if takes_prelude else []),
        **kwargs
    )
