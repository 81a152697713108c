"""An operator is one op_library (its schema) and one device_kernels (its kernels).

    op_library(                           device_kernels(
        name = "pooling",                     name = "pooling",
        hdrs = ["pooling_param.h"],           deps = [":lowest_element"],
    )                                     )

in symbol/ops/FAMILY/BUILD and executor/kernels/FAMILY/BUILD. The latter makes a target for each
device, so that a program without CUDA compiles none: pooling of pooling.cc, pooling_cuda of
pooling.cu. Where sources or schemas differ, kernel_library and cuda_kernel_library make one each.
What every schema or kernel includes comes from the macros, and the last lines of each BUILD file,
op_family or kernel_family and cuda_kernel_family, make the targets that link all of its folder.
They may be loaded from other workspaces too, for operators of their own.
"""

load("@rules_cc//cc:cc_binary.bzl", "cc_binary")
load("//:cc_test.bzl", "cc_test")
load("//:layers.bzl", "cc_library")
load("//third_party/cuda:defs.bzl", "REQUIRES_CUDA", "cuda_library", "cuda_test")

# Labels of cooper's and its dependencies' whoever loads this file.
_PARAM_DEPS = [str(Label(label)) for label in [
    "//ndarray/base:dtype",
    "//ndarray/base:shape",
    "//symbol/schema:param_schema",
]]

_OP_DEPS = _PARAM_DEPS + [str(Label(label)) for label in [
    "//ndarray/base:status_macros",
    "//symbol/schema:op",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
]]

_SHAPE_TEST_DEPS = [str(Label(label)) for label in [
    "//symbol/ops/elemwise:shape_rule_checker",
    "@com_google_googletest//:gtest_main",
]]

_CUDA_TEST_DEPS = [str(Label(label)) for label in [
    "//executor/kernels/launch:compare_kernels",
    "//ndarray/cuda:require_gpu",
    "@com_google_absl//absl/strings",
    "@com_google_googletest//:gtest_main",
]]

_KERNEL_DEPS = [str(Label(label)) for label in [
    "//executor/program:kernel",
    "//executor/kernels/launch:cpu_kernel",
    "//ndarray/base:dtype",
    "//ndarray/threads:parallel",
    "//ndarray/base:shape",
    "//ndarray/base:status_macros",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
    "@com_google_absl//absl/types:span",
]]

_CUDA_KERNEL_DEPS = [str(Label(label)) for label in [
    "//executor/program:kernel",
    "//executor/kernels/launch:cuda_kernel",
    "//ndarray/base:dtype",
    "//ndarray/base:shape",
    "//ndarray/base:status_macros",
    "@com_google_absl//absl/status",
    "@com_google_absl//absl/status:statusor",
    "@com_google_absl//absl/strings",
    "@com_google_absl//absl/types:span",
]]

def _registrar(name, kind, srcs, deps, visibility, level = None):
    """A library whose files register themselves, which is why it is always linked whole."""
    cc_library(
        name = name,
        srcs = srcs or [name + ".cc"],
        level = level,
        tags = [kind],
        visibility = visibility,
        deps = deps,
        alwayslink = True,
    )

def op_library(name, srcs = None, hdrs = [], deps = [], test = None):
    """The schemas in NAME.cc, and their parameters in `hdrs`.

    Kernels reach the headers through the schemas. For code that looks at parameters of an operator
    that may not be linked, such as a graph pass, NAME_param has the headers alone.

    Args:
      name: of the target.
      srcs: the sources, if not NAME.cc.
      hdrs: the headers that kernels share: parameter structs, numbers of inputs.
      deps: what sources and headers include beside what every schema does.
      test: a source with rows for CheckShapeRule, which becomes NAME_test.
    """
    if test:
        cc_test(
            name = name + "_test",
            size = "small",
            srcs = [test],
            deps = [":" + name] + _SHAPE_TEST_DEPS,
        )
    if hdrs:
        cc_library(
            name = name + "_param",
            hdrs = hdrs,
            visibility = ["//:__subpackages__"],
            deps = _PARAM_DEPS + deps,
        )
        deps = deps + [":%s_param" % name]
    _registrar(name, "op", srcs, _OP_DEPS + deps, ["//:__subpackages__"])

def _in_family(layer, name):
    """Returns the target of this name in the folder of `layer` that is called as this one is."""
    return "%s/%s:%s" % (layer, native.package_name().rpartition("/")[2], name)

def _schemas(ops):
    """Returns the op_library targets that kernels in this folder name by family or by label."""
    return [op if ":" in op else _in_family("//symbol/ops", op) for op in ops]

def kernel_library(name, srcs = None, ops = None, deps = [], level = None):
    """The kernels in NAME.cc; linking them links the schemas of their operators.

    Args:
      name: of the target.
      srcs: the sources, if not NAME.cc.
      ops: the op_library targets, if not the one of this name in symbol/ops/FAMILY, where FAMILY
        is this folder's name; one without a colon is of that family.
      deps: what the sources include beside what every kernel does.
      level: as of cc_library in layers.bzl.
    """
    deps = _KERNEL_DEPS + _schemas(ops or [name]) + deps
    _registrar(name, "kernel", srcs, deps, ["//visibility:public"], level)

def cuda_kernel_library(name, srcs = None, ops = None, deps = [], test = None):
    """The same for GPUs: NAME_cuda are the kernels in NAME.cu.

    Args:
      name: of the target; it ends with "_cuda".
      srcs: the sources, if not NAME.cu.
      ops: as of kernel_library.
      deps: what the sources include beside what every CUDA kernel does.
      test: a source with rows for ExpectEqualKernels, which becomes NAME_cuda_test. It links NAME,
        the kernels for CPUs.
    """
    if not name.endswith("_cuda"):
        fail("cuda_kernel_library %s: expected a name that ends with _cuda" % name)
    stem = name[:-len("_cuda")]
    if test:
        cuda_test(
            name = name + "_test",
            size = "small",
            srcs = [test],
            deps = [":" + name, ":" + stem] + _CUDA_TEST_DEPS,
        )
    cuda_library(
        name = name,
        srcs = srcs or [stem + ".cu"],
        tags = ["cuda_kernel"],
        visibility = ["//visibility:public"],
        deps = _CUDA_KERNEL_DEPS + _schemas(ops or [stem]) + deps,
        alwayslink = True,
    )

def device_kernels(name, ops = None, deps = [], cpu_deps = [], cuda_deps = [], cuda_test = None, level = None):
    """The kernels of both devices: NAME of NAME.cc, and NAME_cuda of NAME.cu.

    Args:
      name: of the target for CPUs.
      ops: as of kernel_library.
      deps: what both sources include beside what every kernel does.
      cpu_deps: what NAME.cc includes beside that.
      cuda_deps: what NAME.cu includes beside that.
      cuda_test: `test` of cuda_kernel_library.
      level: as of kernel_library.
    """
    ops = ops or [name]
    kernel_library(name = name, ops = ops, deps = deps + cpu_deps, level = level)
    cuda_kernel_library(name = name + "_cuda", ops = ops, deps = deps + cuda_deps, test = cuda_test)

def _family(name, kind, **kwargs):
    members = [
        ":" + rule["name"]
        for rule in native.existing_rules().values()
        if kind in rule["tags"]
    ]
    cc_library(
        name = name,
        visibility = ["//visibility:public"],
        deps = sorted(members),
        **kwargs
    )

def op_family(name):
    """Every op_library that stands above it in this BUILD file."""
    _family(name, "op")

def kernel_family(name):
    """Every kernel_library that stands above it in this BUILD file."""
    _family(name, "kernel")

def cuda_kernel_family(name):
    """Every cuda_kernel_library that stands above it in this BUILD file."""
    _family(name, "cuda_kernel", target_compatible_with = REQUIRES_CUDA)

def public_aliases(targets):
    """Labels in this package that users name, of targets elsewhere.

    Args:
      targets: a package -> this package's name of a target -> its name there.
    """
    for package, names in targets.items():
        for name, actual in names.items():
            native.alias(
                name = name,
                actual = package + ":" + actual,
                visibility = ["//visibility:public"],
            )

def _generated_functions_impl(ctx):
    ctx.actions.run(
        executable = ctx.executable.generator,
        arguments = [
            ctx.attr.family,
            "/".join([part for part in [ctx.label.package, ctx.outputs.header.basename] if part]),
            ctx.outputs.header.path,
            ctx.outputs.source.path,
        ],
        outputs = [ctx.outputs.header, ctx.outputs.source],
        mnemonic = "OpFunctions",
        progress_message = "Writing functions of operators of %s" % ctx.attr.family,
    )

# The generator is built as the rest is, not for the machine that builds: they are the same, and the
# schemas, which every program that calls the functions links, are compiled once.
_generated_functions = rule(
    implementation = _generated_functions_impl,
    attrs = {
        "family": attr.string(mandatory = True),
        "generator": attr.label(executable = True, cfg = "target", mandatory = True),
        "header": attr.output(mandatory = True),
        "source": attr.output(mandatory = True),
    },
)

def op_functions(name, ops = None):
    """The functions that make nodes of a family's operators: NAME.h, generated from their schemas.

    Args:
      name: of the target, and of the folder that holds the schemas' sources.
      ops: the op_family of that folder, if not //symbol/ops/NAME.
    """
    ops = ops or str(Label("//symbol/ops/" + name))
    generator = "generate_%s_functions" % name
    cc_binary(
        name = generator,
        deps = [ops, str(Label("//symbol/op:generate_functions"))],
    )
    _generated_functions(
        name = name + "_functions",
        family = name,
        generator = ":" + generator,
        header = name + ".h",
        source = name + ".cc",
    )
    cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        visibility = ["//visibility:public"],
        deps = [ops] + [str(Label(label)) for label in [
            "//ndarray/base:dtype",
            "//symbol/graph:symbol",
            "//symbol/op:attribute",
            "//symbol/op:node_builder",
            "//symbol/op:operators",
            "@com_google_absl//absl/types:span",
        ]],
    )
