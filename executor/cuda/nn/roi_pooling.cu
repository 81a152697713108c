// GPU kernels of ROIPooling and its gradient. The gradient is gathered, so that overlapping regions
// need no atomics: an element looks for the bins whose maximum it is, in the order of the regions.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/launch.h"
#include "executor/elements/roi_region.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"
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

// The element of data that is the maximum of bin i of the output, or -1 where the bin is empty.
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

template <typename T>
__global__ void Backward(int64_t count, Extents e, const T* ograd, const T* rois,
                         const int64_t* maxima, T* grad, bool add) {
  const int64_t pooled = e.pooled_h * e.pooled_w;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t plane = i / e.width / e.height;
    const int64_t channel = plane % e.channels;
    T sum = 0;
    for (int64_t n = 0; n < e.rois; ++n) {
      if (ConvertElement<int64_t>(rois[n * 5]) != plane / e.channels) continue;
      const int64_t first = (n * e.channels + channel) * pooled;
      for (int64_t bin = first; bin < first + pooled; ++bin) {
        if (maxima[bin] == i) sum += ograd[bin];
      }
    }
    StoreTo(grad + i, sum, add);
  }
}

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
  const int64_t count = c.outputs[0].size();
  return LaunchElements(c, count, Backward<T>, count, e, c.inputs[kOgrad].as<T>(), rois, maxima,
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum ROIPoolingGradientArrays::Input;
  return Prepared{.workspace_bytes =
                      c.inputs[kOgrad].size() * static_cast<int64_t>(sizeof(int64_t))};
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
