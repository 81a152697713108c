#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_CHAINS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_CHAINS_H_

// Splits the work of a layer over threads, for the CPU kernels of RNN, of its gradient and of the
// prepared RNN.
//
// Steps of one sequence depend on each other; sequences and directions do not. Threads that run
// whole sequences need no barrier at each step.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Calls fn(direction, begin, end) so that all places of `rows` are covered in each direction, on
// several threads and at once for different ranges. A thread runs some rows of one direction
// through all steps. Ranges have about the same number of real steps. Returns after all calls.
void ForEachChain(const RNNDims& dims, const RNNRows& rows,
                  absl::FunctionRef<void(int, int64_t, int64_t)> fn);

// Returns kUnimplemented if `param` has a projection, which these kernels do not compute.
absl::Status CheckSupported(const RNNParam& param);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_CHAINS_H_
