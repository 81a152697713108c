// GPU kernels of _contrib_ROIAlign and its gradient. The weight of a pixel in a bin is the product
// of a weight of its row and a weight of its column. The gradient's kernel computes a table of each
// and gathers with them.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/roi_gather.h"
#include "executor/kernels/detection/roi_points.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/roi_align_param.h"

namespace cooper {
namespace {

struct Extents {
  int64_t batch, planes, height, width, rois, channels, pooled_h, pooled_w, sample_ratio;
  float scale;
  bool aligned, position_sensitive;

  __device__ int64_t bins() const { return pooled_h * pooled_w; }
  // Returns the plane, one of the `planes` of a sample, that a bin of a channel is computed from.
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

// Computes shares (rois, bins, extent), the weights of pixels in bins along one axis, and reached
// (rois, extent), the range from the first to the last bin in which a pixel has a weight.
template <typename T>
__global__ void AxisShares(int64_t count, Extents e, bool is_rows, const T* rois, T* shares,
                           RoiRange* reached) {
  const int64_t extent = is_rows ? e.height : e.width, bins = is_rows ? e.pooled_h : e.pooled_w;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t n = i / extent, pixel = i - n * extent;
    const T* roi = rois + n * 5;
    const RoiAxis<T> axis = is_rows ? e.Rows(roi) : e.Columns(roi);
    RoiRange range = {};
    for (int64_t bin = 0; bin < bins; ++bin) {
      T sum = 0;
      for (int64_t k = axis.First(bin); k < axis.End(bin); ++k) {
        RoiPoint<T> point;
        if (!axis.At(bin, k, &point)) continue;
        if (point.low == pixel) sum += 1 - point.weight;
        if (point.high == pixel) sum += point.weight;
      }
      shares[(n * bins + bin) * extent + pixel] = sum == 0 ? sum : sum / axis.points;
      if (sum == 0) continue;
      if (range.empty()) range.begin = static_cast<int32_t>(bin);
      range.end = static_cast<int32_t>(bin) + 1;
    }
    reached[i] = range;
  }
}

// Adds the contributions of a region's bins to a pixel of several planes.
template <typename T>
struct GiveShares {
  Extents e;
  const T *ograd, *row_shares, *column_shares;

  __device__ void operator()(int64_t n, RoiRange rows, RoiRange columns, const RoiPlace& at,
                             T (&sums)[kRoiPlanes]) const {
    const T* heads = ograd + n * e.channels * e.bins();
    if (e.position_sensitive) {
      // Each plane has one bin.
#pragma unroll
      for (int k = 0; k < kRoiPlanes; ++k) {
        const int64_t plane = at.plane + k * kRoiWarps;
        if (plane >= e.planes) break;
        const int64_t bin = plane % e.bins();
        Give(heads + plane, Row(n, bin / e.pooled_w, at.y), Column(n, bin % e.pooled_w, at.x),
             &sums[k]);
      }
      return;
    }
    for (int64_t ph = rows.begin; ph < rows.end; ++ph) {
      const T of_row = Row(n, ph, at.y);
      for (int64_t pw = columns.begin; pw < columns.end; ++pw) {
        const T of_column = Column(n, pw, at.x);
        const T* head = heads + at.plane * e.bins() + ph * e.pooled_w + pw;
#pragma unroll
        for (int k = 0; k < kRoiPlanes; ++k) {
          if (at.plane + k * kRoiWarps >= e.planes) break;
          Give(head + k * kRoiWarps * e.bins(), of_row, of_column, &sums[k]);
        }
      }
    }
  }

 private:
  __device__ T Row(int64_t n, int64_t ph, int64_t y) const {
    return row_shares[(n * e.pooled_h + ph) * e.height + y];
  }
  __device__ T Column(int64_t n, int64_t pw, int64_t x) const {
    return column_shares[(n * e.pooled_w + pw) * e.width + x];
  }
  __device__ static void Give(const T* head, T of_row, T of_column, T* sum) {
    // Without a weight nothing is added: the gradient may be infinite.
    if (of_row != 0 && of_column != 0) *sum += *head * of_row * of_column;
  }
};

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
  const RoiImage image = RoiImageOf(data, pooled);
  const RoiTables tables(image, reinterpret_cast<RoiRange*>(columns + counts.columns));
  const int64_t lines = e.rois * e.height, stripes = e.rois * e.width;
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, lines, AxisShares<T>, lines, e, true, rois, rows, tables.rows));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, stripes, AxisShares<T>, stripes, e, false, rois, columns, tables.columns));
  const GiveShares<T> give = {e, c.inputs[kOgrad].as<T>(), rows, columns};
  return RunGatherRois(c, image, tables, rois, give, c.outputs[0].as<T>(),
                       c.reqs[0] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum RoiAlignGradientArrays::Input;
  const ShareCounts counts = CountShares(c.outputs[0].shape, c.inputs[kOgrad].shape);
  const int64_t ranges = RoiTables::Count(RoiImageOf(c.outputs[0].shape, c.inputs[kOgrad].shape));
  return Prepared{.workspace_bytes = (counts.rows + counts.columns) * SizeOf(c.outputs[0].dtype) +
                                     ranges * static_cast<int64_t>(sizeof(RoiRange))};
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
