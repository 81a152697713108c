"""Reads MODULE.bazel files: the declarations of a module, and the repositories visible to it."""

import dataclasses
import pathlib


@dataclasses.dataclass
class ModuleFile:
    folder: pathlib.Path
    name: str = ""
    version: str = ""
    bazel_compatibility: list = dataclasses.field(default_factory=list)
    deps: dict = dataclasses.field(default_factory=dict)  # module -> version
    repo_names: dict = dataclasses.field(default_factory=dict)  # apparent name -> module
    overrides: dict = dataclasses.field(default_factory=dict)  # module -> folder
    extensions: list = dataclasses.field(default_factory=list)  # those used

    def declaration(self):
        """Returns the declaration that resolution.resolve() takes."""
        return {"level": 0, "deps": self.deps, "bazel_compatibility": self.bazel_compatibility}


@dataclasses.dataclass
class UsedExtension:
    label: str
    name: str
    repositories: dict = dataclasses.field(default_factory=dict)  # apparent name -> its own


def read_module(folder):
    """Returns the ModuleFile of folder/MODULE.bazel."""
    folder = pathlib.Path(folder)
    file = ModuleFile(folder)

    def module(name, version="", bazel_compatibility=(), repo_name="", compatibility_level=0):
        file.name, file.version = name, version
        file.bazel_compatibility = list(bazel_compatibility)
        file.repo_names[repo_name or name] = name

    def bazel_dep(name, version="", repo_name="", dev_dependency=False):
        file.deps[name] = version
        file.repo_names[repo_name or name] = name

    def local_path_override(module_name, path):
        file.overrides[module_name] = folder / path

    def use_extension(label, name):
        file.extensions.append(UsedExtension(label, name))
        return file.extensions[-1]

    def use_repo(extension, *names, **renamed):
        extension.repositories.update({name: name for name in names}, **renamed)

    functions = dict(module=module, bazel_dep=bazel_dep, local_path_override=local_path_override,
                     use_extension=use_extension, use_repo=use_repo)
    path = folder / "MODULE.bazel"
    exec(compile(path.read_text(), str(path), "exec"), {"__builtins__": {}, **functions})
    return file
