#ifndef COOPER_EXECUTOR_CPU_RNN_RNN_DIMS_H_
#define COOPER_EXECUTOR_CPU_RNN_RNN_DIMS_H_

// What the forward and the backward kernel of RNN have in common: extents, scratch memory, and how
// the work of a layer is split over threads.

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "executor/cpu/rnn/rnn_rows.h"
#include "ndarray/shape.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

struct RNNDims {
  RNNDims(const RNNParam& param, const Shape& data);

  int64_t num_steps, batch, input, hidden;
  int layers, directions;
  int slots;      // see RNNNumSlots
  int recurrent;  // the leading slots, which the product with the previous output fills

  int64_t rows() const { return num_steps * batch; }
  int64_t slot_row() const { return slots * hidden; }         // elements of a row of slots
  int64_t output_row() const { return directions * hidden; }  // of a row of a layer's output
  // The step that a direction takes as its s-th.
  int64_t StepAt(int direction, int64_t s) const { return direction == 0 ? s : num_steps - 1 - s; }
};

// The slots that the product of the input with `num_gates` gates of the i2h weight, from
// `first_gate` on, fills. A cell has one or two such products.
struct InputProduct {
  int first_slot, first_gate, num_gates;
};
absl::Span<const InputProduct> InputProducts(RNNMode mode);

// Rows of a batch are independent of each other, and so are directions: a thread takes some rows of
// one direction through all steps, and nobody waits for another at each step. Calls
// fn(direction, begin, end) so that all places of `rows` in all directions are covered.
void ForEachChain(const RNNDims& dims, const RNNRows& rows,
                  absl::FunctionRef<void(int, int64_t, int64_t)> fn);

// Fails for what these kernels do not compute: dtypes but float32 and float64, and projection.
absl::Status CheckSupported(const RNNParam& param);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CPU_RNN_RNN_DIMS_H_
