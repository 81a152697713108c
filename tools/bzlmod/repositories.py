"""The repositories of a workspace: canonical names, the repositories visible to each, and files."""

import dataclasses
import os
import pathlib
import types

from modules import read_module
from starlark import Failure, Label, split_label


@dataclasses.dataclass
class Repository:
    module: str
    mapping: dict  # apparent -> canonical name
    folder: pathlib.Path = None  # None: another module's, or made by a repository rule
    files: dict = None  # path -> text, of those that a repository rule has made

    def has(self, path):
        """Whether a file or a folder of this path exists."""
        if self.files is not None:
            return path in self.files
        return self.folder is not None and (self.folder / path).exists()

    def read(self, path):
        """Returns a file's text; None if the file does not exist."""
        if self.files is not None:
            return self.files.get(path)
        file = self.folder / path if self.folder else None
        return file.read_text() if file and file.is_file() else None


class Repositories(dict):
    """A map from canonical names to Repository objects; "" is the main repository."""

    def __init__(self, root, separator):
        """Reads MODULE.bazel of the workspace in `root`, and of modules that it overrides."""
        super().__init__()
        self.separator = separator
        self.root = read_module(root)
        self.modules = {self.root.name: self.root}
        for name, folder in self.root.overrides.items():
            self.modules[name] = read_module(folder)
        self["bazel_tools"] = Repository("bazel_tools", {})
        for module in self.modules.values():
            mapping = {"": self.canonical(module.name), "bazel_tools": "bazel_tools"}
            for apparent, name in module.repo_names.items():
                mapping[apparent] = self.canonical(name)
                if name not in self.modules:
                    self.setdefault(self.canonical(name), Repository(name, {}))
            for extension in module.extensions:
                for apparent, name in extension.repositories.items():
                    mapping[apparent] = self.extension_prefix(module, extension) + name
            self[self.canonical(module.name)] = Repository(module.name, mapping, module.folder)

    def canonical(self, module):
        return "" if module == self.root.name else module + self.separator

    def extension_prefix(self, module, extension):
        """Returns the prefix of the canonical names of an extension's repositories."""
        own = self.canonical(module.name)
        if self.separator == "~":  # Bazel 7
            own = own or "_main~"
        return own + self.separator + extension.name + self.separator

    def resolve(self, text, repository, package):
        """Returns the Label of `text` in a file of that package. Raises Failure."""
        if isinstance(text, Label):
            return text
        written, own_package, name = split_label(text)
        if written is None:
            target = repository
        elif written.startswith("@@"):
            target = written[2:]
            if target not in self:
                raise Failure("%s: there is no repository %s" % (text, written))
        else:
            target = self[repository].mapping.get(written[1:])
            if target is None:
                raise Failure("%s: no repository is visible as %s in module %s" %
                              (text, written, self[repository].module))
        return Label(target, package if own_package is None else own_package, name)

    def make(self, module, extension, name, implementation, attributes, values):
        """Adds the repository that a repository rule creates when called in an extension of
        `module`, on a machine that has everything that the rule requires.

        Args:
          implementation: the rule's.
          attributes: its attributes, name -> starlark.Attribute.
          values: the values of the call.
        """
        files = {}

        class Path:
            exists = True

            def __init__(self, text):
                self.basename = str(text).rpartition("/")[2]

        def symlink(source, target):
            files[target] = self[source.repository].read(source.path()) if isinstance(
                source, Label) else ""

        defaults = {key: attribute.default for key, attribute in attributes.items()}
        implementation(types.SimpleNamespace(
            name=name, attr=types.SimpleNamespace(**{**defaults, **values}), path=Path,
            os=types.SimpleNamespace(environ={}), symlink=symlink, file=files.__setitem__,
            execute=lambda arguments: types.SimpleNamespace(stdout="x86_64\n", return_code=0),
            read=lambda path: "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 9\n"))
        self[self.extension_prefix(module, extension) + name] = Repository(
            name, self[self.canonical(module.name)].mapping, files=files)


def source_files(root, wanted):
    """Returns the paths in `root` of files of wanted names, but for folders of .bazelignore."""
    ignored = root / ".bazelignore"
    ignored = set(ignored.read_text().split()) if ignored.exists() else set()
    found = []
    for folder, folders, names in os.walk(root):
        path = os.path.relpath(folder, root).strip(".")
        below = {name: "/".join(part for part in (path, name) if part) for name in folders + names}
        folders[:] = [name for name in folders if not name.startswith((".", "bazel-"))
                      and below[name] not in ignored]
        found += [below[name] for name in names if wanted(name)]
    return sorted(found)
