#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_

// Instantiates a kernel's template for the floating-point dtypes, and converts its elements to and
// from the compute type. For operators that are not defined for integers.

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Calls fn(TypeTag<T>()) for a dtype of kFloat32Or64 and returns OK. For kernels whose arithmetic
// must have the array's own type. Other dtypes fail a CHECK.
template <typename Fn>
absl::Status DispatchFloat32Or64(DType dtype, Fn&& fn) {
  CHECK(kFloat32Or64.contains(dtype)) << "a kernel runs on " << DTypeName(dtype);
  if (dtype == DType::kFloat64) {
    fn(TypeTag<double>());
  } else {
    fn(TypeTag<float>());
  }
  return absl::OkStatus();
}

// Does the same for a dtype of kFloats.
template <typename Fn>
absl::Status DispatchFloat(DType dtype, Fn&& fn) {
  if (dtype != DType::kFloat16) return DispatchFloat32Or64(dtype, fn);
  fn(TypeTag<Float16>());
  return absl::OkStatus();
}

// Converts an element to its compute type.
template <typename T>
ComputeType<T> Load(T value) {
  return static_cast<ComputeType<T>>(value);
}

// Computes *to = or += value. `add` must be constant in the caller's loop so that the compiler can
// move the test out of it.
template <typename T>
void Store(T* to, ComputeType<T> value, bool add) {
  *to = static_cast<T>(add ? static_cast<ComputeType<T>>(*to) + value : value);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_
