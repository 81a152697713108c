// GPU kernels of im2col, col2im and their gradients. The gradient of each operator is the other
// one.

#include "absl/status/status.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/windows.h"
#include "executor/kernels/launch/elements.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/im2col_param.h"

namespace cooper {
namespace {

template <typename Param, typename T>
absl::Status ImageToColumns(const KernelContext& c) {
  const Shape& image = c.inputs[0].shape;
  return LaunchIm2Col(c, GeometryOf(c.param<Param>(), image), image[0], c.inputs[0].as<T>(),
                      c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename Param, typename T>
absl::Status ColumnsToImage(const KernelContext& c) {
  const Shape& image = c.outputs[0].shape;
  return LaunchCol2Im(c, GeometryOf(c.param<Param>(), image), image[0], c.inputs[0].as<T>(),
                      c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename Param>
absl::Status ImageToColumnsGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (c.outputs[0].dtype == DType::kFloat64) return ImageToColumns<Param, double>(c);
  return ImageToColumns<Param, float>(c);
}

template <typename Param>
absl::Status ColumnsToImageGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (c.outputs[0].dtype == DType::kFloat64) return ColumnsToImage<Param, double>(c);
  return ColumnsToImage<Param, float>(c);
}

constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(im2col, kGpu, kFloat32Or64, ImageToColumnsGpu<Im2colParam>);
COOPER_REGISTER_KERNEL(_backward_im2col, kGpu, kFloat32Or64, ColumnsToImageGpu<Im2colParam>);
COOPER_REGISTER_KERNEL(col2im, kGpu, kFloat32Or64, ColumnsToImageGpu<Col2imParam>);
COOPER_REGISTER_KERNEL(_backward_col2im, kGpu, kFloat32Or64, ImageToColumnsGpu<Col2imParam>);

}  // namespace
}  // namespace cooper
