// GPU kernels of _contrib_ROIAlign and its gradient. What a row of pixels counts in a row of bins
// does not depend on the columns, and the other way around: the gradient has a table of each, and
// is gathered from them, so that regions may overlap without atomics.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/elements/roi_points.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/detection/roi_align_param.h"

namespace cooper {
namespace {

struct Extents {
  int64_t batch, planes, height, width, rois, channels, pooled_h, pooled_w, sample_ratio;
  float scale;
  bool aligned, position_sensitive;

  __device__ int64_t bins() const { return pooled_h * pooled_w; }
  // Of the `planes` of a sample the one that a bin of a channel is made from.
  __device__ int64_t Plane(int64_t channel, int64_t bin) const {
    return position_sensitive ? channel * bins() + bin : channel;
  }
  template <typename T>
  __device__ RoiAxis<T> Rows(const T* roi) const {
    return {roi[2], roi[4], scale, aligned, pooled_h, sample_ratio, height};
  }
  template <typename T>
  __device__ RoiAxis<T> Columns(const T* roi) const {
    return {roi[1], roi[3], scale, aligned, pooled_w, sample_ratio, width};
  }
};

Extents ExtentsOf(const KernelContext& c, const Shape& data, const Shape& pooled) {
  const auto& param = c.param<RoiAlignParam>();
  return {data[0],
          data[1],
          data[2],
          data[3],
          pooled[0],
          pooled[1],
          pooled[2],
          pooled[3],
          param.sample_ratio,
          param.spatial_scale,
          param.aligned,
          param.position_sensitive};
}

template <typename T>
__global__ void Forward(int64_t count, Extents e, const T* data, const T* rois, T* out, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t bin = i % e.bins(), channel = i / e.bins() % e.channels;
    const T* roi = rois + i / e.bins() / e.channels * 5;
    const int64_t sample = IntegerOf<int64_t>(roi[0]);
    T sum = 0;
    if (sample >= 0 && sample < e.batch && e.height > 0 && e.width > 0) {
      const RoiAxis<T> y = e.Rows(roi), x = e.Columns(roi);
      const int64_t ph = bin / e.pooled_w, pw = bin % e.pooled_w;
      const T* plane = data + (sample * e.planes + e.Plane(channel, bin)) * e.height * e.width;
      for (int64_t k = y.First(ph); k < y.End(ph); ++k) {
        RoiPoint<T> row;
        if (!y.At(ph, k, &row)) continue;
        const T *low = plane + row.low * e.width, *high = plane + row.high * e.width;
        for (int64_t m = x.First(pw); m < x.End(pw); ++m) {
          RoiPoint<T> column;
          if (!x.At(pw, m, &column)) continue;
          const T above = low[column.low] * (1 - column.weight) + low[column.high] * column.weight;
          const T below =
              high[column.low] * (1 - column.weight) + high[column.high] * column.weight;
          sum += above * (1 - row.weight) + below * row.weight;
        }
      }
      if (sum != 0) sum /= y.points * x.points;
    }
    StoreTo(out + i, sum, add);
  }
}

// shares (rois, bins, extent): what pixels of one axis count in bins of it.
template <typename T>
__global__ void AxisShares(int64_t count, Extents e, bool is_rows, const T* rois, T* shares) {
  const int64_t extent = is_rows ? e.height : e.width, bins = is_rows ? e.pooled_h : e.pooled_w;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t pixel = i % extent, bin = i / extent % bins;
    const T* roi = rois + i / extent / bins * 5;
    const RoiAxis<T> axis = is_rows ? e.Rows(roi) : e.Columns(roi);
    T sum = 0;
    for (int64_t k = axis.First(bin); k < axis.End(bin); ++k) {
      RoiPoint<T> point;
      if (!axis.At(bin, k, &point)) continue;
      if (point.low == pixel) sum += 1 - point.weight;
      if (point.high == pixel) sum += point.weight;
    }
    shares[i] = sum == 0 ? sum : sum / axis.points;
  }
}

template <typename T>
__global__ void Backward(int64_t count, Extents e, const T* ograd, const T* rois,
                         const T* row_shares, const T* column_shares, T* grad, bool add) {
  const int64_t bins = e.bins();
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t x = i % e.width, y = i / e.width % e.height;
    const int64_t plane = i / e.width / e.height % e.planes;
    const int64_t sample = i / e.width / e.height / e.planes;
    const int64_t channel = e.position_sensitive ? plane / bins : plane;
    T sum = 0;
    for (int64_t n = 0; n < e.rois; ++n) {
      if (IntegerOf<int64_t>(rois[n * 5]) != sample) continue;
      for (int64_t ph = 0; ph < e.pooled_h; ++ph) {
        const T of_row = row_shares[(n * e.pooled_h + ph) * e.height + y];
        if (of_row == 0) continue;
        for (int64_t pw = 0; pw < e.pooled_w; ++pw) {
          const int64_t bin = ph * e.pooled_w + pw;
          if (e.Plane(channel, bin) != plane) continue;
          const T of_column = column_shares[(n * e.pooled_w + pw) * e.width + x];
          if (of_column == 0) continue;  // what the head has there may be infinite
          sum += ograd[(n * e.channels + channel) * bins + bin] * of_row * of_column;
        }
      }
    }
    StoreTo(grad + i, sum, add);
  }
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum RoiAlignArrays::Input;
  const Extents e = ExtentsOf(c, c.inputs[kData].shape, c.outputs[0].shape);
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Forward<T>, count, e, c.inputs[kData].as<T>(),
                        c.inputs[kRois].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

struct ShareCounts {
  int64_t rows, columns;
};

ShareCounts CountShares(const Shape& data, const Shape& pooled) {
  return {pooled[0] * pooled[2] * data[2], pooled[0] * pooled[3] * data[3]};
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum RoiAlignGradientArrays::Input;
  const Shape &data = c.outputs[0].shape, &pooled = c.inputs[kOgrad].shape;
  const Extents e = ExtentsOf(c, data, pooled);
  const ShareCounts counts = CountShares(data, pooled);
  const T* rois = c.inputs[kRois].as<T>();
  T* rows = static_cast<T*>(c.workspace);
  T* columns = rows + counts.rows;
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, counts.rows, AxisShares<T>, counts.rows, e, true, rois, rows));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, counts.columns, AxisShares<T>, counts.columns, e, false, rois, columns));
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Backward<T>, count, e, c.inputs[kOgrad].as<T>(), rois, rows,
                        columns, c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum RoiAlignGradientArrays::Input;
  const ShareCounts counts = CountShares(c.outputs[0].shape, c.inputs[kOgrad].shape);
  return Prepared{.workspace_bytes = (counts.rows + counts.columns) * SizeOf(c.outputs[0].dtype)};
}

absl::Status RoiAlignGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunForward<double>(c) : RunForward<float>(c);
}

absl::Status RoiAlignBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunBackward<double>(c) : RunBackward<float>(c);
}

COOPER_REGISTER_KERNEL(_contrib_ROIAlign, DeviceType::kGpu, kFloat32Or64, RoiAlignGpu);
COOPER_REGISTER_KERNEL(_backward_ROIAlign, DeviceType::kGpu, kFloat32Or64, RoiAlignBackwardGpu,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
