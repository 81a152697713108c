#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_COMPARISON_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_COMPARISON_KERNELS_H_

// Kernels of NumPy comparisons, which compare elements in the inputs' dtype and write bools;
// templates over the device, for comparison.cc and .cu. A Device is a struct with a static function
// template Broadcast<F>(c, computed_as, operands, shapes, full), which computes output 0 of
// operands that are broadcast to `full`, in the compute type of `computed_as`.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/elemwise/binary_functions.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/loops/unary_functions.h"
#include "executor/kernels/numpy/numpy_functions.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {

// The kernels of one device. F is one of the tests below, which return 1 or 0. NaN is unequal to
// everything, itself included.
template <typename Device>
struct ComparisonKernels {
  // Computes f of all inputs, which have one dtype and are broadcast to the output's shape. A
  // Kernel::RunFn. Errors: those of Device::Broadcast.
  template <typename F>
  static absl::Status Arrays(const KernelContext& c) {
    const InputOperands<F::kArity> inputs(c.inputs);
    return Device::template Broadcast<F>(c, c.inputs[0].dtype, inputs.operands, inputs.shapes,
                                         c.outputs[0].shape.dims());
  }

  // Computes f(data, scalar). Integers are compared with a fraction as float64; otherwise the
  // scalar is rounded to data's dtype, as in MXNet. A Kernel::RunFn. Errors: those of Arrays.
  template <typename F>
  static absl::Status Scalar(const KernelContext& c) {
    const ArrayView& data = c.inputs[OneInputArrays::kData];
    const auto& param = c.param<ScalarParam>();
    const bool is_integer = !IsFloating(data.dtype) && data.dtype != DType::kBool;
    const DType dtype = is_integer && !param.is_int ? DType::kFloat64 : data.dtype;
    const absl::Span<const int64_t> full = c.outputs[0].shape.dims();
    return Device::template Broadcast<F>(c, dtype, {OperandOf(data), OperandOf(param.scalar)},
                                         {full, {}}, full);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_npi_equal", device, kAnyDType, Arrays<Equal>},
        {"_npi_not_equal", device, kAnyDType, Arrays<NotEqual>},
        {"_npi_greater", device, kAnyDType, Arrays<Greater>},
        {"_npi_greater_equal", device, kAnyDType, Arrays<GreaterEqual>},
        {"_npi_less", device, kAnyDType, Arrays<Lesser>},
        {"_npi_less_equal", device, kAnyDType, Arrays<LesserEqual>},
        {"_npi_equal_scalar", device, kAnyDType, Scalar<Equal>},
        {"_npi_not_equal_scalar", device, kAnyDType, Scalar<NotEqual>},
        {"_npi_greater_scalar", device, kAnyDType, Scalar<Greater>},
        {"_npi_greater_equal_scalar", device, kAnyDType, Scalar<GreaterEqual>},
        {"_npi_less_scalar", device, kAnyDType, Scalar<Lesser>},
        {"_npi_less_equal_scalar", device, kAnyDType, Scalar<LesserEqual>},
        {"_npi_logical_not", device, kAnyDType, Arrays<LogicalNot>},
        {"_npi_isnan", device, kAnyDType, Arrays<TestNan>},
        {"_npi_isinf", device, kAnyDType, Arrays<TestInfinite>},
        {"_npi_isposinf", device, kAnyDType, Arrays<TestPositiveInfinite>},
        {"_npi_isneginf", device, kAnyDType, Arrays<TestNegativeInfinite>},
        {"_npi_isfinite", device, kAnyDType, Arrays<TestFinite>},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_COMPARISON_KERNELS_H_
