#ifndef COOPER_EXECUTOR_CPU_NN_POOLING_LANES_H_
#define COOPER_EXECUTOR_CPU_NN_POOLING_LANES_H_

// Maxima, means and sums of windows, several at a time as vectors have lanes: of neighbouring
// channels where these are the last axis, else of neighbouring windows in a row. Each lane sees its
// elements in the order of ForEachElement.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/cpu/dispatch_float.h"
#include "executor/cpu/nn/pooling_window.h"

namespace cooper {

// Lanes that are worked on together: a cache line of floats.
inline constexpr int kPoolingLanes = 16;

// What a window makes of its elements, for a lane.
template <typename C>
struct PoolingMax {
  static constexpr C kFirst = std::numeric_limits<C>::lowest();
  static C Take(C so_far, C element) { return element > so_far ? element : so_far; }
};
template <typename C>
struct PoolingSum {
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
    for (int i = 0; i < lanes; ++i) top[i] = PoolingMax<C>::kFirst;
    p.ForEachElement(window, [&](int64_t element) {
      const T* const from = data + begin + element * p.channels;
      for (int i = 0; i < lanes; ++i) top[i] = PoolingMax<C>::Take(top[i], Load(from[i]));
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

// Windows of one row of positions, [first, first + count), and one row of the image that they see:
// calls fn(lane, column) with each of its elements, column by column.
template <typename Fn>
void ForEachInRow(const PoolingPlanes& p, int64_t first, int64_t count, Fn&& fn) {
  const int64_t stride = p.stride[2];
  for (int64_t k = 0; k < p.kernel[2]; ++k) {
    const int64_t shift = first * stride + k - p.pad[2];
    const int64_t begin =
        std::clamp<int64_t>(shift >= 0 ? 0 : (-shift + stride - 1) / stride, 0, count);
    const int64_t end = std::clamp<int64_t>(
        p.in[2] <= shift ? 0 : (p.in[2] - shift + stride - 1) / stride, begin, count);
    if (begin == 0 && end == kPoolingLanes && stride == 1) {
      for (int i = 0; i < kPoolingLanes; ++i) fn(i, i + shift);
    } else if (begin == 0 && end == kPoolingLanes && stride == 2) {
      for (int i = 0; i < kPoolingLanes; ++i) fn(i, 2 * i + shift);
    } else if (stride == 1) {
      for (int64_t i = begin; i < end; ++i) fn(i, i + shift);
    } else if (stride == 2) {
      for (int64_t i = begin; i < end; ++i) fn(i, 2 * i + shift);
    } else {
      for (int64_t i = begin; i < end; ++i) fn(i, i * stride + shift);
    }
  }
}

// Calls fn(d, h, first, count) for each part of a row of positions.
template <typename Fn>
void ForEachRowPart(const PoolingPlanes& p, Fn&& fn) {
  for (int64_t d = 0; d < p.out[0]; ++d) {
    for (int64_t h = 0; h < p.out[1]; ++h) {
      for (int64_t first = 0; first < p.out[2]; first += kPoolingLanes) {
        fn(d, h, first, std::min<int64_t>(kPoolingLanes, p.out[2] - first));
      }
    }
  }
}

// Calls fn(first element of the row) for each row of the image that windows at (d, h) see.
template <typename Fn>
void ForEachImageRow(const PoolingPlanes& p, int64_t d, int64_t h, Fn&& fn) {
  const PoolingWindow window = p.WindowAt(d, h, 0);
  for (int64_t z = window.begin[0]; z < window.end[0]; ++z) {
    for (int64_t y = window.begin[1]; y < window.end[1]; ++y) fn((z * p.in[1] + y) * p.in[2]);
  }
}

// Of one plane, whose elements lie side by side.
template <typename Op, typename T>
void PoolRows(const PoolingPlanes& p, bool mean, const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  ForEachRowPart(p, [&](int64_t d, int64_t h, int64_t first, int64_t count) {
    C value[kPoolingLanes];
    for (C& v : value) v = Op::kFirst;
    ForEachImageRow(p, d, h, [&](int64_t row) {
      ForEachInRow(p, first, count, [&](int64_t i, int64_t column) {
        value[i] = Op::Take(value[i], Load(data[row + column]));
      });
    });
    T* const to = out + (d * p.out[1] + h) * p.out[2] + first;
    if (mean) {
      C divisors[kPoolingLanes];
      p.RowDivisors(d, h, first, count, divisors);
      for (int64_t i = 0; i < count; ++i) value[i] /= divisors[i];
    }
    for (int64_t i = 0; i < count; ++i) Store(to + i, value[i], add);
  });
}

template <typename T>
void SpreadToRows(const PoolingPlanes& p, bool mean, const T* ograd, T* grad) {
  using C = ComputeType<T>;
  ForEachRowPart(p, [&](int64_t d, int64_t h, int64_t first, int64_t count) {
    const T* const from = ograd + (d * p.out[1] + h) * p.out[2] + first;
    C value[kPoolingLanes] = {};
    for (int64_t i = 0; i < count; ++i) value[i] = Load(from[i]);
    if (mean) {
      C divisors[kPoolingLanes];
      p.RowDivisors(d, h, first, count, divisors);
      for (int64_t i = 0; i < count; ++i) value[i] /= divisors[i];
    }
    ForEachImageRow(p, d, h, [&](int64_t row) {
      ForEachInRow(p, first, count,
                   [&](int64_t i, int64_t column) { Store(grad + row + column, value[i], true); });
    });
  });
}

// Planes have at most 2^30 elements. Where the first maximum is, is found for all lanes
// together; then each goes there by itself.
template <typename T>
void SendToMaxRows(const PoolingPlanes& p, const T* ograd, const T* data, T* grad) {
  using C = ComputeType<T>;
  ForEachRowPart(p, [&](int64_t d, int64_t h, int64_t first, int64_t count) {
    C top[kPoolingLanes];
    int32_t where[kPoolingLanes];
    for (C& value : top) value = PoolingMax<C>::kFirst;
    for (int32_t& at : where) at = -1;
    ForEachImageRow(p, d, h, [&](int64_t row) {
      ForEachInRow(p, first, count, [&](int64_t i, int64_t column) {
        const C element = Load(data[row + column]);
        const bool better = (element > top[i]) | ((where[i] < 0) & (element == top[i]));
        top[i] = better ? element : top[i];
        where[i] = better ? static_cast<int32_t>(row + column) : where[i];
      });
    });
    const T* const from = ograd + (d * p.out[1] + h) * p.out[2] + first;
    for (int64_t i = 0; i < count; ++i) {
      if (where[i] >= 0) Store(grad + where[i], Load(from[i]), true);
    }
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_NN_POOLING_LANES_H_
