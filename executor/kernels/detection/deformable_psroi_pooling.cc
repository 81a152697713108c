// Kernels of _contrib_DeformablePSROIPooling and its gradient.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/detection/deformable_psroi_bin.h"
#include "executor/kernels/detection/psroi_region.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/deformable_psroi_pooling_param.h"

namespace cooper {
namespace {

// A pixel, its weight in the mean of a bin, and the derivatives of that weight by the position of
// the bin along y and x.
template <typename T>
struct Tap {
  int64_t pixel;
  T weight, slope_y, slope_x;
};

// The regions and the shifts of their parts. References the arrays of a KernelContext.
template <typename T>
class Regions {
 public:
  // `trans` is null without shifts.
  Regions(const DeformablePsroiPoolingParam& param, const Shape& data, const ArrayView& rois,
          const ArrayView* trans)
      : param_(param),
        data_(data),
        rois_(rois.as<const T>()),
        trans_(trans == nullptr ? nullptr : trans->as<const T>()),
        classes_(trans == nullptr ? 1 : trans->shape[1] / 2) {}

  int64_t classes() const { return classes_; }
  // Output channels [k * class_size(), (k + 1) * class_size()) share the shifts of class k.
  int64_t class_size() const { return param_.output_dim / classes_; }
  int64_t bins() const { return param_.pooled_size; }
  int64_t plane() const { return data_[2] * data_[3]; }
  DeformablePsroiAxis<T> Rows(int64_t n) const { return AxisOf(n, 2); }
  DeformablePsroiAxis<T> Columns(int64_t n) const { return AxisOf(n, 1); }

  // Returns the position in trans of the shift along x of a bin; that along y is parts^2 later.
  int64_t ShiftAt(int64_t n, int64_t k, int64_t i, int64_t j) const {
    const int64_t parts = param_.parts();
    return ((n * classes_ + k) * 2 * parts + DeformablePart<T>(i, bins(), parts)) * parts +
           DeformablePart<T>(j, bins(), parts);
  }

  // Returns the first pixel that bin (i, j) of an output channel reads, of region n, whose sample
  // is in the batch.
  int64_t PlaneAt(int64_t n, int64_t channel, int64_t i, int64_t j) const {
    const int64_t groups = param_.group_size;
    const int64_t from = PsroiChannel(channel, groups, PsroiGroup<T>(i, groups, bins()),
                                      PsroiGroup<T>(j, groups, bins()));
    return (IntegerOf<int64_t>(rois_[n * 5]) * data_[1] + from) * plane();
  }

  // Calls fn(taps, i, j) for the bins of region n with the shifts of class k: several times for a
  // bin with many points, and never for a bin without points.
  template <typename Fn>
  void ForEachBin(int64_t n, int64_t k, const Fn& fn) const {
    const int64_t sample = IntegerOf<int64_t>(rois_[n * 5]);
    if (sample < 0 || sample >= data_[0] || plane() == 0) return;
    const DeformablePsroiAxis<T> y = Rows(n), x = Columns(n);
    for (int64_t i = 0; i < bins(); ++i) {
      for (int64_t j = 0; j < bins(); ++j) {
        const int64_t points = param_.sample_per_part, area = param_.parts() * param_.parts();
        const T* shift = trans_ == nullptr ? nullptr : trans_ + ShiftAt(n, k, i, j);
        const T std = static_cast<T>(param_.trans_std);
        const T shift_x = shift == nullptr ? T{0} : shift[0] * std;
        const T shift_y = shift == nullptr ? T{0} : shift[area] * std;
        ForEachTap(DeformablePsroiBin<T>(y, i, bins(), points, shift_y, data_[2]),
                   DeformablePsroiBin<T>(x, j, bins(), points, shift_x, data_[3]),
                   [&](absl::Span<const Tap<T>> taps) { fn(taps, i, j); });
      }
    }
  }

 private:
  DeformablePsroiAxis<T> AxisOf(int64_t n, int64_t first) const {
    return {rois_[n * 5 + first], rois_[n * 5 + first + 2], param_.spatial_scale};
  }

  int64_t CountPoints(const DeformablePsroiBin<T>& axis) const {
    DeformableBinPoint<T> point;
    int64_t count = 0;
    for (int64_t i = 0; i < param_.sample_per_part; ++i) count += axis.At(i, &point) ? 1 : 0;
    return count;
  }

  template <typename Fn>
  void ForEachTap(const DeformablePsroiBin<T>& rows, const DeformablePsroiBin<T>& columns,
                  const Fn& fn) const {
    const int64_t count = CountPoints(rows) * CountPoints(columns);
    if (count == 0) return;
    const T share = 1 / static_cast<T>(count);
    constexpr size_t kMaxTaps = 256;
    Tap<T> taps[kMaxTaps];
    size_t size = 0;
    DeformableBinPoint<T> y, x;
    for (int64_t i = 0; i < param_.sample_per_part; ++i) {
      if (!rows.At(i, &y)) continue;
      for (int64_t j = 0; j < param_.sample_per_part; ++j) {
        if (!columns.At(j, &x)) continue;
        const T low_y = (1 - y.weight) * share, high_y = y.weight * share;
        const T low_x = (1 - x.weight) * share, high_x = x.weight * share;
        const int64_t low = y.low * data_[3], high = y.high * data_[3];
        taps[size++] = {low + x.low, low_y * (1 - x.weight), -low_x, -low_y};
        taps[size++] = {low + x.high, low_y * x.weight, -high_x, low_y};
        taps[size++] = {high + x.low, high_y * (1 - x.weight), low_x, -high_y};
        taps[size++] = {high + x.high, high_y * x.weight, high_x, high_y};
        if (size < kMaxTaps) continue;
        fn(absl::MakeConstSpan(taps, size));
        size = 0;
      }
    }
    if (size > 0) fn(absl::MakeConstSpan(taps, size));
  }

  const DeformablePsroiPoolingParam& param_;
  const Shape& data_;
  const T* rois_;
  const T* trans_;
  int64_t classes_;
};

template <typename T>
void Forward(const KernelContext& c) {
  using enum DeformablePsroiPoolingArrays::Input;
  const auto& param = c.param<DeformablePsroiPoolingParam>();
  const Regions<T> regions(param, c.inputs[kData].shape, c.inputs[kRois],
                           param.no_trans ? nullptr : &c.inputs[kTrans]);
  const T* data = c.inputs[kData].as<T>();
  const int64_t bins = param.pooled_size, channels = param.output_dim;
  ParallelForPlain(c.outputs[0].shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* out = c.outputs[0].as<T>() + n * channels * bins * bins;
      if (c.reqs[0] != WriteReq::kAdd) std::fill_n(out, channels * bins * bins, T{0});
      for (int64_t k = 0; k < regions.classes(); ++k) {
        regions.ForEachBin(n, k, [&](absl::Span<const Tap<T>> taps, int64_t i, int64_t j) {
          const int64_t first = k * regions.class_size();
          for (int64_t to = first; to < first + regions.class_size(); ++to) {
            const T* plane = data + regions.PlaneAt(n, to, i, j);
            T sum = 0;
            for (const Tap<T>& tap : taps) sum += plane[tap.pixel] * tap.weight;
            out[(to * bins + i) * bins + j] += sum;
          }
        });
      }
    }
  });
}

// Computes the gradient of data. Regions may overlap, but different channels of the output read
// different channels of data, so threads share the former.
template <typename T>
void BackwardData(const KernelContext& c, const Regions<T>& regions) {
  using enum DeformablePsroiPoolingGradientArrays::Input;
  using enum DeformablePsroiPoolingGradientArrays::Output;
  const T* ograd = c.inputs[kOgrad].as<T>();
  T* grad = c.outputs[kDataGrad].as<T>();
  if (c.reqs[kDataGrad] == WriteReq::kWrite) {
    std::fill_n(grad, c.outputs[kDataGrad].size(), T{0});
  }
  const int64_t bins = regions.bins(), size = regions.class_size();
  const int64_t channels = c.inputs[kOgrad].shape[1];
  ParallelForPlain(channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = 0; n < c.inputs[kOgrad].shape[0]; ++n) {
      for (int64_t k = begin / size; k * size < end; ++k) {
        regions.ForEachBin(n, k, [&](absl::Span<const Tap<T>> taps, int64_t i, int64_t j) {
          for (int64_t of = std::max(k * size, begin); of < std::min((k + 1) * size, end); ++of) {
            T* plane = grad + regions.PlaneAt(n, of, i, j);
            const T head = ograd[((n * channels + of) * bins + i) * bins + j];
            for (const Tap<T>& tap : taps) plane[tap.pixel] += head * tap.weight;
          }
        });
      }
    }
  });
}

// Computes the gradient of trans. Regions have shifts of their own, so threads share the regions.
template <typename T>
void BackwardTrans(const KernelContext& c, const Regions<T>& regions) {
  using enum DeformablePsroiPoolingGradientArrays::Input;
  using enum DeformablePsroiPoolingGradientArrays::Output;
  const auto& param = c.param<DeformablePsroiPoolingParam>();
  const T* data = c.inputs[kData].as<T>();
  const T* ograd = c.inputs[kOgrad].as<T>();
  T* grad = c.outputs[kTransGrad].as<T>();
  if (c.reqs[kTransGrad] == WriteReq::kWrite) {
    std::fill_n(grad, c.outputs[kTransGrad].size(), T{0});
  }
  const int64_t bins = regions.bins(), size = regions.class_size();
  const int64_t channels = c.inputs[kOgrad].shape[1], area = param.parts() * param.parts();
  ParallelForPlain(c.inputs[kOgrad].shape[0], 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const T height = regions.Rows(n).length, width = regions.Columns(n).length;
      const T std = static_cast<T>(param.trans_std);
      for (int64_t k = 0; k < regions.classes(); ++k) {
        regions.ForEachBin(n, k, [&](absl::Span<const Tap<T>> taps, int64_t i, int64_t j) {
          T sum_y = 0, sum_x = 0;
          for (int64_t of = k * size; of < (k + 1) * size; ++of) {
            const T* plane = data + regions.PlaneAt(n, of, i, j);
            T slope_y = 0, slope_x = 0;
            for (const Tap<T>& tap : taps) {
              slope_y += plane[tap.pixel] * tap.slope_y;
              slope_x += plane[tap.pixel] * tap.slope_x;
            }
            const T head = ograd[((n * channels + of) * bins + i) * bins + j];
            sum_y += head * slope_y;
            sum_x += head * slope_x;
          }
          T* shift = grad + regions.ShiftAt(n, k, i, j);
          shift[0] += sum_x * std * width;
          shift[area] += sum_y * std * height;
        });
      }
    }
  });
}

template <typename T>
void Backward(const KernelContext& c) {
  using enum DeformablePsroiPoolingGradientArrays::Input;
  using enum DeformablePsroiPoolingGradientArrays::Output;
  const auto& param = c.param<DeformablePsroiPoolingParam>();
  const Regions<T> regions(param, c.inputs[kData].shape, c.inputs[kRois],
                           param.no_trans ? nullptr : &c.inputs[kTrans]);
  if (c.reqs[kDataGrad] != WriteReq::kNull) BackwardData(c, regions);
  if (c.reqs[kRoisGrad] == WriteReq::kWrite) {
    std::fill_n(c.outputs[kRoisGrad].as<T>(), c.outputs[kRoisGrad].size(), T{0});
  }
  if (!param.no_trans && c.reqs[kTransGrad] != WriteReq::kNull) BackwardTrans(c, regions);
}

absl::Status DeformablePsroiPoolingCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Forward<typename decltype(type)::type>(c); });
}

absl::Status DeformablePsroiPoolingBackwardCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.outputs[0].dtype,
                             [&](auto type) { Backward<typename decltype(type)::type>(c); });
}

COOPER_REGISTER_KERNEL(_contrib_DeformablePSROIPooling, DeviceType::kCpu, kFloat32Or64,
                       DeformablePsroiPoolingCpu);
COOPER_REGISTER_KERNEL(_backward__contrib_DeformablePSROIPooling, DeviceType::kCpu, kFloat32Or64,
                       DeformablePsroiPoolingBackwardCpu);

}  // namespace
}  // namespace cooper
