// Compares gradients of NumPy operators with central differences, among them those that MXNet 1.9.1
// computes wrongly (tests/golden/make_numpy_cases.py), for which there are no golden cases.

#include "gtest/gtest.h"
#include "tests/operators/gradient_checker.h"

namespace cooper {
namespace {

const GradientCase kCases[] = {
    {"AddBroadcast", "_npi_add", {}, {{"a", {2, 1, 3}}, {"b", {4, 1}}}},
    {"Arctan2Broadcast", "_npi_arctan2", {}, {{"x1", {2, 1, 3}}, {"x2", {4, 1}}}},
    {"Arctan2OfNumber", "_npi_rarctan2_scalar", {{"scalar", "0.7"}}, {{"data", {2, 3}}}},
    {"CopySign", "_npi_copysign_scalar", {{"scalar", "-0.7"}}, {{"data", {2, 3}}}},
    {"SignCopied", "_npi_rcopysign_scalar", {{"scalar", "-0.7"}}, {{"data", {2, 3}}}},
    {"PadEdge",
     "_npi_pad",
     {{"pad_width", "((1, 2), (2, 0))"}, {"mode", "edge"}},
     {{"data", {3, 4}}}},
    {"PadReflect",
     "_npi_pad",
     {{"pad_width", "((1, 2), (2, 0))"}, {"mode", "reflect"}},
     {{"data", {3, 4}}}},
    {"PadSymmetric",
     "_npi_pad",
     {{"pad_width", "((1, 3), (2, 0))"}, {"mode", "symmetric"}},
     {{"data", {3, 4}}}},
    {"ColumnStack", "_npi_column_stack", {{"num_args", "2"}}, {{"a", {3}}, {"b", {3, 2}}}},
    {"MeanOverAxes", "_npi_mean", {{"axis", "(0, 2)"}}, {{"a", {2, 3, 2}}}},
    {"NormOverAll", "_npi_norm", {{"flag", "-2"}}, {{"data", {2, 3}}}},
    {"NormOfMagnitudes", "_npi_norm", {{"ord", "1"}, {"axis", "1"}}, {{"data", {2, 3}}}},
    {"Flip", "_npi_flip", {{"axis", "(1,)"}}, {{"data", {2, 3}}}},
    {"Rot90", "_npi_rot90", {}, {{"data", {2, 3}}}},
    {"Rot90Back", "_npi_rot90", {{"k", "-5"}, {"axes", "(2, 0)"}}, {{"data", {2, 3, 4}}}},
    {"DiffOfColumns", "_npi_diff", {}, {{"a", {3, 2}}}},
    {"DiffOfRows", "_npi_diff", {{"n", "2"}, {"axis", "0"}}, {{"a", {5, 3}}}},
    {"DiffInside", "_npi_diff", {{"axis", "1"}}, {{"a", {2, 3, 2}}}},
    {"BroadcastTo", "_npi_broadcast_to", {{"shape", "(4, -2, 3)"}}, {{"array", {2, 1}}}},
    {"DotOfArrays", "_np_dot", {}, {{"a", {2, 2, 3}}, {"b", {2, 3, 2}}}},
    {"MatmulBroadcast", "_npi_matmul", {}, {{"a", {2, 1, 2, 3}}, {"b", {3, 3, 2}}}},
    {"Tensordot",
     "_npi_tensordot",
     {{"a_axes_summed", "(2, 1)"}, {"b_axes_summed", "(0, 2)"}},
     {{"a", {2, 3, 2}}, {"b", {2, 4, 3}}}},
    {"EinsumRepeated",
     "_npi_einsum",
     {{"subscripts", "...ij,...jk->...ik"}},
     {{"a", {2, 2, 3}}, {"b", {1, 3, 2}}}},
    {"EinsumTrace", "_npi_einsum", {{"subscripts", "ii"}}, {{"a", {3, 3}}}},
    {"EinsumDiagonal", "_npi_einsum", {{"subscripts", "iij,j->i"}}, {{"a", {2, 2, 3}}, {"b", {3}}}},
    {"EinsumOfThree",
     "_npi_einsum",
     {{"subscripts", "bi,ijk,bk->bj"}},
     {{"a", {2, 3}}, {"b", {3, 2, 2}}, {"c", {2, 2}}}},
    {"Where", "_npi_where", {}, {{"condition", {2, 1}, {0, 1}}, {"x", {3}}, {"y", {2, 1}}}},
    {"WhereNumberIfTrue",
     "_npi_where_lscalar",
     {{"scalar", "1.5"}},
     {{"condition", {2, 1}, {0, 1}}, {"x", {3}}}},
    {"WhereNumberIfFalse",
     "_npi_where_rscalar",
     {{"scalar", "1.5"}},
     {{"condition", {2, 3}, {0, 1, 1, 0, 0, 1}}, {"y", {2, 3}}}},
};

TEST(NumpyGradientTest, MatchesDifferences) {
  for (const GradientCase& test : kCases) CheckGradient(test);
}

}  // namespace
}  // namespace cooper
