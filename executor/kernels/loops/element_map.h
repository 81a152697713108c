#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_H_

// Applies functions of one to four elements, in the form of unary_functions.h, to arrays on a GPU:
// to arrays of one shape, with scalar operands, and with broadcasting. Supports all dtypes and
// write requests. The output may share its data with an input of its own shape. For .cu files.
// elemwise_kernel.h is the counterpart for the CPU; reductions map their inputs by
// element_reduce.h.
//
// A function is compiled for the compute types by the one file that includes element_map_kernel.h
// and instantiates it; other files declare ElementMapOf only. So each function is compiled once,
// however many operators use it. A kernel is registered as
//
//   {"sqrt", DeviceType::kGpu, kAnyDType, MapGpu<Sqrt>}

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/element_walk.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The arguments of a MapKernel, passed to the device by value. Pointers are device pointers that
// the caller owns.
struct MapArguments {
  // The offsets of each operand for each element of the output.
  ElementWalk walk;
  ElementOperands operands;
  void* out;  // its elements are in the order of the walk
  DType out_dtype;
  bool to_integers;  // whether out_dtype is an integer type
  bool add;          // whether to add to the output (kAdd) rather than overwrite it
  // QuadWalkOf() the walk if the output is float32 and aligned; otherwise empty.
  ElementWalk quads;
};
// A __global__ function that computes all elements in a grid of LaunchElements.
using MapKernel = void (*)(MapArguments);

// The kernels of one function, one per compute type. DispatchCompute selects one by the output's
// dtype; inputs of other dtypes are converted as they are loaded.
struct ElementMap {
  int arity;                // the number of operands, 1 to kMaxMapArity
  bool exact_integers;      // F::kExactIntegers: whether integers are computed as int64_t
  MapKernel f32, f64, i64;  // i64 is null unless exact_integers
};

// Returns the kernels of F, an object that lives as long as the process. Thread-safe. A missing
// instantiation is a link error.
template <typename F>
const ElementMap& ElementMapOf();

// Queues output = or += f(operands...), element by element. Scalars are rounded to the output's
// dtype first. Array operands have as many elements as the output. There are map.arity operands.
// One launch; nothing with kNull.
//
// float32 arrays at 16-byte boundaries are read and written four elements at a time, with equal
// results. Errors: those of Launch.
absl::Status RunElementMap(const KernelContext& c, const ElementMap& map,
                           absl::Span<const ElemwiseOperand> operands, const ArrayView& output,
                           WriteReq req);

// Queues output = or += f(operands...), with each operand broadcast from its shape in `shapes` to
// `full`, the output's shape. A scalar operand has the shape (). Operands that are broadcast must
// not share the output's data. `computed_as` replaces the output's dtype in the choice of the
// compute type and in the rounding of scalars.
//
// Errors: kUnimplemented if there are too many axes, more than BroadcastPlan::kMaxRank after
// merging; those of Launch.
absl::Status RunBroadcastMap(const KernelContext& c, const ElementMap& map,
                             absl::Span<const ElemwiseOperand> operands,
                             absl::Span<const absl::Span<const int64_t>> shapes,
                             absl::Span<const int64_t> full, const ArrayView& output, WriteReq req,
                             std::optional<DType> computed_as = std::nullopt);

// Computes output 0 = or += f(all inputs), in the order of the operator's inputs, which all have
// the output's shape. A Kernel::RunFn.
template <typename F>
absl::Status MapGpu(const KernelContext& c) {
  ElemwiseOperand operands[F::kArity];
  for (int i = 0; i < F::kArity; ++i) operands[i] = OperandOf(c.inputs[i]);
  return RunElementMap(c, ElementMapOf<F>(), operands, c.outputs[0], c.reqs[0]);
}

// Computes output 0 = or += f(all inputs), broadcast to the output's shape. A Kernel::RunFn.
// Errors: those of RunBroadcastMap.
template <typename F>
absl::Status BroadcastGpu(const KernelContext& c) {
  const InputOperands<F::kArity> inputs(c.inputs);
  return RunBroadcastMap(c, ElementMapOf<F>(), inputs.operands, inputs.shapes,
                         c.outputs[0].shape.dims(), c.outputs[0], c.reqs[0]);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_H_
