// Operators that make arrays of numbers.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/init_param.h"

namespace cooper {
namespace {

absl::Status Fill(NodeExport& c, double value) {
  COOPER_ASSIGN_OR_RETURN(const std::string shape, c.ShapeValue(c.out_shape()));
  c.Return(c.Emit("Expand", {c.Scalar(value), shape}));
  return absl::OkStatus();
}

const OnnxRegistrar kZeros({"_zeros", "zeros_like"}, "Expand",
                           [](NodeExport& c) { return Fill(c, 0); });
const OnnxRegistrar kOnes({"_ones", "ones_like"}, "Expand",
                          [](NodeExport& c) { return Fill(c, 1); });
const OnnxRegistrar kFull({"_full"}, "Expand",
                          [](NodeExport& c) { return Fill(c, c.param<FullParam>().value); });

absl::Status ReturnValue(NodeExport& c, const std::vector<Shape>& shapes) {
  COOPER_ASSIGN_OR_RETURN(const NDArray value, c.Value(shapes));
  c.Return(c.Weights("value", value));
  return absl::OkStatus();
}
const OnnxRegistrar kConstants({"_arange", "_linspace", "_eye"}, "a constant",
                               [](NodeExport& c) { return ReturnValue(c, {}); });

// The anchors depend on the height and the width of data alone.
absl::Status ExportPriors(NodeExport& c) {
  const SymbolicShape image(c.shape(0).begin() + 2, c.shape(0).end());
  COOPER_RETURN_IF_ERROR(c.NeedsNumbers(image, "the image"));
  return ReturnValue(c, {{1, 1, image[0].number(), image[1].number()}});
}
COOPER_ONNX_EXPORT(_contrib_MultiBoxPrior, "a constant; the image's extents must be numbers",
                   ExportPriors);

absl::Status ExportArangeLike(NodeExport& c) {
  const auto& param = c.param<ArangeLikeParam>();
  if (IsFixed(c.shape(0))) return ReturnValue(c, {FixedShape(c.shape(0))});
  if (!param.axis.has_value() || param.repeat != 1) {
    return c.Refuse("with open extents it needs an axis, and no repeat");
  }
  COOPER_ASSIGN_OR_RETURN(const std::string index, c.Range(c.out_shape()[0]));
  std::string value = c.Cast(index, DType::kInt64, c.out_type());
  if (param.step != 1) value = c.Emit("Mul", {value, c.Scalar(param.step)});
  if (param.start != 0) value = c.Emit("Add", {value, c.Scalar(param.start)});
  c.Return(std::move(value));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_contrib_arange_like, "CumSum, or a constant", ExportArangeLike);

}  // namespace
}  // namespace cooper
