// Normalizes each channel over the batch. MXNet: src/operator/nn/batch_norm.cc,
// src/operator/batch_norm_v1.cc, and src/operator/contrib/{sync_batch_norm,batch_norm_relu}.cc.
// SequenceBatchNorm, which ignores padding, is specific to cooper.

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/input_attrs.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum BatchNormArrays::Output;

template <typename Param>
constexpr bool kHasReLU = std::is_same_v<Param, BatchNormWithReLUParam>;

template <typename Param>
constexpr bool kHasLengths = std::is_same_v<Param, SequenceBatchNormParam>;

// Merges the batch sizes of sequence_length (batch_size,) and of data.
absl::Status LengthShape(ShapeContext& c, int channel_axis) {
  using enum SequenceBatchNormArrays::Input;
  const auto& param = c.param<SequenceBatchNormParam>();
  const int rank = c.input(kData).rank();
  COOPER_ASSIGN_OR_RETURN(const int batch_axis,
                          NormalizeAxis(param.batch_axis, rank, "batch_axis"));
  COOPER_ASSIGN_OR_RETURN(const int time_axis, NormalizeAxis(param.time_axis, rank, "time_axis"));
  if (batch_axis == time_axis || batch_axis == channel_axis || time_axis == channel_axis) {
    return absl::InvalidArgumentError(absl::StrCat(
        "axis ", param.axis, ", batch_axis ", param.batch_axis, " and time_axis ", param.time_axis,
        " of input 'data' ", c.input(kData).ToString(), " are not three axes"));
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kLength, {c.input(kData)[batch_axis]}, "(batch_size,)"));
  PartialShape data = PartialShape::OfRank(rank);
  data[batch_axis] = c.input(kLength)[0];
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, data, "with the batch size of sequence_length"));
  return c.SetOutput(kOutput, c.input(kData));
}

// Shape rule: data and output have one shape; everything else but lengths is (channels,).
template <typename Param>
absl::Status BatchNormShape(ShapeContext& c) {
  using Arrays = typename Param::Arrays;
  constexpr int kData = Arrays::kData;
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  const PartialShape& data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(int axis, NormalizeAxis(c.param<Param>().axis, data.rank()));
  const PartialShape channels = {data[axis]};
  for (int i : {Arrays::kGamma, Arrays::kBeta, Arrays::kMovingMean, Arrays::kMovingVar}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, channels, "(channels,)"));
  }
  for (int i : {BatchNormArrays::kMean, BatchNormArrays::kVar}) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, channels, "(channels,)"));
  }
  if constexpr (kHasLengths<Param>) return LengthShape(c, axis);
  return absl::OkStatus();
}

// Type rule: with data of 16-bit floats all arrays but output stay float32. Lengths may have any
// dtype.
template <typename Param>
absl::Status BatchNormType(TypeContext& c) {
  using Arrays = typename Param::Arrays;
  constexpr int kData = Arrays::kData;
  COOPER_RETURN_IF_ERROR(c.SetOutput(kOutput, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(kOutput)));
  TypeContext::Type type = c.input(kData);
  if (!type) return absl::OkStatus();
  if (type == DType::kFloat16 || type == DType::kBfloat16) type = DType::kFloat32;
  for (int i : {Arrays::kGamma, Arrays::kBeta, Arrays::kMovingMean, Arrays::kMovingVar}) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, type));
  }
  for (int i : {BatchNormArrays::kMean, BatchNormArrays::kVar})
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, type));
  if constexpr (kHasLengths<Param>) {
    if (!c.input(Arrays::kLength)) return c.SetInput(Arrays::kLength, type);
  }
  return absl::OkStatus();
}

// Returns "_backward_contrib_X" for "_contrib_X". With a relu, BatchNorm's own gradient follows.
template <typename Param>
std::string BackwardName(absl::string_view op) {
  if (kHasReLU<Param>) return "_backward_BatchNorm";
  return absl::StrCat("_backward_", absl::StripPrefix(op, "_"));
}

// Gradient rule: no gradient flows from mean and var or to the moving statistics. The statistics
// are inputs of the backward node because it updates them.
template <typename Param>
absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  using Arrays = typename Param::Arrays;
  // Without a head gradient, as below BlockGrad, the moving statistics are still updated if a
  // gradient of gamma or beta is requested.
  const bool is_stopped = !c.has_head(kOutput);
  if (is_stopped && c.param<Param>().use_global_stats) {
    return std::vector<NodeEntry>(Arrays::kNumInputs);
  }
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(kOutput));
  if (kHasReLU<Param> && !is_stopped) {
    COOPER_ASSIGN_OR_RETURN(head, c.Call("_backward_relu", {head, c.output(kOutput)}));
  }
  std::vector<NodeEntry> inputs = {head, c.output(kMean), c.output(kVar), c.input(Arrays::kData),
                                   c.input(Arrays::kGamma)};
  if constexpr (kHasLengths<Param>) inputs.push_back(c.input(Arrays::kLength));
  inputs.push_back(c.input(Arrays::kMovingMean));
  inputs.push_back(c.input(Arrays::kMovingVar));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> gradients,
                          c.Backward(BackwardName<Param>(c.call().op->name()), std::move(inputs)));
  gradients.resize(Arrays::kNumInputs);
  if (is_stopped) gradients[Arrays::kData] = NodeEntry();  // 0: nothing goes on
  return gradients;
}

template <typename Param>
int VisibleOutputs(const OpCall& call) {
  return call.param<Param>().output_mean_var ? kNumOutputs : 1;
}

// Initializers have no rule for the names of the moving statistics, so the operator sets their
// initializers. A variable for the lengths would be trained like a weight, so lengths must be
// given.
template <typename Param>
AttrMap InputAttrs(const OpCall&, int input) {
  using Arrays = typename Param::Arrays;
  if (input == Arrays::kMovingMean) return {{"__init__", "[\"zero\", {}]"}};
  if (input == Arrays::kMovingVar) return {{"__init__", "[\"one\", {}]"}};
  if constexpr (kHasLengths<Param>) {
    if (input == Arrays::kLength) return {{kRequiredInput, "it says which steps are padding"}};
  }
  return {};
}

// As in MXNet: with fix_gamma, training sets the argument gamma to 1, so that a saved model agrees
// with the computation. In prediction kernels write nothing (those of MXNet's BatchNorm_v1 and
// SyncBatchNorm do).
template <typename Param>
std::vector<int> FixedGamma(const OpCall& call) {
  return call.param<Param>().fix_gamma ? std::vector<int>{Param::Arrays::kGamma}
                                       : std::vector<int>();
}

template <typename Param>
OpBuilder Forward(const char* name, OpSchema::Names inputs) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs(std::move(inputs))
      .AuxInputs([](const OpCall&) {
        return std::vector<int>{Param::Arrays::kMovingMean, Param::Arrays::kMovingVar};
      })
      .Outputs({"output", "mean", "var"})
      .VisibleOutputs(VisibleOutputs<Param>)
      .VariableAttrs(InputAttrs<Param>)
      .WritesInputs(FixedGamma<Param>)
      .Kind(OpKind::kNormalization)
      .Shape(BatchNormShape<Param>)
      .Type(BatchNormType<Param>)
      .Gradient(Gradient<Param>);
}

template <typename Param>
OpBuilder Backward(const char* name, OpSchema::Names inputs) {
  return OpBuilder(name)
      .Param<Param>()
      .Inputs(std::move(inputs))
      .AuxInputs([](const OpCall&) {
        return std::vector<int>{Param::GradientArrays::kMovingMean,
                                Param::GradientArrays::kMovingVar};
      })
      .Outputs({"data", "gamma", "beta"})
      .Shape(GradientShape)
      .Type(GradientType);
}

const OpSchema::Names kInputs = {"data", "gamma", "beta", "moving_mean", "moving_var"};
const OpSchema::Names kGradientInputs = {"ograd", "mean",        "var",       "data",
                                         "gamma", "moving_mean", "moving_var"};

const OpRegistrar kRegistrars[] = {
    Forward<BatchNormParam>("BatchNorm", kInputs)
        .Describe("gamma * (data - mean) / sqrt(var + eps) + beta, with mean and variance of each "
                  "channel in training, and their moving averages in prediction. The averages are "
                  "updated by the backward pass.")
        .Alias("_npx_batch_norm"),
    Backward<BatchNormParam>("_backward_BatchNorm", kGradientInputs)
        .Describe("Gradients of BatchNorm with respect to data, gamma and beta; updates the moving "
                  "averages."),
    Forward<BatchNormWithReLUParam>("_contrib_BatchNormWithReLU", kInputs)
        .Describe("relu of BatchNorm.")
        .Alias("BatchNormWithReLU"),
    Forward<BatchNormV1Param>("BatchNorm_v1", kInputs)
        .Describe("BatchNorm as it was before MXNet 1.0, for old files."),
    Backward<BatchNormV1Param>("_backward_BatchNorm_v1", kGradientInputs)
        .Describe(
            "Gradients of BatchNorm_v1 with respect to data, gamma and beta; updates the moving "
            "averages."),
    Forward<SyncBatchNormParam>("_contrib_SyncBatchNorm", kInputs)
        .Describe("BatchNorm of networks that were trained on several devices, whose batches MXNet "
                  "normalizes as one; here each device takes the statistics of its own."),
    Backward<SyncBatchNormParam>("_backward_contrib_SyncBatchNorm", kGradientInputs)
        .Describe("Gradients of _contrib_SyncBatchNorm with respect to data, gamma and beta; "
                  "updates the moving averages."),
    Forward<SequenceBatchNormParam>(
        "SequenceBatchNorm",
        {"data", "gamma", "beta", "sequence_length", "moving_mean", "moving_var"})
        .Describe("BatchNorm of padded sequences: steps from sequence_length (batch_size,) on are "
                  "in no statistic, and their output and gradient are 0. A batch without any step "
                  "leaves the moving averages alone."),
    Backward<SequenceBatchNormParam>(
        "_backward_SequenceBatchNorm",
        {"ograd", "mean", "var", "data", "gamma", "sequence_length", "moving_mean", "moving_var"})
        .Describe("Gradients of SequenceBatchNorm with respect to data, gamma and beta; updates "
                  "the moving averages."),
};

COOPER_OP_EXAMPLE(SequenceBatchNorm, {}, {{5, 3, 7}, {}, {}, {}});

}  // namespace
}  // namespace cooper
