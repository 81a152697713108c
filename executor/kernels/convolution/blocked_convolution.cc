// Kernels of _blocked_convolution and its gradient, by oneDNN.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/blocked_product.h"
#include "executor/kernels/convolution/convolution_parts.h"
#include "executor/kernels/convolution/fused_product.h"
#include "executor/kernels/convolution/winograd_product.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/norm/blocked_statistics.h"
#include "executor/program/blocked_layout.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/blocked_convolution_param.h"

namespace cooper {
namespace {

using Result = BlockedProduct::Result;

Shape DataShape(const BlockedConvolutionParam& param, const Shape& shape) {
  return param.plain_data ? shape : PlainImage(shape);
}

struct ForwardState : KernelState {
  std::unique_ptr<const BlockedProduct> product;
};

// The products of the gradient's kernel; null for a gradient that is not requested.
struct BackwardState : KernelState {
  std::unique_ptr<const BlockedProduct> data, weight;
};

absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  using enum ConvolutionArrays::Input;
  const auto& param = c.param<BlockedConvolutionParam>();
  COOPER_RETURN_IF_ERROR(CheckChannelBlock(param.block));
  auto state = std::make_unique<ForwardState>();
  COOPER_ASSIGN_OR_RETURN(
      state->product, BlockedProduct::Make(ProductOf(param, DataShape(param, c.inputs[kData].shape),
                                                     PlainImage(c.outputs[0].shape)),
                                           {.plain_image = param.plain_data,
                                            .bias = !param.no_bias,
                                            .add = c.reqs[0] == WriteReq::kAdd}));
  const int64_t bytes = state->product->workspace_bytes();
  return Prepared{.state = std::move(state), .workspace_bytes = bytes};
}

absl::Status Forward(const KernelContext& c) {
  using enum ConvolutionArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  static_cast<const ForwardState*>(c.state)->product->Run(
      {.image = c.inputs[kData].as<float>(),
       .weight = c.inputs[kWeight].as<float>(),
       .map = c.outputs[0].as<float>(),
       .bias = c.inputs.size() > kBias ? c.inputs[kBias].as<float>() : nullptr},
      static_cast<char*>(c.workspace));
  return absl::OkStatus();
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const auto& param = c.param<BlockedConvolutionParam>();
  COOPER_RETURN_IF_ERROR(CheckChannelBlock(param.block));
  const ConvolutionProduct shape =
      ProductOf(param, DataShape(param, c.inputs[kData].shape), PlainImage(c.inputs[kOgrad].shape));
  auto state = std::make_unique<BackwardState>();
  Prepared prepared;
  const auto make = [&](Result result, WriteReq req,
                        std::unique_ptr<const BlockedProduct>* product) -> absl::Status {
    if (req == WriteReq::kNull) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(*product, BlockedProduct::Make(shape, {.result = result,
                                                                   .plain_image = param.plain_data,
                                                                   .add = req == WriteReq::kAdd}));
    prepared.workspace_bytes = std::max(prepared.workspace_bytes, (*product)->workspace_bytes());
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(make(Result::kImage, c.reqs[0], &state->data));
  COOPER_RETURN_IF_ERROR(make(Result::kWeight, c.reqs[kWeightGrad], &state->weight));
  prepared.state = std::move(state);
  return prepared;
}

// Computes the sum of each channel of `ograd` over the batch and the image.
template <int B>
void BiasGradient(const ArrayView& ograd, WriteReq req, float* gradient) {
  const BlockedExtents e(ograd.shape);
  const auto* const from = ograd.as<float>();
  ParallelFor(e.blocks, RowGrain(e.per_channel() * B), [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const ChannelLanes<B> sum =
          SumOfBlock<B>(e, k, [&](int64_t i, int /*j*/) { return from[i]; });
      for (int j = 0; j < B; ++j) Store(gradient + k * B + j, sum[j], req == WriteReq::kAdd);
    }
  });
}

absl::Status Backward(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const auto& state = *static_cast<const BackwardState*>(c.state);
  auto* const ograd = c.inputs[kOgrad].as<float>();
  auto* const workspace = static_cast<char*>(c.workspace);
  if (state.data != nullptr) {
    state.data->Run(
        {.image = c.outputs[0].as<float>(), .weight = c.inputs[kWeight].as<float>(), .map = ograd},
        workspace);
  }
  if (state.weight != nullptr) {
    state.weight->Run({.image = c.inputs[kData].as<float>(),
                       .weight = c.outputs[kWeightGrad].as<float>(),
                       .map = ograd},
                      workspace);
  }
  if (c.outputs.size() == 3 && c.reqs[kBiasGrad] != WriteReq::kNull) {
    const auto sum =
        c.param<BlockedConvolutionParam>().block == 8 ? BiasGradient<8> : BiasGradient<16>;
    sum(c.inputs[kOgrad], c.reqs[kBiasGrad], c.outputs[kBiasGrad].as<float>());
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_blocked_convolution, DeviceType::kCpu, kFloat32Only, Forward,
                       PrepareForward);
COOPER_REGISTER_KERNEL(_backward_blocked_convolution, DeviceType::kCpu, kFloat32Only, Backward,
                       PrepareBackward);

bool HasConvolution(const ConvolutionParam& param, const Shape& data, const Shape& output,
                    bool plain_data, bool gradients) {
  const ConvolutionProduct shape = ProductOf(param, data, output);
  for (Result result : {Result::kMap, Result::kImage, Result::kWeight}) {
    if (result != Result::kMap && !gradients) break;
    if (!BlockedProduct::IsFast(shape, {.result = result, .plain_image = plain_data})) return false;
  }
  return true;
}

std::optional<WeightPacking> PackingFor(const FusedConvolutionParam& param,
                                        ConvolutionAlgorithm algorithm, const Shape& data,
                                        const Shape& output) {
  if (algorithm == ConvolutionAlgorithm::kWinograd) {
    if (param.plain_data || param.kernel.size() != 2) return std::nullopt;
    const ConvolutionProduct shape = FusedProductShape(param, data, output);
    if (!SuitsWinogradTiles(shape) && !SuitsOneDnnWinograd(shape)) return std::nullopt;
  }
  const auto product = MakeFusedProduct(param, algorithm, data, output);
  return product.ok() ? (*product)->packing() : std::nullopt;
}

const bool kRegistered = [] {
  RegisterBlockedLayout([] {
    static const BlockedLayout layout{.block = OneDnnChannelBlock(),
                                      .has_convolution = HasConvolution,
                                      .weight_packing = PackingFor,
                                      .converts_for_depthwise = OneDnnChannelBlock() == 16};
    return &layout;
  });
  return true;
}();

}  // namespace
}  // namespace cooper
