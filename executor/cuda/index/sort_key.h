#ifndef COOPER_EXECUTOR_CUDA_INDEX_SORT_KEY_H_
#define COOPER_EXECUTOR_CUDA_INDEX_SORT_KEY_H_

// What radix_sort.h sorts numbers by. For .cu files.

#include <cstdint>

namespace cooper {

// Numbers that order as the values do; -0 and 0 are one, and NaN is larger than everything. That of
// a float has 32 bits.
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

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_INDEX_SORT_KEY_H_
