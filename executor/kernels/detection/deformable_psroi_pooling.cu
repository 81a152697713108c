// GPU kernels of _contrib_DeformablePSROIPooling and its gradient. The gradients gather: a thread
// sums what reaches its element in a fixed order, so equal inputs give equal bits.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/deformable_psroi_bin.h"
#include "executor/kernels/detection/psroi_region.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/deformable_psroi_pooling_param.h"

namespace cooper {
namespace {

// The operator's extents and arrays. `trans` is null without shifts. Passed to kernels by value.
template <typename T>
struct Regions {
  int64_t batch, channels, height, width, rois, output_dim, bins, groups, parts, classes, points;
  float scale;
  T std;
  const T *roi_rows, *trans;

  __device__ int64_t class_size() const { return output_dim / classes; }
  __device__ int64_t SampleOf(int64_t n) const { return IntegerOf<int64_t>(roi_rows[n * 5]); }
  __device__ bool IsKnown(int64_t n) const {
    return SampleOf(n) >= 0 && SampleOf(n) < batch && height > 0 && width > 0;
  }
  __device__ DeformablePsroiAxis<T> Rows(int64_t n) const { return AxisOf(n, 2); }
  __device__ DeformablePsroiAxis<T> Columns(int64_t n) const { return AxisOf(n, 1); }
  __device__ T ShiftOf(int64_t n, int64_t k, int64_t axis, int64_t i, int64_t j) const {
    if (trans == nullptr) return 0;
    const int64_t row = ((n * classes + k) * 2 + axis) * parts + DeformablePart<T>(i, bins, parts);
    return trans[row * parts + DeformablePart<T>(j, bins, parts)] * std;
  }
  // Return the points along y and x of bin (i, j) of region n with the shifts of class k.
  __device__ DeformablePsroiBin<T> RowsOf(int64_t n, int64_t k, int64_t i, int64_t j) const {
    return {Rows(n), i, bins, points, ShiftOf(n, k, 1, i, j), height};
  }
  __device__ DeformablePsroiBin<T> ColumnsOf(int64_t n, int64_t k, int64_t i, int64_t j) const {
    return {Columns(n), j, bins, points, ShiftOf(n, k, 0, i, j), width};
  }
  __device__ int64_t CountPoints(const DeformablePsroiBin<T>& axis) const {
    DeformableBinPoint<T> point;
    int64_t count = 0;
    for (int64_t i = 0; i < points; ++i) count += axis.At(i, &point) ? 1 : 0;
    return count;
  }
  // Returns the pixels that bin (i, j) of an output channel reads, of region n.
  __device__ const T* PlaneOf(const T* data, int64_t n, int64_t channel, int64_t i,
                              int64_t j) const {
    const int64_t from = PsroiChannel(channel, groups, PsroiGroup<T>(i, groups, bins),
                                      PsroiGroup<T>(j, groups, bins));
    return data + (SampleOf(n) * channels + from) * height * width;
  }

 private:
  __device__ DeformablePsroiAxis<T> AxisOf(int64_t n, int64_t first) const {
    return {roi_rows[n * 5 + first], roi_rows[n * 5 + first + 2], scale};
  }
};

template <typename T>
Regions<T> RegionsOf(const KernelContext& c, const Shape& data, const Shape& pooled, int rois,
                     int trans) {
  const auto& param = c.param<DeformablePsroiPoolingParam>();
  const bool shifted = !param.no_trans;
  return {data[0],
          data[1],
          data[2],
          data[3],
          pooled[0],
          pooled[1],
          param.pooled_size,
          param.group_size,
          param.parts(),
          shifted ? c.inputs[trans].shape[1] / 2 : 1,
          param.sample_per_part,
          param.spatial_scale,
          static_cast<T>(param.trans_std),
          c.inputs[rois].as<const T>(),
          shifted ? c.inputs[trans].as<const T>() : nullptr};
}

template <typename T>
__global__ void Forward(int64_t count, Regions<T> r, const T* data, T* out, bool add) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t j = at % r.bins, i = at / r.bins % r.bins;
    const int64_t channel = at / (r.bins * r.bins) % r.output_dim;
    const int64_t n = at / (r.bins * r.bins * r.output_dim), k = channel / r.class_size();
    T sum = 0;
    int64_t points = 0;
    if (r.IsKnown(n)) {
      const DeformablePsroiBin<T> rows = r.RowsOf(n, k, i, j), columns = r.ColumnsOf(n, k, i, j);
      const T* plane = r.PlaneOf(data, n, channel, i, j);
      DeformableBinPoint<T> y, x;
      for (int64_t v = 0; v < r.points; ++v) {
        if (!rows.At(v, &y)) continue;
        const T *low = plane + y.low * r.width, *high = plane + y.high * r.width;
        for (int64_t u = 0; u < r.points; ++u) {
          if (!columns.At(u, &x)) continue;
          const T above = low[x.low] * (1 - x.weight) + low[x.high] * x.weight;
          const T below = high[x.low] * (1 - x.weight) + high[x.high] * x.weight;
          sum += above * (1 - y.weight) + below * y.weight;
          ++points;
        }
      }
    }
    StoreTo(out + at, points == 0 ? T{0} : sum / static_cast<T>(points), add);
  }
}

// Returns the sum of the weights of `pixel` in the points along one axis of a bin.
template <typename T>
__device__ T WeightIn(const DeformablePsroiBin<T>& axis, int64_t points, int64_t pixel) {
  // All points lie in [begin, begin + step * points], and reach pixels less than one away, or, from
  // outside of the image, those at its border.
  const T at = static_cast<T>(pixel);
  if (axis.begin > at + 1 || axis.begin + axis.step * static_cast<T>(points) < at - 1) return 0;
  DeformableBinPoint<T> point;
  T weight = 0;
  for (int64_t i = 0; i < points; ++i) weight += axis.At(i, &point) ? point.WeightOf(pixel) : T{0};
  return weight;
}

template <typename T>
__global__ void BackwardData(int64_t count, Regions<T> r, const T* ograd, T* grad, bool add) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t u = at % r.width, v = at / r.width % r.height;
    const int64_t from = at / (r.width * r.height) % r.channels;
    const int64_t sample = at / (r.width * r.height * r.channels);
    const int64_t column = from % r.groups, row = from / r.groups % r.groups;
    const int64_t channel = from / (r.groups * r.groups);
    T sum = 0;
    for (int64_t n = 0; n < r.rois && channel < r.output_dim; ++n) {
      if (r.SampleOf(n) != sample) continue;
      const int64_t k = channel / r.class_size();
      const T* bins = ograd + (n * r.output_dim + channel) * r.bins * r.bins;
      for (int64_t i = 0; i < r.bins; ++i) {
        if (PsroiGroup<T>(i, r.groups, r.bins) != row) continue;
        for (int64_t j = 0; j < r.bins; ++j) {
          if (PsroiGroup<T>(j, r.groups, r.bins) != column) continue;
          const DeformablePsroiBin<T> rows = r.RowsOf(n, k, i, j);
          const T weight_y = WeightIn(rows, r.points, v);
          if (weight_y == 0) continue;
          const DeformablePsroiBin<T> columns = r.ColumnsOf(n, k, i, j);
          const T weight = weight_y * WeightIn(columns, r.points, u);
          if (weight == 0) continue;
          const int64_t points = r.CountPoints(rows) * r.CountPoints(columns);
          sum += bins[i * r.bins + j] * weight / static_cast<T>(points);
        }
      }
    }
    StoreTo(grad + at, sum, add);
  }
}

// Computes the gradient of each shift: `count` shifts, those along x of a class before those along
// y.
template <typename T>
__global__ void BackwardTrans(int64_t count, Regions<T> r, const T* data, const T* ograd, T* grad,
                              bool add) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t column = at % r.parts, row = at / r.parts % r.parts;
    const bool along_y = at / (r.parts * r.parts) % 2 == 1;
    const int64_t k = at / (r.parts * r.parts * 2) % r.classes;
    const int64_t n = at / (r.parts * r.parts * 2 * r.classes);
    T sum = 0;
    for (int64_t bin = 0; bin < r.bins * r.bins && r.IsKnown(n); ++bin) {
      const int64_t i = bin / r.bins, j = bin % r.bins;
      if (DeformablePart<T>(i, r.bins, r.parts) != row) continue;
      if (DeformablePart<T>(j, r.bins, r.parts) != column) continue;
      const DeformablePsroiBin<T> rows = r.RowsOf(n, k, i, j), columns = r.ColumnsOf(n, k, i, j);
      const int64_t points = r.CountPoints(rows) * r.CountPoints(columns);
      for (int64_t m = 0; m < r.class_size() && points > 0; ++m) {
        const int64_t channel = k * r.class_size() + m;
        const T* plane = r.PlaneOf(data, n, channel, i, j);
        DeformableBinPoint<T> y, x;
        T slope = 0;
        for (int64_t v = 0; v < r.points; ++v) {
          if (!rows.At(v, &y)) continue;
          const T *low = plane + y.low * r.width, *high = plane + y.high * r.width;
          for (int64_t u = 0; u < r.points; ++u) {
            if (!columns.At(u, &x)) continue;
            slope += along_y ? (high[x.low] - low[x.low]) * (1 - x.weight) +
                                   (high[x.high] - low[x.high]) * x.weight
                             : (low[x.high] - low[x.low]) * (1 - y.weight) +
                                   (high[x.high] - high[x.low]) * y.weight;
          }
        }
        sum += slope * ograd[(n * r.output_dim + channel) * r.bins * r.bins + bin] /
               static_cast<T>(points);
      }
    }
    const T length = along_y ? r.Rows(n).length : r.Columns(n).length;
    StoreTo(grad + at, sum * r.std * length, add);
  }
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum DeformablePsroiPoolingArrays::Input;
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Forward<T>, count,
                        RegionsOf<T>(c, c.inputs[kData].shape, c.outputs[0].shape, kRois, kTrans),
                        c.inputs[kData].as<const T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
__global__ void Zero(int64_t count, T* out) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) out[i] = 0;
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum DeformablePsroiPoolingGradientArrays::Input;
  using enum DeformablePsroiPoolingGradientArrays::Output;
  const Regions<T> r =
      RegionsOf<T>(c, c.inputs[kData].shape, c.inputs[kOgrad].shape, kRois, kTrans);
  const T* ograd = c.inputs[kOgrad].as<const T>();
  if (c.reqs[kDataGrad] != WriteReq::kNull) {
    const int64_t count = c.outputs[kDataGrad].size();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, count, BackwardData<T>, count, r, ograd,
                                          c.outputs[kDataGrad].as<T>(),
                                          c.reqs[kDataGrad] == WriteReq::kAdd));
  }
  if (c.reqs[kRoisGrad] == WriteReq::kWrite) {
    const int64_t count = c.outputs[kRoisGrad].size();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, count, Zero<T>, count, c.outputs[kRoisGrad].as<T>()));
  }
  if (r.trans == nullptr || c.reqs[kTransGrad] == WriteReq::kNull) return absl::OkStatus();
  const int64_t count = c.outputs[kTransGrad].size();
  return LaunchElements(c, count, BackwardTrans<T>, count, r, c.inputs[kData].as<const T>(), ograd,
                        c.outputs[kTransGrad].as<T>(), c.reqs[kTransGrad] == WriteReq::kAdd);
}

absl::Status DeformablePsroiPoolingGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunForward<double>(c) : RunForward<float>(c);
}

absl::Status DeformablePsroiPoolingBackwardGpu(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? RunBackward<double>(c) : RunBackward<float>(c);
}

COOPER_REGISTER_KERNEL(_contrib_DeformablePSROIPooling, DeviceType::kGpu, kFloat32Or64,
                       DeformablePsroiPoolingGpu);
COOPER_REGISTER_KERNEL(_backward__contrib_DeformablePSROIPooling, DeviceType::kGpu, kFloat32Or64,
                       DeformablePsroiPoolingBackwardGpu);

}  // namespace
}  // namespace cooper
