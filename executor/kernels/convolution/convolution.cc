// Kernels of Convolution, Deconvolution and their gradients. Deconvolution is Convolution's three
// products with data and output in each other's place.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/convolution_param.h"

namespace cooper {
namespace {

template <typename T>
void ConvolutionForward(const KernelContext& c) {
  using enum ConvolutionArrays::Input;
  const ArrayView& out = c.outputs[0];
  const ConvolutionProduct p =
      ProductOf(c.param<ConvolutionParam>(), c.inputs[kData].shape, out.shape);
  MapFromImage(p, c.inputs[kData].as<T>(), c.inputs[kWeight].as<T>(), out.as<T>(),
               c.reqs[0] == WriteReq::kAdd, static_cast<T*>(c.workspace));
  if (c.inputs.size() == 3) {
    AddBias(c.inputs[kBias].as<T>(), p.batch, out.shape[1], p.g.columns(), out.as<T>());
  }
}

template <typename T>
void DeconvolutionForward(const KernelContext& c) {
  using enum ConvolutionArrays::Input;
  const ArrayView& out = c.outputs[0];
  const ConvolutionProduct p =
      ProductOf(c.param<DeconvolutionParam>(), out.shape, c.inputs[kData].shape);
  ImageFromMap(p, c.inputs[kData].as<T>(), c.inputs[kWeight].as<T>(), out.as<T>(),
               c.reqs[0] == WriteReq::kAdd, static_cast<T*>(c.workspace));
  if (c.inputs.size() == 3) {
    AddBias(c.inputs[kBias].as<T>(), p.batch, out.shape[1], p.g.image_size(), out.as<T>());
  }
}

template <typename T>
void ConvolutionBackward(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const ConvolutionProduct p =
      ProductOf(c.param<ConvolutionParam>(), c.inputs[kData].shape, c.inputs[kOgrad].shape);
  T* workspace = static_cast<T*>(c.workspace);
  if (c.reqs[0] != WriteReq::kNull) {
    ImageFromMap(p, ograd, c.inputs[kWeight].as<T>(), c.outputs[0].as<T>(),
                 c.reqs[0] == WriteReq::kAdd, workspace);
  }
  if (c.reqs[kWeightGrad] != WriteReq::kNull) {
    WeightFromBoth(p, c.inputs[kData].as<T>(), ograd, c.outputs[kWeightGrad].as<T>(),
                   c.reqs[kWeightGrad] == WriteReq::kAdd, workspace);
  }
  if (c.outputs.size() == 3 && c.reqs[kBiasGrad] != WriteReq::kNull) {
    BiasGradient(ograd, p.batch, c.inputs[kOgrad].shape[1], p.g.columns(),
                 c.outputs[kBiasGrad].as<T>(), c.reqs[kBiasGrad] == WriteReq::kAdd);
  }
}

template <typename T>
void DeconvolutionBackward(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const ConvolutionProduct p =
      ProductOf(c.param<DeconvolutionParam>(), c.inputs[kOgrad].shape, c.inputs[kData].shape);
  T* workspace = static_cast<T*>(c.workspace);
  if (c.reqs[0] != WriteReq::kNull) {
    MapFromImage(p, ograd, c.inputs[kWeight].as<T>(), c.outputs[0].as<T>(),
                 c.reqs[0] == WriteReq::kAdd, workspace);
  }
  if (c.reqs[kWeightGrad] != WriteReq::kNull) {
    WeightFromBoth(p, ograd, c.inputs[kData].as<T>(), c.outputs[kWeightGrad].as<T>(),
                   c.reqs[kWeightGrad] == WriteReq::kAdd, workspace);
  }
  if (c.outputs.size() == 3 && c.reqs[kBiasGrad] != WriteReq::kNull) {
    BiasGradient(ograd, p.batch, c.inputs[kOgrad].shape[1], p.g.image_size(),
                 c.outputs[kBiasGrad].as<T>(), c.reqs[kBiasGrad] == WriteReq::kAdd);
  }
}

absl::Status CheckLayout(const KernelContext& c, const ConvolutionParam& param) {
  if (!ChannelsLast(param.layout)) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(c.call.op->name(),
                   " on cpu: no kernel for layouts with channels last; use NCW, NCHW or "
                   "NCDHW"));
}

// Returns the workspace of a forward kernel. Layouts without a kernel need none; the run reports
// them.
absl::StatusOr<Prepared> PrepareConvolution(const PrepareContext& c) {
  using enum ConvolutionArrays::Input;
  const auto& param = c.param<ConvolutionParam>();
  if (ChannelsLast(param.layout)) return Prepared{};
  return Prepared{
      .workspace_bytes = ProductWorkspaceBytes(
          ProductOf(param, c.inputs[kData].shape, c.outputs[0].shape), c.inputs[kData].dtype)};
}
absl::StatusOr<Prepared> PrepareConvolutionBackward(const PrepareContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const auto& param = c.param<ConvolutionParam>();
  if (ChannelsLast(param.layout)) return Prepared{};
  return Prepared{
      .workspace_bytes = ProductWorkspaceBytes(
          ProductOf(param, c.inputs[kData].shape, c.inputs[kOgrad].shape), c.inputs[kOgrad].dtype)};
}
absl::StatusOr<Prepared> PrepareDeconvolution(const PrepareContext& c) {
  using enum ConvolutionArrays::Input;
  const auto& param = c.param<DeconvolutionParam>();
  if (ChannelsLast(param.layout)) return Prepared{};
  return Prepared{
      .workspace_bytes = ProductWorkspaceBytes(
          ProductOf(param, c.outputs[0].shape, c.inputs[kData].shape), c.inputs[kData].dtype)};
}
absl::StatusOr<Prepared> PrepareDeconvolutionBackward(const PrepareContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  const auto& param = c.param<DeconvolutionParam>();
  if (ChannelsLast(param.layout)) return Prepared{};
  return Prepared{
      .workspace_bytes = ProductWorkspaceBytes(
          ProductOf(param, c.inputs[kOgrad].shape, c.inputs[kData].shape), c.inputs[kOgrad].dtype)};
}

absl::Status ConvolutionCpu(const KernelContext& c) {
  if (absl::Status s = CheckLayout(c, c.param<ConvolutionParam>()); !s.ok()) return s;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(
      c.outputs[0].dtype, [&](auto type) { ConvolutionForward<typename decltype(type)::type>(c); });
}
absl::Status ConvolutionBackwardCpu(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  if (absl::Status s = CheckLayout(c, c.param<ConvolutionParam>()); !s.ok()) return s;
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype, [&](auto type) {
    ConvolutionBackward<typename decltype(type)::type>(c);
  });
}
absl::Status DeconvolutionCpu(const KernelContext& c) {
  if (absl::Status s = CheckLayout(c, c.param<DeconvolutionParam>()); !s.ok()) return s;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    DeconvolutionForward<typename decltype(type)::type>(c);
  });
}
absl::Status DeconvolutionBackwardCpu(const KernelContext& c) {
  using enum ConvolutionGradientArrays::Input;
  using enum ConvolutionGradientArrays::Output;
  if (absl::Status s = CheckLayout(c, c.param<DeconvolutionParam>()); !s.ok()) return s;
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype, [&](auto type) {
    DeconvolutionBackward<typename decltype(type)::type>(c);
  });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(Convolution, kCpu, kFloat32Or64, ConvolutionCpu, PrepareConvolution);
COOPER_REGISTER_KERNEL(_backward_Convolution, kCpu, kFloat32Or64, ConvolutionBackwardCpu,
                       PrepareConvolutionBackward);
COOPER_REGISTER_KERNEL(Convolution_v1, kCpu, kFloat32Or64, ConvolutionCpu, PrepareConvolution);
COOPER_REGISTER_KERNEL(_backward_Convolution_v1, kCpu, kFloat32Or64, ConvolutionBackwardCpu,
                       PrepareConvolutionBackward);
COOPER_REGISTER_KERNEL(Deconvolution, kCpu, kFloat32Or64, DeconvolutionCpu, PrepareDeconvolution);
COOPER_REGISTER_KERNEL(_backward_Deconvolution, kCpu, kFloat32Or64, DeconvolutionBackwardCpu,
                       PrepareDeconvolutionBackward);

}  // namespace
}  // namespace cooper
