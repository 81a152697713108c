#!/bin/bash
# sizes_test.sh NAME...: no example has more than 1.3 times the characters of its twin for MXNet, in
# Python. Counts what is not white space, without comments, docstrings, includes, imports and main.
set -euo pipefail
for tool in python3 g++; do
  command -v "$tool" >/dev/null || { echo "SKIPPED: there is no $tool"; exit 0; }
done

cpp_characters() {
  cat "$1.h" "$1.cc" | g++ -fpreprocessed -dD -E -P -x c++ - |
    grep -vE '^(#|using |namespace )' | tr -d '[:space:]' | wc -c
}

python_characters() {
  python3 -c '
import ast, sys
body = []
for node in ast.parse(open(sys.argv[1]).read()).body:
    if isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "name", "") == "main":
        continue
    if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
        continue
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(inner) is not None:
            inner.body = inner.body[1:] or [ast.Pass()]
    body.append(node)
if body and isinstance(body[0], ast.Expr):  # the docstring of the file
    body = body[1:]
print("".join(ast.unparse(ast.Module(body, [])).split()), end="")
' "$1.py" | wc -c
}

failed=0
for name in "$@"; do
  cpp=$(cpp_characters "examples/$name/$name")
  python=$(python_characters "examples/$name/$name")
  echo "$name: $cpp characters in C++, $python in Python, $((100 * cpp / python)) %"
  ((100 * cpp <= 130 * python)) || { echo "FAILED: $name has more than 130 %"; failed=1; }
done
exit $failed
