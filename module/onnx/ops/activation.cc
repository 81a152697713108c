// Activation, LeakyReLU and Dropout.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/ops/nn/dropout_param.h"
#include "symbol/ops/nn/leaky_relu_param.h"

namespace cooper {
namespace {

const char* ActivationOp(ActivationType type) {
  switch (type) {
    case ActivationType::kRelu:
      return "Relu";
    case ActivationType::kSigmoid:
      return "Sigmoid";
    case ActivationType::kTanh:
      return "Tanh";
    case ActivationType::kSoftRelu:
      return "Softplus";
    case ActivationType::kSoftSign:
      return "Softsign";
  }
  return "";
}

absl::Status ExportActivation(NodeExport& c) {
  c.Return(c.Emit(ActivationOp(c.param<ActivationParam>().act_type), {c.input(0)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(Activation, "Relu, Sigmoid, Tanh, Softplus, Softsign", ExportActivation);

// x * (1 + erf(x / sqrt(2))) / 2
std::string Gelu(NodeExport& c, const std::string& data) {
  const std::string scaled = c.Emit("Div", {data, c.Scalar(std::sqrt(2.0))});
  const std::string sum = c.Emit("Add", {c.Emit("Erf", {scaled}), c.Scalar(1)});
  return c.Emit("Mul", {c.Emit("Mul", {data, c.Scalar(0.5)}), sum});
}

absl::Status ExportLeakyReLU(NodeExport& c) {
  using enum LeakyReLUArrays::Input;
  const auto& param = c.param<LeakyReluParam>();
  const std::string& data = c.input(kData);
  const auto leaky = [&](double slope) {
    c.Return(c.Emit("LeakyRelu", {data}, {{"alpha", static_cast<float>(slope)}}));
    return absl::OkStatus();
  };
  switch (param.act_type) {
    case LeakyReluParam::kLeaky:
      return leaky(param.slope);
    case LeakyReluParam::kRrelu:
      return leaky((param.lower_bound + param.upper_bound) / 2);
    case LeakyReluParam::kPrelu: {
      // The slopes broadcast against the first two axes of data, a vector against the second.
      std::string slope = c.input(kGamma);
      const int behind = c.rank(kData) - 2;
      if (behind > 0) {
        SymbolicShape shape = c.shape(kGamma);
        shape.insert(shape.end(), behind, Extent{.offset = 1});
        COOPER_ASSIGN_OR_RETURN(slope, c.Reshape(slope, c.shape(kGamma), shape));
      }
      c.Return(c.Emit("PRelu", {data, slope}));
      return absl::OkStatus();
    }
    case LeakyReluParam::kElu:
      c.Return(c.Emit("Elu", {data}, {{"alpha", static_cast<float>(param.slope)}}));
      return absl::OkStatus();
    case LeakyReluParam::kSelu:
      c.Return(c.Emit("Selu", {data}));
      return absl::OkStatus();
    case LeakyReluParam::kGelu:
      c.Return(Gelu(c, data));
      return absl::OkStatus();
  }
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(LeakyReLU, "LeakyRelu, PRelu, Elu, Selu; gelu as Erf", ExportLeakyReLU);

absl::Status ExportDropout(NodeExport& c) {
  if (c.param<DropoutParam>().Drops(/*is_train=*/false)) {
    return c.Refuse("mode always draws random numbers in prediction too");
  }
  c.Return(c.input(0));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(Dropout, "nothing: prediction drops no element", ExportDropout);

}  // namespace
}  // namespace cooper
