// Normalizes each channel over the batch. MXNet: src/operator/nn/batch_norm.cc and, for the older
// one, src/operator/batch_norm_v1.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/shape.h"
#include "ndarray/status_macros.h"
#include "symbol/gradient_context.h"
#include "symbol/op.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/shape_context.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

using enum BatchNormArrays::Input;
using enum BatchNormArrays::Output;

// data and output have one shape; everything else is (channels,).
template <typename Param>
absl::Status BatchNormShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(int axis, NormalizeAxis(c.param<Param>().axis, data.rank()));
  const PartialShape channels = {data[axis]};
  for (int i = kGamma; i < BatchNormArrays::kNumInputs; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, channels, "(channels,)"));
  }
  for (int i = kMean; i < kNumOutputs; ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, channels, "(channels,)"));
  }
  return absl::OkStatus();
}

// With data of 16-bit floats everything but output stays float32.
absl::Status BatchNormType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  TypeContext::Type type = c.input(kData);
  if (!type) return absl::OkStatus();
  if (type == DType::kFloat16 || type == DType::kBfloat16) type = DType::kFloat32;
  for (int i = kGamma; i < BatchNormArrays::kNumInputs; ++i)
    COOPER_RETURN_IF_ERROR(c.SetInput(i, type));
  for (int i = kMean; i < kNumOutputs; ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, type));
  return absl::OkStatus();
}

// No gradient flows from mean and var, nor to the moving statistics, which the backward node
// updates: they are its inputs for that.
absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c, const char* op) {
  if (!c.has_head(kOutput)) return std::vector<NodeEntry>(kNumInputs);
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  COOPER_ASSIGN_OR_RETURN(
      std::vector<NodeEntry> gradients,
      c.Backward(op, {head, c.output(kMean), c.output(kVar), c.input(kData), c.input(kGamma),
                      c.input(kMovingMean), c.input(kMovingVar)}));
  gradients.resize(kNumInputs);
  return gradients;
}

absl::StatusOr<std::vector<NodeEntry>> BatchNormGradient(GradientContext& c) {
  return Gradient(c, "_backward_BatchNorm");
}
absl::StatusOr<std::vector<NodeEntry>> BatchNormV1Gradient(GradientContext& c) {
  return Gradient(c, "_backward_BatchNorm_v1");
}

template <typename Param>
int VisibleOutputs(const OpCall& call) {
  return call.param<Param>().output_mean_var ? kNumOutputs : 1;
}

// No initializer has a rule for the names of the moving statistics: they say themselves.
AttrMap StatisticsInit(const OpCall&, int input) {
  if (input == kMovingMean) return {{"__init__", "[\"zero\", {}]"}};
  if (input == kMovingVar) return {{"__init__", "[\"one\", {}]"}};
  return {};
}

// As in MXNet: with fix_gamma the argument itself becomes 1, so that a saved model says what was
// computed.
template <typename Param>
std::vector<int> FixedGamma(const OpCall& call) {
  return call.param<Param>().fix_gamma ? std::vector<int>{kGamma} : std::vector<int>();
}

template <typename Param>
OpBuilder Forward(const char* name) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs({"data", "gamma", "beta", "moving_mean", "moving_var"})
      .AuxInputs([](const OpCall&) {
        return std::vector<int>{kMovingMean, kMovingVar};
      })
      .Outputs({"output", "mean", "var"})
      .VisibleOutputs(VisibleOutputs<Param>)
      .VariableAttrs(StatisticsInit)
      .WritesInputs(FixedGamma<Param>)
      .Kind(OpKind::kNormalization)
      .Shape(BatchNormShape<Param>)
      .Type(BatchNormType);
}

template <typename Param>
OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs({"ograd", "mean", "var", "data", "gamma", "moving_mean", "moving_var"})
      .AuxInputs([](const OpCall&) {
        return std::vector<int>{BatchNormGradientArrays::kMovingMean,
                                BatchNormGradientArrays::kMovingVar};
      })
      .Outputs({"data", "gamma", "beta"})
      .Shape(GradientShape)
      .Type(GradientType);
}

const OpRegistrar kRegistrars[] = {
    Forward<BatchNormParam>("BatchNorm")
        .Describe("gamma * (data - mean) / sqrt(var + eps) + beta, with mean and variance of each "
                  "channel in training, and their moving averages in prediction. The averages are "
                  "updated by the backward pass.")
        .Alias("_npx_batch_norm")
        .Gradient(BatchNormGradient),
    Backward<BatchNormParam>("_backward_BatchNorm")
        .Describe("Gradients of BatchNorm with respect to data, gamma and beta; updates the moving "
                  "averages."),
    Forward<BatchNormV1Param>("BatchNorm_v1")
        .Describe("BatchNorm as it was before MXNet 1.0, for old files.")
        .Gradient(BatchNormV1Gradient),
    Backward<BatchNormV1Param>("_backward_BatchNorm_v1")
        .Describe(
            "Gradients of BatchNorm_v1 with respect to data, gamma and beta; updates the moving "
            "averages."),
};

}  // namespace
}  // namespace cooper
