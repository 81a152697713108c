// Normalizations: BatchNorm and its relatives, LayerNorm, InstanceNorm, GroupNorm, L2Normalization
// and LRN.

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

absl::Status ExportBatchNorm(NodeExport& c, const BatchNormParam& param, bool relu) {
  using enum BatchNormArrays::Input;
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, c.rank(kData)));
  std::string gamma = c.input(kGamma);
  if (param.fix_gamma) {
    const int64_t channels = c.shape(kGamma)[0].number();
    COOPER_ASSIGN_OR_RETURN(const NDArray ones, NDArray::Full({channels}, 1, c.type(kGamma)));
    gamma = c.Weights("gamma", ones);
  }
  // ONNX has the channels on axis 1.
  std::vector<int64_t> axes(c.rank(kData));
  std::iota(axes.begin(), axes.end(), 0);
  std::string data = c.input(kData);
  if (axis != 1) {
    if (c.rank(kData) < 2) return c.Refuse("a vector has no axis 1");
    std::swap(axes[1], axes[axis]);
    data = c.Transpose(data, axes);
  }
  std::string out = c.Emit("BatchNormalization",
                           {data, gamma, c.input(kBeta), c.input(kMovingMean), c.input(kMovingVar)},
                           {{"epsilon", static_cast<float>(param.eps)}});
  if (axis != 1) out = c.Transpose(out, axes);
  c.Return(relu ? c.Emit("Relu", {out}) : out);
  return absl::OkStatus();
}

const OnnxRegistrar kBatchNorm({"BatchNorm"}, "BatchNormalization", [](NodeExport& c) {
  return ExportBatchNorm(c, c.param<BatchNormParam>(), false);
});
const OnnxRegistrar kBatchNormRelu({"_contrib_BatchNormWithReLU"}, "BatchNormalization, Relu",
                                   [](NodeExport& c) {
                                     return ExportBatchNorm(c, c.param<BatchNormWithReLUParam>(),
                                                            true);
                                   });
const OnnxRegistrar kBatchNormV1({"BatchNorm_v1"}, "BatchNormalization", [](NodeExport& c) {
  return ExportBatchNorm(c, c.param<BatchNormV1Param>(), false);
});
const OnnxRegistrar kSyncBatchNorm({"_contrib_SyncBatchNorm"}, "BatchNormalization",
                                   [](NodeExport& c) {
                                     return ExportBatchNorm(c, c.param<SyncBatchNormParam>(),
                                                            false);
                                   });

// Returns a vector of `rank` axes with its elements on `axis`.
std::string AlongAxis(NodeExport& c, const std::string& vector, int axis, int rank) {
  if (axis == rank - 1) return vector;
  std::vector<int64_t> after(rank - 1 - axis);
  std::iota(after.begin(), after.end(), 1);
  return c.Unsqueeze(vector, after);
}

absl::Status ExportLayerNorm(NodeExport& c) {
  using enum LayerNormArrays::Input;
  const auto& param = c.param<LayerNormParam>();
  const int rank = c.rank(kData);
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, rank));
  if (c.opset() >= 17 && axis == rank - 1) {
    c.Return(c.Emit("LayerNormalization", {c.input(kData), c.input(kGamma), c.input(kBeta)},
                    {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(param.eps)}}));
    return absl::OkStatus();
  }
  const OnnxAttrs along = {{"axes", std::vector<int64_t>{axis}}};
  const std::string mean = c.Emit("ReduceMean", {c.input(kData)}, along);
  const std::string centered = c.Emit("Sub", {c.input(kData), mean});
  const std::string square = c.Emit("Mul", {centered, centered});
  const std::string variance = c.Emit("ReduceMean", {square}, along);
  const std::string std = c.Emit("Sqrt", {c.Emit("Add", {variance, c.Scalar(param.eps)})});
  const std::string normal = c.Emit("Div", {centered, std});
  const std::string scaled = c.Emit("Mul", {normal, AlongAxis(c, c.input(kGamma), axis, rank)});
  c.Return(c.Emit("Add", {scaled, AlongAxis(c, c.input(kBeta), axis, rank)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(LayerNorm, "LayerNormalization; its formula at opset 13 and for inner axes",
                   ExportLayerNorm);

absl::Status ExportInstanceNorm(NodeExport& c) {
  c.Return(c.Emit("InstanceNormalization", c.inputs(),
                  {{"epsilon", static_cast<float>(c.param<InstanceNormParam>().eps)}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(InstanceNorm, "InstanceNormalization", ExportInstanceNorm);

// gamma and beta have one element per group, as those of an InstanceNorm over groups.
absl::Status ExportGroupNorm(NodeExport& c) {
  using enum LayerNormArrays::Input;
  const auto& param = c.param<GroupNormParam>();
  const std::string groups = c.Emit("Reshape", {c.input(kData), c.Ints({0, param.num_groups, -1})});
  const std::string normal =
      c.Emit("InstanceNormalization", {groups, c.input(kGamma), c.input(kBeta)},
             {{"epsilon", static_cast<float>(param.eps)}});
  COOPER_ASSIGN_OR_RETURN(std::string out, c.Reshape(normal, {}, c.out_shape()));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(GroupNorm, "InstanceNormalization over groups", ExportGroupNorm);

absl::Status ExportL2Normalization(NodeExport& c) {
  const auto& param = c.param<L2NormalizationParam>();
  std::vector<int64_t> axes;
  const int last = param.mode == L2NormalizationParam::kChannel ? 2 : c.rank(0);
  for (int i = param.mode == L2NormalizationParam::kSpatial ? 2 : 1; i < last; ++i) {
    axes.push_back(i);
  }
  const std::string sum = c.Emit("ReduceSumSquare", {c.input(0)}, {{"axes", axes}});
  const std::string norm = c.Emit("Sqrt", {c.Emit("Add", {sum, c.Scalar(param.eps)})});
  c.Return(c.Emit("Div", {c.input(0), norm}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(L2Normalization, "ReduceSumSquare, Sqrt, Div", ExportL2Normalization);

absl::Status ExportLrn(NodeExport& c) {
  const auto& param = c.param<LrnParam>();
  c.Return(c.Emit("LRN", {c.input(0)},
                  {{"alpha", static_cast<float>(param.alpha)},
                   {"beta", static_cast<float>(param.beta)},
                   {"bias", static_cast<float>(param.knorm)},
                   {"size", param.nsize}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(LRN, "LRN", ExportLrn);

}  // namespace
}  // namespace cooper
