"""Resolves the versions of modules as Bazel does, from a table of each version's declaration.

Table: {module: {version: {"level": N, "deps": {module: version}, "bazel_compatibility": [...],
"yanked": reason}}}, as in third_party/bazel_registry/modules.json.
"""

import dataclasses
import re


def version_key(version):
    """Sorts as Bazel does: identifiers between dots, numbers before words; a release after its
    prereleases; the empty version, which an override has, last."""
    release, _, prerelease = version.partition("-")

    def identifiers(text):
        return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in text.split(".")]

    return (not version, identifiers(release), not prerelease, identifiers(prerelease))


def compatible(bazel, constraint):
    """Whether Bazel `bazel` satisfies `constraint`, such as ">=7.4.0" or "-8.0.1"."""
    operator, version = re.fullmatch(r"(>=|<=|>|<|-)(.*)", constraint).groups()
    left, right = version_key(bazel), version_key(version)
    return {">=": left >= right, "<=": left <= right, ">": left > right, "<": left < right,
            "-": left != right}[operator]


def levels_count(bazel):
    """Whether a graph may have only one compatibility level of a module: before 8.6 and 9.1."""
    major, minor = (int(part) for part in bazel.split(".")[:2])
    return (major, minor) < (8, 6) or (major, minor) == (9, 0)


@dataclasses.dataclass
class Resolution:
    selected: dict = dataclasses.field(default_factory=dict)  # module -> version, "" if overridden
    left_out: set = dataclasses.field(default_factory=set)  # (module, version) not in the table
    errors: list = dataclasses.field(default_factory=list)


def resolve(bazel, root, root_declaration, overrides, table):
    """Minimal version selection for `root`.

    Args:
      bazel: a version, "7.4.0".
      root: the root module's name.
      root_declaration: its declaration, in the form of an entry of `table`.
      overrides: module -> declaration, for modules that the root overrides with a local path.
      table: the declarations of the versions of all other modules.
    """
    result = Resolution()

    def declaration(module, version):
        if module == root:
            return root_declaration
        if module in overrides:
            return overrides[module]
        return table.get(module, {}).get(version)

    def dependencies(module, version):
        for name, wanted in (declaration(module, version) or {}).get("deps", {}).items():
            yield name, "" if name in overrides or name == root else wanted

    def group(module, version):
        level = (declaration(module, version) or {}).get("level", 0)
        return (module, level) if levels_count(bazel) else (module,)

    # Every version that a module requests, and the highest one of each group.
    seen, queue, highest = set(), [(root, "")], {}
    while queue:
        module, version = queue.pop()
        if (module, version) in seen:
            continue
        seen.add((module, version))
        if declaration(module, version) is None:
            result.left_out.add((module, version))
        key = group(module, version)
        highest[key] = max(highest.get(key, version), version, key=version_key)
        queue += dependencies(module, version)

    # The versions that the root reaches, with the module that requests each one first.
    asked_by, queue = {}, [(root, "", "")]
    while queue:
        module, version, parent = queue.pop(0)
        version = highest[group(module, version)]
        if (module, version) in asked_by:
            continue
        asked_by[module, version] = parent
        for name, wanted in dependencies(module, version):
            queue.append((name, wanted, "%s %s" % (module, version or "(local)")))

    for (module, version), parent in sorted(asked_by.items()):
        if module in result.selected:
            other = result.selected[module]
            result.errors.append(
                "%s %s (compatibility level %d, for %s) and %s (level %d, for %s) are both needed" %
                (module, other, declaration(module, other)["level"], asked_by[module, other],
                 version, declaration(module, version)["level"], parent))
            continue
        result.selected[module] = version
        declared = declaration(module, version) or {}
        for constraint in declared.get("bazel_compatibility", []):
            if not compatible(bazel, constraint):
                result.errors.append("%s %s, for %s, needs Bazel %s" %
                                     (module, version, parent, constraint))
        if "yanked" in declared:
            result.errors.append("%s %s, for %s, is yanked: %s" %
                                 (module, version, parent, declared["yanked"]))
    return result
