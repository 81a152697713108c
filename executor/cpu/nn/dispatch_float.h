#ifndef COOPER_EXECUTOR_CPU_NN_DISPATCH_FLOAT_H_
#define COOPER_EXECUTOR_CPU_NN_DISPATCH_FLOAT_H_

// Calls a kernel's template for the floating point dtypes, and tells it what to do with its
// results. For operators that have no meaning on integers.

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernel.h"
#include "ndarray/dtype.h"

namespace cooper {

// Calls fn(TypeTag<T>()) for float32, float64 and float16. kUnimplemented, naming `op` and the
// dtype, for others.
template <typename Fn>
absl::Status DispatchFloat(const char* op, DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat32:
      fn(TypeTag<float>());
      return absl::OkStatus();
    case DType::kFloat64:
      fn(TypeTag<double>());
      return absl::OkStatus();
    case DType::kFloat16:
      fn(TypeTag<Float16>());
      return absl::OkStatus();
    default:
      return absl::UnimplementedError(
          absl::StrCat(op, " on cpu: no kernel for ", DTypeName(dtype)));
  }
}

// As DispatchFloat, for kernels whose arithmetic has to be done in the array's own type.
template <typename Fn>
absl::Status DispatchFloat32Or64(const char* op, DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat32:
      fn(TypeTag<float>());
      return absl::OkStatus();
    case DType::kFloat64:
      fn(TypeTag<double>());
      return absl::OkStatus();
    default:
      return absl::UnimplementedError(
          absl::StrCat(op, " on cpu: no kernel for ", DTypeName(dtype)));
  }
}

template <typename T>
ComputeType<T> Load(T value) {
  return static_cast<ComputeType<T>>(value);
}

// *to = value, or *to += value. `add` is a constant of the caller's loop, which the compiler
// moves out of it.
template <typename T>
void Store(T* to, ComputeType<T> value, bool add) {
  *to = static_cast<T>(add ? static_cast<ComputeType<T>>(*to) + value : value);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_NN_DISPATCH_FLOAT_H_
