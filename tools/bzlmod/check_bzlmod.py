#!/usr/bin/env python3
"""tools/bzlmod/check_bzlmod.py: finds errors that would stop Bazel 7.4 to 9.1 before it compiles anything.

Needs no Bazel above 4.2.3. Checks three workspaces: cooper; tests/embed, as it is and with cooper
under another repository name; and an artificial consumer, which depends only on cooper and uses
each of its macros (tools/bzlmod/consumer: a.b.BUILD is //a/b:BUILD).

- Modules are resolved with the table of third_party/bazel_registry (tools/bzlmod/resolution.py).
- BUILD and .bzl files are executed with stubs in place of rules (tools/bzlmod/loader.py): each name
  must exist in Bazel 9 or in the loaded file, and each label must be a visible target.
- The patterns of tests/embed/infer_only_test.sh must match labels as each Bazel prints them.

Not checked: flags of .bazelrc, implementations of rules, other modules' BUILD files, and versions
of modules that are part of Bazel.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

import rule_sets
from loader import Loader
from modules import read_module
from repositories import source_files
from resolution import resolve, version_key
from starlark import Label, analyse

BAZELS = ("7.4.0", "8.0.0", "8.6.0", "9.0.0", "9.1.0")
WORKSPACES = ("cooper", "tests/embed", "tests/embed, cooper as @engine", "consumer")
CONSUMER_MODULE = """module(name = "consumer")
bazel_dep(name = "cooper", repo_name = "engine")
local_path_override(module_name = "cooper", path = "%s")
"""
# Files whose macros are for WORKSPACE and module extensions.
NOT_FOR_BUILD_FILES = {"extensions.bzl", "repositories.bzl", "third_party/cuda/cuda_configure.bzl",
                       "third_party/system/system_library.bzl"}


def _write_workspace(root, name, folder):
    """Writes a workspace to `folder`, and returns its folder: cooper's own is not copied."""
    if name == "cooper":
        return root
    if name == "consumer":
        (folder / "MODULE.bazel").write_text(CONSUMER_MODULE % root)
        for file in (root / "tools/bzlmod/consumer").iterdir():
            package = folder.joinpath(*file.stem.split("."))
            package.mkdir(parents=True)
            (package / "BUILD").write_text(file.read_text())
        return folder
    if name == "tests/embed":
        return root / "tests/embed"
    for file in (root / "tests/embed").iterdir():
        if not file.is_file():  # Bazel's links
            continue
        text = file.read_text().replace("@cooper//", "@engine//")
        if file.name == "MODULE.bazel":
            text = text.replace('bazel_dep(name = "cooper")',
                                'bazel_dep(name = "cooper", repo_name = "engine")')
            text = text.replace('"../.."', '"%s"' % root)
        (folder / file.name).write_text(text)
    return folder


def _check_modules(folder, name, bazel, table):
    """Returns (number of modules, those left out, errors) of resolving a workspace's modules."""
    root = read_module(folder)
    overrides = {module: read_module(path).declaration() for module, path in root.overrides.items()}
    found = resolve(bazel, root.name, root.declaration(), overrides, table)
    errors = list(found.errors)
    for module, version in found.selected.items():
        since, others = rule_sets.LOADS_CC_RULES_SINCE.get(module, ("0", []))
        old = version and version_key(version) < version_key(since)
        if bazel.startswith("9.") and (old or version in others):
            errors.append("%s %s uses rules that Bazel 9 does not have; %s does not" %
                          (module, version, since if old else "a later version"))
    errors = ["%s, Bazel %s: %s" % (name, bazel, error) for error in errors]
    return len(found.selected), found.left_out, errors


def _abseil_targets(loader, own):
    labels = loader.load_bzl(Label(own, "third_party/system", "absl_labels.bzl"), "")["ABSL_LABELS"]
    return ["//absl/%s:%s" % (package, target.partition("=")[0])
            for package, targets in labels.items() for target in targets]


def _unused_macros(loader, root, own):
    """Returns the errors of macros and rules that no BUILD file of the consumer loads."""
    builds = [file.read_text() for file in (root / "tools/bzlmod/consumer").iterdir()]
    for path in source_files(root, lambda name: name.endswith(".bzl")):
        if path in NOT_FOR_BUILD_FILES or path.startswith(("tests/", "tools/")):
            continue
        package, _, base = path.rpartition("/")
        names = loader.load_bzl(Label(own, package, base), path)
        loads = [line for build in builds for line in build.splitlines()
                 if line.startswith('load("@engine//%s:%s"' % (package, base))]
        for name in sorted(analyse((root / path).read_text()).defined):
            is_macro = isinstance(names[name], types.FunctionType) and not name.startswith("_")
            if is_macro and not any('"%s"' % name in line for line in loads):
                yield "%s: tools/bzlmod/consumer does not use %s" % (path, name)


def _check_patterns(root, name, loader):
    """Returns the errors of infer_only_test.sh over the labels of what infer_only depends on."""
    script = root / "tests/embed/infer_only_test.sh"
    canonical = loader.repositories.canonical
    cooper = canonical("cooper")
    labels = loader.dependencies(Label("", "", "infer_only"))
    apparent = {name: visible
                for visible, name in loader.repositories[""].mapping.items()}
    forms = {
        "canonical": lambda label: str(label) if label.repository else str(label)[2:],
        "apparent": lambda label: str(label)[2:] if not label.repository else str(label).replace(
            "@@" + label.repository, "@" + apparent.get(label.repository, label.repository), 1),
    }
    system = [name for name in loader.repositories if name.endswith("mpi")][0]
    forbidden = [Label(cooper, "executor", "executor"), Label(cooper, "io/text", "text"),
                 Label(cooper, "module", "module"), Label(canonical("onednn"), "", "onednn"),
                 Label(canonical("eigen"), "", "eigen"), Label(system, "", "mpi")]
    errors = []

    def accepts(form, labels):
        with tempfile.NamedTemporaryFile("w", suffix=".labels") as file:
            file.write("".join(forms[form](label) + "\n" for label in labels))
            file.flush()
            return subprocess.run([script, "--labels", file.name], capture_output=True,
                                  check=False).returncode == 0

    for form in forms:
        if not accepts(form, labels):
            errors.append("infer_only_test.sh refuses its own labels (%s)" % form)
        others = [label for label in labels if label.name != "infer_shape"]
        if accepts(form, others):
            errors.append("infer_only_test.sh does not miss infer_shape (%s)" % form)
        errors += ["infer_only_test.sh does not see %s" % forms[form](label)
                   for label in forbidden if accepts(form, labels + [label])]
    return ["%s: %s" % (name, error) for error in errors]


def check(root, bazels=BAZELS, workspaces=WORKSPACES, report=lambda line: None):
    """Returns the errors of the repository in `root`, and prints what was checked."""
    root = pathlib.Path(root).absolute()
    table = json.loads((root / "third_party/bazel_registry/modules.json").read_text())["modules"]
    errors = []
    left_out = set()
    for name in workspaces:
        with tempfile.TemporaryDirectory() as temporary:
            folder = _write_workspace(root, name, pathlib.Path(temporary))
            for bazel in bazels:
                count, missing, found = _check_modules(folder, name, bazel, table)
                left_out |= missing
                errors += found
                report("%s, Bazel %s: %d modules" % (name, bazel, count))
            for separator in sorted({"~" if bazel.startswith("7.") else "+" for bazel in bazels}):
                loader = Loader(folder, separator, made_up=name == "consumer")
                own = loader.repositories.canonical("cooper")
                loader.targets["abseil-cpp"] = _abseil_targets(loader, own)
                loader.load_all()
                if name == "consumer":
                    loader.errors += _unused_macros(loader, root, own)
                count = loader.check_references()
                errors += ["%s, with %s in repository names: %s" % (name, separator, error)
                           for error in loader.errors]
                if "embed" in name:
                    errors += _check_patterns(root, name, loader)
                report("%s, with %s in repository names: %d labels" % (name, separator, count))
    for module, version in sorted(left_out):
        report("left out, for the table does not have it: %s %s" % (module, version))
    report("left out: the modules that a Bazel brings itself (bazel_tools and what it depends on)")
    return errors


def main():
    os.chdir(pathlib.Path(__file__).parent.parent.parent)
    errors = check(".", report=print)
    print("\n".join(errors + ["%d errors" % len(errors)]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
