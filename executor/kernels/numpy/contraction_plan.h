#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_CONTRACTION_PLAN_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_CONTRACTION_PLAN_H_

// Plans the products of symbol/ops/numpy/contraction.h as matrix products and strided copies, which
// every device has (contraction_kernels.h). Pure data: a plan is made when a node is bound.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "executor/kernels/loops/strided_loop.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/numpy/contraction.h"

namespace cooper {

// The memory that a step reads or writes.
struct ContractionBuffer {
  enum Kind : uint8_t { kOperand, kWorkspace, kOutput };
  Kind kind = kOutput;
  int operand = 0;     // of kOperand
  int64_t offset = 0;  // of kWorkspace, in bytes
};

// One step. Only the last one writes the output, according to its request.
struct ContractionStep {
  // Copies elements, sums them where a destination stride of the loop is 0, copies them to some of
  // the destination's elements while others become 0, or multiplies matrices.
  enum Kind : uint8_t { kCopy, kSum, kScatter, kMultiply };
  Kind kind = kCopy;
  ContractionBuffer from, second, to;  // `second` is the right factor of kMultiply
  int64_t size = 0;                    // elements of `to`
  StridedLoop loop;                    // of all kinds but kMultiply
  // `batch` products (m, k) * (k, n), which lie one behind the other. The left factor is stored as
  // (m, k) or, transposed, as (k, m); the right one as (k, n) or, transposed, as (n, k).
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool transpose_from = false, transpose_second = false;
};

struct ContractionPlan {
  std::vector<ContractionStep> steps;
  int64_t workspace_bytes = 0;
};

// Returns the plan for operands and an output of these shapes and one dtype. Operands are
// multiplied from the first to the last. Axes that need no other order are not copied. The shapes
// must fit the contraction, as ContractedShape checks.
ContractionPlan PlanContraction(const Contraction& contraction, absl::Span<const Shape> operands,
                                const Shape& output, DType dtype);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_CONTRACTION_PLAN_H_
