// Kernels of _fused_convolution and _fused_convolution_sum, by oneDNN. In prediction a BatchNorm is
// a scale and a shift for each filter, which are folded into weight and bias. In training, which
// needs the statistics of the batch, the operations after the convolution run as separate loops.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/fused_product.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/norm/blocked_statistics.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/folded_batch_norm_param.h"
#include "symbol/ops/fused/fused_convolution_param.h"

namespace cooper {
namespace {

struct FusedState : KernelState {
  std::unique_ptr<const BlockedProduct> fused;
  // The convolution alone; null if the statistics of the batch are never used.
  std::unique_ptr<const BlockedProduct> alone;
  bool clips_after = false;  // whether to clip the results of `fused`
};

// Returns the size of one array of a number per filter. The scales and the biases precede the
// products' workspace.
int64_t FilterBytes(const FusedConvolutionParam& param) {
  constexpr int64_t kAlignment = 64;
  const auto bytes = param.num_filter * static_cast<int64_t>(sizeof(float));
  return param.batch_norm ? (bytes + kAlignment - 1) / kAlignment * kAlignment : 0;
}

bool UsesBatch(const FusedConvolutionParam& param) {
  return param.batch_norm && !param.use_global_stats;
}

// Returns an error if the packed weight does not have the packing of this product, for example if
// it was packed for other shapes; the program must then be compiled for these shapes.
absl::Status CheckPacking(const FusedConvolutionParam& param, const Shape& weight,
                          const BlockedProduct& product) {
  if (param.weight_packing.empty()) return absl::OkStatus();
  const std::optional<WeightPacking> packing = product.packing();
  if (packing.has_value() && packing->ToString() == param.weight_packing &&
      weight.num_elements() == packing->elements) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("weight ", weight.ToString(), " is packed as ", param.weight_packing,
                   ", expected ", packing.has_value() ? packing->ToString() : "a plain weight"));
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const auto& param = c.param<FusedConvolutionParam>();
  const FusedConvolutionInputs in(param);
  COOPER_RETURN_IF_ERROR(CheckChannelBlock(param.block));
  const Shape& data = c.inputs[in.data].shape;
  auto state = std::make_unique<FusedState>();
  const ConvolutionAlgorithm algorithm = absl::StartsWith(param.weight_packing, "_winograd_weight")
                                             ? ConvolutionAlgorithm::kWinograd
                                             : ConvolutionAlgorithm::kDirect;
  COOPER_ASSIGN_OR_RETURN(state->fused,
                          MakeFusedProduct(param, algorithm, data, c.outputs[0].shape));
  COOPER_RETURN_IF_ERROR(CheckPacking(param, c.inputs[in.weight].shape, *state->fused));
  state->clips_after = param.clip && !ClipsInProduct(param, algorithm);
  int64_t bytes = state->fused->workspace_bytes();
  if (UsesBatch(param)) {
    COOPER_ASSIGN_OR_RETURN(
        state->alone,
        BlockedProduct::Make(FusedProductShape(param, data, c.outputs[0].shape),
                             {.plain_image = param.plain_data, .bias = !param.no_bias}));
    bytes = std::max(bytes, state->alone->workspace_bytes());
    // A copy of the summand, which may share memory with the output.
    if (param.sum) bytes += c.outputs[0].size_bytes();
  }
  return Prepared{.state = std::move(state), .workspace_bytes = 2 * FilterBytes(param) + bytes};
}

const float* Values(const KernelContext& c, int input) {
  return input < 0 ? nullptr : c.inputs[input].as<float>();
}

FilterAffine AffineOf(const FusedConvolutionParam& param, float gamma, float beta, float mean,
                      float var) {
  return {param.eps, param.fix_gamma ? 1 : gamma, beta, mean, var};
}

// Clips as the operator clip does.
float Clipped(float value, float least, float most) {
  return value > most ? most : value < least ? least : value;
}

void ClipOutput(const KernelContext& c) {
  const auto& param = c.param<FusedConvolutionParam>();
  auto* const out = c.outputs[0].as<float>();
  const float least = param.a_min, most = param.a_max;
  ParallelFor(c.outputs[0].size(), 16384, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = Clipped(out[i], least, most);
  });
}

void Predict(const KernelContext& c, const FusedConvolutionInputs& in, char* workspace) {
  const auto& param = c.param<FusedConvolutionParam>();
  const float* bias = Values(c, in.bias);
  float* const scales = reinterpret_cast<float*>(workspace);
  if (param.batch_norm) {
    float* const biases = reinterpret_cast<float*>(workspace + FilterBytes(param));
    for (int64_t k = 0; k < param.num_filter; ++k) {
      const FilterAffine a = AffineOf(param, Values(c, in.gamma)[k], Values(c, in.beta)[k],
                                      Values(c, in.moving_mean)[k], Values(c, in.moving_var)[k]);
      scales[k] = a.scale;
      biases[k] = a.shift + (bias == nullptr ? 0 : bias[k] * a.scale);
    }
    bias = biases;
  }
  if (in.addend >= 0 && c.inputs[in.addend].data != c.outputs[0].data) {
    std::memcpy(c.outputs[0].data, c.inputs[in.addend].data, c.outputs[0].size_bytes());
  }
  const auto& state = *static_cast<const FusedState*>(c.state);
  state.fused->Run({.image = c.inputs[in.data].as<float>(),
                    .weight = c.inputs[in.weight].as<float>(),
                    .map = c.outputs[0].as<float>(),
                    .bias = bias,
                    .scales = scales},
                   workspace + 2 * FilterBytes(param));
  if (state.clips_after) ClipOutput(c);
}

// Normalises block k of the output over the batch, then adds and clips as the parameters say.
template <int B>
void NormalizeBlock(const KernelContext& c, const FusedConvolutionInputs& in, int64_t k,
                    const float* sum) {
  const auto& param = c.param<FusedConvolutionParam>();
  const BlockedExtents e(c.outputs[0].shape);
  auto* const out = c.outputs[0].as<float>();
  auto* const gamma = c.inputs[in.gamma].as<float>() + k * B;
  const float* const beta = Values(c, in.beta) + k * B;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float least = param.clip ? param.a_min : param.relu ? 0 : -kInfinity;
  const float most = param.clip ? param.a_max : kInfinity;
  const BlockMoments<B> m = MomentsOfBlock<B>(e, k, out);
  ChannelLanes<B> scale;
  for (int j = 0; j < B; ++j) {
    if (param.fix_gamma) gamma[j] = 1;
    scale[j] = AffineOf(param, gamma[j], 0, 0, m.var[j]).scale;
  }
  e.ForEach<B>(k, [&](int64_t i) {
    for (int j = 0; j < B; ++j) {
      float value = (out[i + j] - m.mean[j]) * scale[j] + beta[j];
      if (sum != nullptr) value += sum[i + j];
      out[i + j] = Clipped(value, least, most);
    }
  });
}

void Train(const KernelContext& c, const FusedConvolutionInputs& in, char* workspace) {
  const auto& param = c.param<FusedConvolutionParam>();
  const auto& state = *static_cast<const FusedState*>(c.state);
  workspace += 2 * FilterBytes(param);
  const float* sum = nullptr;
  if (in.addend >= 0) {
    std::memcpy(workspace, c.inputs[in.addend].data, c.outputs[0].size_bytes());
    sum = reinterpret_cast<const float*>(workspace);
    workspace += c.outputs[0].size_bytes();
  }
  state.alone->Run({.image = c.inputs[in.data].as<float>(),
                    .weight = c.inputs[in.weight].as<float>(),
                    .map = c.outputs[0].as<float>(),
                    .bias = Values(c, in.bias)},
                   workspace);
  const BlockedExtents e(c.outputs[0].shape);
  ParallelFor(e.blocks, RowGrain(e.per_channel() * param.block), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      param.block == 8 ? NormalizeBlock<8>(c, in, k, sum) : NormalizeBlock<16>(c, in, k, sum);
    }
  });
}

absl::Status Run(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<FusedConvolutionParam>();
  const FusedConvolutionInputs in(param);
  auto* const workspace = static_cast<char*>(c.workspace);
  if (c.is_train && UsesBatch(param)) {
    Train(c, in, workspace);
    return absl::OkStatus();
  }
  if (c.is_train && param.batch_norm && param.fix_gamma) {
    std::fill_n(c.inputs[in.gamma].as<float>(), param.num_filter, 1.0f);
  }
  Predict(c, in, workspace);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_fused_convolution, DeviceType::kCpu, kFloat32Only, Run, Prepare);
COOPER_REGISTER_KERNEL(_fused_convolution_sum, DeviceType::kCpu, kFloat32Only, Run, Prepare);

}  // namespace
}  // namespace cooper
