"""Loads the packages of a workspace and of the modules that it overrides with folders.

BUILD and .bzl files are executed as Python, which they nearly are. Their declarations become
targets, and every label is resolved as Bazel does: a string in the module of the BUILD file, a
Label() in that of the .bzl file. Each error that would stop Bazel is appended to Loader.errors.
"""

import dataclasses
import re
import sys
import types

import rule_sets
from repositories import Repositories, source_files
from starlark import (COMMON, Attribute, Failure, Label, Rule, Stub, analyse, compiled,
                             strings)

LOCATION = re.compile(r"\$\((?:root|exec|rlocation)?(?:path|location)s? ([^)]+)\)")
# Attributes of `native` that only functions for WORKSPACE use, which no Bazel after 4.2.3 calls.
WORKSPACE_NAMES = {"repositories.bzl": {"local_repository"}}


@dataclasses.dataclass
class Target:
    kind: str
    attributes: dict
    visibility: list  # None: the package's default
    where: str
    labels: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Package:
    repository: str
    path: str
    default_visibility: list = dataclasses.field(default_factory=list)
    targets: dict = dataclasses.field(default_factory=dict)
    outputs: set = dataclasses.field(default_factory=set)
    exported: dict = dataclasses.field(default_factory=dict)  # file -> visibility


@dataclasses.dataclass
class Reference:
    """A reference to a target, which is looked up when all packages are loaded."""
    label: Label
    package: Package  # that it is used in; None for a .bzl file's, which visibility does not bind
    where: str


class Loader:
    def __init__(self, root, separator, made_up=False):
        """Reads the modules of the workspace in `root`.

        Args:
          root: its folder.
          separator: between the parts of canonical names: "~" in Bazel 7, "+" in 8 and 9.
          made_up: whether its BUILD files may name sources that do not exist.
        """
        self.errors = []
        self.repositories = Repositories(root, separator)
        self.targets = dict(rule_sets.TARGETS)
        self._made_up = made_up
        self._packages, self._bzl_files, self._references = {}, {}, []
        self._package = None
        self._extension = None  # the module and the UsedExtension that is being run
        for module in self.repositories.modules.values():
            self._run_extensions(module)

    def error(self, where, message):
        self.errors.append("%s: %s" % (where, message))

    def resolve(self, text, repository, package, where):
        """Returns the Label of `text` in a file of that package; None, with an error, if that
        repository is not visible there."""
        try:
            return self.repositories.resolve(text, repository, package)
        except Failure as failure:
            return self.error(where, failure)

    def _run_extensions(self, module):
        where = "%s's MODULE.bazel" % module.name
        for extension in module.extensions:
            own = self.repositories.canonical(module.name)
            label = self.resolve(extension.label, own, "", where)
            implementation = label and self.load_bzl(label, where).get(extension.name)
            if implementation:
                self._extension = module, extension
                implementation(Stub("module_ctx"))
            for name in extension.repositories.values():
                if self.repositories.extension_prefix(module, extension) + name not in (
                        self.repositories):
                    self.error(where, "the extension makes no repository %s" % name)

    def _where(self):
        """Returns the current line of the BUILD file, and that of the macro."""
        frames = []
        frame = sys._getframe(1)
        while frame:
            if "//" in frame.f_code.co_filename:
                frames.append("%s:%d" % (frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        if len(frames) > 1:
            return "%s (%s)" % (frames[-1], frames[0])
        return frames[0] if frames else "MODULE.bazel"

    # Files.

    def load_bzl(self, label, where):
        """Returns the names that a .bzl file defines: those of the table for other modules."""
        if label.key() in self._bzl_files:
            return self._bzl_files[label.key()]
        repository = self.repositories[label.repository]
        names = {}
        if repository.folder is None and repository.files is None:
            path = label.path()
            table = rule_sets.LOADS.get(repository.module, {})
            if path not in table:
                self.error(where, "%s has no %s that is known here (tools/bzlmod/rule_sets.py)" %
                           (repository.module, path))
            names = {name: Stub(name, self.declare) for name in table.get(path, [])}
        else:
            source = repository.read(label.path())
            if source is None:
                self.error(where, "%s does not exist" % label)
            else:
                names = self._execute(source, label, self._bzl_names(label), rule_sets.BZL_NAMES)
        self._bzl_files[label.key()] = names
        return names

    def _execute(self, source, label, names, known):
        """Returns the names that a file defines. Undefined names are errors and become stubs."""
        file_name = "%s//%s" % (label.repository and "@@" + label.repository, label.path())
        exempt = WORKSPACE_NAMES.get(label.name, set())
        names = {"__builtins__": {}, **names}
        for line, name in analyse(source).free:
            if name not in known:
                self.error("%s:%d" % (file_name, line),
                           "%s is no name that Bazel 9 has without a load" % name)
                names[name] = Stub(name, self.declare)
        for line, name in analyse(source).native:
            if name not in rule_sets.NATIVE_NAMES | exempt:
                self.error("%s:%d" % (file_name, line), "Bazel 9 has no native.%s" % name)

        def load(text, *loaded, **renamed):
            where = "%s:%d" % (file_name, sys._getframe(1).f_lineno)
            target = self.resolve(text, label.repository, label.package, where)
            offered = self.load_bzl(target, where) if target else {}
            for own, name in {**{name: name for name in loaded}, **renamed}.items():
                if target and name not in offered:
                    self.error(where, "%s has no %s" % (text, name))
                names[own] = offered.get(name, Stub(name, self.declare))

        names["load"] = load
        try:
            exec(compiled(source, file_name), names)
        except Exception as error:  # whatever a file may raise
            line = [f for f in _frames(error.__traceback__) if "//" in f]
            self.error(line[-1] if line else file_name, "%s: %s" % (type(error).__name__, error))
        return names

    def _bzl_names(self, label):
        def resolve(text):
            result = self.resolve(text, label.repository, label.package, self._where())
            if result is None:
                raise Failure("Label(%r)" % text)
            return result

        def attribute(kind):
            def make(default=None, **_):
                if kind == "label" and default is not None:
                    where = self._where()
                    target = self.resolve(default, label.repository, label.package, where)
                    if target:
                        self._references.append(Reference(target, None, where))
                return Attribute(kind, default)
            return make

        def rule(implementation=None, attrs=None, toolchains=(), **_):
            for toolchain in toolchains if isinstance(toolchains, list) else []:
                target = self.resolve(toolchain, label.repository, label.package, self._where())
                if target:
                    self._references.append(Reference(target, None, self._where()))
            made = Rule("rule", attrs or {})
            return lambda **attributes: self.declare(made, attributes)

        def repository_rule(implementation, attrs=None, **_):
            return lambda name, **values: self.repositories.make(
                *self._extension, name, implementation, attrs or {}, values)

        kinds = ("bool int label label_keyed_string_dict label_list output output_list string "
                 "string_dict string_list").split()
        names = {name: Stub(name) for name in rule_sets.BZL_NAMES}
        names.update(COMMON)
        names.update(
            Label=resolve, rule=rule, repository_rule=repository_rule,
            attr=types.SimpleNamespace(**{kind: attribute(kind) for kind in kinds}),
            module_extension=lambda implementation, **_: implementation,
            native=types.SimpleNamespace(**self._package_names()))
        return names

    def _package_names(self):
        """Returns the functions available in a BUILD file, and in `native` in a macro."""
        def exports_files(files, visibility=None):
            self._package.exported.update({file: visibility for file in files})

        def package(default_visibility=(), **_):
            self._package.default_visibility = list(default_visibility)

        names = {name: Stub(name, self.declare) for name in rule_sets.NATIVE_NAMES}
        names.update(
            exports_files=exports_files, package=package, glob=self._glob,
            package_name=lambda: self._package.path,
            repo_name=lambda: self._package.repository,
            existing_rule=lambda name: self._package.targets.get(name),
            existing_rules=lambda: {
                name: {"tags": [], **target.attributes, "kind": target.kind}
                for name, target in self._package.targets.items()})
        return names

    def _glob(self, include, exclude=(), allow_empty=True):
        folder = self.repositories[self._package.repository].folder
        if folder is None:
            return []
        folder = folder / self._package.path
        excluded = {path for pattern in exclude for path in folder.glob(pattern)}
        return sorted({str(path.relative_to(folder)) for pattern in include
                       for path in folder.glob(pattern) if path.is_file()
                       and path not in excluded})

    # Packages and targets.

    def load_package(self, repository, path):
        """Returns the Package; None if there is no BUILD file."""
        if (repository, path) in self._packages:
            return self._packages[repository, path]
        label = Label(repository, path, "BUILD")
        source = self.repositories[repository].read(label.path())
        package = None if source is None else Package(repository, path)
        self._packages[repository, path] = package
        if package:
            outer, self._package = self._package, package
            self._execute(source, label, {**COMMON, **self._package_names()},
                          rule_sets.BUILD_NAMES)
            self._package = outer
        return package

    def load_all(self):
        """Loads the packages of the workspace but those in folders of .bazelignore."""
        for file in source_files(self.repositories.root.folder, lambda name: name == "BUILD"):
            self.load_package("", file.rpartition("/")[0])

    def declare(self, rule, attributes):
        package, where = self._package, self._where()
        if package is None:
            return self.error(where, "a target outside a BUILD file")
        target = Target(rule.name, attributes, attributes.get("visibility"), where)
        if attributes["name"] in package.targets:
            self.error(where, "there are two targets %s" % attributes["name"])
        package.targets[attributes["name"]] = target
        for attribute, value in attributes.items():
            kind = rule.kind(attribute, rule_sets.LABEL_ATTRIBUTES, rule_sets.OUTPUT_ATTRIBUTES)
            if kind == "output":
                package.outputs.update(strings(value))
            if attribute == "flag_values":
                value = list(value)  # the labels are its keys
            found = list(strings(value)) if kind == "label" else []
            found += [name for text in strings(value) if isinstance(text, str)
                      for name in LOCATION.findall(text)]
            if attribute != "visibility":
                found += _select_keys(value)
            for text in dict.fromkeys(found):
                if text == "//conditions:default":
                    continue
                label = self.resolve(text, package.repository, package.path, where)
                if label:
                    target.labels.append(label)
                    self._references.append(Reference(label, package, where))

    # Checks after all packages are loaded.

    def check_references(self):
        """Checks that every referenced target exists and is visible where it is referenced."""
        done = 0
        while done < len(self._references):  # looking up a target loads its package, with more
            reference = self._references[done]
            done += 1
            problem = self._problem(reference)
            if problem:
                self.error(reference.where, "%s %s" % (reference.label, problem))
        self.errors = list(dict.fromkeys(self.errors))
        return done

    def _problem(self, reference):
        label = reference.label
        repository = self.repositories[label.repository]
        if repository.folder is None and repository.files is None:
            known = self.targets.get(repository.module, [])
            if "//%s:%s" % (label.package, label.name) in known:
                return None
            return "is no target of %s that is known here (tools/bzlmod/rule_sets.py)" % (
                repository.module)
        package = self.load_package(label.repository, label.package)
        if package is None:
            return "is in no package"
        target = package.targets.get(label.name)
        if target:
            visibility = target.visibility
            if visibility is None and target.kind == "config_setting":
                visibility = ["//visibility:public"]  # whatever the package's default is
        elif label.name in package.exported:
            visibility = package.exported[label.name] or ["//visibility:public"]
        elif label.name in package.outputs or repository.has(label.path()):
            visibility = None
        elif self._made_up and not label.repository and "." in label.name:
            return None
        else:
            return "does not exist"
        if visibility is None:
            visibility = package.default_visibility
        return None if self._visible(reference.package, package, visibility) else "is not visible"

    def _visible(self, user, package, visibility):
        if user is None or (user.repository, user.path) == (package.repository, package.path):
            return True
        for text in visibility:
            if text == "//visibility:public":
                return True
            label = self.resolve(text, package.repository, package.path, "visibility")
            if not label or label.repository != user.repository:
                continue
            below = not label.package or (user.path + "/").startswith(label.package + "/")
            if (label.name == "__pkg__" and label.package == user.path or
                    label.name == "__subpackages__" and below):
                return True
        return False

    def dependencies(self, label):
        """Returns the labels that a target reaches, with its own, as far as they are loaded."""
        found, queue = {}, [label]
        while queue:
            label = queue.pop()
            if label.key() in found:
                continue
            found[label.key()] = label
            package = self._packages.get((label.repository, label.package))
            target = package and package.targets.get(label.name)
            queue += target.labels if target else []
        return list(found.values())


def _frames(traceback):
    while traceback:
        yield "%s:%d" % (traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next


def _select_keys(value):
    """Returns the conditions of the select()s in an attribute that names no targets itself."""
    return [key for part in getattr(value, "parts", []) if isinstance(part, dict) for key in part]
