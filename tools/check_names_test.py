#!/usr/bin/env python3
"""Tests what check_names recognises as a definition, and which definitions it reports."""

import unittest

from check_names import Definitions, Repeated

# A file, and the names that it defines in namespace cooper; those of unnamed namespaces, members,
# declarations and specialisations are none.
FILES = [
    ("struct A { int b = 0; void F() { if (b) {} } };", ["A"]),
    ("class A;\nenum class E : int { kA };\nunion U { int i; };", ["E", "U"]),
    ("class A final : public B<int> { class C {}; };", ["A"]),
    ("struct alignas(64) A { };", ["A"]),
    ("template <typename T, int N = (1 > 0)> struct A {};\ntemplate <> struct A<int> {};", ["A"]),
    ("template <typename T> struct A<T*> {};", []),
    ("namespace { struct A {}; int F() { return 1; } }  // namespace", []),
    ("namespace inner { struct A {}; }\nstruct B {};", ["inner::A", "B"]),
    ("int F(int n, const std::vector<int>& v = {}) { return n; }",
     ["F(int, const std :: vector < int > &,)"]),
    ("int F(int n);\nint A::F(int n) { return n; }\nA::A(int n) : n_(n) {}", []),
    ("bool operator==(const A& a, const A& b) { return true; }", []),
    ("static int F() { return 1; }\nstatic int n = 3;", []),
    ("TEST(A, B) { int n = 0; }\nREGISTER(A, B);", []),
    ("constexpr int kB = 1;\nconstexpr int kA[2] = {1, 2};\ninline constexpr char kText[] = \"struct B {\";",
     ["kB", "kA", "kText"]),
    ("using A = std::vector<int>;\nusing B::C;", ["A"]),
    ("#define A(b) \\\n  struct b {}\nstruct C {};  // struct D {};", ["C"]),
    ("auto F() -> int { return 1; }", ["F()"]),
]


class CheckNamesTest(unittest.TestCase):
    def test_definitions(self):
        for text, names in FILES:
            with self.subTest(text):
                found = list(Definitions("namespace cooper {\n%s\n}  // namespace cooper\n" % text))
                whole = ["::".join([space, name]) for space, name in found]
                self.assertEqual(whole, ["cooper::" + name for name in names])

    def test_repeated(self):
        a = "namespace cooper { struct Placement { int a; }; }"
        program = "namespace cooper { struct Case {}; }"
        files = {"a.cc": a, "b/a.h": a, "a_test.cc": program, "b_test.cc": program}
        self.assertEqual(Repeated(files), ["cooper::Placement is defined in a.cc, b/a.h"])
        files["case.h"] = program
        self.assertEqual(Repeated(files)[0],
                         "cooper::Case is defined in a_test.cc, b_test.cc, case.h")


if __name__ == "__main__":
    unittest.main()
