// Kernels of im2col, col2im and their gradients. The gradient of each operator is the other one.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/im2col.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "symbol/ops/nn/im2col_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

template <typename T>
void ImageToColumns(const KernelContext& c, const Im2colParam& param) {
  using enum OneInputArrays::Input;
  const WindowGeometry g = GeometryOf(param, c.inputs[kData].shape);
  const int64_t size = g.rows() * g.columns();
  for (int64_t n = 0; n < c.inputs[kData].shape[0]; ++n) {
    const T* image = c.inputs[kData].as<T>() + n * g.channels * g.image_size();
    T* columns = c.outputs[0].as<T>() + n * size;
    if (c.reqs[0] != WriteReq::kAdd) {
      Im2Col(g, image, columns);
      continue;
    }
    T* scratch = static_cast<T*>(c.workspace);
    Im2Col(g, image, scratch);
    for (int64_t i = 0; i < size; ++i) columns[i] += scratch[i];
  }
}

template <typename T>
void ColumnsToImage(const KernelContext& c, const Im2colParam& param) {
  using enum OneInputArrays::Input;
  const WindowGeometry g = GeometryOf(param, c.outputs[0].shape);
  T* image = c.outputs[0].as<T>();
  for (int64_t n = 0; n < c.outputs[0].shape[0]; ++n) {
    Col2Im(g, c.inputs[kData].as<T>() + n * g.rows() * g.columns(),
           image + n * g.channels * g.image_size(), c.reqs[0] == WriteReq::kAdd);
  }
}

// Returns a workspace for one sample's columns, which only kAdd needs.
absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  if (c.reqs[0] != WriteReq::kAdd || c.outputs[0].shape[0] == 0) return Prepared{};
  return Prepared{.workspace_bytes = c.outputs[0].size_bytes() / c.outputs[0].shape[0]};
}

template <typename Param>
absl::Status ImageToColumnsCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    ImageToColumns<typename decltype(type)::type>(c, c.param<Param>());
  });
}

template <typename Param>
absl::Status ColumnsToImageCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    ColumnsToImage<typename decltype(type)::type>(c, c.param<Param>());
  });
}

constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(im2col, kCpu, kFloat32Or64, ImageToColumnsCpu<Im2colParam>, Prepare);
COOPER_REGISTER_KERNEL(_backward_im2col, kCpu, kFloat32Or64, ColumnsToImageCpu<Im2colParam>);
COOPER_REGISTER_KERNEL(col2im, kCpu, kFloat32Or64, ColumnsToImageCpu<Col2imParam>);
COOPER_REGISTER_KERNEL(_backward_col2im, kCpu, kFloat32Or64, ImageToColumnsCpu<Col2imParam>,
                       Prepare);

}  // namespace
}  // namespace cooper
