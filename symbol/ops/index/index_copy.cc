// Copies an array and replaces some of its rows. MXNet: src/operator/contrib/index_copy.cc.

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/index_copy_arrays.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum IndexCopyArrays::Input;

// Shape rule: old_tensor (n, ...), index_vector (rows,), new_tensor (rows, ...) with rows <= n; the
// output has the shape of old_tensor.
absl::Status IndexCopyShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kOldTensor)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kOldTensor, c.output(0), "the output's"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kIndexVector, {kUnknownDim}, "(rows of new_tensor,)"));
  const PartialShape old_tensor = c.input(kOldTensor);
  if (!old_tensor.rank_known()) return absl::OkStatus();
  if (old_tensor.rank() == 0) {
    return absl::InvalidArgumentError("input 'old_tensor' () has no rows");
  }
  PartialShape new_tensor = old_tensor;
  new_tensor[0] = c.input(kIndexVector)[0];
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kNewTensor, new_tensor, "(indices, the other axes of old_tensor)"));
  const PartialShape& rows = c.input(kNewTensor);
  COOPER_RETURN_IF_ERROR(c.SetInput(kIndexVector, {rows[0]}, "(rows of new_tensor,)"));
  if (rows.dim_known(0) && old_tensor.dim_known(0) && rows[0] > old_tensor[0]) {
    return absl::InvalidArgumentError(absl::StrCat("input 'new_tensor' ", rows.ToString(),
                                                   " has more rows than input 'old_tensor' ",
                                                   old_tensor.ToString()));
  }
  return absl::OkStatus();
}

// Type rule: an index may have any dtype.
absl::Status IndexCopyType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kOldTensor)));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kNewTensor)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kOldTensor, c.output(0)));
  return c.SetInput(kNewTensor, c.output(0));
}

// Gradient rule: the gradient of a replaced row goes to its replacement, that of the others to
// old_tensor.
absl::StatusOr<std::vector<NodeEntry>> IndexCopyGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
  const NodeEntry index = c.input(kIndexVector);
  COOPER_ASSIGN_OR_RETURN(const NodeEntry new_tensor, c.Call("take", {head, index}));
  COOPER_ASSIGN_OR_RETURN(const NodeEntry zeros, c.Call("zeros_like", {new_tensor}));
  COOPER_ASSIGN_OR_RETURN(const NodeEntry old_tensor,
                          c.Call("_contrib_index_copy", {head, index, zeros}));
  return std::vector<NodeEntry>{old_tensor, NodeEntry(), new_tensor};
}

COOPER_REGISTER_OP(_contrib_index_copy)
    .Describe("old_tensor with the rows of new_tensor at the positions in index_vector.")
    .Inputs({"old_tensor", "index_vector", "new_tensor"})
    .Shape(IndexCopyShape)
    .Type(IndexCopyType)
    .Gradient(IndexCopyGradient)
    .InPlace({{kOldTensor, 0}});

}  // namespace
}  // namespace cooper
