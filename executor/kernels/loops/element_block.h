#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_BLOCK_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_BLOCK_H_

// Moves short runs of elements between an array of any dtype and a buffer of a loop's compute type:
// float, double or int64_t. With it a loop is compiled for these three types only, instead of all
// dtypes of its inputs and outputs. The element loops (elemwise_kernel.cc), the reductions and the
// optimizer updates of the CPU read and write their arrays this way; elements.h is for the GPU.
//
//   C block[kElementBlock];
//   LoadBlock(ElementAt(x.data, x.dtype, begin), x.dtype, n, block);
//   for (int64_t i = 0; i < n; ++i) block[i] = f(block[i]);
//   StoreBlock(block, n, req, ElementAt(y.data, y.dtype, begin), y.dtype);
//
// All functions are thread-safe and run on the calling thread. C is one of the three compute types.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The most elements in one run: few enough that the buffers of a loop stay in the first-level
// cache. A loop of four operands and a result in double takes 20 KB.
inline constexpr int64_t kElementBlock = 512;

// Returns the address of element `offset` of an array of `dtype` that begins at `data`. Not
// checked.
inline const char* ElementAt(const void* data, DType dtype, int64_t offset) {
  return static_cast<const char*>(data) + offset * SizeOf(dtype);
}
inline char* ElementAt(void* data, DType dtype, int64_t offset) {
  return static_cast<char*>(data) + offset * SizeOf(dtype);
}

// Converts n elements at `data` to C, which is float, double or int64_t, by ConvertElement. `block`
// has room for n elements and does not overlap `data`. n may exceed kElementBlock. float16 uses the
// conversion instructions of the processor where it has them.
template <typename C>
void LoadBlock(const void* data, DType dtype, int64_t n, C* block);

// Converts `block` to n elements at `data`, or with kAdd adds it to them. Does nothing with kNull.
// A sum is computed in C and rounded once to the dtype; int64_t sums wrap around. `block` does not
// overlap `data`.
template <typename C>
void StoreBlock(const C* block, int64_t n, WriteReq req, void* data, DType dtype);

// Returns `value` rounded to `dtype`: 2.5 gives 2 for int32, 0.1 gives 0.09997... for float16. For
// scalar parameters, which have the precision of the arrays that they are combined with. RoundedTo
// (launch/words.h) is the counterpart for .cu files.
template <typename C>
C RoundToDType(double value, DType dtype);

// Calls fn(C{0}) with the compute type of `dtype`: float for float32 and the 16-bit floats, double
// for float64, and for other dtypes int64_t if exact_integers, otherwise double. `exact_integers`
// says that the function of the loop maps integers to integers; a double represents integers up to
// 2^53.
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
