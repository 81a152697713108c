// GPU kernels of Convolution, Deconvolution and their gradients, composed of im2col and cuBLAS's
// products. Deconvolution is Convolution's three products with data and output in each other's
// place.

#include <cstdint>
#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/launch_rows.h"
#include "executor/cuda/nn/convolution_product.h"
#include "executor/cuda/reduce/sum_channels.h"
#include "executor/elements/convolution_geometry.h"
#include "executor/kernel.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/nn/convolution_param.h"

namespace cooper {
namespace {

// Found when the node is bound, where a missing library is reported.
struct ConvolutionState : KernelState {
  Cublas* cublas = nullptr;
  ConvolutionProduct product;
};

// Whether the data is the image and the output the map, or the other way round.
template <typename Param>
constexpr bool kIsConvolution = std::is_same_v<Param, ConvolutionParam>;

template <typename Param>
absl::StatusOr<Prepared> Prepare(const PrepareContext& c, const Shape& data, const Shape& out) {
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
  const int64_t bytes = ConvolutionWorkspaceBytes(state->product, SizeOf(c.inputs[0].dtype));
  return Prepared{.state = std::move(state), .workspace_bytes = bytes};
}

template <typename Param>
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  return Prepare<Param>(c, c.inputs[ConvolutionArrays::kData].shape, c.outputs[0].shape);
}

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum ConvolutionGradientArrays::Input;
  return Prepare<Param>(c, c.inputs[kData].shape, c.inputs[kOgrad].shape);
}

// out (batch * channels, size) = or += bias (channels,).
template <typename T>
__global__ void SpreadBias(int64_t rows, int64_t channels, int64_t size, const T* bias, T* out,
                           bool add) {
  ForEachInRows(rows, size, [&](int64_t row, int64_t i) {
    StoreTo(out + row * size + i, bias[row % channels], add);
  });
}

template <typename T, typename Param>
absl::Status Forward(const KernelContext& c) {
  using enum ConvolutionArrays::Input;
  const auto& state = *static_cast<const ConvolutionState*>(c.state);
  const ArrayView& out = c.outputs[0];
  bool add = c.reqs[0] == WriteReq::kAdd;
  if (c.inputs.size() == 3) {
    const int64_t rows = out.shape[0] * out.shape[1];
    const int64_t size = out.shape.Product(2, out.shape.rank());
    COOPER_RETURN_IF_ERROR(LaunchRows(c, rows, size, SpreadBias<T>, rows, out.shape[1], size,
                                      c.inputs[kBias].as<T>(), out.as<T>(), add));
    add = true;
  }
  const ConvolutionProducts<T> products(c, *state.cublas, state.product);
  const T* data = c.inputs[kData].as<T>();
  const T* weight = c.inputs[kWeight].as<T>();
  return kIsConvolution<Param> ? products.MapFromImage(data, weight, out.as<T>(), add)
                               : products.ImageFromMap(data, weight, out.as<T>(), add);
}

template <typename T, typename Param>
absl::Status Backward(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const auto& state = *static_cast<const ConvolutionState*>(c.state);
  const ConvolutionProducts<T> products(c, *state.cublas, state.product);
  const ArrayView& ograd = c.inputs[kOgrad];
  const T* out = ograd.as<T>();
  const T* data = c.inputs[kData].as<T>();
  const auto adds = [&](int output) { return c.reqs[output] == WriteReq::kAdd; };
  if (c.reqs[0] != WriteReq::kNull) {
    const T* weight = c.inputs[kWeight].as<T>();
    T* grad = c.outputs[0].as<T>();
    COOPER_RETURN_IF_ERROR(kIsConvolution<Param>
                               ? products.ImageFromMap(out, weight, grad, adds(0))
                               : products.MapFromImage(out, weight, grad, adds(0)));
  }
  if (c.reqs[kWeightGrad] != WriteReq::kNull) {
    T* grad = c.outputs[kWeightGrad].as<T>();
    COOPER_RETURN_IF_ERROR(kIsConvolution<Param>
                               ? products.WeightFromBoth(data, out, grad, adds(kWeightGrad))
                               : products.WeightFromBoth(out, data, grad, adds(kWeightGrad)));
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
  if (c.outputs[0].dtype == DType::kFloat64) return Forward<double, Param>(c);
  return Forward<float, Param>(c);
}

template <typename Param>
absl::Status BackwardGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  if (c.inputs[0].dtype == DType::kFloat64) return Backward<double, Param>(c);
  return Backward<float, Param>(c);
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(Convolution, kGpu, kFloat32Or64, ForwardGpu<ConvolutionParam>,
                       PrepareForward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(_backward_Convolution, kGpu, kFloat32Or64, BackwardGpu<ConvolutionParam>,
                       PrepareBackward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(Convolution_v1, kGpu, kFloat32Or64, ForwardGpu<ConvolutionParam>,
                       PrepareForward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(_backward_Convolution_v1, kGpu, kFloat32Or64, BackwardGpu<ConvolutionParam>,
                       PrepareBackward<ConvolutionParam>);
COOPER_REGISTER_KERNEL(Deconvolution, kGpu, kFloat32Or64, ForwardGpu<DeconvolutionParam>,
                       PrepareForward<DeconvolutionParam>);
COOPER_REGISTER_KERNEL(_backward_Deconvolution, kGpu, kFloat32Or64, BackwardGpu<DeconvolutionParam>,
                       PrepareBackward<DeconvolutionParam>);

}  // namespace
}  // namespace cooper
