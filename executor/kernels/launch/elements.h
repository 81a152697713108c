#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_ELEMENTS_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_ELEMENTS_H_

// Elements of arrays whose dtype is known only when a kernel runs, so that a kernel is compiled for
// the types that it computes in (float, double, int64_t) alone. All threads take the same branch of
// the switches. For .cu files; executor/kernels/loops/element_block.h is the CPU's.

#include <cstdint>

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Element i of `data`, converted to C.
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

// Converts `value` into *to, or adds it to what is there.
template <typename C, typename T>
__device__ void StoreTo(T* to, C value, bool add) {
  *to = ConvertElement<T>(add ? static_cast<C>(ConvertElement<C>(*to) + value) : value);
}

// The same for element i of `data`.
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

// Calls fn(C{0}), whose status it returns, with the type to compute in for arrays of `dtype`: float
// for it and the 16-bit floats, double for itself, and int64_t for the others, or double if
// !exact_integers.
template <typename Fn>
absl::Status DispatchCompute(DType dtype, bool exact_integers, Fn&& fn) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBfloat16) {
    return fn(0.0F);
  }
  if (exact_integers && dtype != DType::kFloat64) return fn(int64_t{0});
  return fn(0.0);
}

// Calls fn(TypeTag<T>()), whose status it returns, for one of the dtypes of kCudaFloats.
inline constexpr DTypeSet kCudaFloats = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                         DType::kBfloat16};
template <typename Fn>
absl::Status DispatchCudaFloat(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat64:
      return fn(TypeTag<double>());
    case DType::kFloat16:
      return fn(TypeTag<Float16>());
    case DType::kBfloat16:
      return fn(TypeTag<BFloat16>());
    default:
      return fn(TypeTag<float>());
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_ELEMENTS_H_
