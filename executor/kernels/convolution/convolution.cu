// GPU kernels of Convolution, Deconvolution and their gradients. Deconvolution is Convolution's
// three passes with data and output in each other's place.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/convolution_passes.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "executor/kernels/convolution/cudnn_switch.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/sum_channels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/nn/convolution_param.h"

namespace cooper {
namespace {

// Whether the operator is Convolution, whose data is the image and whose output is the map;
// Deconvolution has them swapped.
template <typename Param>
constexpr bool kIsConvolution = std::is_same_v<Param, ConvolutionParam>;

// The pass that computes the output, and the pass that computes the gradient of the data.
template <typename Param>
constexpr ConvolutionPass kForwardPass =
    kIsConvolution<Param> ? ConvolutionPass::kForward : ConvolutionPass::kDataGradient;
template <typename Param>
constexpr ConvolutionPass kDataGradientPass =
    kIsConvolution<Param> ? ConvolutionPass::kDataGradient : ConvolutionPass::kForward;

// Applies MXNet's meaning of the operator's `workspace`, in MiB, and of its `cudnn_tune`. Without
// cudnn_tune MXNet measures; cooper does so only with COOPER_CUDNN_TUNE=1, so that equal programs
// give equal bits.
CudnnChoice ChoiceOf(const ConvolutionParam& param) {
  constexpr int64_t kMaxMebibytes = 1 << 20;
  const bool fastest = param.cudnn_tune == CudnnTune::kFastest;
  const int64_t mebibytes = std::clamp<int64_t>(param.workspace, 0, kMaxMebibytes);
  const bool by_default = param.cudnn_tune == CudnnTune::kDefault && CudnnTunesByDefault();
  return {.max_workspace_bytes = (fastest ? kMaxMebibytes : mebibytes) << 20,
          .by_time = fastest || param.cudnn_tune == CudnnTune::kLimitedWorkspace || by_default};
}

// Prepares `passes`, the passes of the node with their requests.
template <typename Param>
absl::StatusOr<Prepared> Prepare(
    const PrepareContext& c, const Shape& data, const Shape& out,
    std::initializer_list<std::pair<ConvolutionPass, WriteReq>> passes) {
  const auto& param = c.param<Param>();
  if (ChannelsLast(param.layout)) {
    return absl::UnimplementedError(
        absl::StrCat(c.call.op->name(),
                     " on gpu: no kernel for layouts with channels last; use NCW, NCHW or NCDHW"));
  }
  auto state = std::make_unique<ConvolutionState>();
  COOPER_ASSIGN_OR_RETURN(state->cublas, Cublas::Of(c.context.device_id));
  state->product =
      kIsConvolution<Param> ? ProductOf(param, data, out) : ProductOf(param, out, data);
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  Prepared prepared;
  for (const auto& [pass, req] : passes) {
    const auto bytes = PreparePass(*state, pass, c.context, c.inputs[0].dtype, req, param.cudnn_off,
                                   ChoiceOf(param));
    if (!bytes.ok()) return AddContext(bytes.status(), c.call.op->name());
    prepared.workspace_bytes = std::max(prepared.workspace_bytes, *bytes);
  }
  prepared.state = std::move(state);
  return prepared;
}

template <typename Param>
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  return Prepare<Param>(c, c.inputs[ConvolutionArrays::kData].shape, c.outputs[0].shape,
                        {{kForwardPass<Param>, c.reqs[0]}});
}

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  return Prepare<Param>(c, c.inputs[kData].shape, c.inputs[kOgrad].shape,
                        {{kDataGradientPass<Param>, c.reqs[kDataGrad]},
                         {ConvolutionPass::kWeightGradient, c.reqs[kWeightGrad]}});
}

// Computes out (batch, channels, size), of `count` elements, += bias (channels,).
template <typename T, typename Index>
__global__ void AddBias(int64_t count, Index channels, Index size, const T* bias, T* out) {
  using C = ComputeType<T>;
  const auto load = [out](int64_t i) { return out[i]; };
  ForEachLoaded(count, load, [&](int64_t i, T value) {
    const Index channel = static_cast<Index>(i) / size % channels;
    out[i] = ConvertElement<T>(
        static_cast<C>(ConvertElement<C>(value) + ConvertElement<C>(bias[channel])));
  });
}

template <typename T>
absl::Status LaunchAddBias(const KernelContext& c, const T* bias, const ArrayView& out) {
  const int64_t channels = out.shape[1];
  const int64_t size = out.shape.Product(2, out.shape.rank());
  return DispatchIndex(out.size(), [&](auto index) {
    return LaunchElements(c, out.size(), AddBias<T, decltype(index)>, out.size(), channels, size,
                          bias, out.as<T>());
  });
}

template <typename T, typename Param>
absl::Status Forward(const KernelContext& c) {
  using enum ConvolutionArrays::Input;
  const auto& state = *static_cast<const ConvolutionState*>(c.state);
  const ArrayView& out = c.outputs[0];
  const ConvolutionPasses<T> passes(c, state);
  const T* data = c.inputs[kData].as<T>();
  const T* weight = c.inputs[kWeight].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  COOPER_RETURN_IF_ERROR(kIsConvolution<Param>
                             ? passes.MapFromImage(data, weight, out.as<T>(), add)
                             : passes.ImageFromMap(data, weight, out.as<T>(), add));
  if (c.inputs.size() < 3) return absl::OkStatus();
  return LaunchAddBias(c, c.inputs[kBias].as<T>(), out);
}

template <typename T, typename Param>
absl::Status Backward(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const auto& state = *static_cast<const ConvolutionState*>(c.state);
  const ConvolutionPasses<T> passes(c, state);
  const ArrayView& ograd = c.inputs[kOgrad];
  const T* out = ograd.as<T>();
  const T* data = c.inputs[kData].as<T>();
  const auto adds = [&](int output) { return c.reqs[output] == WriteReq::kAdd; };
  if (c.reqs[0] != WriteReq::kNull) {
    const T* weight = c.inputs[kWeight].as<T>();
    T* grad = c.outputs[0].as<T>();
    COOPER_RETURN_IF_ERROR(kIsConvolution<Param> ? passes.ImageFromMap(out, weight, grad, adds(0))
                                                 : passes.MapFromImage(out, weight, grad, adds(0)));
  }
  if (c.reqs[kWeightGrad] != WriteReq::kNull) {
    T* grad = c.outputs[kWeightGrad].as<T>();
    COOPER_RETURN_IF_ERROR(kIsConvolution<Param>
                               ? passes.WeightFromBoth(data, out, grad, adds(kWeightGrad))
                               : passes.WeightFromBoth(out, data, grad, adds(kWeightGrad)));
  }
  if (c.outputs.size() <= kBiasGrad || c.reqs[kBiasGrad] == WriteReq::kNull)
    return absl::OkStatus();
  return SumChannels(c, ograd.shape[0], ograd.shape[1], ograd.shape.Product(2, ograd.shape.rank()),
                     out, c.outputs[kBiasGrad].as<T>(), adds(kBiasGrad));
}

template <typename Param>
absl::Status ForwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return DispatchCudaFloat(c.outputs[0].dtype, [&](auto type) {
    return Forward<typename decltype(type)::type, Param>(c);
  });
}

template <typename Param>
absl::Status BackwardGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return DispatchCudaFloat(c.inputs[0].dtype, [&](auto type) {
    return Backward<typename decltype(type)::type, Param>(c);
  });
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(Convolution, kGpu, kCudaFloats, ForwardGpu<ConvolutionParam>,
                       PrepareForward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(_backward_Convolution, kGpu, kCudaFloats, BackwardGpu<ConvolutionParam>,
                       PrepareBackward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(Convolution_v1, kGpu, kCudaFloats, ForwardGpu<ConvolutionParam>,
                       PrepareForward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(_backward_Convolution_v1, kGpu, kCudaFloats, BackwardGpu<ConvolutionParam>,
                       PrepareBackward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(Deconvolution, kGpu, kCudaFloats, ForwardGpu<DeconvolutionParam>,
                       PrepareForward<DeconvolutionParam>);
COOPER_REGISTER_KERNEL(_backward_Deconvolution, kGpu, kCudaFloats, BackwardGpu<DeconvolutionParam>,
                       PrepareBackward<DeconvolutionParam>);

}  // namespace
}  // namespace cooper
