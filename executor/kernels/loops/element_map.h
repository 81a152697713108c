#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_H_

// Functions of one to four elements, in the form that unary_functions.h has them, applied to arrays
// on a GPU: of one shape, with numbers among the operands, and with broadcasting. All dtypes and
// write requests are served; the output may lie over an input of its own shape. For .cu files.
//
// A function is compiled for the types that one computes in by the file that includes
// element_map_kernel.h and asks for it; others only need to know that there is such a file.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/element_walk.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

struct MapArguments {
  ElementWalk walk;
  ElementOperands operands;
  void* out;  // its elements in the order of the walk
  DType out_dtype;
  bool to_integers;  // whether that is a type of integers
  bool add;
  // QuadWalkOf() the walk, where the output is of float32 and lies so, too.
  ElementWalk quads;
};
using MapKernel = void (*)(MapArguments);

// The kernels of one function.
struct ElementMap {
  int arity;
  bool exact_integers;
  MapKernel f32, f64, i64;  // i64 is null unless exact_integers
};

template <typename F>
const ElementMap& ElementMapOf();

// output = f(operands...), element by element. Scalars are rounded to the output's dtype first.
absl::Status RunElementMap(const KernelContext& c, const ElementMap& map,
                           absl::Span<const ElemwiseOperand> operands, const ArrayView& output,
                           WriteReq req);

// The same, each operand broadcast from its own shape to `full`, the output's. kUnimplemented if
// the axes are too many.
absl::Status RunBroadcastMap(const KernelContext& c, const ElementMap& map,
                             absl::Span<const ElemwiseOperand> operands,
                             absl::Span<const absl::Span<const int64_t>> shapes,
                             absl::Span<const int64_t> full, const ArrayView& output, WriteReq req);

// output 0 = f(all inputs).
template <typename F>
absl::Status MapGpu(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity; ++i) operands[i] = OperandOf(c.inputs[i]);
  return RunElementMap(c, ElementMapOf<F>(), operands, c.outputs[0], c.reqs[0]);
}

// output 0 = f(all inputs), broadcast to the output's shape.
template <typename F>
absl::Status BroadcastGpu(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  absl::Span<const int64_t> shapes[F::kArity];
  for (int i = 0; i < F::kArity; ++i) {
    operands[i] = OperandOf(c.inputs[i]);
    shapes[i] = c.inputs[i].shape.dims();
  }
  return RunBroadcastMap(c, ElementMapOf<F>(), operands, shapes, c.outputs[0].shape.dims(),
                         c.outputs[0], c.reqs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_H_
