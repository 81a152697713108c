// Extracts diagonals of matrices, or builds a matrix. MXNet: src/operator/tensor/diag_op-inl.h.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/shape/diag_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// Shape rule: (n,) becomes (n + |k|, n + |k|); arrays of higher rank lose axis1 and axis2 and gain
// a last axis of the diagonal's length.
absl::Status DiagShape(ShapeContext& c) {
  const auto& param = c.param<DiagParam>();
  const PartialShape data = c.input(0);
  if (!data.rank_known()) return absl::OkStatus();
  if (data.rank() == 1) {
    const int64_t side = ExtentSum(data[0], std::abs(param.k));
    return c.SetOutput(0, {side, side}, "a matrix that holds the diagonal");
  }
  COOPER_ASSIGN_OR_RETURN(const int rows, NormalizeAxis(param.axis1, data.rank(), "axis1"));
  COOPER_ASSIGN_OR_RETURN(const int columns, NormalizeAxis(param.axis2, data.rank(), "axis2"));
  if (rows == columns) {
    return absl::InvalidArgumentError(absl::StrCat("axis1 and axis2 are both axis ", rows));
  }
  std::vector<int64_t> out;
  for (int i = 0; i < data.rank(); ++i) {
    if (i != rows && i != columns) out.push_back(data[i]);
  }
  int64_t length = kUnknownDim;
  if (data.dim_known(rows) && data.dim_known(columns)) {
    length = std::min(data[rows] + std::min<int64_t>(param.k, 0),
                      data[columns] - std::max<int64_t>(param.k, 0));
    if (param.outside_is_empty) length = std::max<int64_t>(length, 0);
    if (length < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("input 'data' ", data.ToString(), " has no diagonal ", param.k));
    }
  }
  out.push_back(length);
  return c.SetOutput(0, PartialShape(out), "the diagonals of data");
}

COOPER_REGISTER_OP(diag)
    .Describe("Diagonals of data, or a matrix with data as its diagonal.")
    .Param<DiagParam>()
    .Inputs({"data"})
    .Shape(DiagShape)
    .Type(SameType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
      return c.Backward("_backward_diag", {head});
    });

COOPER_REGISTER_OP(_backward_diag)
    .Describe("ograd at the diagonals, or its diagonal.")
    .Param<DiagParam>()
    .Inputs({"ograd"})
    .Shape(GradientShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
