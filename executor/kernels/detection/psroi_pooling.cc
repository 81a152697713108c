// Kernels of _contrib_PSROIPooling and its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/detection/psroi_region.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/psroi_pooling_param.h"

namespace cooper {
namespace {

// Calls fn(element of pooled, first element of the plane of data, rows, columns) for the bins of
// output channels [begin, end) of all regions. The spans of a region whose sample is not in the
// batch are empty. `pooled` is (regions, output_dim, bins, bins).
template <typename T, typename Fn>
void ForEachBin(const KernelContext& c, const Shape& data, const T* rois, const Shape& pooled,
                int64_t begin, int64_t end, Fn&& fn) {
  const auto& param = c.param<PsroiPoolingParam>();
  const int64_t bins = param.pooled_size, groups = param.groups();
  const int64_t height = data[2], width = data[3];
  for (int64_t n = 0; n < pooled[0]; ++n) {
    const T* roi = rois + n * 5;
    const int64_t sample = IntegerOf<int64_t>(roi[0]);
    const bool known = sample >= 0 && sample < data[0];
    const PsroiAxis<T> y(roi[2], roi[4], param.spatial_scale, bins);
    const PsroiAxis<T> x(roi[1], roi[3], param.spatial_scale, bins);
    for (int64_t k = begin; k < end; ++k) {
      int64_t at = (n * param.output_dim + k) * bins * bins;
      for (int64_t i = 0; i < bins; ++i) {
        const PsroiSpan rows = known ? y.Span(i, height) : PsroiSpan{0, 0};
        const int64_t row = PsroiGroup<T>(i, groups, bins);
        for (int64_t j = 0; j < bins; ++j, ++at) {
          const int64_t channel = PsroiChannel(k, groups, row, PsroiGroup<T>(j, groups, bins));
          const int64_t plane = (sample * data[1] + channel) * height * width;
          fn(at, plane, rows, x.Span(j, width));
        }
      }
    }
  }
}

// Returns the number of elements of a bin, 0 if it is empty.
int64_t Area(PsroiSpan rows, PsroiSpan columns) {
  return std::max<int64_t>(rows.end - rows.begin, 0) *
         std::max<int64_t>(columns.end - columns.begin, 0);
}

template <typename T>
void Forward(const KernelContext& c) {
  using enum PsroiPoolingArrays::Input;
  const T* data = c.inputs[kData].as<T>();
  T* out = c.outputs[0].as<T>();
  const Shape &shape = c.inputs[kData].shape, &pooled = c.outputs[0].shape;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(pooled[1], 1, [&](int64_t begin, int64_t end) {
    ForEachBin<T>(c, shape, c.inputs[kRois].as<T>(), pooled, begin, end,
                  [&](int64_t at, int64_t plane, PsroiSpan rows, PsroiSpan columns) {
                    const int64_t area = Area(rows, columns);
                    T sum = 0;
                    for (int64_t v = rows.begin; v < rows.end; ++v) {
                      const T* line = data + plane + v * shape[3];
                      for (int64_t u = columns.begin; u < columns.end; ++u) sum += line[u];
                    }
                    Store(out + at, area == 0 ? T{0} : sum / static_cast<T>(area), add);
                  });
  });
}

// Computes the gradient of data. Regions may overlap, but different channels of the output read
// different channels of data, so threads share the former.
template <typename T>
void Backward(const KernelContext& c) {
  using enum PsroiPoolingGradientArrays::Input;
  const T* ograd = c.inputs[kOgrad].as<T>();
  T* grad = c.outputs[0].as<T>();
  const Shape &shape = c.outputs[0].shape, &pooled = c.inputs[kOgrad].shape;
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad, c.outputs[0].size(), T{0});
  ParallelForPlain(pooled[1], 1, [&](int64_t begin, int64_t end) {
    ForEachBin<T>(c, shape, c.inputs[kRois].as<T>(), pooled, begin, end,
                  [&](int64_t at, int64_t plane, PsroiSpan rows, PsroiSpan columns) {
                    const int64_t area = Area(rows, columns);
                    if (area == 0) return;
                    const T share = ograd[at] / static_cast<T>(area);
                    for (int64_t v = rows.begin; v < rows.end; ++v) {
                      T* line = grad + plane + v * shape[3];
                      for (int64_t u = columns.begin; u < columns.end; ++u) line[u] += share;
                    }
                  });
  });
}

absl::Status PsroiPoolingCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status PsroiPoolingBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_contrib_PSROIPooling, DeviceType::kCpu, kFloat32Or64, PsroiPoolingCpu);
COOPER_REGISTER_KERNEL(_backward__contrib_PSROIPooling, DeviceType::kCpu, kFloat32Or64,
                       PsroiPoolingBackwardCpu);

}  // namespace
}  // namespace cooper
