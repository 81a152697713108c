// Kernels of _contrib_ROIAlign and its gradient.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/detection/roi_points.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/roi_align_param.h"

namespace cooper {
namespace {

struct Extents {
  Shape data, pooled;

  int64_t plane() const { return data[2] * data[3]; }
  int64_t bins() const { return pooled[2] * pooled[3]; }
};

// A pixel, and its weight in a sampling point.
template <typename T>
struct Tap {
  int64_t pixel;
  T weight;
};

// The taps of a sampling point, which follow each other.
constexpr size_t kCorners = 4;

// The weights of a plane's pixels in several bins of a region. They are computed once for all
// channels. A bin with many points may be in several groups.
template <typename T>
class TapGroup {
 public:
  static constexpr size_t kMaxTaps = 256 * kCorners, kMaxBins = 64;

  bool empty() const { return count_ == 0; }
  // Returns whether there may be no room for another point in another bin.
  bool full() const { return count_ == kMaxTaps || bins_ == kMaxBins; }
  void clear() { count_ = bins_ = 0; }
  void Add(int64_t bin, int64_t pixel, T weight) {
    if (bins_ == 0 || runs_[bins_ - 1].bin != bin) runs_[bins_++] = {bin, 0};
    taps_[count_++] = {pixel, weight};
    runs_[bins_ - 1].end = count_;
  }

  // Calls fn(taps, bin) for each bin.
  template <typename Fn>
  void ForEachBin(const Fn& fn) const {
    size_t begin = 0;
    for (size_t i = 0; i < bins_; ++i) {
      fn(absl::MakeConstSpan(taps_ + begin, runs_[i].end - begin), runs_[i].bin);
      begin = runs_[i].end;
    }
  }

 private:
  struct Run {
    int64_t bin;
    size_t end;  // of its taps
  };

  Tap<T> taps_[kMaxTaps];
  Run runs_[kMaxBins];
  size_t count_ = 0, bins_ = 0;
};

// Calls fn(const TapGroup<T>&) for groups that cover the bins of a region that are not outside of
// the plane.
template <typename T, typename Fn>
void ForEachGroup(const RoiAlignParam& param, const Extents& e, const T* roi, Fn&& fn) {
  const RoiAxis<T> y(roi[2], roi[4], param.spatial_scale, param.aligned, e.pooled[2],
                     param.sample_ratio, e.data[2]);
  const RoiAxis<T> x(roi[1], roi[3], param.spatial_scale, param.aligned, e.pooled[3],
                     param.sample_ratio, e.data[3]);
  const T share = 1 / (y.points * x.points);
  TapGroup<T> group;
  for (int64_t bin = 0; bin < e.bins(); ++bin) {
    const int64_t ph = bin / e.pooled[3], pw = bin % e.pooled[3];
    for (int64_t i = y.First(ph); i < y.End(ph); ++i) {
      RoiPoint<T> row;
      if (!y.At(ph, i, &row)) continue;
      for (int64_t k = x.First(pw); k < x.End(pw); ++k) {
        RoiPoint<T> column;
        if (!x.At(pw, k, &column)) continue;
        if (group.full()) {
          fn(group);
          group.clear();
        }
        const T low = (1 - row.weight) * share, high = row.weight * share;
        group.Add(bin, row.low * e.data[3] + column.low, low * (1 - column.weight));
        group.Add(bin, row.low * e.data[3] + column.high, low * column.weight);
        group.Add(bin, row.high * e.data[3] + column.low, high * (1 - column.weight));
        group.Add(bin, row.high * e.data[3] + column.high, high * column.weight);
      }
    }
  }
  if (!group.empty()) fn(group);
}

// Returns the planes of a region's sample; null if the sample is not in the batch or has no pixels.
template <typename T, typename Data>
Data* PlanesOf(const Extents& e, const T* roi, Data* data) {
  const int64_t sample = IntegerOf<int64_t>(roi[0]);
  if (sample < 0 || sample >= e.data[0] || e.plane() == 0) return nullptr;
  return data + sample * e.data[1] * e.plane();
}

// Returns the plane of the sample that a bin of a channel of pooled is computed from.
int64_t PlaneOf(const RoiAlignParam& param, int64_t bins, int64_t channel, int64_t bin) {
  return param.position_sensitive ? channel * bins + bin : channel;
}

template <typename T>
void Forward(const KernelContext& c) {
  using enum RoiAlignArrays::Input;
  const auto& param = c.param<RoiAlignParam>();
  const Extents e = {c.inputs[kData].shape, c.outputs[0].shape};
  const T* rois = c.inputs[kRois].as<T>();
  T* out = c.outputs[0].as<T>();
  const int64_t channels = e.pooled[1], bins = e.bins();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelFor(e.pooled[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* to = out + n * channels * bins;
      if (!add) std::fill_n(to, channels * bins, T{0});
      const T* planes = PlanesOf(e, rois + n * 5, c.inputs[kData].as<T>());
      if (planes == nullptr) continue;
      ForEachGroup<T>(param, e, rois + n * 5, [&](const TapGroup<T>& group) {
        group.ForEachBin([&](absl::Span<const Tap<T>> taps, int64_t bin) {
          // Several channels at a time share the loads of taps.
          constexpr int64_t kChannels = 4;
          const int64_t step = PlaneOf(param, bins, 1, 0) * e.plane();
          int64_t k = 0;
          for (; k + kChannels <= channels; k += kChannels) {
            const T* const plane = planes + PlaneOf(param, bins, k, bin) * e.plane();
            T sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
            for (const Tap<T>& tap : taps) {
              const T* const pixel = plane + tap.pixel;
              sum0 += pixel[0] * tap.weight;
              sum1 += pixel[step] * tap.weight;
              sum2 += pixel[2 * step] * tap.weight;
              sum3 += pixel[3 * step] * tap.weight;
            }
            T* const sums = to + k * bins + bin;
            sums[0] += sum0;
            sums[bins] += sum1;
            sums[2 * bins] += sum2;
            sums[3 * bins] += sum3;
          }
          for (; k < channels; ++k) {
            const T* const plane = planes + PlaneOf(param, bins, k, bin) * e.plane();
            T sum = 0;
            for (const Tap<T>& tap : taps) sum += plane[tap.pixel] * tap.weight;
            to[k * bins + bin] += sum;
          }
        });
      });
    }
  });
}

// Computes the gradient of the images. Regions may overlap but channels do not, so threads share
// the channels.
template <typename T>
void Backward(const KernelContext& c) {
  using enum RoiAlignGradientArrays::Input;
  const auto& param = c.param<RoiAlignParam>();
  const Extents e = {c.outputs[0].shape, c.inputs[kOgrad].shape};
  const T* rois = c.inputs[kRois].as<T>();
  const T* ograd = c.inputs[kOgrad].as<T>();
  T* grad = c.outputs[0].as<T>();
  if (c.reqs[0] == WriteReq::kWrite) std::fill_n(grad, c.outputs[0].size(), T{0});
  const int64_t channels = e.pooled[1], bins = e.bins();
  ParallelFor(channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = 0; n < e.pooled[0]; ++n) {
      T* planes = PlanesOf(e, rois + n * 5, grad);
      if (planes == nullptr) continue;
      const T* from = ograd + n * channels * bins;
      ForEachGroup<T>(param, e, rois + n * 5, [&](const TapGroup<T>& group) {
        for (int64_t k = begin; k < end; ++k) {
          group.ForEachBin([&](absl::Span<const Tap<T>> taps, int64_t bin) {
            T* plane = planes + PlaneOf(param, bins, k, bin) * e.plane();
            for (const Tap<T>& tap : taps) plane[tap.pixel] += from[k * bins + bin] * tap.weight;
          });
        }
      });
    }
  });
}

absl::Status RoiAlignCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status RoiAlignBackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_contrib_ROIAlign, DeviceType::kCpu, kFloat32Or64, RoiAlignCpu);
COOPER_REGISTER_KERNEL(_backward_ROIAlign, DeviceType::kCpu, kFloat32Or64, RoiAlignBackwardCpu);

}  // namespace
}  // namespace cooper
