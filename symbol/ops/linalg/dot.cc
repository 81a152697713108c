// Products of arrays and of batches of matrices. MXNet: src/operator/tensor/dot-inl.h.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/dot_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum DotArrays::Input;

// The axis of an operand that is summed over, and the extents of the other axes.
struct Operand {
  int summed;
  std::vector<int64_t> kept;
};

// lhs (..., k), transposed (k, ...); rhs (k, ...), transposed (..., k).
Operand OperandOf(const PartialShape& shape, bool summed_is_first) {
  Operand operand{summed_is_first ? 0 : shape.rank() - 1, {}};
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != operand.summed) operand.kept.push_back(shape[i]);
  }
  return operand;
}

absl::Status SetExtent(ShapeContext& c, int input, int axis, int64_t extent, const char* why) {
  PartialShape known = PartialShape::OfRank(c.input(input).rank());
  known[axis] = extent;
  return c.SetInput(input, known, why);
}

absl::Status DotShape(ShapeContext& c) {
  const auto& param = c.param<DotParam>();
  if (!c.input(kLhs).rank_known() || !c.input(kRhs).rank_known()) return absl::OkStatus();
  const int lhs_rank = c.input(kLhs).rank(), rhs_rank = c.input(kRhs).rank();
  if (lhs_rank == 0 || rhs_rank == 0) {
    return absl::InvalidArgumentError(absl::StrCat("inputs 'lhs' ", c.input(kLhs).ToString(),
                                                   " and 'rhs' ", c.input(kRhs).ToString(),
                                                   " must not be scalars"));
  }
  if (lhs_rank == 1 && rhs_rank == 1 && (param.transpose_a || param.transpose_b)) {
    return absl::InvalidArgumentError("vectors cannot be transposed");
  }
  const int lhs_axis = param.transpose_a ? 0 : lhs_rank - 1;
  const int rhs_axis = param.transpose_b ? rhs_rank - 1 : 0;
  COOPER_RETURN_IF_ERROR(
      SetExtent(c, kRhs, rhs_axis, c.input(kLhs)[lhs_axis], "what lhs is summed over"));
  COOPER_RETURN_IF_ERROR(
      SetExtent(c, kLhs, lhs_axis, c.input(kRhs)[rhs_axis], "what rhs is summed over"));

  const Operand lhs = OperandOf(c.input(kLhs), param.transpose_a);
  const Operand rhs = OperandOf(c.input(kRhs), !param.transpose_b);
  std::vector<int64_t> out = lhs.kept;
  out.insert(out.end(), rhs.kept.begin(), rhs.kept.end());
  if (out.empty()) return c.SetOutput(0, {1}, "the product of two vectors");
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, PartialShape(out), "the other axes of lhs and rhs"));

  PartialShape known_lhs = PartialShape::OfRank(lhs_rank);
  PartialShape known_rhs = PartialShape::OfRank(rhs_rank);
  int at = 0;
  for (int i = 0; i < lhs_rank; ++i) {
    if (i != lhs.summed) known_lhs[i] = c.output(0)[at++];
  }
  for (int i = 0; i < rhs_rank; ++i) {
    if (i != rhs.summed) known_rhs[i] = c.output(0)[at++];
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kLhs, known_lhs, "the output's axes"));
  return c.SetInput(kRhs, known_rhs, "the output's axes");
}

template <const char* kBackward>
absl::StatusOr<std::vector<NodeEntry>> ProductGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(kBackward, {head, c.input(kLhs), c.input(kRhs)});
}

constexpr char kBackwardDot[] = "_backward_dot";

COOPER_REGISTER_OP(dot)
    .Describe("The sum over the last axis of lhs and the first of rhs.")
    .Alias("_sparse_dot")
    .Param<DotParam>()
    .Inputs({"lhs", "rhs"})
    .Shape(DotShape)
    .Type(SameType)
    .Gradient(ProductGradient<kBackwardDot>);

COOPER_REGISTER_OP(_backward_dot)
    .Describe("Gradients of dot with respect to lhs and rhs.")
    .Param<DotParam>()
    .Inputs({"ograd", "lhs", "rhs"})
    .Outputs({"lhs", "rhs"})
    .Shape(GradientShape)
    .Type(SameType);

// Shape rule: lhs (..., m, k), rhs (..., k, n), output (..., m, n), with equal leading extents.
absl::Status BatchDotShape(ShapeContext& c) {
  const auto& param = c.param<DotParam>();
  int rank = -1;
  for (const PartialShape* shape : {&c.input(kLhs), &c.input(kRhs), &c.output(0)}) {
    if (shape->rank_known()) rank = shape->rank();
  }
  if (rank < 0) return absl::OkStatus();
  if (rank < 3) {
    return absl::InvalidArgumentError(absl::StrCat("inputs 'lhs' ", c.input(kLhs).ToString(),
                                                   " and 'rhs' ", c.input(kRhs).ToString(),
                                                   " must have at least three axes"));
  }
  const int last = rank - 1;
  const int m_at = param.transpose_a ? last : last - 1,
            lhs_k_at = param.transpose_a ? last - 1 : last;
  const int n_at = param.transpose_b ? last - 1 : last,
            rhs_k_at = param.transpose_b ? last : last - 1;
  // Runs twice, so that information about the last of the three shapes reaches the first.
  for (int round = 0; round < 2; ++round) {
    PartialShape lhs = PartialShape::OfRank(rank), rhs = lhs, out = lhs;
    COOPER_RETURN_IF_ERROR(c.SetInput(kLhs, lhs, "the rank of the others"));
    COOPER_RETURN_IF_ERROR(c.SetInput(kRhs, rhs, "the rank of the others"));
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, out, "the rank of the inputs"));
    for (int i = 0; i < rank - 2; ++i) {
      rhs[i] = c.input(kLhs)[i];
      out[i] = c.input(kLhs)[i];
    }
    rhs[rhs_k_at] = c.input(kLhs)[lhs_k_at];
    COOPER_RETURN_IF_ERROR(c.SetInput(kRhs, rhs, "to fit lhs"));
    for (int i = 0; i < rank - 2; ++i) out[i] = c.input(kRhs)[i];
    out[last - 1] = c.input(kLhs)[m_at];
    out[last] = c.input(kRhs)[n_at];
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, out, "the product of lhs and rhs"));
    for (int i = 0; i < rank - 2; ++i) lhs[i] = c.output(0)[i];
    lhs[m_at] = c.output(0)[last - 1];
    lhs[lhs_k_at] = c.input(kRhs)[rhs_k_at];
    COOPER_RETURN_IF_ERROR(c.SetInput(kLhs, lhs, "to fit rhs and the output"));
    rhs[n_at] = c.output(0)[last];
    COOPER_RETURN_IF_ERROR(c.SetInput(kRhs, rhs, "to fit the output"));
  }
  return absl::OkStatus();
}

constexpr char kBackwardBatchDot[] = "_backward_batch_dot";

COOPER_REGISTER_OP(batch_dot)
    .Describe("The products of the matrices of two batches.")
    .Alias("_npx_batch_dot")
    .Param<DotParam>()
    .Inputs({"lhs", "rhs"})
    .Shape(BatchDotShape)
    .Type(SameType)
    .Gradient(ProductGradient<kBackwardBatchDot>);

COOPER_REGISTER_OP(_backward_batch_dot)
    .Describe("Gradients of batch_dot with respect to lhs and rhs.")
    .Param<DotParam>()
    .Inputs({"ograd", "lhs", "rhs"})
    .Outputs({"lhs", "rhs"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
