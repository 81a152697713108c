// Kernels of ROIPooling and its gradient.

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "executor/cpu/dispatch_float.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"
#include "ndarray/parallel.h"
#include "symbol/ops/nn/roi_pooling_param.h"

namespace cooper {
namespace {

// One region, in elements of the feature map; ends included.
template <typename T>
struct Region {
  int64_t sample, x1, y1;
  T bin_h, bin_w;

  Region(const T* roi, double scale, const Shape& pooled) {
    // Far outside every image is as good as anywhere outside, and the differences below fit.
    constexpr int64_t kFar = int64_t{1} << 40;
    const auto round = [&](T v) {
      return std::clamp(IntegerOf<int64_t>(std::round(v * static_cast<T>(scale))), -kFar, kFar);
    };
    sample = IntegerOf<int64_t>(roi[0]);
    x1 = round(roi[1]);
    y1 = round(roi[2]);
    // A region that ends before it begins is taken as one element.
    const int64_t width = std::max<int64_t>(round(roi[3]) - x1 + 1, 1);
    const int64_t height = std::max<int64_t>(round(roi[4]) - y1 + 1, 1);
    bin_h = static_cast<T>(height) / static_cast<T>(pooled[2]);
    bin_w = static_cast<T>(width) / static_cast<T>(pooled[3]);
  }
};

// Calls fn(element of the output, element of data with its maximum, or -1 where a bin is empty),
// for channels [begin, end).
template <typename T, typename Fn>
void ForEachBin(const KernelContext& c, const ArrayView& data, const ArrayView& rois,
                const Shape& pooled, int64_t begin, int64_t end, Fn&& fn) {
  const double scale = c.param<RoiPoolingParam>().spatial_scale;
  const int64_t height = data.shape[2], width = data.shape[3];
  const T* x = data.as<T>();
  for (int64_t n = 0; n < rois.shape[0]; ++n) {
    const Region<T> r(rois.as<T>() + n * 5, scale, pooled);
    const bool known = r.sample >= 0 && r.sample < data.shape[0];
    for (int64_t k = begin; k < end; ++k) {
      const int64_t plane = (r.sample * data.shape[1] + k) * height * width;
      int64_t to = (n * pooled[1] + k) * pooled[2] * pooled[3];
      for (int64_t ph = 0; ph < pooled[2]; ++ph) {
        const auto y_from = static_cast<int64_t>(std::floor(static_cast<T>(ph) * r.bin_h));
        const auto y_to = static_cast<int64_t>(std::ceil(static_cast<T>(ph + 1) * r.bin_h));
        for (int64_t pw = 0; pw < pooled[3]; ++pw, ++to) {
          const auto x_from = static_cast<int64_t>(std::floor(static_cast<T>(pw) * r.bin_w));
          const auto x_to = static_cast<int64_t>(std::ceil(static_cast<T>(pw + 1) * r.bin_w));
          int64_t best = -1;
          if (known) {
            for (int64_t v = std::max<int64_t>(y_from + r.y1, 0); v < std::min(y_to + r.y1, height);
                 ++v) {
              for (int64_t u = std::max<int64_t>(x_from + r.x1, 0);
                   u < std::min(x_to + r.x1, width); ++u) {
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

// Regions may overlap, channels do not: threads share the channels.
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
