// Tests the shape rules of products and factorizations, in both directions, and their errors.

#include "gtest/gtest.h"
#include "symbol/ops/elemwise/shape_rule_checker.h"

namespace cooper {
namespace {

const ShapeRuleCase kCases[] = {
    Infers("Dot", "dot", {}, {"(2, 5, ?)", "(3, 4)"}, {"(2, 5, 3)", "(3, 4)"}, "(2, 5, 4)"),
    Infers("DotTransposed", "dot", {{"transpose_a", "True"}, {"transpose_b", "True"}},
           {"(3, 2)", "(4, 3)"}, {"(3, 2)", "(4, 3)"}, "(2, 4)"),
    {"DotBack", "dot", {}, {"(?, 3)", "(?, ?)"}, "(2, 4)", {"(2, 3)", "(3, 4)"}, "(2, 4)", ""},
    Infers("DotOfVectors", "dot", {}, {"(3,)", "(3,)"}, {"(3,)", "(3,)"}, "(1,)"),
    Refuses("DotConflict", "dot", {}, {"(2, 3)", "(4, 5)"},
            "input 'rhs' has shape (4, 5), expected (3, ?) = what lhs is summed over"),
    Refuses("DotOfTransposedVectors", "dot", {{"transpose_a", "True"}}, {"(3,)", "(3,)"},
            "vectors cannot be transposed"),
    Infers("BatchDot", "batch_dot", {{"transpose_b", "True"}}, {"(7, 2, 3)", "(?, 4, ?)"},
           {"(7, 2, 3)", "(7, 4, 3)"}, "(7, 2, 4)"),
    {"BatchDotBack",
     "batch_dot",
     {},
     {"(?, ?, 3)", "?"},
     "(7, 2, 4)",
     {"(7, 2, 3)", "(7, 3, 4)"},
     "(7, 2, 4)",
     ""},
    Refuses("BatchDotConflict", "batch_dot", {}, {"(2, 3, 4)", "(3, 4, 2)"},
            "input 'rhs' has shape (3, 4, 2), expected (2, 4, ?)"),
    Refuses("BatchDotOfMatrices", "batch_dot", {}, {"(3, 4)", "?"},
            "must have at least three axes"),
    Infers("KhatriRao", "khatri_rao", {{"num_args", "2"}}, {"(2, ?)", "(3, 4)"},
           {"(2, 4)", "(3, 4)"}, "(6, 4)"),
    Infers("KhatriRaoTooLarge", "khatri_rao", {{"num_args", "4"}},
           {"(2097152, 1)", "(2097152, 1)", "(2097152, 1)", "(2097152, 1)"},
           {"(2097152, 1)", "(2097152, 1)", "(2097152, 1)", "(2097152, 1)"},
           "(9223372036854775807, 1)"),
    Infers("Gemm", "linalg_gemm", {}, {"(7, 2, 3)", "(7, 3, 4)", "?"},
           {"(7, 2, 3)", "(7, 3, 4)", "(7, 2, 4)"}, "(7, 2, 4)"),
    Infers("Gemm2OfFirstAxis", "linalg_gemm2", {{"axis", "0"}}, {"(2, 7, 3)", "(3, 7, 4)"},
           {"(2, 7, 3)", "(3, 7, 4)"}, "(2, 7, 4)"),
    Refuses("Gemm2Conflict", "linalg_gemm2", {}, {"(2, 3)", "(4, 5)"},
            "input 'B' has shape (4, 5), expected (3, ?) = to fit A"),
    Infers("Syrk", "linalg_syrk", {{"transpose", "True"}}, {"(7, 2, 3)"}, {"(7, 2, 3)"},
           "(7, 3, 3)"),
    {"TrsmBack",
     "linalg_trsm",
     {{"rightside", "True"}},
     {"?", "?"},
     "(7, 2, 3)",
     {"(7, 3, 3)", "(7, 2, 3)"},
     "(7, 2, 3)",
     ""},
    {"SolveBack",
     "_linalg_solve",
     {},
     {"?", "?"},
     "(7, 2, 3)",
     {"(7, 2, 2)", "(7, 2, 3)"},
     "(7, 2, 3)",
     ""},
    Refuses("SolveConflict", "_linalg_solve", {}, {"(3, 3)", "(2, 4)"},
            "input 'A' has shape (3, 3), expected (2, 2) = square matrices that fit B"),
    Refuses("PotrfNotSquare", "linalg_potrf", {}, {"(2, 3)"},
            "input 'A' has shape (2, 3), expected (3, 3) = square matrices"),
    Infers("DetOfOne", "linalg_det", {}, {"(3, 3)"}, {"(3, 3)"}, "(1,)"),
    Infers("DetOfMany", "linalg_det", {}, {"(5, 7, 3, 3)"}, {"(5, 7, 3, 3)"}, "(5, 7)"),
    Infers("ExtractDiag", "linalg_extractdiag", {{"offset", "-1"}}, {"(7, 3, 3)"}, {"(7, 3, 3)"},
           "(7, 2)"),
    Refuses("ExtractDiagOutside", "linalg_extractdiag", {{"offset", "3"}}, {"(3, 3)"},
            "offset 3 is outside the matrices of input 'A' (3, 3)"),
    Infers("MakeTrian", "linalg_maketrian", {{"offset", "1"}}, {"(7, 3)"}, {"(7, 3)"}, "(7, 3, 3)"),
    Refuses("MakeDiagTooLarge", "linalg_makediag", {{"offset", "2"}}, {"(9223372036854775806,)"},
            "extent 9223372036854775806 of axis 0 of input 'A' (9223372036854775806,) is too large "
            "for a "
            "diagonal"),
    Refuses("ExtractTrianTooLarge", "linalg_extracttrian", {}, {"(4611686018427387904, ?)"},
            "have too many elements"),
    Refuses("MakeTrianOfNone", "linalg_maketrian", {}, {"(7, 4)"},
            "extent 4 of axis 1 of input 'A' (7, 4) is not the size of a triangle"),
};

TEST(ShapeRulesTest, OfLinalgOperators) {
  for (const ShapeRuleCase& test : kCases) CheckShapeRule(test);
}

}  // namespace
}  // namespace cooper
