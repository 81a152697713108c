// Counts numbers. MXNet: src/operator/numpy/np_bincount_op.cc.

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/bincount_param.h"
#include "symbol/schema/counted_shapes.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BincountArrays::Input;
using enum BincountArrays::Output;

absl::Status BincountShape(ShapeContext& c) {
  if (c.param<BincountParam>().has_weights) {
    COOPER_RETURN_IF_ERROR(c.SetInput(kWeights, c.input(kData), "data's"));
    COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.input(kWeights), "that of weights"));
  }
  const PartialShape& data = c.input(kData);
  if (data.rank() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'data' ", data.ToString(), " has more than one axis"));
  }
  COOPER_RETURN_IF_ERROR(c.SetOutput(kCounts, {kUnknownDim}, "(bins,)"));
  if (data.IsFull()) {
    COOPER_RETURN_IF_ERROR(
        c.SetOutput(kCounts, {std::max(c.param<BincountParam>().minlength, data.num_elements())},
                    "(the larger of minlength and the elements of data,)"));
  }
  return SetShapesOutput(c);
}

absl::Status BincountType(TypeContext& c) {
  const int like = c.param<BincountParam>().has_weights ? kWeights : kData;
  COOPER_RETURN_IF_ERROR(c.SetOutput(kCounts, c.input(like)));
  COOPER_RETURN_IF_ERROR(c.SetInput(like, c.output(kCounts)));
  COOPER_RETURN_IF_ERROR(c.SetOutput(kShapes, DType::kInt64));
  const TypeContext::Type data = c.input(kData);
  if (!data.has_value() || (!IsFloating(*data) && *data != DType::kBool)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("input 'data' is ", DTypeName(*data), ", expected integers"));
}

COOPER_REGISTER_OP(_npi_bincount)
    .Describe(
        "How often each number occurs in data, or the sums of weights. The inferred shape says the "
        "most bins there can be: the larger of minlength and the number of elements. Run, the "
        "output has as many as the greatest number needs, at least minlength.")
    .Param<BincountParam>()
    .Inputs([](const OpCall& call) -> OpSchema::Names {
      if (call.param<BincountParam>().has_weights) return {"data", "weights"};
      return {"data"};
    })
    .Outputs({"output", "shapes"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape(BincountShape)
    .Type(BincountType)
    .CountsRows();

}  // namespace
}  // namespace cooper
