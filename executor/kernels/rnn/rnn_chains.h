#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_CHAINS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_CHAINS_H_

// What the forward and the backward kernel of RNN have in common: how the work of a layer is split
// over threads.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Rows of a batch are independent of each other, and so are directions: a thread takes some rows of
// one direction through all steps, and nobody waits for another at each step. Calls
// fn(direction, begin, end) so that all places of `rows` in all directions are covered.
void ForEachChain(const RNNDims& dims, const RNNRows& rows,
                  absl::FunctionRef<void(int, int64_t, int64_t)> fn);

// Fails for what these kernels do not compute: projection.
absl::Status CheckSupported(const RNNParam& param);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_CHAINS_H_
