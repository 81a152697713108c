#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_OPERAND_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_OPERAND_H_

// The operand of element loops and maps on both devices (elemwise_kernel.h, element_map.h), which
// lets one kernel combine arrays with scalar parameters of its operator.

#include <cstdint>

#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// An input of an element loop: an array or, if `data` is null, a scalar. Does not own the array.
// Its shape, if it is needed, is passed separately, because loops over arrays of one shape need
// none.
struct ElemwiseOperand {
  const void* data = nullptr;     // dense elements, in the memory of the kernel's device
  DType dtype = DType::kFloat32;  // of the array; not read for a scalar
  double scalar = 0;              // rounded to the output's dtype before the loop
};

// Return the operand of an array, or of a scalar. The array must have data unless it is empty.
inline ElemwiseOperand OperandOf(const ArrayView& array) { return {array.data, array.dtype}; }
inline ElemwiseOperand OperandOf(double scalar) { return {.scalar = scalar}; }

// The first N inputs of a kernel as operands of a loop that broadcasts them. Refers to the arrays'
// data and dims, owns none.
template <int N>
struct InputOperands {
  // `inputs` has at least N arrays.
  explicit InputOperands(absl::Span<const ArrayView> inputs) {
    for (int i = 0; i < N; ++i) {
      operands[i] = OperandOf(inputs[i]);
      shapes[i] = inputs[i].shape.dims();
    }
  }

  ElemwiseOperand operands[N];
  absl::Span<const int64_t> shapes[N];
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_OPERAND_H_
