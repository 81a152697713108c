#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_DIMS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_DIMS_H_

// The extents of RNN and _rnn_layer, and the products that fill the slots of a step.

#include <cstdint>

#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The extents of an RNN for data (num_steps, batch, input).
struct RNNDims {
  RNNDims(const RNNParam& param, const Shape& data);

  int64_t num_steps, batch, input, hidden;
  int layers, directions;
  int slots;      // see RNNNumSlots
  int recurrent;  // the number of leading slots, which the product with the previous output fills

  int64_t rows() const { return num_steps * batch; }
  int64_t slot_row() const { return slots * hidden; }  // elements of a row of slots
  int64_t output_row() const {
    return directions * hidden;
  }  // elements of a row of a layer's output
  // Returns the time step that a direction processes as its s-th.
  int64_t StepAt(int direction, int64_t s) const { return direction == 0 ? s : num_steps - 1 - s; }
};

// A product of the input with `num_gates` gates of the i2h weight, from `first_gate` on, and the
// slots that it fills. A cell has one or two such products.
struct InputProduct {
  int first_slot, first_gate, num_gates;
};
// Returns the products of a cell of `mode`, which are constant.
absl::Span<const InputProduct> InputProducts(RNNMode mode);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_DIMS_H_
