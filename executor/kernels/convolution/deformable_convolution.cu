// GPU kernels of _contrib_DeformableConvolution, _contrib_ModulatedDeformableConvolution and their
// gradients. The images of a batch follow one another. The gradient of data sorts the pixels that
// all points read and gathers, so equal inputs give equal bits.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/convolution/deformable_arrays.h"
#include "executor/kernels/convolution/deformable_image.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/reducers/sum_channels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "symbol/ops/nn/deformable_convolution_param.h"

namespace cooper {
namespace {

// Adds bias (channels,) to out (batch, channels, size): `count` elements.
template <typename T>
__global__ void AddToChannels(int64_t count, int64_t channels, int64_t size, const T* bias,
                              T* out) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep())
    out[i] += bias[i / size % channels];
}

// Returns where the memory of PairSort begins, in bytes: after `elements` elements.
int64_t SortOffset(int64_t elements, int64_t element_bytes) {
  return (elements * element_bytes + 255) / 256 * 256;
}

// Runs one node. References its arguments. The workspace holds the columns of one image and, for
// the gradient of data, the weights of the pixels that its points read, and the memory of PairSort.
template <typename T>
class Run {
 public:
  // `data` and `map` are the shapes of data and of the output.
  Run(const KernelContext& c, const DeformableConvolutionParam& param, const DeformablePlaces& in,
      const Shape& data, const Shape& map)
      : c_(c),
        in_(in),
        d_(param, data, map),
        p_(d_.p),
        groups_(param.num_deformable_group),
        columns_(static_cast<T*>(c.workspace)) {}

  absl::Status Forward(bool has_bias) const {
    for (int64_t n = 0; n < p_.batch; ++n) {
      COOPER_RETURN_IF_ERROR(ComputeColumns(n));
      const GemmBatch batch{p_.groups, p_.weight_step(), column_step(), p_.map_step()};
      COOPER_RETURN_IF_ERROR(CublasOf(c_).GemmBatched(
          StreamOf(c_), DTypeOf<T>(), batch, false, false, p_.filters, p_.g.columns(), p_.g.rows(),
          1, c_.inputs[in_.weight].template as<T>(), p_.g.rows(), columns_, p_.g.columns(),
          c_.reqs[0] == WriteReq::kAdd, At(c_.outputs, 0, n), p_.g.columns()));
    }
    return has_bias ? AddBias() : absl::OkStatus();
  }

  absl::Status Images(const DeformablePlaces& out) const {
    const auto is = [&](int at, WriteReq req) { return at >= 0 && c_.reqs[at] == req; };
    const auto target = [&](int at, int64_t n) {
      return at < 0 || is(at, WriteReq::kNull) ? nullptr : At(c_.outputs, at, n);
    };
    for (int64_t n = 0; n < p_.batch; ++n) {
      const GemmBatch batch{p_.groups, p_.weight_step(), p_.map_step(), column_step()};
      COOPER_RETURN_IF_ERROR(CublasOf(c_).GemmBatched(
          StreamOf(c_), DTypeOf<T>(), batch, true, false, p_.g.rows(), p_.g.columns(), p_.filters,
          1, c_.inputs[in_.weight].template as<T>(), p_.g.rows(), At(c_.inputs, 0, n),
          p_.g.columns(), false, columns_, p_.g.columns()));
      T *const offset = target(out.offset, n), *const mask = target(out.mask, n);
      const DeformableImage<T> image = ImageOf(n);
      if (offset != nullptr || mask != nullptr) {
        const int64_t points = image.taps() * image.g.columns();
        COOPER_RETURN_IF_ERROR(LaunchElements(
            c_, points, PositionGradients<T>, points, image,
            static_cast<const T*>(At(c_.inputs, in_.data, n)), static_cast<const T*>(columns_),
            offset, is(out.offset, WriteReq::kAdd), mask, is(out.mask, WriteReq::kAdd)));
      }
      if (!is(out.data, WriteReq::kNull)) {
        COOPER_RETURN_IF_ERROR(
            GatherReads(image, At(c_.outputs, out.data, n), is(out.data, WriteReq::kAdd)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Weight(const DeformablePlaces& out) const {
    T* const grad = c_.outputs[out.weight].template as<T>();
    const bool add = c_.reqs[out.weight] == WriteReq::kAdd;
    if (p_.batch == 0) return Zero(c_.outputs[out.weight].size(), grad, add);
    for (int64_t n = 0; n < p_.batch; ++n) {
      COOPER_RETURN_IF_ERROR(ComputeColumns(n));
      const GemmBatch batch{p_.groups, p_.map_step(), column_step(), p_.weight_step()};
      COOPER_RETURN_IF_ERROR(CublasOf(c_).GemmBatched(
          StreamOf(c_), DTypeOf<T>(), batch, false, true, p_.filters, p_.g.rows(), p_.g.columns(),
          1, At(c_.inputs, 0, n), p_.g.columns(), columns_, p_.g.columns(), add || n > 0, grad,
          p_.g.rows()));
    }
    return absl::OkStatus();
  }

 private:
  static T* At(absl::Span<const ArrayView> arrays, int at, int64_t n) {
    return arrays[at].as<T>() + n * arrays[at].shape.Product(1, arrays[at].shape.rank());
  }

  int64_t column_step() const { return p_.g.rows() * p_.g.columns(); }

  DeformableImage<T> ImageOf(int64_t n) const {
    return {d_.all, d_.all.channels / groups_, At(c_.inputs, in_.offset, n),
            in_.mask < 0 ? nullptr : At(c_.inputs, in_.mask, n)};
  }

  absl::Status ComputeColumns(int64_t n) const {
    const int64_t count = d_.column_elements();
    return LaunchElements(c_, count, ColumnsFromImage<T>, count, ImageOf(n),
                          static_cast<const T*>(At(c_.inputs, in_.data, n)), columns_);
  }

  // Computes the gradient of an image from those of its columns.
  absl::Status GatherReads(const DeformableImage<T>& image, T* grad, bool add) const {
    const int64_t count = image.g.channels * image.g.image_size();
    const int64_t points = image.taps() * image.g.columns(), reads = 4 * points;
    T* const weights = columns_ + d_.column_elements();
    if (count == 0) return absl::OkStatus();
    if (points == 0) return Zero(count, grad, add);
    PairSort sort(c_, reads, SortOffset(d_.column_elements() + reads, sizeof(T)));
    COOPER_RETURN_IF_ERROR(LaunchElements(c_, points, ListPixelReads<T>, points, image, weights,
                                          sort.keys(), sort.values()));
    COOPER_RETURN_IF_ERROR(sort.Sort(BitsOf(groups_ * image.g.image_size() + 1)));
    return LaunchElements(
        c_, count, SumPixelReads<T>, count, image, reads, static_cast<const uint64_t*>(sort.keys()),
        static_cast<const int32_t*>(sort.values()), static_cast<const T*>(weights),
        static_cast<const T*>(columns_), grad, add);
  }

  absl::Status AddBias() const {
    const ArrayView& out = c_.outputs[0];
    return LaunchElements(c_, out.size(), AddToChannels<T>, out.size(), out.shape[1],
                          p_.g.columns(), c_.inputs[in_.bias].template as<const T>(), out.as<T>());
  }

  absl::Status Zero(int64_t count, T* to, bool add) const {
    if (add) return absl::OkStatus();
    return CudaStatus(cudaMemsetAsync(to, 0, count * sizeof(T), StreamOf(c_)),
                      "zeroing a gradient of a deformable convolution");
  }

  const KernelContext& c_;
  const DeformablePlaces& in_;
  const DeformableProduct d_;
  const ConvolutionProduct& p_;
  const int64_t groups_;
  T* const columns_;
};

template <typename Param, bool kHasMask>
absl::Status ForwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  const DeformablePlaces in(kHasMask, 0);
  const auto run = [&]<typename T>(T) {
    const auto& param = c.param<Param>();
    return Run<T>(c, param, in, c.inputs[in.data].shape, c.outputs[0].shape)
        .Forward(!param.no_bias);
  };
  return c.outputs[0].dtype == DType::kFloat64 ? run(double{}) : run(float{});
}

template <typename T>
absl::Status Backward(const KernelContext& c, const DeformableConvolutionParam& param,
                      bool has_mask) {
  const DeformablePlaces in(has_mask, 1), out(has_mask, 0);
  const Shape& map = c.inputs[0].shape;
  const Run<T> run(c, param, in, c.inputs[in.data].shape, map);
  const bool needs_columns = c.reqs[out.data] != WriteReq::kNull ||
                             c.reqs[out.offset] != WriteReq::kNull ||
                             (has_mask && c.reqs[out.mask] != WriteReq::kNull);
  if (needs_columns) COOPER_RETURN_IF_ERROR(run.Images(out));
  if (c.reqs[out.weight] != WriteReq::kNull) COOPER_RETURN_IF_ERROR(run.Weight(out));
  if (param.no_bias || c.reqs[out.bias] == WriteReq::kNull) return absl::OkStatus();
  return SumChannels(c, map[0], map[1], map[2] * map[3], c.inputs[0].as<const T>(),
                     c.outputs[out.bias].as<T>(), c.reqs[out.bias] == WriteReq::kAdd);
}

template <typename Param, bool kHasMask>
absl::Status BackwardGpu(const KernelContext& c) {
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.inputs[0].dtype == DType::kFloat64 ? Backward<double>(c, c.param<Param>(), kHasMask)
                                              : Backward<float>(c, c.param<Param>(), kHasMask);
}

template <typename Param>
absl::StatusOr<Prepared> PrepareForward(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckDeformableImage(c.inputs[0].shape));
  COOPER_ASSIGN_OR_RETURN(Prepared prepared, PrepareCublas(c));
  const DeformableProduct d(c.param<Param>(), c.inputs[0].shape, c.outputs[0].shape);
  prepared.workspace_bytes = d.column_elements() * SizeOf(c.inputs[0].dtype);
  return prepared;
}

template <typename Param>
absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  COOPER_RETURN_IF_ERROR(CheckDeformableImage(c.inputs[1].shape));
  COOPER_ASSIGN_OR_RETURN(Prepared prepared, PrepareCublas(c));
  const auto& param = c.param<Param>();
  const DeformableProduct d(param, c.inputs[1].shape, c.inputs[0].shape);
  const int64_t bytes = SizeOf(c.inputs[0].dtype);
  prepared.workspace_bytes = d.column_elements() * bytes;
  const int64_t reads = 4 * param.num_deformable_group * d.all.kernel_size() * d.all.columns();
  if (c.reqs[0] == WriteReq::kNull || reads == 0) return prepared;
  COOPER_ASSIGN_OR_RETURN(const int64_t sort, PairSort::WorkspaceBytes(c.context, reads));
  prepared.workspace_bytes = SortOffset(d.column_elements() + reads, bytes) + sort;
  return prepared;
}

using Plain = DeformableConvolutionParam;
using Modulated = ModulatedDeformableConvolutionParam;
constexpr DeviceType kGpu = DeviceType::kGpu;
COOPER_REGISTER_KERNEL(_contrib_DeformableConvolution, kGpu, kFloat32Or64,
                       (ForwardGpu<Plain, false>), PrepareForward<Plain>);
COOPER_REGISTER_KERNEL(_backward__contrib_DeformableConvolution, kGpu, kFloat32Or64,
                       (BackwardGpu<Plain, false>), PrepareBackward<Plain>);
COOPER_REGISTER_KERNEL(_contrib_ModulatedDeformableConvolution, kGpu, kFloat32Or64,
                       (ForwardGpu<Modulated, true>), PrepareForward<Modulated>);
COOPER_REGISTER_KERNEL(_backward__contrib_ModulatedDeformableConvolution, kGpu, kFloat32Or64,
                       (BackwardGpu<Modulated, true>), PrepareBackward<Modulated>);

}  // namespace
}  // namespace cooper
