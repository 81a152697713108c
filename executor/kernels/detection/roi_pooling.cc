// Kernels of ROIPooling and its gradient.

#include <algorithm>

#include "absl/status/status.h"
#include "executor/kernels/detection/roi_region.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/roi_pooling_param.h"

namespace cooper {
namespace {

// Calls fn(element of the output, element of data that is its maximum, or -1 for an empty bin) for
// channels [begin, end).
template <typename T, typename Fn>
void ForEachBin(const KernelContext& c, const ArrayView& data, const ArrayView& rois,
                const Shape& pooled, int64_t begin, int64_t end, Fn&& fn) {
  const float scale = c.param<RoiPoolingParam>().spatial_scale;
  const int64_t height = data.shape[2], width = data.shape[3];
  const T* x = data.as<T>();
  for (int64_t n = 0; n < rois.shape[0]; ++n) {
    const RoiRegion<T> r(rois.as<T>() + n * 5, scale, pooled[2], pooled[3]);
    const bool known = r.sample >= 0 && r.sample < data.shape[0];
    for (int64_t k = begin; k < end; ++k) {
      const int64_t plane = (r.sample * data.shape[1] + k) * height * width;
      int64_t to = (n * pooled[1] + k) * pooled[2] * pooled[3];
      for (int64_t ph = 0; ph < pooled[2]; ++ph) {
        const RoiSpan rows = r.Rows(ph, height);
        for (int64_t pw = 0; pw < pooled[3]; ++pw, ++to) {
          const RoiSpan columns = r.Columns(pw, width);
          int64_t best = -1;
          if (known) {
            for (int64_t v = rows.begin; v < rows.end; ++v) {
              for (int64_t u = columns.begin; u < columns.end; ++u) {
                const int64_t at = plane + v * width + u;
                if (best < 0 || x[at] > x[best]) best = at;
              }
            }
          }
          fn(to, best);
        }
      }
    }
  }
}

template <typename T>
void Forward(const KernelContext& c) {
  using enum ROIPoolingArrays::Input;
  const T* data = c.inputs[kData].as<T>();
  T* out = c.outputs[0].as<T>();
  const Shape& pooled = c.outputs[0].shape;
  ParallelForPlain(pooled[1], 1, [&](int64_t begin, int64_t end) {
    ForEachBin<T>(c, c.inputs[kData], c.inputs[kRois], pooled, begin, end,
                  [&](int64_t to, int64_t from) {
                    Store(out + to, from < 0 ? T{0} : data[from], c.reqs[0] == WriteReq::kAdd);
                  });
  });
}

// Computes the gradient of the images. Regions may overlap but channels do not, so threads share
// the channels.
template <typename T>
void Backward(const KernelContext& c) {
  using enum ROIPoolingGradientArrays::Input;
  const T* ograd = c.inputs[kOgrad].as<T>();
  T* grad = c.outputs[0].as<T>();
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad, c.outputs[0].size(), T{0});
  const Shape& pooled = c.inputs[kOgrad].shape;
  ParallelForPlain(pooled[1], 1, [&](int64_t begin, int64_t end) {
    ForEachBin<T>(c, c.inputs[kData], c.inputs[kRois], pooled, begin, end,
                  [&](int64_t from, int64_t to) {
                    if (to >= 0) grad[to] += ograd[from];
                  });
  });
}

absl::Status RoiPoolingCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status RoiPoolingBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(ROIPooling, DeviceType::kCpu, kFloat32Or64, RoiPoolingCpu);
COOPER_REGISTER_KERNEL(_backward_ROIPooling, DeviceType::kCpu, kFloat32Or64, RoiPoolingBackwardCpu);

}  // namespace
}  // namespace cooper
