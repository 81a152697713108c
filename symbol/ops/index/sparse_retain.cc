// Keeps some rows of an array. MXNet: src/operator/tensor/sparse_retain.cc, for row_sparse arrays,
// which are dense here.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/sparse_retain_arrays.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum SparseRetainArrays::Input;

absl::Status SparseRetainShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kIndices, {kUnknownDim}, "(rows,)"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0), "the output's"));
  if (c.input(kData).rank_known() && c.input(kData).rank() == 0) {
    return absl::InvalidArgumentError("input 'data' () has no rows");
  }
  return c.SetOutput(0, c.input(kData), "data's");
}

// Type rule: an index may have any dtype.
absl::Status SparseRetainType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  return c.SetOutput(0, c.input(kData));
}

COOPER_REGISTER_OP(_sparse_retain)
    .Describe("data with zeros in the rows that indices does not name.")
    .Inputs({"data", "indices"})
    .Shape(SparseRetainShape)
    .Type(SparseRetainType)
    .Gradient([](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
      COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
      COOPER_ASSIGN_OR_RETURN(const NodeEntry data,
                              c.Call("_sparse_retain", {head, c.input(kIndices)}));
      return std::vector<NodeEntry>{data, NodeEntry()};
    })
    .InPlace({{kData, 0}});

}  // namespace
}  // namespace cooper
