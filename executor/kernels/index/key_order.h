#ifndef COOPER_EXECUTOR_KERNELS_INDEX_KEY_ORDER_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_KEY_ORDER_H_

// The order of elements, for topk, sort, argsort and unique on the CPU: NaN is larger than all
// other values. Numbers of up to 32 bits are sorted by integer keys with that order: comparing
// keys, or sorting by their digits, needs no unpredictable branch. sort_key.h has the keys for the
// GPU. All functions run on the calling thread.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ndarray/base/dtype.h"

namespace cooper {

// Returns whether a comes before b. NaN does not come before NaN, nor -0 before 0.
template <typename T>
bool Less(T a, T b) {
  const auto x = static_cast<ComputeType<T>>(a), y = static_cast<ComputeType<T>>(b);
  if constexpr (std::is_floating_point_v<ComputeType<T>>) {
    if (std::isnan(x)) return false;
    if (std::isnan(y)) return true;
  }
  return x < y;
}

// Returns a key with the order of the floats: NaN is the largest, and -0 equals 0. The bits of a
// positive float order like an integer; those of a negative one order backwards and are inverted.
// Inverting all bits of a key reverses the order.
inline uint32_t OrderKey(float x) {
  constexpr uint32_t kSign = 0x80000000;
  if (std::isnan(x)) return 0xffffffff;
  const auto bits = std::bit_cast<uint32_t>(x == 0 ? 0.0F : x);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Returns a key with the order of the integers.
inline uint32_t OrderKey(int32_t x) { return static_cast<uint32_t>(x) ^ 0x80000000; }

// Whether OrderByKeys sorts this type: floats and integers of at most 32 bits.
template <typename T>
inline constexpr bool kHasOrderKey = sizeof(T) <= sizeof(uint32_t);

// Stable sort of n > 0 values by the keys in their upper halves; the lower halves, such as
// positions, are carried along. `scratch` has n elements. Returns the array with the result:
// `values` or `scratch`. O(n) time: a radix sort with four digits of 8 bits, whose counts take 8 KB
// of stack.
inline uint64_t* SortByKeys(uint64_t* values, int64_t n, uint64_t* scratch) {
  constexpr int kDigits = 4, kBits = 8, kRadix = 1 << kBits;
  const auto digit = [](uint64_t value, int d) { return value >> (32 + kBits * d) & (kRadix - 1); };
  int64_t begin[kDigits][kRadix] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d) ++begin[d][digit(values[i], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    // A digit that all values share needs no pass.
    if (begin[d][digit(values[0], d)] == n) continue;
    int64_t sum = 0;
    for (int64_t& count : begin[d]) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i) scratch[begin[d][digit(values[i], d)]++] = values[i];
    std::swap(values, scratch);
  }
  return values;
}

// Stores in order[i], for i < k, the index of the i-th of n values that are `stride` apart, in
// sorted order. Equal values keep their order, for both directions, and NaN is last with `ascend`,
// otherwise first. 0 < n < 2^32; `order` has 2 n elements, whose upper part is scratch. O(n) time
// for k = n from 128 on, O(n log k) for k < n.
template <typename T>
void OrderByKeys(const T* in, int64_t stride, int64_t n, int64_t k, bool ascend, int64_t* order) {
  static_assert(kHasOrderKey<T>);
  using Number = std::conditional_t<std::is_integral_v<T>, int32_t, float>;
  // For shorter rows std::sort is faster than counting digits.
  constexpr int64_t kMinDigits = 128;
  auto* values = reinterpret_cast<uint64_t*>(order);
  const uint32_t flip = ascend ? 0 : 0xffffffff;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = OrderKey(static_cast<Number>(in[i * stride])) ^ flip;
    values[i] = key << 32 | static_cast<uint64_t>(i);
  }
  if (k < n) {
    std::partial_sort(values, values + k, values + n);
  } else if (n < kMinDigits) {
    std::sort(values, values + n);
  } else {
    values = SortByKeys(values, n, values + n);
  }
  for (int64_t i = 0; i < k; ++i) order[i] = static_cast<int64_t>(values[i] & 0xffffffff);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_KEY_ORDER_H_
