#!/usr/bin/env python3
"""tools/check_names.py [FILE...]: no two files define one name in one namespace differently.

C++ allows one definition of a name in a program, and neither compiler nor linker reports a second
one in another file: the linker keeps the constructor of either struct, and the program may crash
far away from both. Names that only one source needs belong in an unnamed namespace, which this
check ignores. g++ finds such types with -flto -Wodr, and gold finds functions with
--detect-odr-violations, but only within one linked program and after another build of everything.
This reads every tracked C++ file, or the named ones, in seconds, and reports

- classes, structs, unions, enums, aliases, concepts and namespace-scope variables of one name, and
- functions of one name with the same parameters, that are neither members nor specialisations,

that are defined in two files. Separate programs (a file with main(), and tests) may repeat each
other's names, but not those of the libraries.
"""

import collections
import re
import subprocess
import sys

# Names in two files that no program links together.
APART = {
    # Callbacks do not depend on modules: their test defines an empty one.
    ("cooper::BaseModule", "module/callback/callback_test.cc"),
    # third_party/cuda:dynload opens CUDA's libraries, or is replaced by the emulator's version.
    ("cooper::CudaSymbol(const char *, const char *,)", "tests/cuda_emulator/blas/dynload.cc"),
    ("cooper::LoadCudaLibrary(const char *,)", "tests/cuda_emulator/blas/dynload.cc"),
    # The emulator and the host shim define these: //third_party/cuda:runtime chooses one.
    ("cooper::cuda_emulator::FindReturned(uint64_t,)",
     "tests/cuda_emulator/host/device_memory.cc"),
    ("cooper::cuda_emulator::IsDeviceAddress(uint64_t,)",
     "tests/cuda_emulator/host/device_memory.cc"),
    ("cooper::cuda_emulator::OpenDeviceMemory(bool,)",
     "tests/cuda_emulator/host/device_memory.cc"),
    ("cooper::cuda_emulator::ReturnDeviceMemory(const Allocation &,)",
     "tests/cuda_emulator/host/device_memory.cc"),
    ("cooper::cuda_emulator::TakeDeviceMemory(int, uint64_t,)",
     "tests/cuda_emulator/host/device_memory.cc"),
    ("cooper::cuda_emulator::cudaFuncSetAttribute(const void *, cudaFuncAttribute, int,)",
     "tests/cuda_emulator/host/launch.cc"),
    ("cooper::cuda_emulator::cudaFuncSetCacheConfig(const void *, cudaFuncCache,)",
     "tests/cuda_emulator/host/launch.cc"),
    # The networks of the pages' tests and of the module's tests.
    ("cooper::TwoLayers()", "docs/two_layers.cc"),
}

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
      | (?P<string>(?:u8|[uUL])?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<number>\d(?:[\w.']|[eEpP][+-])*)
      | (?P<mark>::|->|\[\[|\]\]|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE)
OPEN = {"{": "}", "(": ")", "[": "]", "[[": "]]"}
KINDS = {"struct", "class", "union", "enum"}
# Words before a parameter list that are not a function's name.
NO_FUNCTION = {"if", "for", "while", "switch", "return", "decltype", "alignas", "noexcept",
               "requires", "static_assert", "__attribute__"}


def Tokens(text):
    return [m.group() for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def Close(tokens, i):
    """Returns the position of the bracket that closes tokens[i]."""
    depth = []
    while i < len(tokens):
        token = tokens[i]
        if token in OPEN:
            depth.append(OPEN[token])
        elif depth and token == depth[-1]:
            depth.pop()
            if not depth:
                return i
        i += 1
    return len(tokens) - 1


def SkipTemplate(tokens, i):
    """Returns the position behind the `<...>` that begins at i."""
    depth = 0
    while i < len(tokens):
        if tokens[i] == "<":
            depth += 1
        elif tokens[i] == ">":
            depth -= 1
            if depth == 0:
                return i + 1
        elif tokens[i] in OPEN:
            i = Close(tokens, i)
        i += 1
    return i


def Assigned(head):
    """Returns the position of an initialiser's or alias's `=`, outside of brackets; -1: none."""
    i = 0
    while i < len(head):
        if head[i] in OPEN:
            i = Close(head, i)
        elif head[i] == "=":
            return i
        i += 1
    return -1


def Name(head):
    """Returns the name that the tokens of a declaration before its body, `=` or `;` define; None if
    this check does not compare it."""
    i, specialised = 0, False
    while i < len(head) and head[i] in ("template", "[["):
        if head[i] == "[[":
            i = Close(head, i) + 1
            continue
        i += 1
        end = SkipTemplate(head, i) if i < len(head) and head[i] == "<" else i
        specialised = specialised or end == i + 2
        i = end
    head = head[i:]
    if not head or specialised or head[0] in ("extern", "static", "static_assert"):
        return None  # declared, or seen in this file alone
    if "operator" in head:
        return None
    if head[0] in ("using", "concept"):
        return head[1] if len(head) > 2 and head[2] == "=" else None
    if head[0] in KINDS:
        words = []
        k = 0
        while k < len(head) and head[k] not in (":", "final", "<"):
            if head[k] in ("[[", "("):
                k = Close(head, k)
            elif head[k] not in KINDS and head[k] != "alignas":
                words.append(head[k])
            k += 1
        if "::" in words or (k < len(head) and head[k] == "<"):
            return None
        return words[-1] if words else None
    # A function: a name before the first parameter list.
    for k, token in enumerate(head):
        if token == "=":
            break
        if token != "(" or k == 0:
            continue
        name = head[k - 1]
        if not re.match(r"[A-Za-z_]\w*$", name) or name in NO_FUNCTION:
            return None
        if k < 2 or head[k - 2] == "::":
            return None  # a macro or a member
        return "%s(%s)" % (name, " ".join(ParameterTypes(head[k + 1:Close(head, k)])))
    before = head[:Assigned(head)] if Assigned(head) >= 0 else head
    while before and before[-1] == "]":
        before = before[:len(before) - 1 - before[::-1].index("[")]
    if len(before) >= 2 and re.match(r"[A-Za-z_]\w*$", before[-1]) and "::" not in before[-2:]:
        return before[-1]
    return None


def ParameterTypes(tokens):
    """Returns the parameters without names and default values, as far as they can be recognised."""
    parameters, part, depth = [], [], 0
    for token in tokens + [","]:
        if token == "," and depth == 0:
            part = part[:part.index("=")] if "=" in part else part
            named = len(part) > 1 and re.match(r"[A-Za-z_]\w*$", part[-1]) and part[-2] != "::"
            if named and part[-2] not in ("const", "unsigned", "struct"):
                part = part[:-1]
            parameters.append(" ".join(part))
            part = []
            continue
        depth += (token in "<([{") - (token in ">)]}")
        part.append(token)
    return [p + "," for p in parameters if p]


def Definitions(text):
    """Yields (namespace, name) of each definition in `text` outside of unnamed namespaces."""
    tokens = Tokens(text)
    found, scopes, head, i = [], [], [], 0
    while i < len(tokens):
        token = tokens[i]
        if token == "namespace" and not head:
            k = i + 1
            while tokens[k] not in ("{", ";", "="):
                k += 1
            if tokens[k] == "{":
                scopes.append("".join(tokens[i + 1:k]))
                i = k + 1
                continue
            i = k
            while tokens[i] != ";":
                i += 1
        elif token == "}" and scopes:
            scopes.pop()
            head = []
        elif token == "extern" and i + 2 < len(tokens) and tokens[i + 2] == "{":
            scopes.append("extern")
            i += 3
            continue
        elif token == ";":
            declares_variable = head and head[0] in ("inline", "constexpr", "constinit")
            if Assigned(head) >= 0 or (declares_variable and "(" not in head):
                found.append((scopes[:], Name(head)))
            head = []
        elif token == "{":
            found.append((scopes[:], Name(head)))
            i = Close(tokens, i)
            # The tokens from a class or an initialiser up to `;` are the same declaration.
            is_type = any(t in KINDS for t in head) and "(" not in head
            if (is_type or Assigned(head) >= 0) and i + 1 < len(tokens) and tokens[i + 1] == ";":
                i += 1
            head = []
        elif token in OPEN:
            end = Close(tokens, i)
            head += tokens[i:end + 1]
            i = end
        else:
            head.append(token)
        i += 1
    for spaces, name in found:
        if name is not None and "" not in spaces:
            yield "::".join(space for space in spaces if space != "extern"), name


def IsProgram(path, text):
    return path.endswith("_test.cc") or re.search(r"^int main\(", text, re.MULTILINE) is not None


def Repeated(files):
    """Returns the lines to print. `files` maps paths to texts."""
    where = collections.defaultdict(list)
    for path in sorted(files):
        for space, name in dict.fromkeys(Definitions(files[path])):
            full = "::".join(part for part in (space, name) if part)
            if (full, path) not in APART:
                where[full].append(path)
    lines = []
    for name, paths in sorted(where.items()):
        if len(paths) > 1 and not all(IsProgram(path, files[path]) for path in paths):
            lines.append("%s is defined in %s" % (name, ", ".join(paths)))
    return lines


def main():
    names = sys.argv[1:] or subprocess.run(
        ["git", "ls-files", "*.h", "*.cc", "*.cu"], check=True, capture_output=True,
        text=True).stdout.split()
    files = {}
    for name in names:
        with open(name, encoding="utf-8") as file:
            files[name] = file.read()
    lines = Repeated(files)
    print("\n".join(lines + ["%d names are defined twice" % len(lines)]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
