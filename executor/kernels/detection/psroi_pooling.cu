// GPU kernels of _contrib_PSROIPooling and its gradient. The gradient gathers: a thread sums the
// bins that contain its element in the order of the regions, so equal inputs give equal bits.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/psroi_region.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/detection/psroi_pooling_param.h"

namespace cooper {
namespace {

struct Extents {
  int64_t batch, channels, height, width, rois, output_dim, bins, groups;
  float scale;

  template <typename T>
  __device__ PsroiAxis<T> Rows(const T* roi) const {
    return {roi[2], roi[4], scale, bins};
  }
  template <typename T>
  __device__ PsroiAxis<T> Columns(const T* roi) const {
    return {roi[1], roi[3], scale, bins};
  }
};

Extents ExtentsOf(const KernelContext& c, const Shape& data, const Shape& pooled) {
  const auto& param = c.param<PsroiPoolingParam>();
  return {data[0],           data[1],        data[2],
          data[3],           pooled[0],      pooled[1],
          param.pooled_size, param.groups(), param.spatial_scale};
}

template <typename T>
__global__ void Forward(int64_t count, Extents e, const T* data, const T* rois, T* out, bool add) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t j = at % e.bins, i = at / e.bins % e.bins;
    const int64_t channel = at / (e.bins * e.bins) % e.output_dim;
    const T* roi = rois + at / (e.bins * e.bins * e.output_dim) * 5;
    const int64_t sample = IntegerOf<int64_t>(roi[0]);
    T sum = 0;
    if (sample >= 0 && sample < e.batch) {
      const PsroiSpan rows = e.Rows(roi).Span(i, e.height);
      const PsroiSpan columns = e.Columns(roi).Span(j, e.width);
      const int64_t from = PsroiChannel(channel, e.groups, PsroiGroup<T>(i, e.groups, e.bins),
                                        PsroiGroup<T>(j, e.groups, e.bins));
      const T* plane = data + (sample * e.channels + from) * e.height * e.width;
      for (int64_t v = rows.begin; v < rows.end; ++v) {
        for (int64_t u = columns.begin; u < columns.end; ++u) sum += plane[v * e.width + u];
      }
      if (rows.begin < rows.end && columns.begin < columns.end) {
        sum /= static_cast<T>((rows.end - rows.begin) * (columns.end - columns.begin));
      }
    }
    StoreTo(out + at, sum, add);
  }
}

template <typename T>
__global__ void Backward(int64_t count, Extents e, const T* ograd, const T* rois, T* grad,
                         bool add) {
  for (int64_t at = FirstElement(); at < count; at += ElementStep()) {
    const int64_t u = at % e.width, v = at / e.width % e.height;
    const int64_t from = at / (e.width * e.height) % e.channels;
    const int64_t sample = at / (e.width * e.height * e.channels);
    const int64_t column = from % e.groups, row = from / e.groups % e.groups;
    const int64_t channel = from / (e.groups * e.groups);
    T sum = 0;
    for (int64_t n = 0; n < e.rois && channel < e.output_dim; ++n) {
      const T* roi = rois + n * 5;
      if (IntegerOf<int64_t>(roi[0]) != sample) continue;
      const PsroiAxis<T> y = e.Rows(roi), x = e.Columns(roi);
      const T* bins = ograd + (n * e.output_dim + channel) * e.bins * e.bins;
      for (int64_t i = 0; i < e.bins; ++i) {
        const PsroiSpan rows = y.Span(i, e.height);
        if (!rows.contains(v) || PsroiGroup<T>(i, e.groups, e.bins) != row) continue;
        for (int64_t j = 0; j < e.bins; ++j) {
          const PsroiSpan columns = x.Span(j, e.width);
          if (!columns.contains(u) || PsroiGroup<T>(j, e.groups, e.bins) != column) continue;
          sum += bins[i * e.bins + j] /
                 static_cast<T>((rows.end - rows.begin) * (columns.end - columns.begin));
        }
      }
    }
    StoreTo(grad + at, sum, add);
  }
}

template <typename T>
absl::Status RunForward(const KernelContext& c) {
  using enum PsroiPoolingArrays::Input;
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Forward<T>, count,
                        ExtentsOf(c, c.inputs[kData].shape, c.outputs[0].shape),
                        c.inputs[kData].as<const T>(), c.inputs[kRois].as<const T>(),
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status RunBackward(const KernelContext& c) {
  using enum PsroiPoolingGradientArrays::Input;
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Backward<T>, count,
                        ExtentsOf(c, c.outputs[0].shape, c.inputs[kOgrad].shape),
                        c.inputs[kOgrad].as<const T>(), c.inputs[kRois].as<const T>(),
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

absl::Status PsroiPoolingGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunForward<double>(c) : RunForward<float>(c);
}

absl::Status PsroiPoolingBackwardGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return c.outputs[0].dtype == DType::kFloat64 ? RunBackward<double>(c) : RunBackward<float>(c);
}

COOPER_REGISTER_KERNEL(_contrib_PSROIPooling, DeviceType::kGpu, kFloat32Or64, PsroiPoolingGpu);
COOPER_REGISTER_KERNEL(_backward__contrib_PSROIPooling, DeviceType::kGpu, kFloat32Or64,
                       PsroiPoolingBackwardGpu);

}  // namespace
}  // namespace cooper
