// Kernels of Correlation and its gradient.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/correlation_param.h"
#include "symbol/schema/extent_product.h"

namespace cooper {
namespace {

// The padded images, in which every patch lies, and the output (batch, displacements^2, rows,
// columns).
struct Geometry {
  const CorrelationParam& param;
  int64_t batch, channels, height, width;  // of the images
  int64_t displaced, rows, columns;        // of the output

  Geometry(const CorrelationParam& correlation, const Shape& data, const Shape& output)
      : param(correlation),
        batch(data[0]),
        channels(data[1]),
        height(data[2]),
        width(data[3]),
        displaced(output[1]),
        rows(output[2]),
        columns(output[3]) {}

  // With an even kernel_size, the last patches end one element after the padding.
  int64_t Padded(int64_t extent) const {
    return extent + 2 * param.pad_size + (param.kernel_size - 1) % 2;
  }
  int64_t padded_width() const { return Padded(width); }
  int64_t padded_plane() const { return Padded(height) * padded_width(); }
  int64_t padded_size() const { return batch * channels * padded_plane(); }
  int64_t planes() const { return batch * channels; }

  // Returns the offset from a patch of the first image to its counterpart in the second.
  int64_t Displacement(int64_t d) const {
    const int64_t dx = (d % param.displacements() - param.radius()) * param.stride2;
    const int64_t dy = (d / param.displacements() - param.radius()) * param.stride2;
    return dy * padded_width() + dx;
  }
  // Calls fn(offset in a padded plane) for each element of the first patch of a row.
  template <typename Fn>
  void ForEachInPatch(int64_t row, Fn&& fn) const {
    for (int64_t h = 0; h < param.kernel_size; ++h) {
      const int64_t y = row * param.stride1 + param.max_displacement + h;
      for (int64_t w = 0; w < param.kernel_size; ++w) {
        fn(y * padded_width() + param.max_displacement + w);
      }
    }
  }
};

// The number of patches of a row that are computed together: a cache line of floats.
constexpr int kLanes = 16;
using AllLanes = std::integral_constant<int, kLanes>;

// Calls fn(first patch, lanes) for groups of patches of a row, where lanes is AllLanes or a smaller
// number.
template <typename Fn>
void ForEachLanes(int64_t columns, Fn&& fn) {
  int64_t j = 0;
  for (; j + kLanes <= columns; j += kLanes) fn(j, AllLanes());
  if (j < columns) fn(j, static_cast<int>(columns - j));
}

template <typename T>
void Pad(const Geometry& g, const T* data, T* padded) {
  std::fill_n(padded, g.padded_size(), T{0});
  for (int64_t plane = 0; plane < g.planes(); ++plane) {
    for (int64_t y = 0; y < g.height; ++y) {
      std::copy_n(data + (plane * g.height + y) * g.width, g.width,
                  padded + plane * g.padded_plane() + (y + g.param.pad_size) * g.padded_width() +
                      g.param.pad_size);
    }
  }
}

template <typename T>
T Scale(const Geometry& g) {
  return T{1} / static_cast<T>(g.param.kernel_size * g.param.kernel_size * g.channels);
}

// Computes patches of row `row` for displacement `d`, beginning at offset `at` of the planes.
template <bool kMultiply, typename T, typename Lanes>
void Correlate(const Geometry& g, const T* a, const T* b, int64_t d, int64_t row, int64_t at,
               Lanes lanes, T* sums) {
  const int64_t stride = g.param.stride1;
  const int64_t to_b = g.Displacement(d);
  for (int i = 0; i < lanes; ++i) sums[i] = 0;
  g.ForEachInPatch(row, [&](int64_t element) {
    for (int64_t k = 0; k < g.channels; ++k) {
      const T* const x = a + k * g.padded_plane() + element + at * stride;
      const T* const y = b + k * g.padded_plane() + element + at * stride + to_b;
      if (stride == 1) {
        for (int i = 0; i < lanes; ++i) sums[i] += kMultiply ? x[i] * y[i] : std::abs(x[i] - y[i]);
      } else {
        for (int i = 0; i < lanes; ++i) {
          const int64_t j = i * stride;
          sums[i] += kMultiply ? x[j] * y[j] : std::abs(x[j] - y[j]);
        }
      }
    }
  });
}

template <bool kMultiply, typename T>
void Forward(const KernelContext& c) {
  using enum CorrelationArrays::Input;
  const Geometry g(c.param<CorrelationParam>(), c.inputs[kData1].shape, c.outputs[0].shape);
  auto* const a = static_cast<T*>(c.workspace);
  T* const b = a + g.padded_size();
  Pad(g, c.inputs[kData1].as<T>(), a);
  Pad(g, c.inputs[kData2].as<T>(), b);
  T* const out = c.outputs[0].as<T>();
  const T scale = Scale<T>(g);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const int64_t cost = g.columns * g.channels * g.param.kernel_size * g.param.kernel_size;
  ParallelFor(g.batch * g.displaced * g.rows, RowGrain(cost), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item % g.rows, d = item / g.rows % g.displaced;
      const int64_t sample = item / (g.rows * g.displaced) * g.channels * g.padded_plane();
      ForEachLanes(g.columns, [&](int64_t j, auto lanes) {
        T sums[kLanes];
        Correlate<kMultiply>(g, a + sample, b + sample, d, row, j, lanes, sums);
        T* const to = out + item * g.columns + j;
        for (int i = 0; i < lanes; ++i) Store(to + i, sums[i] * scale, add);
      });
    }
  });
}

// Adds the terms of displacement `d` to the gradients of one padded plane of both images.
template <bool kMultiply, typename T>
void AddGradients(const Geometry& g, const T* ograd, int64_t d, T scale, const T* a, const T* b,
                  T* grad_a, T* grad_b) {
  const int64_t stride = g.param.stride1;
  const int64_t to_b = g.Displacement(d);
  for (int64_t row = 0; row < g.rows; ++row) {
    const T* const head = ograd + row * g.columns;
    g.ForEachInPatch(row, [&](int64_t element) {
      const T* const x = a + element;
      const T* const y = b + element + to_b;
      const auto slope = [&](int64_t i, bool first) {
        if (kMultiply) return first ? y[i] : x[i];
        return (x[i] >= y[i]) == first ? T{1} : T{-1};
      };
      // One image at a time: the compiler cannot know that the planes do not overlap.
      if (grad_a != nullptr) {
        T* const to = grad_a + element;
        for (int64_t j = 0; j < g.columns; ++j) {
          to[j * stride] += head[j] * scale * slope(j * stride, true);
        }
      }
      if (grad_b != nullptr) {
        T* const to = grad_b + element + to_b;
        for (int64_t j = 0; j < g.columns; ++j) {
          to[j * stride] += head[j] * scale * slope(j * stride, false);
        }
      }
    });
  }
}

// Stores the image's part of a padded plane.
template <typename T>
void StorePlane(const Geometry& g, const T* padded, bool add, T* plane) {
  for (int64_t y = 0; y < g.height; ++y) {
    const T* const from = padded + (y + g.param.pad_size) * g.padded_width() + g.param.pad_size;
    for (int64_t x = 0; x < g.width; ++x) Store(plane + y * g.width + x, from[x], add);
  }
}

template <bool kMultiply, typename T>
void Backward(const KernelContext& c) {
  using enum CorrelationGradientArrays::Input;
  const Geometry g(c.param<CorrelationParam>(), c.inputs[kData1].shape, c.inputs[kOgrad].shape);
  auto* const a = static_cast<T*>(c.workspace);
  T* const b = a + g.padded_size();
  T* const grads[2] = {b + g.padded_size(), b + 2 * g.padded_size()};
  Pad(g, c.inputs[kData1].as<T>(), a);
  Pad(g, c.inputs[kData2].as<T>(), b);
  const T* const ograd = c.inputs[kOgrad].as<T>();
  const T scale = Scale<T>(g);
  const int64_t map = g.rows * g.columns;
  ParallelFor(g.planes(), RowGrain(g.displaced * map), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t at = plane * g.padded_plane();
      T* planes[2] = {nullptr, nullptr};
      for (int i = 0; i < 2; ++i) {
        if (c.reqs[i] == WriteReq::kNull) continue;
        planes[i] = grads[i] + at;
        std::fill_n(planes[i], g.padded_plane(), T{0});
      }
      for (int64_t d = 0; d < g.displaced; ++d) {
        AddGradients<kMultiply>(g, ograd + (plane / g.channels * g.displaced + d) * map, d, scale,
                                a + at, b + at, planes[0], planes[1]);
      }
      for (int i = 0; i < 2; ++i) {
        if (planes[i] == nullptr) continue;
        StorePlane(g, planes[i], c.reqs[i] == WriteReq::kAdd,
                   c.outputs[i].as<T>() + plane * g.height * g.width);
      }
    }
  });
}

// Returns a workspace for `count` arrays of padded images.
absl::StatusOr<Prepared> PrepareImages(const PrepareContext& c, int count, const ArrayView& data,
                                       const Shape& output) {
  const Geometry g(c.param<CorrelationParam>(), data.shape, output);
  const int64_t plane = ExtentProduct(ExtentProduct(g.Padded(g.height), g.padded_width()),
                                      count * SizeOf(data.dtype));
  const int64_t bytes = ExtentProduct(plane, g.planes());
  // No memory is that large, and the planner must be able to add such numbers.
  if (std::max(plane, bytes) > std::numeric_limits<int64_t>::max() / 16) {
    return absl::InvalidArgumentError(absl::StrCat("images ", data.shape.ToString(),
                                                   " with pad_size ", g.param.pad_size,
                                                   " have too many elements"));
  }
  return Prepared{.workspace_bytes = bytes};
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  using enum CorrelationArrays::Input;
  return PrepareImages(c, 2, c.inputs[kData1], c.outputs[0].shape);
}

absl::StatusOr<Prepared> PrepareBackward(const PrepareContext& c) {
  using enum CorrelationGradientArrays::Input;
  return PrepareImages(c, 4, c.inputs[kData1], c.inputs[kOgrad].shape);
}

absl::Status CorrelationCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat32Or64(c.outputs[0].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    c.param<CorrelationParam>().is_multiply ? Forward<true, T>(c) : Forward<false, T>(c);
  });
}

absl::Status CorrelationBackwardCpu(const KernelContext& c) {
  using enum CorrelationGradientArrays::Input;
  return DispatchFloat32Or64(c.inputs[kOgrad].dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    c.param<CorrelationParam>().is_multiply ? Backward<true, T>(c) : Backward<false, T>(c);
  });
}

COOPER_REGISTER_KERNEL(Correlation, DeviceType::kCpu, kFloat32Or64, CorrelationCpu, Prepare);
COOPER_REGISTER_KERNEL(_backward_Correlation, DeviceType::kCpu, kFloat32Or64,
                       CorrelationBackwardCpu, PrepareBackward);

}  // namespace
}  // namespace cooper
