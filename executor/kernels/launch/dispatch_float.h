#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_

// Calls a kernel's template for the floating point dtypes, and tells it what to do with its
// results. For operators that have no meaning on integers.

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Calls fn(TypeTag<T>()) for one of kFloat32Or64, of a kernel whose arithmetic has to be done in
// the array's own type. Returns OK.
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

// The same for one of kFloats.
template <typename Fn>
absl::Status DispatchFloat(DType dtype, Fn&& fn) {
  if (dtype != DType::kFloat16) return DispatchFloat32Or64(dtype, fn);
  fn(TypeTag<Float16>());
  return absl::OkStatus();
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

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_
