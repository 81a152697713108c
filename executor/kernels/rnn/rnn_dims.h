#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_DIMS_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_DIMS_H_

// The extents of RNN and _rnn_layer, and the products that fill the slots of a step.
//
// A slot is one vector of `hidden` numbers that a step computes and the backward pass reads: one
// for each gate, and for gru a fourth, because the two summands of its candidate are kept apart.

#include <cstdint>

#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The extents of an RNN for data (num_steps, batch, input). A plain value: kernels of both devices
// derive sizes and offsets from it.
struct RNNDims {
  // `data` has rank 3. Checks nothing; shape inference has done so.
  RNNDims(const RNNParam& param, const Shape& data);

  // `input` is the number of features of the first layer's input, `hidden` those of a state.
  int64_t num_steps, batch, input, hidden;
  // directions is 2 for a bidirectional RNN, else 1.
  int layers, directions;
  int slots;      // see RNNNumSlots
  int recurrent;  // the number of leading slots, which the product with the previous output fills

  // Returns the number of rows of a layer's input and output, padding included.
  int64_t rows() const { return num_steps * batch; }
  int64_t slot_row() const { return slots * hidden; }  // elements of a row of slots
  int64_t output_row() const {
    return directions * hidden;
  }  // elements of a row of a layer's output
  // Returns the time step that a direction processes as its s-th.
  int64_t StepAt(int direction, int64_t s) const { return direction == 0 ? s : num_steps - 1 - s; }
};

// A product of the input with `num_gates` gates of the i2h weight, from `first_gate` on, and the
// slots that it fills. A cell has one or two such products. For gru the slots are r, z, nh, nx, so
// gates 0 and 1 fill slots 0 and 1, and gate 2 fills slot 3: slot 2 belongs to the recurrent
// product.
struct InputProduct {
  int first_slot, first_gate, num_gates;
};
// Returns the products of a cell of `mode`, which are constant. The span refers to static storage.
absl::Span<const InputProduct> InputProducts(RNNMode mode);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_DIMS_H_
