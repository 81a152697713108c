// Kernels of _contrib_DeformableConvolution, _contrib_ModulatedDeformableConvolution and their
// gradients. The images of a batch follow one another; each is computed by all threads.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/convolution_product.h"
#include "executor/kernels/convolution/deformable_arrays.h"
#include "executor/kernels/convolution/deformable_columns.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm.h"
#include "symbol/ops/nn/deformable_convolution_param.h"

namespace cooper {
namespace {

// Returns the elements of image n of an array; null for an array that does not exist (at < 0) or is
// not computed.
template <typename T>
T* ImageAt(absl::Span<const ArrayView> arrays, int at, int64_t n) {
  if (at < 0 || arrays[at].data == nullptr) return nullptr;
  return arrays[at].as<T>() + n * arrays[at].shape.Product(1, arrays[at].shape.rank());
}

template <typename T>
DeformableColumns<T> ColumnsOf(const KernelContext& c, const DeformableProduct& d,
                               const DeformablePlaces& in, int64_t deformable_groups, int64_t n) {
  return {d.all, deformable_groups, ImageAt<T>(c.inputs, in.offset, n),
          ImageAt<T>(c.inputs, in.mask, n)};
}

template <typename T>
void Forward(const KernelContext& c, const DeformableConvolutionParam& param,
             const DeformablePlaces& in) {
  const ArrayView &data = c.inputs[in.data], &out = c.outputs[0];
  const DeformableProduct d(param, data.shape, out.shape);
  const ConvolutionProduct& p = d.p;
  const int64_t columns = p.g.columns(), rows = p.g.rows();
  T* workspace = static_cast<T*>(c.workspace);
  for (int64_t n = 0; n < p.batch; ++n) {
    ColumnsOf<T>(c, d, in, param.num_deformable_group, n)
        .FromImage(ImageAt<T>(c.inputs, in.data, n), workspace);
    for (int64_t group = 0; group < p.groups; ++group) {
      Gemm(false, false, p.filters, columns, rows, T{1},
           c.inputs[in.weight].as<T>() + group * p.weight_step(), rows,
           workspace + group * rows * columns, columns, c.reqs[0] == WriteReq::kAdd ? T{1} : T{0},
           ImageAt<T>(c.outputs, 0, n) + group * p.map_step(), columns);
    }
  }
  if (!param.no_bias) {
    AddBias(c.inputs[in.bias].as<T>(), p.batch, out.shape[1], columns, out.as<T>());
  }
}

// Computes the gradients that need weight^T * ograd: those of data, offset and mask.
template <typename T>
void BackwardImages(const KernelContext& c, const DeformableConvolutionParam& param,
                    const DeformablePlaces& in, const DeformablePlaces& out) {
  const DeformableProduct d(param, c.inputs[in.data].shape, c.inputs[0].shape);
  const ConvolutionProduct& p = d.p;
  const int64_t columns = p.g.columns(), rows = p.g.rows();
  const auto wants = [&](int at) { return at >= 0 && c.reqs[at] != WriteReq::kNull; };
  const auto adds = [&](int at) { return at >= 0 && c.reqs[at] == WriteReq::kAdd; };
  T* workspace = static_cast<T*>(c.workspace);
  if (c.reqs[out.data] == WriteReq::kWrite) {
    std::fill_n(c.outputs[out.data].as<T>(), c.outputs[out.data].size(), T{0});
  }
  for (int64_t n = 0; n < p.batch; ++n) {
    for (int64_t group = 0; group < p.groups; ++group) {
      Gemm(true, false, rows, columns, p.filters, T{1},
           c.inputs[in.weight].as<T>() + group * p.weight_step(), rows,
           ImageAt<T>(c.inputs, 0, n) + group * p.map_step(), columns, T{0},
           workspace + group * rows * columns, columns);
    }
    const DeformableColumns<T> image = ColumnsOf<T>(c, d, in, param.num_deformable_group, n);
    if (wants(out.offset) || wants(out.mask)) {
      image.ToPositions(
          ImageAt<T>(c.inputs, in.data, n), workspace,
          wants(out.offset) ? ImageAt<T>(c.outputs, out.offset, n) : nullptr, adds(out.offset),
          wants(out.mask) ? ImageAt<T>(c.outputs, out.mask, n) : nullptr, adds(out.mask));
    }
    if (wants(out.data)) image.AddToImage(workspace, ImageAt<T>(c.outputs, out.data, n));
  }
}

template <typename T>
void BackwardWeight(const KernelContext& c, const DeformableConvolutionParam& param,
                    const DeformablePlaces& in, const DeformablePlaces& out) {
  const DeformableProduct d(param, c.inputs[in.data].shape, c.inputs[0].shape);
  const ConvolutionProduct& p = d.p;
  const int64_t columns = p.g.columns(), rows = p.g.rows();
  T* workspace = static_cast<T*>(c.workspace);
  const ArrayView& grad = c.outputs[out.weight];
  if (c.reqs[out.weight] == WriteReq::kWrite) std::fill_n(grad.as<T>(), grad.size(), T{0});
  for (int64_t n = 0; n < p.batch; ++n) {
    ColumnsOf<T>(c, d, in, param.num_deformable_group, n)
        .FromImage(ImageAt<T>(c.inputs, in.data, n), workspace);
    for (int64_t group = 0; group < p.groups; ++group) {
      Gemm(false, true, p.filters, rows, columns, T{1},
           ImageAt<T>(c.inputs, 0, n) + group * p.map_step(), columns,
           workspace + group * rows * columns, columns, T{1},
           grad.as<T>() + group * p.weight_step(), rows);
    }
  }
}

template <typename T>
void Backward(const KernelContext& c, const DeformableConvolutionParam& param, bool has_mask) {
  const DeformablePlaces in(has_mask, 1), out(has_mask, 0);
  const bool needs_columns = c.reqs[out.data] != WriteReq::kNull ||
                             c.reqs[out.offset] != WriteReq::kNull ||
                             (has_mask && c.reqs[out.mask] != WriteReq::kNull);
  if (needs_columns) BackwardImages<T>(c, param, in, out);
  if (c.reqs[out.weight] != WriteReq::kNull) BackwardWeight<T>(c, param, in, out);
  if (param.no_bias || c.reqs[out.bias] == WriteReq::kNull) return;
  const Shape& map = c.inputs[0].shape;
  BiasGradient(c.inputs[0].as<T>(), map[0], map[1], map[2] * map[3], c.outputs[out.bias].as<T>(),
               c.reqs[out.bias] == WriteReq::kAdd);
}

template <typename Param, bool kHasMask>
absl::Status ForwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    Forward<typename decltype(type)::type>(c, c.param<Param>(), DeformablePlaces(kHasMask, 0));
  });
}

template <typename Param, bool kHasMask>
absl::Status BackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.inputs[0].dtype, [&](auto type) {
    Backward<typename decltype(type)::type>(c, c.param<Param>(), kHasMask);
  });
}

// Returns a workspace for the columns of an image.
template <typename Param>
absl::StatusOr<Prepared> Prepare(const PrepareContext& c, const Shape& data, const Shape& map) {
  COOPER_RETURN_IF_ERROR(CheckDeformableImage(data));
  const DeformableProduct d(c.param<Param>(), data, map);
  return Prepared{.workspace_bytes = d.column_elements() * SizeOf(c.inputs[0].dtype)};
}
template <typename Param>
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  return Prepare<Param>(c, c.inputs[0].shape, c.outputs[0].shape);
}
template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  return Prepare<Param>(c, c.inputs[1].shape, c.inputs[0].shape);
}

using Plain = DeformableConvolutionParam;
using Modulated = ModulatedDeformableConvolutionParam;
constexpr DeviceType kCpu = DeviceType::kCpu;
COOPER_REGISTER_KERNEL(_contrib_DeformableConvolution, kCpu, kFloat32Or64,
                       (ForwardCpu<Plain, false>), PrepareForward<Plain>);
COOPER_REGISTER_KERNEL(_backward__contrib_DeformableConvolution, kCpu, kFloat32Or64,
                       (BackwardCpu<Plain, false>), PrepareBackward<Plain>);
COOPER_REGISTER_KERNEL(_contrib_ModulatedDeformableConvolution, kCpu, kFloat32Or64,
                       (ForwardCpu<Modulated, true>), PrepareForward<Modulated>);
COOPER_REGISTER_KERNEL(_backward__contrib_ModulatedDeformableConvolution, kCpu, kFloat32Or64,
                       (BackwardCpu<Modulated, true>), PrepareBackward<Modulated>);

}  // namespace
}  // namespace cooper
