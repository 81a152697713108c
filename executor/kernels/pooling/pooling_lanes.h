#ifndef COOPER_EXECUTOR_KERNELS_POOLING_POOLING_LANES_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_POOLING_LANES_H_

// Maxima, means and sums of windows where channels are the last axis: of several neighbouring ones
// at a time, as vectors have lanes. Each lane sees its elements in the order of ForEachElement.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/pooling/lowest_element.h"
#include "executor/kernels/pooling/pooling_window.h"

namespace cooper {

// Lanes that are worked on together: a cache line of floats.
inline constexpr int kPoolingLanes = 16;

// What a window makes of its elements: of one, or of as many as there are lanes.
template <typename T>
struct PoolingMax {
  using C = ComputeType<T>;
  static constexpr C kFirst = kLowestElement<T>;
  template <typename V>
  static void Take(const V& element, V& so_far) {
    so_far = element > so_far ? element : so_far;
  }
};
template <typename T>
struct PoolingSum {
  using C = ComputeType<T>;
  static constexpr C kFirst = 0;
  template <typename V>
  static void Take(const V& element, V& so_far) {
    so_far = so_far + element;
  }
};

// All lanes, as a number that copies are compiled for.
using AllPoolingLanes = std::integral_constant<int, kPoolingLanes>;

// A float of each lane, in registers: loops over so few are not always made vectors of.
using LaneFloats __attribute__((vector_size(kPoolingLanes * sizeof(float)))) = float;

template <typename Lanes>
inline void LoadLanes(const float* from, Lanes lanes, LaneFloats& to) {
  std::memcpy(&to, from, static_cast<size_t>(lanes) * sizeof(float));
}

// to = values, or with `add` to += values.
template <typename Lanes>
inline void StoreLanes(LaneFloats& values, Lanes lanes, float* to, bool add) {
  if (add) {
    LaneFloats before = {};
    LoadLanes(to, lanes, before);
    values += before;
  }
  std::memcpy(to, &values, static_cast<size_t>(lanes) * sizeof(float));
}

// Lane `i` has channel `channel` + i of image `n`. Lanes: AllPoolingLanes, or int for fewer.
template <typename Op, typename Lanes>
void PoolChannels(const PoolingPlanes& p, bool mean, int64_t n, int64_t channel, Lanes lanes,
                  const float* data, float* out, bool add) {
  data += p.Begin(n, channel, p.in_size());
  out += p.Begin(n, channel, p.out_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    LaneFloats value = LaneFloats{} + Op::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats values = {};
      LoadLanes(data + element * p.channels, lanes, values);
      Op::Take(values, value);
    });
    if (mean) value /= static_cast<float>(window.divisor);
    StoreLanes(value, lanes, out + position * p.channels, add);
  });
}

// grad += the gradient of a mean or sum.
template <typename Lanes>
void SpreadToChannels(const PoolingPlanes& p, bool mean, int64_t n, int64_t channel, Lanes lanes,
                      const float* ograd, float* grad) {
  ograd += p.Begin(n, channel, p.out_size());
  grad += p.Begin(n, channel, p.in_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    LaneFloats value = {};
    LoadLanes(ograd + position * p.channels, lanes, value);
    if (mean) value /= static_cast<float>(window.divisor);
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats share = value;
      StoreLanes(share, lanes, grad + element * p.channels, true);
    });
  });
}

// grad += the gradient of a maximum: the first element that is equal to it has it all. Found by
// looking twice, since lanes can compare but not go to places of their own.
template <typename Lanes>
void SendToMaxChannels(const PoolingPlanes& p, int64_t n, int64_t channel, Lanes lanes,
                       const float* ograd, const float* data, float* grad) {
  const int64_t begin = p.Begin(n, channel, p.in_size());
  data += begin;
  grad += begin;
  ograd += p.Begin(n, channel, p.out_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    LaneFloats top = LaneFloats{} + PoolingMax<float>::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats values = {};
      LoadLanes(data + element * p.channels, lanes, values);
      PoolingMax<float>::Take(values, top);
    });
    LaneFloats left = {};
    LoadLanes(ograd + position * p.channels, lanes, left);
    p.ForEachElement(window, [&](int64_t element) {
      LaneFloats values = {};
      LoadLanes(data + element * p.channels, lanes, values);
      const auto is_top = values == top;
      LaneFloats share = is_top ? left : LaneFloats{};
      left = is_top ? LaneFloats{} : left;
      StoreLanes(share, lanes, grad + element * p.channels, true);
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_POOLING_LANES_H_
