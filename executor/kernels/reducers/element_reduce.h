#ifndef COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_H_

// Reductions on a GPU over any set of axes, of a function of arrays that are broadcast together.
// The function's values are never stored. Sums of 16-bit floats are computed in float, norms of
// floats in double. Uses no atomics. The order of a sum depends on the shapes, and on whether rows
// of float32 are aligned for loads of four elements: equal inputs at the same addresses give equal
// bits. For .cu files.
//
// Some lanes of a block share an element of the output; their number depends on how many elements
// are reduced to it. If the output is too small to keep a GPU busy, the reduced elements are split
// into parts: each part writes a partial result to the workspace, and a second kernel reduces
// these.
//
// map_reduce.h is the counterpart for the CPU and has an example of the arguments. The kernels are
// templates in element_reduce_kernel.h; element_reduce.cu chooses lanes, parts and grid.

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

// The arguments of both kernels.
struct ReduceArguments {
  // The outer walk. Its offsets are the first offsets of the operands for an element of the output.
  ElementWalk kept;  // the output's elements, in their order
  // The inner walk. Its offsets are added to those of `kept`.
  ElementWalk reduced;  // the elements that are reduced to each
  // The inputs of the function, with their dtypes: device pointers, not owned.
  ElementOperands operands;
  int lanes;      // threads that share an element: a power of 2
  bool adjacent;  // whether the lanes of an element are neighbours, or lane i of all elements of
                  // the block
  int64_t parts;  // gridDim.y
  void* partial;  // (parts, elements of the output), if parts > 1
  // The operations applied once, after all lanes and parts of an element are combined.
  ReductionEnd end;
  // The output, of dtype `out_dtype`. With `add` results are added to it, else written.
  void* out;
  DType out_dtype;
  bool add;
  bool plain;         // whether all operands are float32
  ElementWalk quads;  // the elements of `reduced`, four at a time; empty if not possible
};
// The type of both kernels, whose template arguments fix reducer, function and compute type.
using ElementReduceKernel = void (*)(ReduceArguments);

// The kernels of one reducer and one function, by compute type. A value of static storage, which
// ElementReduceOf returns; RunElementReduce picks the kernels from the dtypes.
struct ElementReduce {
  struct Kernels {
    ElementReduceKernel reduce;
    ElementReduceKernel finish;  // reduces the partial results
  };
  // The number of operands of the function.
  int arity;
  // Whether integers are computed in int64_t, which wraps around, instead of in double.
  bool exact_integers;
  Kernels f32, f64, i64;       // i64's are null unless exact_integers
  const ElementMap& (*map)();  // used if no axis is reduced
};

// Returns the kernels of a reducer and function F. Files that include element_reduce_kernel.h
// instantiate it, as with ElementMapOf. The reference is valid for the whole program. Thread-safe.
// Calls with equal arguments return the same object.
template <Reducer kReducer, typename F>
const ElementReduce& ElementReduceOf();

// Queues a reduction over the extents `full`:
//
//   output = or += end(reducer over the reduced axes of f(operands...))
//
// Operands and output are broadcast to `full` from `operand_shapes` and `output_shape`, which have
// its rank; an operand of extent 1 along an axis repeats along it. Axes along which `output_shape`
// has extent 1 or 0 are reduced. `output` has as many elements as `output_shape`. `workspace` has
// ElementReduceWorkspace() bytes. Does nothing for kNull or an output without elements. If no axis
// is reduced and there is no end, it runs the function's elementwise kernel instead. The compute
// type is that of the output's dtype, for bools that of the first operand's.
//
// Errors: kUnimplemented if there are too many axes; those of Launch.
absl::Status RunElementReduce(const KernelContext& c, const ElementReduce& function,
                              const ReductionEnd& end, absl::Span<const int64_t> full,
                              absl::Span<const ElemwiseOperand> operands,
                              absl::Span<const absl::Span<const int64_t>> operand_shapes,
                              const ArrayView& output, absl::Span<const int64_t> output_shape,
                              WriteReq req, void* workspace);

// Returns the most bytes that a reduction to an output of this size and dtype needs. The size is 0
// for kNull, else at most 32 * 1024 * 8 bytes (256 KiB): an element is split into parts only while
// the output is small.
int64_t ElementReduceWorkspace(const ArrayView& output, WriteReq req);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCERS_ELEMENT_REDUCE_H_
