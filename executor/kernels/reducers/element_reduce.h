#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_H_

// Reductions over any set of axes on a GPU, of a function of arrays that are broadcast together,
// whose values are never stored. Those of 16-bit floats are made in float, roots of floats in
// double. Without atomics, in an order that depends on the shapes, and on whether rows of
// float32 begin where four elements may be loaded at once: equal input in the same place gives
// equal bits. For .cu files.
//
// Some lanes of a block share an element of the output, as many as suit what is reduced to it.
// Where the output is too small to keep a GPU busy, what is reduced is cut into parts: each gives
// a partial result in the workspace, and a second kernel reduces those.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/element_walk.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

struct ReduceArguments {
  ElementWalk kept;     // the output's elements, in their order
  ElementWalk reduced;  // what is reduced to each
  ElementOperands operands;
  int lanes;      // threads that share an element: a power of 2
  bool adjacent;  // whether they are neighbours, or lane i of all elements of the block
  int64_t parts;  // gridDim.y
  void* partial;  // (parts, elements of the output), if there are several
  ReductionEnd end;
  void* out;
  DType out_dtype;
  bool add;
  bool plain;         // whether operands are of float32
  ElementWalk quads;  // the same elements as `reduced`, four at a time, or none
};
using ElementReduceKernel = void (*)(ReduceArguments);

// The kernels of one reducer of one function's values.
struct ElementReduce {
  struct Kernels {
    ElementReduceKernel reduce;
    ElementReduceKernel finish;  // reduces the partial results
  };
  int arity;
  bool exact_integers;
  Kernels f32, f64, i64;       // i64's are null unless exact_integers
  const ElementMap& (*map)();  // for where nothing is reduced
};

// As ElementMapOf, by files that include element_reduce_kernel.h.
template <Reducer kReducer, typename F>
const ElementReduce& ElementReduceOf();

// Reduces over `full`, to which operands and output are broadcast from their own shapes; axes along
// which the output's shape `output_shape` has one element (or none) are reduced. `output` has as
// many elements as that shape. `workspace` is of ElementReduceWorkspace() bytes. kUnimplemented if
// the axes are too many.
absl::Status RunElementReduce(const KernelContext& c, const ElementReduce& function,
                              const ReductionEnd& end, absl::Span<const int64_t> full,
                              absl::Span<const ElemwiseOperand> operands,
                              absl::Span<const absl::Span<const int64_t>> operand_shapes,
                              const ArrayView& output, absl::Span<const int64_t> output_shape,
                              WriteReq req, void* workspace);

// The most bytes that a reduction to an output like this needs.
int64_t ElementReduceWorkspace(const ArrayView& output, WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_H_
