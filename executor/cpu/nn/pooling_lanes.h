#ifndef COOPER_EXECUTOR_CPU_NN_POOLING_LANES_H_
#define COOPER_EXECUTOR_CPU_NN_POOLING_LANES_H_

// Maxima, means and sums of windows where channels are the last axis: of several neighbouring ones
// at a time, as vectors have lanes. Each lane sees its elements in the order of ForEachElement.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "executor/cpu/dispatch_float.h"
#include "executor/cpu/nn/pooling_window.h"
#include "executor/elements/lowest_element.h"

namespace cooper {

// Lanes that are worked on together: a cache line of floats.
inline constexpr int kPoolingLanes = 16;

// What a window makes of its elements, for a lane.
template <typename T>
struct PoolingMax {
  using C = ComputeType<T>;
  static constexpr C kFirst = kLowestElement<T>;
  static C Take(C so_far, C element) { return element > so_far ? element : so_far; }
};
template <typename T>
struct PoolingSum {
  using C = ComputeType<T>;
  static constexpr C kFirst = 0;
  static C Take(C so_far, C element) { return so_far + element; }
};

// All lanes, as a number that loops are compiled for.
using AllPoolingLanes = std::integral_constant<int, kPoolingLanes>;

// Lane `i` has channel `channel` + i of image `n`. Lanes: AllPoolingLanes, or int for fewer.
template <typename Op, typename Lanes, typename T>
void PoolChannels(const PoolingPlanes& p, bool mean, int64_t n, int64_t channel, Lanes lanes,
                  const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  data += p.Begin(n, channel, p.in_size());
  out += p.Begin(n, channel, p.out_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    C value[kPoolingLanes];
    for (int i = 0; i < lanes; ++i) value[i] = Op::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      const T* const from = data + element * p.channels;
      for (int i = 0; i < lanes; ++i) value[i] = Op::Take(value[i], Load(from[i]));
    });
    const C divisor = mean ? static_cast<C>(window.divisor) : C{1};
    T* const to = out + position * p.channels;
    for (int i = 0; i < lanes; ++i) Store(to + i, value[i] / divisor, add);
  });
}

// grad += the gradient of a mean or sum.
template <typename Lanes, typename T>
void SpreadToChannels(const PoolingPlanes& p, bool mean, int64_t n, int64_t channel, Lanes lanes,
                      const T* ograd, T* grad) {
  using C = ComputeType<T>;
  ograd += p.Begin(n, channel, p.out_size());
  grad += p.Begin(n, channel, p.in_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    const C divisor = mean ? static_cast<C>(window.divisor) : C{1};
    const T* const from = ograd + position * p.channels;
    C value[kPoolingLanes];
    for (int i = 0; i < lanes; ++i) value[i] = Load(from[i]) / divisor;
    p.ForEachElement(window, [&](int64_t element) {
      T* const to = grad + element * p.channels;
      for (int i = 0; i < lanes; ++i) Store(to + i, value[i], true);
    });
  });
}

// grad += the gradient of a maximum: the first element that is equal to it has it all. Found by
// looking twice, since lanes can compare but not go to places of their own.
template <typename Lanes, typename T>
void SendToMaxChannels(const PoolingPlanes& p, int64_t n, int64_t channel, Lanes lanes,
                       const T* ograd, const T* data, T* grad) {
  using C = ComputeType<T>;
  const int64_t begin = p.Begin(n, channel, p.in_size());
  ograd += p.Begin(n, channel, p.out_size());
  p.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
    C top[kPoolingLanes], left[kPoolingLanes];
    for (int i = 0; i < lanes; ++i) top[i] = PoolingMax<T>::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      const T* const from = data + begin + element * p.channels;
      for (int i = 0; i < lanes; ++i) top[i] = PoolingMax<T>::Take(top[i], Load(from[i]));
    });
    for (int i = 0; i < lanes; ++i) left[i] = Load(ograd[position * p.channels + i]);
    p.ForEachElement(window, [&](int64_t element) {
      const T* const from = data + begin + element * p.channels;
      T* const to = grad + begin + element * p.channels;
      for (int i = 0; i < lanes; ++i) {
        const bool is_top = Load(from[i]) == top[i];
        Store(to + i, is_top ? left[i] : C{0}, true);
        left[i] = is_top ? C{0} : left[i];
      }
    });
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_NN_POOLING_LANES_H_
