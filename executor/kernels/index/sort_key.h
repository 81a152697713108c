#ifndef COOPER_EXECUTOR_KERNELS_INDEX_SORT_KEY_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_SORT_KEY_H_

// The keys by which radix_sort.h and row_sort.h sort numbers: unsigned integers with the same
// order, so that a sort of integers sorts every dtype. For .cu files; key_order.h is for the CPU. A
// descending sort inverts the keys, which keeps it stable.

#include <cstdint>

#include "ndarray/base/dtype.h"

namespace cooper {

// Return a key with the order of the values: -0 equals 0, and NaN is larger than all other values.
// The key of a float has 32 bits. 16-bit floats are converted to float, narrow integers to int64_t.
__device__ inline uint64_t SortKeyOf(float value) {
  if (value != value) return 0xffffffff;
  const uint32_t bits = __float_as_uint(value == 0 ? 0.0F : value);
  return (bits & 0x80000000) != 0 ? ~bits : bits | 0x80000000;
}
__device__ inline uint64_t SortKeyOf(double value) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (value != value) return ~uint64_t{0};
  const auto bits = static_cast<uint64_t>(__double_as_longlong(value == 0 ? 0.0 : value));
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
__device__ inline uint64_t SortKeyOf(int64_t value) {
  return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
}

// Returns whether keys of elements of `dtype` need more than 32 bits. Host code. Narrow keys take
// half of the memory and half of the passes of a radix sort.
inline bool HasWideSortKeys(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kInt64;
}

// Return the key of an element of a dtype without wide keys, in 32 bits. An integer must be in the
// range of int32_t.
__device__ inline uint32_t NarrowSortKeyOf(float value) {
  return static_cast<uint32_t>(SortKeyOf(value));
}
__device__ inline uint32_t NarrowSortKeyOf(int64_t value) {
  return static_cast<uint32_t>(value) ^ (uint32_t{1} << 31);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_SORT_KEY_H_
