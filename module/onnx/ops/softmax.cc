// Softmax in its forms, and losses, which return predictions.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/ops/nn/softmax_param.h"

namespace cooper {
namespace {

constexpr int kData = 0;

// Returns whether each index of `axis` is below the length of its row, of a shape that broadcasts
// to data's. The length of a vector is (1,).
absl::StatusOr<std::string> BelowLength(NodeExport& c, int axis) {
  const int length = SoftmaxArrays::kLength;
  COOPER_ASSIGN_OR_RETURN(std::string index, c.Range(c.shape(kData)[axis]));
  const int behind = c.rank(kData) - 1 - axis;
  if (behind > 0) {
    std::vector<int64_t> axes;
    for (int i = 0; i < behind; ++i) axes.push_back(1 + i);
    index = c.Unsqueeze(index, axes);
  }
  std::string lengths = c.Cast(c.input(length), c.type(length), DType::kInt64);
  if (c.rank(kData) > 1) lengths = c.Unsqueeze(lengths, {axis});
  return c.Emit("Less", {index, lengths});
}

absl::Status ExportSoftmax(NodeExport& c, absl::string_view op, double sign) {
  const auto& param = c.param<SoftmaxParam>();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, c.rank(kData)));
  std::string data = c.Cast(c.input(kData), c.type(kData), c.out_type());
  const double divisor = sign * param.temperature.value_or(1);
  if (divisor != 1) data = c.Emit("Div", {data, c.Scalar(divisor)});
  const OnnxAttrs along = {{"axis", int64_t{axis}}};
  if (!param.has_length()) {
    c.Return(c.Emit(op, {data}, along));
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const std::string valid, BelowLength(c, axis));
  // A finite number, so that a row of length 0 gives no NaN before it is masked again.
  const std::string least = c.Scalar(c.out_type() == DType::kFloat16 ? -65504.0 : -1e30);
  const std::string masked = c.Emit("Where", {valid, data, least});
  const std::string out = c.Emit(op, {masked}, along);
  c.Return(c.Emit("Where", {valid, out, c.Scalar(0)}));
  return absl::OkStatus();
}

const OnnxRegistrar kSoftmax({"softmax"}, "Softmax; Where with lengths",
                             [](NodeExport& c) { return ExportSoftmax(c, "Softmax", 1); });
const OnnxRegistrar kSoftmin({"softmin"}, "Softmax; Where with lengths",
                             [](NodeExport& c) { return ExportSoftmax(c, "Softmax", -1); });
const OnnxRegistrar kLogSoftmax({"log_softmax"}, "LogSoftmax; Where with lengths",
                                [](NodeExport& c) { return ExportSoftmax(c, "LogSoftmax", 1); });

std::string SoftmaxAlong(NodeExport& c, const std::string& data, int64_t axis) {
  return c.Emit("Softmax", {data}, {{"axis", axis}});
}

// Returns the softmax over all axes of data but the first.
absl::StatusOr<std::string> SoftmaxOfRows(NodeExport& c) {
  if (c.rank(kData) == 2) return SoftmaxAlong(c, c.input(kData), 1);
  const std::string rows = c.Emit("Flatten", {c.input(kData)}, {{"axis", int64_t{1}}});
  return c.Reshape(SoftmaxAlong(c, rows, 1), {}, c.out_shape());
}

absl::Status ExportSoftmaxActivation(NodeExport& c) {
  const bool channel = c.param<SoftmaxActivationParam>().mode == SoftmaxActivationParam::kChannel;
  c.Return(SoftmaxAlong(c, c.input(kData), channel ? 1 : -1));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(SoftmaxActivation, "Softmax", ExportSoftmaxActivation);

absl::Status ExportSoftmaxOutput(NodeExport& c) {
  const auto& param = c.param<SoftmaxOutputParam>();
  if (param.multi_output || param.preserve_shape) {
    c.Return(SoftmaxAlong(c, c.input(kData), param.multi_output ? 1 : -1));
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(std::string out, SoftmaxOfRows(c));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(SoftmaxOutput, "Softmax", ExportSoftmaxOutput);

absl::Status ExportData(NodeExport& c) {
  c.Return(c.input(kData));
  return absl::OkStatus();
}
const OnnxRegistrar kIdentityLosses({"LinearRegressionOutput", "MAERegressionOutput", "SVMOutput"},
                                    "nothing: the output is the input", ExportData);

absl::Status ExportLogistic(NodeExport& c) {
  c.Return(c.Emit("Sigmoid", {c.input(kData)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(LogisticRegressionOutput, "Sigmoid", ExportLogistic);

}  // namespace
}  // namespace cooper
