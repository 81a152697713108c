#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_OPERAND_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_OPERAND_H_

#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// An input of an element loop: an array or, if `data` is null, a scalar.
struct ElemwiseOperand {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;
  double scalar = 0;
};

inline ElemwiseOperand OperandOf(const ArrayView& array) { return {array.data, array.dtype}; }
inline ElemwiseOperand OperandOf(double scalar) { return {.scalar = scalar}; }

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMWISE_OPERAND_H_
