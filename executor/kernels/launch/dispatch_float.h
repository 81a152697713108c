#ifndef COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_
#define COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_

// Instantiates a kernel's template for the floating-point dtypes, and converts its elements to and
// from the compute type. For operators that are not defined for integers. Most CPU kernels include
// this header; elements.h has the counterparts for .cu files, and DispatchDType
// (ndarray/base/dtype.h) instantiates for all dtypes. bfloat16 is not among the dtypes of these
// functions.
//
//   return DispatchFloat(c.inputs[0].dtype, [&](auto tag) {
//     using T = typename decltype(tag)::type;
//     for (int64_t i = 0; i < n; ++i) Store(y + i, std::sqrt(Load(x[i])), add);
//   });

#include "absl/status/status.h"
#include "executor/program/kernel.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Calls fn(TypeTag<T>()) for a dtype of kFloat32Or64 and returns OK. For kernels whose arithmetic
// must have the array's own type, such as those that call a BLAS. Other dtypes fail a CHECK:
// PrepareKernel rejects them before a kernel runs, so they are a mistake in the kernel's
// registration. `fn` returns nothing; a kernel with an error of its own keeps it in a variable that
// `fn` captures.
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

// Calls fn(TypeTag<T>()) for a dtype of kFloats, where T is Float16 for float16, and returns OK.
// Other dtypes fail a CHECK, as in DispatchFloat32Or64. Load() converts its elements to float, in
// which the kernel then computes.
template <typename Fn>
absl::Status DispatchFloat(DType dtype, Fn&& fn) {
  if (dtype != DType::kFloat16) return DispatchFloat32Or64(dtype, fn);
  fn(TypeTag<Float16>());
  return absl::OkStatus();
}

// Converts an element to its compute type: float16 and bfloat16 to float, which is exact, and other
// types to themselves.
template <typename T>
ComputeType<T> Load(T value) {
  return static_cast<ComputeType<T>>(value);
}

// Computes *to = or += value in the compute type and rounds the result once to T, to the nearest.
// So an addition to a float16 rounds the sum, not the term. `add` must be constant in the caller's
// loop so that the compiler can move the test out of it. Integers do not wrap around: the caller's
// sums must not overflow.
template <typename T>
void Store(T* to, ComputeType<T> value, bool add) {
  *to = static_cast<T>(add ? static_cast<ComputeType<T>>(*to) + value : value);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LAUNCH_DISPATCH_FLOAT_H_
