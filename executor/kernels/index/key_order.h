#ifndef COOPER_EXECUTOR_KERNELS_INDEX_KEY_ORDER_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_KEY_ORDER_H_

// The order of floats by integers that are ordered as they are: comparing these, or sorting by
// their digits, waits for no branch that cannot be foretold.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace cooper {

// Ordered as the floats: NaN is the largest, the zeros are equal.
inline uint32_t OrderKey(float x) {
  constexpr uint32_t kSign = 0x80000000;
  if (std::isnan(x)) return 0xffffffff;
  const auto bits = std::bit_cast<uint32_t>(x == 0 ? 0.0F : x);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Sorts n values of which the upper halves are keys; those with equal keys stay in their order.
// `scratch` has room for as many. Returns where the sorted ones are: one of the two.
inline uint64_t* SortByKeys(uint64_t* values, int64_t n, uint64_t* scratch) {
  constexpr int kDigits = 4, kBits = 8, kRadix = 1 << kBits;
  const auto digit = [](uint64_t value, int d) { return value >> (32 + kBits * d) & (kRadix - 1); };
  int64_t begin[kDigits][kRadix] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d) ++begin[d][digit(values[i], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    // A digit that all have sorts nothing.
    if (begin[d][digit(values[0], d)] == n) continue;
    int64_t sum = 0;
    for (int64_t& count : begin[d]) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; ++i) scratch[begin[d][digit(values[i], d)]++] = values[i];
    std::swap(values, scratch);
  }
  return values;
}

// Stores at order[i], i < k, the index of the value that is the i-th of n, `stride` apart from each
// other; equal ones are in the order of their indices. n is below 2^32; `order` has room for 2 n.
inline void OrderFloats(const float* in, int64_t stride, int64_t n, int64_t k, bool ascend,
                        int64_t* order) {
  // Shorter rows are sorted before their digits are counted.
  constexpr int64_t kMinDigits = 128;
  auto* values = reinterpret_cast<uint64_t*>(order);
  const uint32_t flip = ascend ? 0 : 0xffffffff;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = OrderKey(in[i * stride]) ^ flip;
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
