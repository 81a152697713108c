#ifndef COOPER_EXECUTOR_KERNELS_POOLING_POOLING_ROWS_H_
#define COOPER_EXECUTOR_KERNELS_POOLING_POOLING_ROWS_H_

// Computes maxima, means and sums of windows in planes whose elements are contiguous. All inner
// loops are over neighbours, so that they vectorise:
//
//   1. The rows of the image that a row of windows covers are reduced to one row, padded at its
//   ends.
//   2. Each window reduces its elements of that row.
//
// pooling.cc calls it for layouts with channels first.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/pooling/pooling_lanes.h"
#include "executor/kernels/pooling/pooling_window.h"
#include "executor/kernels/reducers/lane_sum.h"

namespace cooper {

// The most elements of a reduced row. It bounds the stack: each function has two to four arrays of
// this many elements.
inline constexpr int64_t kPoolingRow = 1024;

// `count` neighbouring windows at (d, h) from `first` on. They cover `length` columns from `column`
// on; the columns [begin, end) of these are inside the image, the others are padding. Columns are
// counted in the image; `column` is negative in the left padding. Positions on the first two axes
// are those of the output, columns those of the input.
struct PoolingRow {
  // (d, h) is the position of the row of windows on the first two axes.
  int64_t d, h, first, count;
  int64_t column, length, begin, end;
};

// Returns whether the kernel is narrow enough for a reduced row. The caller uses another kernel if
// it is not.
inline bool FitsPoolingRow(const PoolingPlanes& p) { return p.kernel[2] <= kPoolingRow / 2; }

// Calls fn(row) for all windows of a plane. Windows of one output row are split so that a row has
// at most kPoolingRow columns.
template <typename Fn>
void ForEachPoolingRow(const PoolingPlanes& p, Fn&& fn) {
  const int64_t most = (kPoolingRow - p.kernel[2]) / p.stride[2] + 1;
  for (int64_t d = 0; d < p.out[0]; ++d) {
    for (int64_t h = 0; h < p.out[1]; ++h) {
      for (int64_t first = 0; first < p.out[2]; first += most) {
        PoolingRow r{.d = d, .h = h, .first = first};
        r.count = std::min(most, p.out[2] - first);
        r.column = first * p.stride[2] - p.pad[2];
        r.length = (r.count - 1) * p.stride[2] + p.kernel[2];
        r.begin = std::clamp<int64_t>(-r.column, 0, r.length);
        r.end = std::clamp<int64_t>(p.in[2] - r.column, r.begin, r.length);
        fn(r);
      }
    }
  }
}

// Calls fn(i) for each row of the image that the windows cover. Column j of the windows is element
// i + j of the plane. Callers read only columns in [r.begin, r.end): the others are outside the
// image.
template <typename Fn>
void ForEachImageRow(const PoolingPlanes& p, const PoolingRow& r, Fn&& fn) {
  const PoolingWindow window = p.WindowAt(r.d, r.h, r.first);
  for (int64_t z = window.begin[0]; z < window.end[0]; ++z) {
    for (int64_t y = window.begin[1]; y < window.end[1]; ++y) {
      fn((z * p.in[1] + y) * p.in[2] + r.column);
    }
  }
}

// Reduces the elements of `row` that window i covers to values[i]. The windows are kStride apart
// and kKernel wide; 0 stands for p.stride[2] and p.kernel[2]. `row` has (count - 1) * stride +
// kernel elements. With a kernel size known at compile time, a window is reduced in registers; else
// each pass reduces one column of all windows.
template <typename Op, int kKernel, int kStride, typename C>
void TakeFromRow(const PoolingPlanes& p, const C* row, int64_t count, C* values) {
  const int64_t stride = kStride > 0 ? kStride : p.stride[2];
  if constexpr (kKernel > 0) {
    for (int64_t i = 0; i < count; ++i) {
      C value = row[i * stride];
      for (int k = 1; k < kKernel; ++k) Op::Take(row[i * stride + k], value);
      values[i] = value;
    }
  } else {
    for (int64_t i = 0; i < count; ++i) values[i] = row[i * stride];
    for (int64_t k = 1; k < p.kernel[2]; ++k) {
      for (int64_t i = 0; i < count; ++i) Op::Take(row[i * stride + k], values[i]);
    }
  }
}

// Dispatches common kernel sizes and strides to code that is compiled for them.
template <typename Op, typename C>
void TakeFromRow(const PoolingPlanes& p, const C* row, int64_t count, C* values) {
  const int64_t kernel = p.kernel[2], stride = p.stride[2];
  if (kernel == 3 && stride == 1) return TakeFromRow<Op, 3, 1>(p, row, count, values);
  if (kernel == 3 && stride == 2) return TakeFromRow<Op, 3, 2>(p, row, count, values);
  if (kernel == 2 && stride == 2) return TakeFromRow<Op, 2, 2>(p, row, count, values);
  if (stride == 1) return TakeFromRow<Op, 0, 1>(p, row, count, values);
  return TakeFromRow<Op, 0, 0>(p, row, count, values);
}

// Divides values[i] by the divisor of the mean of window i. This is for Pooling, not for
// Pooling_v1, whose divisor is no product of two factors.
template <typename C>
void DivideRow(const PoolingPlanes& p, const PoolingRow& r, C* values) {
  const auto rows = static_cast<C>(p.RowElements(r.d, r.h));
  const float* const columns = p.column_elements() + r.first;
  for (int64_t i = 0; i < r.count; ++i) {
    const C elements = rows * static_cast<C>(columns[i]);
    values[i] /= elements < 1 ? 1 : elements;
  }
}

// Writes, or with `add` adds, the reduction of each window of one plane to out. `data` and `out`
// point to the plane's first elements; each is contiguous. Needs FitsPoolingRow. Uses about 8 KiB
// of stack in float. Sums add rows first, then columns, in an order that depends on the shapes
// alone.
template <typename Op, typename T>
void PoolRows(const PoolingPlanes& p, bool mean, const T* data, T* out, bool add) {
  using C = ComputeType<T>;
  C row[kPoolingRow], values[kPoolingRow];
  ForEachPoolingRow(p, [&](const PoolingRow& r) {
    std::fill_n(row, r.length, Op::kFirst);
    ForEachImageRow(p, r, [&](int64_t at) {
      const T* const from = data + at;
      for (int64_t j = r.begin; j < r.end; ++j) Op::Take(Load(from[j]), row[j]);
    });
    TakeFromRow<Op>(p, row, r.count, values);
    if (mean) DivideRow(p, r, values);
    T* const to = out + (r.d * p.out[1] + r.h) * p.out[2] + r.first;
    for (int64_t i = 0; i < r.count; ++i) Store(to + i, values[i], add);
  });
}

// Returns the reduction of a whole plane, in lanes that do not depend on each other. It serves
// global pooling. A maximum has 32 lanes, which are combined in a tree. The order of a sum depends
// on the size alone.
template <typename Op, typename T>
ComputeType<T> PoolPlane(const T* data, int64_t size) {
  using C = ComputeType<T>;
  if constexpr (std::is_same_v<Op, PoolingSum<T>>) {
    return LaneSum<C>(size, [data](int64_t i) { return Load(data[i]); });
  }
  constexpr int kLanes = 2 * kPoolingLanes;
  C lanes[kLanes];
  for (C& lane : lanes) lane = Op::kFirst;
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) Op::Take(Load(data[i + k]), lanes[k]);
  }
  for (int k = 0; i < size; ++i, ++k) Op::Take(Load(data[i]), lanes[k]);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int k = 0; k < width; ++k) Op::Take(lanes[k + width], lanes[k]);
  }
  return lanes[0];
}

// Adds the gradient of a mean or sum to grad. `ograd` and `grad` point to the plane's first
// elements. Needs FitsPoolingRow. `grad` holds zeros or the gradient to which this one is added.
template <typename T>
void SumGradientRows(const PoolingPlanes& p, bool mean, const T* ograd, T* grad) {
  using C = ComputeType<T>;
  C values[kPoolingRow], apart[kPoolingRow], row[kPoolingRow];
  ForEachPoolingRow(p, [&](const PoolingRow& r) {
    const T* const from = ograd + (r.d * p.out[1] + r.h) * p.out[2] + r.first;
    for (int64_t i = 0; i < r.count; ++i) values[i] = Load(from[i]);
    if (mean) DivideRow(p, r, values);
    // Spreads the values by the stride, so that each column of the windows is a sum of neighbours.
    const int64_t length = r.length - p.kernel[2] + 1;
    const C* spread = values;
    if (p.stride[2] > 1) {
      std::fill_n(apart, length, C{0});
      for (int64_t i = 0; i < r.count; ++i) apart[i * p.stride[2]] = values[i];
      spread = apart;
    }
    std::fill_n(row, r.length, C{0});
    for (int64_t k = 0; k < p.kernel[2]; ++k) {
      for (int64_t j = 0; j < length; ++j) row[j + k] += spread[j];
    }
    ForEachImageRow(p, r, [&](int64_t at) {
      T* const to = grad + at;
      for (int64_t j = r.begin; j < r.end; ++j) Store(to + j, row[j], true);
    });
  });
}

// Returns whether `value` at `place` is preferred to `top` at `top_place` as the maximum. The first
// of equal values is preferred. kNowhere is greater than every place. The operators | and & instead
// of || and && keep the loop free of branches.
template <typename C>
bool IsBetterMax(C value, uint32_t place, C top, uint32_t top_place) {
  return (value > top) | ((value == top) & (place < top_place));
}

// Adds the gradient of a maximum to grad: the first element that equals the maximum gets all of it.
// The position is found in vector code; then each window stores its gradient. Planes have at most
// 2^30 elements. `ograd`, `data` and `grad` point to the plane's first elements. Needs
// FitsPoolingRow. A window of NaNs or of -infinity alone, which has no position, gives nothing.
template <typename T>
void MaxGradientRows(const PoolingPlanes& p, const T* ograd, const T* data, T* grad) {
  using C = ComputeType<T>;
  constexpr uint32_t kNowhere = std::numeric_limits<uint32_t>::max();
  C row[kPoolingRow], top[kPoolingRow];
  uint32_t places[kPoolingRow], where[kPoolingRow];
  ForEachPoolingRow(p, [&](const PoolingRow& r) {
    std::fill_n(row, r.length, PoolingMax<T>::kFirst);
    std::fill_n(places, r.length, kNowhere);
    ForEachImageRow(p, r, [&](int64_t at) {
      const T* const from = data + at;
      for (int64_t j = r.begin; j < r.end; ++j) {
        const C value = Load(from[j]);
        const auto place = static_cast<uint32_t>(at + j);
        const bool better = IsBetterMax(value, place, row[j], places[j]);
        row[j] = better ? value : row[j];
        places[j] = better ? place : places[j];
      }
    });
    std::fill_n(top, r.count, PoolingMax<T>::kFirst);
    std::fill_n(where, r.count, kNowhere);
    const auto take = [&](int64_t stride, int64_t k) {
      for (int64_t i = 0; i < r.count; ++i) {
        const C value = row[i * stride + k];
        const uint32_t place = places[i * stride + k];
        const bool better = IsBetterMax(value, place, top[i], where[i]);
        top[i] = better ? value : top[i];
        where[i] = better ? place : where[i];
      }
    };
    for (int64_t k = 0; k < p.kernel[2]; ++k) {
      p.stride[2] == 1 ? take(1, k) : p.stride[2] == 2 ? take(2, k) : take(p.stride[2], k);
    }
    const T* const from = ograd + (r.d * p.out[1] + r.h) * p.out[2] + r.first;
    for (int64_t i = 0; i < r.count; ++i) {
      if (where[i] != kNowhere) Store(grad + where[i], Load(from[i]), true);
    }
  });
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_POOLING_POOLING_ROWS_H_
