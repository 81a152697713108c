"""layering_test: the law of layers.bzl over indirect dependencies."""

load("@rules_shell//shell:sh_test.bzl", "sh_test")
load("//:layers.bzl", "LAYERS", "SELECTED")

# Programs are above every layer.
_PROGRAMS = ["benchmarks", "examples", "tests", "tools"]

def _in_folders(folders):
    return 'filter("^//(%s)[:/]", $all)' % "|".join(folders)

def _forbidden(folders):
    """Returns a query for what is in `folders`, except in those that a select() may name."""
    return "%s except %s" % (_in_folders(folders), _in_folders(SELECTED.keys()))

def layering_test(name, layer, roots, tags = []):
    """Fails, with a path as the proof, if something of `layer` reaches what it may not use.

    Only what `roots` reach is looked at, and it must hold something of the layer. A genquery is a
    query that runs as a build action: a nested `bazel query` would wait for this build's lock.
    """
    allowed = [layer] + LAYERS[layer]
    forbidden = [folder for folder in list(LAYERS) + _PROGRAMS if folder not in allowed]
    queries = {
        "members": _in_folders([layer]),
        "forbidden_path": "somepath(%s, %s)" % (_in_folders([layer]), _forbidden(forbidden)),
    }
    for query, expression in queries.items():
        native.genquery(
            name = "%s_%s" % (name, query),
            testonly = True,
            expression = "let all = deps(set(%s)) in %s" % (" ".join(roots), expression),
            opts = ["--notool_deps"],
            scope = roots,
            tags = tags,
        )
    data = [":%s_%s" % (name, query) for query in queries]
    sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/layering:layering_test.sh"],
        args = [layer] + ["$(rootpath %s)" % label for label in data],
        data = data,
        tags = tags,
    )
