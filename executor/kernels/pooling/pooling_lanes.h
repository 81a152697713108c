#ifndef COOPER_EXECUTOR_KERNELS_POOLING_POOLING_LANES_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_POOLING_LANES_H_

// Computes maxima, means and sums of windows when channels are the last axis, for several
// neighbouring channels at a time, in vector lanes. Each lane visits its elements in the order of
// ForEachElement.
//
// pooling.cc calls it for float32 arrays; other dtypes and other layouts use pooling_rows.h or the
// loops of pooling_window.h.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/pooling/lowest_element.h"
#include "executor/kernels/pooling/pooling_window.h"

namespace cooper {

// The number of channels that are processed together: a cache line of floats. A vector of them
// takes one register with AVX-512 and several registers with less.
inline constexpr int kPoolingLanes = 16;

// The maximum of a window. Take combines one element, or a vector of them, with the result so far;
// kFirst is the initial value. `element > so_far` is false for NaN, so a NaN among the elements is
// ignored.
template <typename T>
struct PoolingMax {
  // The type of the reduction: float for 16-bit floats.
  using C = ComputeType<T>;
  // The result for a window without elements.
  static constexpr C kFirst = kLowestElement<T>;
  template <typename V>
  static void Take(const V& element, V& so_far) {
    so_far = element > so_far ? element : so_far;
  }
};
// The sum of a window, computed in the compute type, in the order of the elements.
template <typename T>
struct PoolingSum {
  using C = ComputeType<T>;
  static constexpr C kFirst = 0;
  template <typename V>
  static void Take(const V& element, V& so_far) {
    so_far = so_far + element;
  }
};

// Numbers of lanes as compile-time constants: a group of channels, and half of one, which is a
// block of the layout nChw8c that convolutions use with AVX2.
using AllPoolingLanes = std::integral_constant<int, kPoolingLanes>;
using HalfPoolingLanes = std::integral_constant<int, kPoolingLanes / 2>;

// One float for each of the lanes: a constant number, or at most kPoolingLanes for int. A vector
// type, because compilers do not always vectorise such short loops.
template <typename Lanes>
struct LaneFloatsOf {
  typedef float Type __attribute__((vector_size(kPoolingLanes * sizeof(float))));  // NOLINT
};
template <>
struct LaneFloatsOf<HalfPoolingLanes> {
  typedef float Type __attribute__((vector_size(kPoolingLanes / 2 * sizeof(float))));  // NOLINT
};
template <typename Lanes>
using LaneFloats = typename LaneFloatsOf<Lanes>::Type;

// Loads `lanes` floats; the other lanes of `to` do not change. A constant number of lanes makes the
// copy one vector load.
template <typename Lanes>
inline void LoadLanes(const float* from, Lanes lanes, LaneFloats<Lanes>& to) {
  std::memcpy(&to, from, static_cast<size_t>(lanes) * sizeof(float));
}

// Computes to = values, or with `add` to += values. `values` is overwritten with the sum if `add`
// is set. Elements beyond `lanes` are unchanged in memory.
template <typename Lanes>
inline void StoreLanes(LaneFloats<Lanes>& values, Lanes lanes, float* to, bool add) {
  if (add) {
    LaneFloats<Lanes> before = {};
    LoadLanes(to, lanes, before);
    values += before;
  }
  std::memcpy(to, &values, static_cast<size_t>(lanes) * sizeof(float));
}

// Reduces all windows of the channels [channel, channel + lanes) of image `n`. Lanes is
// a constant number, or int. Op is PoolingMax<float> or PoolingSum<float>. `data`
// and `out` are the whole arrays, with channels last. Different images and ranges of channels may
// run on different threads.
template <typename Op, typename Lanes>
void PoolChannels(const PoolingPlanes& p, bool mean, int64_t n, int64_t channel, Lanes lanes,
                  const float* data, float* out, bool add) {
  data += p.Begin(n, channel, p.in_size());
  out += p.Begin(n, channel, p.out_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    LaneFloats<Lanes> value = LaneFloats<Lanes>{} + Op::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats<Lanes> values = {};
      LoadLanes(data + element * p.channels, lanes, values);
      Op::Take(values, value);
    });
    if (mean) value /= static_cast<float>(window.divisor);
    StoreLanes(value, lanes, out + position * p.channels, add);
  });
}

// Adds the gradient of a mean or sum to grad. `ograd` and `grad` are the whole arrays; with `mean`
// each element receives ograd / divisor, else ograd. `grad` holds zeros or the gradient to which
// this one is added. Threads must not share channels of an image.
template <typename Lanes>
void SumGradientChannels(const PoolingPlanes& p, bool mean, int64_t n, int64_t channel, Lanes lanes,
                         const float* ograd, float* grad) {
  ograd += p.Begin(n, channel, p.out_size());
  grad += p.Begin(n, channel, p.in_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    LaneFloats<Lanes> value = {};
    LoadLanes(ograd + position * p.channels, lanes, value);
    if (mean) value /= static_cast<float>(window.divisor);
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats<Lanes> share = value;
      StoreLanes(share, lanes, grad + element * p.channels, true);
    });
  });
}

// Adds the gradient of a maximum to grad: the first element that equals the maximum gets all of it.
// Visits each window twice, because lanes can compare but cannot store to different addresses.
// `ograd`, `data` and `grad` are the whole arrays. A window without an element equal to its
// maximum, such as one of NaNs, gives nothing.
template <typename Lanes>
void MaxGradientChannels(const PoolingPlanes& p, int64_t n, int64_t channel, Lanes lanes,
                         const float* ograd, const float* data, float* grad) {
  const int64_t begin = p.Begin(n, channel, p.in_size());
  data += begin;
  grad += begin;
  ograd += p.Begin(n, channel, p.out_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    LaneFloats<Lanes> top = LaneFloats<Lanes>{} + PoolingMax<float>::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats<Lanes> values = {};
      LoadLanes(data + element * p.channels, lanes, values);
      PoolingMax<float>::Take(values, top);
    });
    LaneFloats<Lanes> left = {};
    LoadLanes(ograd + position * p.channels, lanes, left);
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats<Lanes> values = {};
      LoadLanes(data + element * p.channels, lanes, values);
      const auto is_top = values == top;
      LaneFloats<Lanes> share = is_top ? left : LaneFloats<Lanes>{};
      left = is_top ? LaneFloats<Lanes>{} : left;
      StoreLanes(share, lanes, grad + element * p.channels, true);
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_POOLING_LANES_H_
