#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_CPU_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_CPU_REDUCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/convert.h"
#include "executor/kernels/loops/elemwise_kernel.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/reducers/map_reduce.h"
#include "executor/kernels/reducers/reduce_loops.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"

namespace cooper {

// Implements Device of executor/kernels/reduce/axis_reduction_kernels.h on the CPU. All functions
// return when the work is done, and run on several threads. They do not use the KernelContext,
// which only CudaReduce needs.
struct CpuReduce {
  // The types of the parameters: operands, the extents of a shape, and the shapes of all operands.
  using Operands = absl::Span<const ElemwiseOperand>;
  using Extents = absl::Span<const int64_t>;
  using Shapes = absl::Span<const Extents>;

  // Reduces Map(operands) with kReducer (RunReduction). map_reduce.h has the contract. Errors:
  // kUnimplemented for too many axes.
  template <Reducer kReducer, typename Map>
  static absl::Status Reduce(const KernelContext&, const ReductionEnd& end, Extents full,
                             Operands operands, Shapes operand_shapes, const ArrayView& output,
                             Extents output_shape, WriteReq req, void* workspace) {
    Reduction reduction{.reducer = kReducer, .map = &kElemwiseLoops<Map>, .end = end};
    if constexpr (Map::kArity == 1) reduction.loops = &kReducerLoops<kReducer, Map>;
    return RunReduction(reduction, full, operands, operand_shapes, output, output_shape, req,
                        workspace);
  }

  // Returns the bytes of Reduce's `workspace`. It is at most 8 bytes for each element of the
  // output, whatever the operands' size is.
  static int64_t ReductionWorkspace(const ArrayView& output, WriteReq req,
                                    const ReductionEnd& end = {}) {
    return cooper::ReductionWorkspace(output, req, end);
  }

  // Applies F to operands that are broadcast to `full`. elemwise_kernel.h (RunBroadcast) has the
  // contract. Errors: kUnimplemented for too many axes.
  template <typename F>
  static absl::Status Broadcast(const KernelContext&, Operands operands, Shapes shapes,
                                Extents full, const ArrayView& output, WriteReq req) {
    return RunBroadcast(kElemwiseLoops<F>, operands, shapes, full, output, req);
  }

  // Applies F to operands of one size. The output may share its data with an operand. Returns OK
  // always.
  template <typename F>
  static absl::Status Elementwise(const KernelContext&, Operands operands, const ArrayView& output,
                                  WriteReq req) {
    return RunElemwise(kElemwiseLoops<F>, operands, output, req);
  }

  // Copies `input` to `output` of the same size and any dtype, according to `req`.
  static absl::Status Convert(const KernelContext&, const ArrayView& input, const ArrayView& output,
                              WriteReq req) {
    ConvertArray(input, output, req);
    return absl::OkStatus();
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_CPU_REDUCE_H_
