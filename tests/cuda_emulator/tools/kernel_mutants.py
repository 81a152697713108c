"""Generates single mistakes in CUDA kernels and in the code that launches them, for mutate_kernels.py.

A mutant is one edit of a source. Kinds are found by how cooper's code is written (clang-format, its names), not by
parsing C++: an edit that does not compile is no mutant.
"""

import collections
import re

# `edit` replaces text[start:end].
Mutant = collections.namedtuple("Mutant", "path kind start end edit")

# Comments except those that name an argument, strings, preprocessor lines, registrations of kernels, template heads.
NO_CODE = re.compile(
    r'//[^\n]*|/\*(?!\w+=\*/).*?\*/|"(?:\\.|[^"\\\n])*"|^[ ]*\#(?:[^\n]*\\\n)*[^\n]*'
    r"|^COOPER_REGISTER\w+\(.*?;|^ *template <[^\n]*|^ *static_assert\(.*?;",
    re.DOTALL | re.MULTILINE)

# Names that are easily confused.
PAIRS = [
    ("inner", "outer"), ("lda", "ldb"), ("src_stride", "dst_stride"), ("stride_a", "stride_b"), ("rows", "columns"),
    ("across", "along"), ("h_prev_stride", "h_stride"), ("in_size", "out_size"), ("classes", "batch"),
    ("transpose_a", "transpose_b"), ("hidden", "batch"), ("kernel", "stride"), ("pad", "dilate"), ("lanes", "sets_"),
    ("tiles_across", "tiles_along"), ("height", "width"), ("before", "after"), ("input_size", "hidden"),
    ("first_across", "first_along"), ("slot_row()", "output_row()"), ("warps", "lanes"), ("src", "dst"),
]
OTHER = {}
for one, two in PAIRS:
    OTHER.setdefault(one, two)
    OTHER.setdefault(two, one)

# Kind, pattern, edit. The edit replaces group 1.
PATTERNS = [
    ("barrier", r"(__syncthreads\(\);)", ";"),
    ("barrier", r"(__syncwarp\([^;]*\);)", ";"),
    ("barrier", r"__shfl_\w+_sync\((0xffffffffu),", "0xffffu"),
    ("guard", r"[^=<>] (<) [^<]", "<="),
    ("guard", r"[^=<>-] (<=) ", "<"),
    ("guard", r"[^=<>-] (>) [^>]", ">="),
    ("guard", r"[^=<>-] (>=) ", ">"),
    ("add", r"(== WriteReq::kAdd)", "== WriteReq::kNull"),
    ("add", r"/\*add=\*/(true)", "false"),
    ("add", r"/\*add=\*/(false)", "true"),
    ("add", r"[(,] ?((?:\w+\.)?add)\)", "false"),
    ("add", r"\b((?:\w+\.)?add) \? ", "false"),
    ("add", r"(?:^|\n) +[\w.\[\]*>-]+ (\+=) [^;()]*(?:\([^;]*\))?[^;()]*;", "="),
    ("dtype", r"using C = (ComputeType<T>);", "T"),
    ("dtype", r"/\*exact_integers=\*/(true)", "false"),
    ("dtype", r"(?<![\w.] )\b(out_dtype)[,)]", "dtype"),
    ("dtype", r"static_cast<(double)>", "float"),
    ("dtype", r"(?:^|\n) +(double) \w+ = ", "float"),
    ("dtype", r"\b(SizeOf\([\w.]+\))", "4"),
    ("dtype", r"(sizeof\((?:T|C|Word|double|uint64_t|int64_t)\))", "(sizeof(float))"),
    ("dtype", r"(?:^|[^\w:])(CUBLAS_COMPUTE_64F|CUDA_R_16BF)", "CUDA_R_32F"),
    ("dtype", r"(?:^|\n) +(C) (?:sum|dot|value|total|norm)\b", "T"),
    ("stride", r"\+= (ElementStep\(\))\)", "2 * ElementStep()"),
    ("stride", r"\+= (gridDim\.\w)\)", "2 * gridDim.x"),
    ("stride", r"\+= (blockDim\.x)\)", "2 * blockDim.x"),
    ("stride", r";\s+\w+ \+= ((?:\w+[._])?(?:lanes|step))\)", "2 * step_of_the_mutant"),
    ("stream", r"(StreamOf\(\w+\))", "nullptr"),
    ("stream", r", (stream_?)\)", "nullptr"),
    ("stream", r"\b(cudaStreamWaitEvent\([^;]*?0\))", "cudaSuccess"),
    ("stream", r"\b(cudaEventRecord\([^;]*?\))", "cudaSuccess"),
    ("stream", r"\b(cudaStreamSynchronize\(\w+\))", "cudaSuccess"),
]
PATTERNS = [(kind, re.compile(pattern), edit) for kind, pattern, edit in PATTERNS]

KINDS = ["barrier", "guard", "index", "add", "dtype", "stride", "stream"]


def masked(text):
    """Returns `text` with everything but code replaced by spaces."""
    return NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def close(text, start):
    """Returns the position of the bracket that closes text[start]."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text) - 1


def parts(text, start, end):
    """Returns (start, end) of the parts that commas outside of brackets separate."""
    found, depth, begin = [], 0, start
    for at in range(start, end):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if text[at] == "," and depth == 0:
            found.append((begin, at))
            begin = at + 1
    return found + [(begin, end)]


def conditions(code):
    """Yields edits of `if` conditions: never leaves the loop or function, always holds, or lacks a part of &&."""
    for m in re.finditer(r"\bif (\()", code):
        end = close(code, m.start(1))
        leaves = re.match(r"\) (?:return|continue|break)\b", code[end:])
        yield m.start(1) + 1, end, "false" if leaves else "true"
        inside = code[m.start(1) + 1:end]
        if " && " in inside and " || " not in inside:
            first = m.start(1) + 1 + inside.index(" && ")
            yield m.start(1) + 1, first + 4, ""
            yield first, end, ""


def indices(code):
    """Yields edits that move subscripts, and the places of loads and stores, by one element."""
    for m in re.finditer(r"([\w)\]]) ?(\[)", code):
        line = code[code.rfind("\n", 0, m.start(2)) + 1:m.start(2)]
        if re.search(r"(?:[\w>] |[\w>][*&] )\w+(?:\[\w+\])*$", line) and not re.search(r"\breturn \w+$", line):
            continue  # a declaration
        if re.search(r"(?:inputs|outputs|reqs|shape|shapes|loop)(?:_|\(\))?$", line):
            continue  # of the host's lists, beyond whose end anything may happen
        end = close(code, m.start(2))
        inside = code[m.start(2) + 1:end]
        if inside and not re.fullmatch(r"(?:\w+::)?(?:k[A-Z]\w*|\d+)|\]?", inside):
            yield m.start(2) + 1, end, "(%s) + 1" % inside
    for m in re.finditer(r"\b(LoadElement(?:<\w+>)?|StoreElement|StoreTo)(\()", code):
        arguments = parts(code, m.end(), close(code, m.start(2)))
        at = 0 if m.group(1) == "StoreTo" else 2
        if at == 0 or (len(arguments) > at and re.search(r" \w+$", code[slice(*arguments[at])]) is None):
            start, end = arguments[at]
            if re.match(r"\s*\w+ \w+$|\s*\w+\* ?\w+$", code[start:end]) is None:
                yield end, end, " + 1"
        elif len(arguments) > at and re.match(r" \w+$", code[arguments[at][0]:arguments[at][1]]):
            yield arguments[at][1], arguments[at][1], " + 1"


def swaps(code):
    """Yields edits that replace a use of a name by another name of its kind."""
    names = "|".join(re.escape(name) for name in sorted(OTHER, key=len, reverse=True))
    for m in re.finditer(r"(?: [*+/%%-] |, |[(*.])(?:\w+\.|\w+->)?\b(%s)(?!\w)(?= [*+%%/-]|[,);])" % names, code):
        other = OTHER[m.group(1)]
        member = m.group()[:-len(m.group(1))].endswith((".", "->"))
        if re.search(r"%s%s(?!\w)" % (r"(?:\.|->)" if member else r"\b", re.escape(other)), code):
            yield m.start(1), m.end(1), other


def mutants_of(path, text):
    """Returns all mutants of a source, in the order of their positions."""
    code = masked(text)
    found = set()
    for kind, pattern, edit in PATTERNS:
        for m in pattern.finditer(code):
            old = m.group(1)
            new = "2 * " + old if edit == "2 * step_of_the_mutant" else edit
            new = "2 * " + old if new.startswith("2 * gridDim") else new
            found.add(Mutant(path, kind, m.start(1), m.end(1), new))
    for kind, edits in [("guard", conditions), ("index", indices), ("stride", swaps)]:
        for start, end, edit in edits(code):
            found.add(Mutant(path, kind, start, end, edit))
    return sorted(m for m in found if text[m.start:m.end] != m.edit)


def apply(mutant, text):
    return text[:mutant.start] + mutant.edit + text[mutant.end:]


def describe(mutant, text):
    """Returns position and kind in one line, in the form of mutate_kernels.py --only."""
    line = text.count("\n", 0, mutant.start) + 1
    begin = text.rfind("\n", 0, mutant.start) + 1
    old = re.sub(r"\s+", " ", text[begin:text.find("\n", mutant.end)].strip())
    new = re.sub(r"\s+", " ", apply(mutant, text)[begin:].split("\n", 1 + mutant.edit.count("\n"))[0].strip())
    return "%s:%d %s\n      - %s\n      + %s" % (mutant.path, line, mutant.kind, old, new)
