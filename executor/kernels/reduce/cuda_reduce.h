#ifndef COOPER_EXECUTOR_KERNELS_REDUCE_CUDA_REDUCE_H_
#define COOPER_EXECUTOR_KERNELS_REDUCE_CUDA_REDUCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/kernels/loops/element_map.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "executor/kernels/reducers/element_reduce.h"
#include "executor/kernels/reducers/reducers.h"
#include "executor/program/kernel.h"

namespace cooper {

// Implements Device of executor/kernels/reduce/axis_reduction_kernels.h on a GPU. For .cu files.
// All functions queue kernels on the context's stream and do not wait. Each combination of template
// arguments is instantiated in a .cu file (ElementReduceOf, ElementMapOf).
struct CudaReduce {
  using Operands = absl::Span<const ElemwiseOperand>;
  using Extents = absl::Span<const int64_t>;
  using Shapes = absl::Span<const Extents>;

  // Reduces Map(operands) with kReducer (RunElementReduce). element_reduce.h has the contract.
  // Errors: kUnimplemented for too many axes; those of a launch.
  template <Reducer kReducer, typename Map>
  static absl::Status Reduce(const KernelContext& c, const ReductionEnd& end, Extents full,
                             Operands operands, Shapes operand_shapes, const ArrayView& output,
                             Extents output_shape, WriteReq req, void* workspace) {
    return RunElementReduce(c, ElementReduceOf<kReducer, Map>(), end, full, operands,
                            operand_shapes, output, output_shape, req, workspace);
  }

  // Returns the bytes of Reduce's `workspace`. The size does not depend on the end.
  static int64_t ReductionWorkspace(const ArrayView& output, WriteReq req,
                                    const ReductionEnd& = {}) {
    return ElementReduceWorkspace(output, req);
  }

  // Applies F to operands that are broadcast to `full`. Scalars are rounded to the output's dtype
  // on the host. Errors: as those of Reduce.
  template <typename F>
  static absl::Status Broadcast(const KernelContext& c, Operands operands, Shapes shapes,
                                Extents full, const ArrayView& output, WriteReq req) {
    return RunBroadcastMap(c, ElementMapOf<F>(), operands, shapes, full, output, req);
  }

  // Applies F to operands of one size.
  template <typename F>
  static absl::Status Elementwise(const KernelContext& c, Operands operands,
                                  const ArrayView& output, WriteReq req) {
    return RunElementMap(c, ElementMapOf<F>(), operands, output, req);
  }

  // Copies `input` to `output` of the same size and any dtype, according to `req`.
  static absl::Status Convert(const KernelContext& c, const ArrayView& input,
                              const ArrayView& output, WriteReq req) {
    return ConvertArrayGpu(c, input, output, req);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_REDUCE_CUDA_REDUCE_H_
