"""A header that g++ reads as it was left after parsing, rather than to parse it again."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _compile(ctx, toolchain, header, compilation_context):
    """Returns HEADER.gch, which g++ looks for beside HEADER and takes if it was made with like flags."""
    compiled = ctx.actions.declare_file(header.basename + ".gch")
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    cpp = ctx.fragments.cpp
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = compiled.path,
        user_compile_flags = cpp.copts + cpp.cxxopts + ctx.attr.copts + ["-xc++-header"],
        include_directories = compilation_context.includes,
        quote_include_directories = compilation_context.quote_includes,
        # Where the feature external_include_paths is on, those of other repositories are apart.
        system_include_directories = depset(transitive = [
            compilation_context.system_includes,
            getattr(compilation_context, "external_includes", depset()),
        ]),
        preprocessor_defines = compilation_context.defines,
        use_pic = True,
    )
    action = "c++-compile"
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset([header], transitive = [compilation_context.headers, toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % header.short_path,
    )
    return compiled

def _precompiled_header_impl(ctx):
    toolchain = find_cc_toolchain(ctx)
    deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])

    # clang takes a .gch for its own, and refuses one whose flags differ a little: there it is empty.
    is_clang = "clang" in toolchain.compiler_executable or "clang" in toolchain.compiler
    includes = [] if is_clang else ctx.attr.includes
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, "".join(["#include \"%s\"\n" % name for name in includes]))
    files = [header]
    if includes:
        files.append(_compile(ctx, toolchain, header, deps.compilation_context))
    own = cc_common.create_compilation_context(
        headers = depset(files),
        quote_includes = depset([header.dirname]),
    )
    return [
        DefaultInfo(files = depset(files)),
        cc_common.merge_cc_infos(cc_infos = [CcInfo(compilation_context = own), deps]),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = """NAME.h, which includes `includes`, and what g++ makes of it.

For libraries and tests with `-include NAME.h` among their copts. Whether they are compiled with the
same flags is theirs to see: else NAME.h is parsed.""",
    attrs = {
        "includes": attr.string_list(doc = "Headers of deps and of the C++ library."),
        "copts": attr.string_list(doc = "Beside those of the command line."),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@rules_cc//cc:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)
