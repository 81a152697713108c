#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_ELEMENTS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_ELEMENTS_H_

// Access to elements of arrays whose dtype is known only at run time, so that a kernel is compiled
// only for the compute types (float, double, int64_t). All threads take the same branch of the
// switches, which costs a few instructions per element and no divergence. For .cu files;
// executor/kernels/loops/element_block.h is for the CPU. Kernels whose inner loop is arithmetic
// rather than memory access are compiled for each dtype instead, by DispatchCudaFloat.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Returns element i of `data`, converted to C by ConvertElement: floats are truncated to integers,
// with NaN as the least number and values out of range as the nearest limit. An integer beyond the
// mantissa of C is rounded. `data` is device memory of type `dtype`, aligned to one element.
template <typename C>
__device__ C LoadElement(const void* data, DType dtype, int64_t i) {
  switch (dtype) {
#define COOPER_DTYPE(enumerator, code, type, name) \
  case DType::enumerator:                          \
    return ConvertElement<C>(static_cast<const type*>(data)[i]);
    COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
  }
  return C{};
}

// Converts `value` to T and stores it, or adds it to *to in C. A sum is rounded once, from C to T.
// The addition is not atomic: each element must belong to one thread.
template <typename C, typename T>
__device__ void StoreTo(T* to, C value, bool add) {
  *to = ConvertElement<T>(add ? static_cast<C>(ConvertElement<C>(*to) + value) : value);
}

// Stores `value` in element i of `data`, an array of type `dtype`, or adds it there, as StoreTo
// does.
template <typename C>
__device__ void StoreElement(void* data, DType dtype, int64_t i, C value, bool add) {
  switch (dtype) {
#define COOPER_DTYPE(enumerator, code, type, name)     \
  case DType::enumerator:                              \
    StoreTo(static_cast<type*>(data) + i, value, add); \
    break;
    COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
  }
}

// Calls fn(C{0}) with the compute type of `dtype` and returns its status: float for float32 and the
// 16-bit floats, double for float64, and for other dtypes int64_t if exact_integers, otherwise
// double. `exact_integers` says that the function maps integers to integers (a sum, a maximum);
// without it, integers are computed in double (a square root), which is exact up to 2^53. Host
// code. The CPU's counterpart is DispatchComputeType in element_block.h.
template <typename Fn>
absl::Status DispatchCompute(DType dtype, bool exact_integers, Fn&& fn) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBfloat16) {
    return fn(0.0F);
  }
  if (exact_integers && dtype != DType::kFloat64) return fn(int64_t{0});
  return fn(0.0);
}

// The dtypes of DispatchCudaFloat: all floating-point dtypes. Kernels that call it register this
// set; kFloats, the set of most CPU kernels, lacks bfloat16.
inline constexpr DTypeSet kCudaFloats = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                         DType::kBfloat16};
// Calls fn(TypeTag<T>()) for a dtype of kCudaFloats and returns its status. kInternal for another
// dtype, which PrepareKernel rejects before a kernel that is registered for kCudaFloats runs. `fn`
// is compiled four times.
template <typename Fn>
absl::Status DispatchCudaFloat(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(TypeTag<float>());
    case DType::kFloat64:
      return fn(TypeTag<double>());
    case DType::kFloat16:
      return fn(TypeTag<Float16>());
    case DType::kBfloat16:
      return fn(TypeTag<BFloat16>());
    default:
      return absl::InternalError(
          absl::StrCat("a CUDA kernel of floats was given ", DTypeName(dtype)));
  }
}

// Returns the output's elements, or null if its request is kNull.
template <typename T>
T* OutputOrNull(const KernelContext& c, int i) {
  return c.reqs[i] == WriteReq::kNull ? nullptr : c.outputs[i].as<T>();
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_ELEMENTS_H_
