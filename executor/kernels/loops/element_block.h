#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_BLOCK_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_BLOCK_H_

// Moves short runs of elements between an array of any dtype and a buffer of the type in which a
// loop computes: float, double or int64_t. With it a loop is compiled for these three types alone.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Elements in one run: few enough that the buffers of a loop stay in the first-level cache.
inline constexpr int64_t kElementBlock = 512;

// Address of element `offset`.
inline const char* ElementAt(const void* data, DType dtype, int64_t offset) {
  return static_cast<const char*>(data) + offset * SizeOf(dtype);
}
inline char* ElementAt(void* data, DType dtype, int64_t offset) {
  return static_cast<char*>(data) + offset * SizeOf(dtype);
}

// Converts n elements at `data` into `block`. C is float, double or int64_t.
template <typename C>
void LoadBlock(const void* data, DType dtype, int64_t n, C* block);

// Converts `block` into n elements at `data`, or adds it to them with kAdd. Nothing with kNull.
template <typename C>
void StoreBlock(const C* block, int64_t n, WriteReq req, void* data, DType dtype);

// `value` as an element of `dtype` holds it: int32's 2.5 is 2, float16's 0.1 is 0.09997...
template <typename C>
C RoundToDType(double value, DType dtype);

// Calls fn(C{0}) with the type to compute in for arrays of `dtype`: float for it and the 16-bit
// floats, double for itself, and int64_t for the others, or double if !exact_integers.
template <typename Fn>
void DispatchComputeType(DType dtype, bool exact_integers, Fn&& fn) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBfloat16) {
    fn(0.0F);
  } else if (exact_integers && dtype != DType::kFloat64) {
    fn(int64_t{0});
  } else {
    fn(0.0);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_BLOCK_H_
