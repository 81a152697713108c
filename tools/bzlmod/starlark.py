"""The parts of Starlark that Python lacks, and stubs for rules."""

import ast
import builtins
import functools
import re
import symtable
import types


class Failure(Exception):
    """An error that stops a file: fail(), or a label that names nothing."""


class Label:
    """A resolved label. `repository` is the canonical name, "" for the main repository."""

    def __init__(self, repository, package, name):
        self.repository, self.package, self.name = repository, package, name

    def __str__(self):
        return "@@%s//%s:%s" % (self.repository, self.package, self.name)

    def path(self):
        """Returns the path in its repository of the file that the label names."""
        return "/".join(part for part in (self.package, self.name) if part)

    def key(self):
        return (self.repository, self.package, self.name)


def split_label(text):
    """Returns (repository, package, name) as written: "@@cooper+", "@platforms" or None; package
    and name are None if they depend on the place of the label."""
    match = re.fullmatch(r"(@@?[^/:]*)?(?://([^:]*))?(?::?(.*))?", text)
    repository, package, name = match.groups()
    if repository and package is None:  # "@mpi"
        package, name = "", repository.lstrip("@")
    if package is not None and not name:
        name = package.rpartition("/")[2] or (repository or "").lstrip("@")
    return repository, package, name


class Select:
    """A select(), or a sum that contains one. `parts` are lists and dictionaries."""

    def __init__(self, parts):
        self.parts = parts

    def __add__(self, other):
        return Select(self.parts + (other.parts if isinstance(other, Select) else [other]))

    def __radd__(self, other):
        return Select([other] + self.parts)


class Stub:
    """A value of another module, a provider or a Python object of Bazel: it can be called, and has
    every attribute. With `declare`, a call with a name declares a target."""

    def __init__(self, name, declare=None):
        self._name, self._declare = name, declare

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub("%s.%s" % (self._name, name), self._declare)

    def __call__(self, *args, **attributes):
        if self._declare and "name" in attributes:
            return self._declare(Rule(self._name.rpartition(".")[2]), attributes)
        return Stub(self._name)


class Attribute:
    """attr.KIND(...) of a rule or a repository rule."""

    def __init__(self, kind, default):
        self.kind = kind
        empty = {"string": "", "bool": False, "int": 0, "label": None, "output": None,
                 "string_dict": {}}
        self.default = empty.get(kind, []) if default is None else default


class Rule:
    """A rule, with its attributes if it belongs to this repository, else with None."""

    def __init__(self, name, attributes=None):
        self.name, self.attributes = name, attributes

    def kind(self, attribute, label_attributes, output_attributes):
        """Returns the kind of an attribute's values: "label", "output" or "other"."""
        declared = (self.attributes or {}).get(attribute)
        if declared is not None:
            return declared.kind.partition("_")[0]
        if attribute == "target_compatible_with" or self.attributes is None:
            if attribute in label_attributes:
                return "label"
            if attribute in output_attributes:
                return "output"
        return "other"


def strings(value):
    """Yields the strings and labels of an attribute's value, including keys of dictionaries and
    conditions of select()."""
    if isinstance(value, (str, Label)):
        yield value
    elif isinstance(value, Select):
        for part in value.parts:
            yield from strings(part)
    elif isinstance(value, dict):
        for key, element in value.items():
            yield from strings(key)
            yield from strings(element)
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from strings(element)


def _type(value):
    names = {bool: "bool", str: "string", int: "int", list: "list", dict: "dict", tuple: "tuple",
             type(None): "NoneType", Select: "select", types.FunctionType: "function"}
    return names.get(type(value), type(value).__name__)


def _fail(*args, **_):
    raise Failure(" ".join(str(arg) for arg in args))


# Starlark's functions that need no context.
COMMON = {
    **{name: getattr(builtins, name) for name in """
        False None True abs all any bool dict dir enumerate float getattr hasattr hash int len list
        max min print range repr reversed sorted str tuple zip""".split()},
    "depset": lambda *args, **kwargs: Stub("depset"),
    "fail": _fail,
    "select": lambda branches, no_match_error="": Select([branches]),
    "struct": lambda **fields: types.SimpleNamespace(**fields),
    "type": _type,
}


class Analysis:
    """The names in a file's text.

    Attributes:
      defined: the names that the file itself assigns or defines at its top level.
      free: (line, name) of each name that the file does not define, also in functions that are
        never called.
      native: (line, NAME) of each native.NAME.
    """

    def __init__(self, source):
        nodes = list(ast.walk(ast.parse(source)))
        self.native = [(node.lineno, node.attr) for node in nodes if isinstance(node, ast.Attribute)
                       and getattr(node.value, "id", "") == "native"]
        self.defined, loaded, used = set(), set(), set()
        for node in nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load":
                loaded |= {arg.value for arg in node.args[1:]}
                loaded |= {word.arg for word in node.keywords}

        def visit(table):
            top = table.get_type() == "module"
            for symbol in table.get_symbols():
                if top and symbol.is_assigned():
                    self.defined.add(symbol.get_name())
                if symbol.is_referenced() and (top or symbol.is_global()):
                    used.add(symbol.get_name())
            for child in table.get_children():
                visit(child)

        visit(symtable.symtable(source, "", "exec"))
        lines = {}
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in used - loaded - self.defined:
                lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
        self.free = [(line, name) for name, line in lines.items()]


@functools.lru_cache(maxsize=None)
def analyse(source):
    """Returns the Analysis of a file's text, which all workspaces that load the file share."""
    return Analysis(source)


@functools.lru_cache(maxsize=None)
def compiled(source, file_name):
    return compile(source, file_name, "exec")
