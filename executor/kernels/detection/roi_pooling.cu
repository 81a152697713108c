// GPU kernels of ROIPooling and its gradient. The gradient is gathered: among the bins that contain
// an element, each thread finds those whose maximum is the element.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/roi_gather.h"
#include "executor/kernels/detection/roi_region.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/roi_pooling_param.h"

namespace cooper {
namespace {

struct Extents {
  int64_t batch, channels, height, width, rois, pooled_h, pooled_w;
  float scale;

  int64_t bins() const { return rois * channels * pooled_h * pooled_w; }
};

Extents ExtentsOf(const KernelContext& c, const Shape& data, const Shape& pooled) {
  return {data[0],   data[1],   data[2],   data[3],
          pooled[0], pooled[2], pooled[3], c.param<RoiPoolingParam>().spatial_scale};
}

// Returns the element of data that is the maximum of bin i of the output, or -1 if the bin is
// empty.
template <typename T>
__device__ int64_t MaxOf(const Extents& e, int64_t i, const T* data, const T* rois) {
  const int64_t pw = i % e.pooled_w, ph = i / e.pooled_w % e.pooled_h;
  const int64_t plane = i / e.pooled_w / e.pooled_h;
  const RoiRegion<T> r(rois + plane / e.channels * 5, e.scale, e.pooled_h, e.pooled_w);
  if (r.sample < 0 || r.sample >= e.batch) return -1;
  const RoiSpan y = r.Rows(ph, e.height), x = r.Columns(pw, e.width);
  const int64_t first = (r.sample * e.channels + plane % e.channels) * e.height * e.width;
  int64_t best = -1;
  for (int64_t v = y.begin; v < y.end; ++v) {
    for (int64_t u = x.begin; u < x.end; ++u) {
      const int64_t at = first + v * e.width + u;
      if (best < 0 || data[at] > data[best]) best = at;
    }
  }
  return best;
}

template <typename T>
__global__ void Forward(int64_t bins, Extents e, const T* data, const T* rois, T* out, bool add) {
  for (int64_t i = FirstElement(); i < bins; i += ElementStep()) {
    const int64_t from = MaxOf(e, i, data, rois);
    StoreTo(out + i, from < 0 ? T{0} : data[from], add);
  }
}

template <typename T>
__global__ void FindMaxima(int64_t bins, Extents e, const T* data, const T* rois, int64_t* maxima) {
  for (int64_t i = FirstElement(); i < bins; i += ElementStep()) {
    maxima[i] = MaxOf(e, i, data, rois);
  }
}

// Computes reached (rois, extent), the bins of each region that contain a row of pixels, or a
// column. They are contiguous.
template <typename T>
__global__ void FindBins(int64_t count, Extents e, bool is_rows, const T* rois, RoiRange* reached) {
  const int64_t extent = is_rows ? e.height : e.width, bins = is_rows ? e.pooled_h : e.pooled_w;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t n = i / extent, pixel = i - n * extent;
    const RoiRegion<T> region(rois + n * 5, e.scale, e.pooled_h, e.pooled_w);
    RoiRange range = {};
    for (int64_t bin = 0; bin < bins; ++bin) {
      const RoiSpan span = is_rows ? region.Rows(bin, extent) : region.Columns(bin, extent);
      if (pixel < span.begin || pixel >= span.end) continue;
      if (range.empty()) range.begin = static_cast<int32_t>(bin);
      range.end = static_cast<int32_t>(bin) + 1;
    }
    reached[i] = range;
  }
}

// Adds the gradients of a region's bins to the pixel of several planes that is their maximum.
template <typename T>
struct GiveToMaxima {
  Extents e;
  const T* ograd;
  const int64_t* maxima;

  __device__ void operator()(int64_t n, RoiRange rows, RoiRange columns, const RoiPlace& at,
                             T (&sums)[kRoiPlanes]) const {
    const int64_t size = e.height * e.width, pooled = e.pooled_h * e.pooled_w;
    const int64_t pixel = (at.sample * e.channels + at.plane) * size + at.y * e.width + at.x;
    for (int64_t ph = rows.begin; ph < rows.end; ++ph) {
      for (int64_t pw = columns.begin; pw < columns.end; ++pw) {
        const int64_t bin = (n * e.channels + at.plane) * pooled + ph * e.pooled_w + pw;
#pragma unroll
        for (int k = 0; k < kRoiPlanes; ++k) {
          if (at.plane + k * kRoiWarps >= e.channels) break;
          const int64_t of_plane = bin + k * kRoiWarps * pooled;
          if (maxima[of_plane] == pixel + k * kRoiWarps * size) sums[k] += ograd[of_plane];
        }
      }
    }
  }
};

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum ROIPoolingArrays::Input;
  const Extents e = ExtentsOf(c, c.inputs[kData].shape, c.outputs[0].shape);
  return LaunchElements(c, e.bins(), Forward<T>, e.bins(), e, c.inputs[kData].as<T>(),
                        c.inputs[kRois].as<T>(), c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum ROIPoolingGradientArrays::Input;
  const Extents e = ExtentsOf(c, c.outputs[0].shape, c.inputs[kOgrad].shape);
  auto* maxima = static_cast<int64_t*>(c.workspace);
  const T* rois = c.inputs[kRois].as<T>();
  COOPER_RETURN_IF_ERROR(LaunchElements(c, e.bins(), FindMaxima<T>, e.bins(), e,
                                        c.inputs[kData].as<T>(), rois, maxima));
  const RoiImage image = RoiImageOf(c.outputs[0].shape, c.inputs[kOgrad].shape);
  const RoiTables tables(image, reinterpret_cast<RoiRange*>(maxima + e.bins()));
  const int64_t lines = e.rois * e.height, stripes = e.rois * e.width;
  COOPER_RETURN_IF_ERROR(LaunchElements(c, lines, FindBins<T>, lines, e, true, rois, tables.rows));
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, stripes, FindBins<T>, stripes, e, false, rois, tables.columns));
  const GiveToMaxima<T> give = {e, c.inputs[kOgrad].as<T>(), maxima};
  return RunGatherRois(c, image, tables, rois, give, c.outputs[0].as<T>(),
                       c.reqs[0] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum ROIPoolingGradientArrays::Input;
  const int64_t ranges = RoiTables::Count(RoiImageOf(c.outputs[0].shape, c.inputs[kOgrad].shape));
  return Prepared{.workspace_bytes =
                      c.inputs[kOgrad].size() * static_cast<int64_t>(sizeof(int64_t)) +
                      ranges * static_cast<int64_t>(sizeof(RoiRange))};
}

absl::Status RoiPoolingGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunForward<double>(c) : RunForward<float>(c);
}

absl::Status RoiPoolingBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunBackward<double>(c) : RunBackward<float>(c);
}

COOPER_REGISTER_KERNEL(ROIPooling, DeviceType::kGpu, kFloat32Or64, RoiPoolingGpu);
COOPER_REGISTER_KERNEL(_backward_ROIPooling, DeviceType::kGpu, kFloat32Or64, RoiPoolingBackwardGpu,
                       PrepareBackward);

}  // namespace
}  // namespace cooper
