// Batch layouts of matrix products and factorizations.

#include "symbol/ops/linalg/dot_param.h"
#include "symbol/ops/linalg/la_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

constexpr int kMixed = BatchCall::kMixed;

// Sums over the last axis of lhs and the first axis of rhs. Transposed operands must have two axes.
COOPER_BATCH_RULE(dot, [](const BatchCall& c) {
  using enum DotArrays::Input;
  const auto& param = c.param<DotParam>();
  if (c.layouts[kLhs].has_samples() && c.layouts[kRhs].has_samples()) return BatchLayout();
  return c.Map([&](int input, int axis) {
    const bool transposed = input == kLhs ? param.transpose_a : param.transpose_b;
    if (transposed && c.rank(input) > 2) return kMixed;
    if (transposed && c.rank(input) == 2) axis = 1 - axis;
    if (input == kLhs) return axis < c.rank(kLhs) - 1 ? axis : kMixed;
    return axis > 0 ? c.rank(kLhs) - 1 + axis - 1 : kMixed;
  });
});

// The matrices are in the last two axes; the output has the rows of lhs and the columns of rhs.
COOPER_BATCH_RULE(batch_dot, [](const BatchCall& c) {
  using enum DotArrays::Input;
  const auto& param = c.param<DotParam>();
  const int rows = c.rank(kLhs) - 2, columns = c.rank(kLhs) - 1;
  return c.Map([&](int input, int axis) {
    if (axis < rows) return axis;
    const bool transposed = input == kLhs ? param.transpose_a : param.transpose_b;
    const int own = input == kLhs ? (transposed ? columns : rows) : (transposed ? rows : columns);
    if (axis != own) return kMixed;
    return input == kLhs ? rows : columns;
  });
});

// Keeps samples on the axes before those of the matrices.
BatchLayout OfEachMatrix(const BatchCall& c) {
  return c.Map([&](int input, int axis) { return axis < c.rank(input) - 2 ? axis : kMixed; });
}
const BatchRuleRegistrar kOfEachMatrix({"_linalg_syrk", "_linalg_trmm", "_linalg_trsm",
                                        "_linalg_solve", "_linalg_potrf", "_linalg_potri",
                                        "_linalg_sumlogdiag", "_linalg_inverse", "_linalg_det",
                                        "_linalg_extractdiag", "_linalg_extracttrian"},
                                       OfEachMatrix);
COOPER_BATCH_RULE(_linalg_slogdet, [](const BatchCall& c) {
  return c.output <= LaSlogdetArrays::kLogAbsDet ? OfEachMatrix(c) : BatchLayout();
});
template <typename Param>
BatchLayout Gemm(const BatchCall& c) {
  return c.param<Param>().axis == -2 ? OfEachMatrix(c) : BatchLayout();
}
COOPER_BATCH_RULE(_linalg_gemm2, Gemm<LaGemm2Param>);
COOPER_BATCH_RULE(_linalg_gemm, Gemm<LaGemmParam>);

}  // namespace
}  // namespace cooper
