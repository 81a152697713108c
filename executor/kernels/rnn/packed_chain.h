#ifndef COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_
#define COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_

// All steps of some sequences through a layer in one direction, for prediction (packed_step.h):
// each step reads the states that the one before has left in the layer's output.

#include <cstdint>

#include "executor/kernels/rnn/packed_step.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"

namespace cooper {

// Arrays "by place" are (batch, hidden) in the order of `rows`. Several threads may run one chain,
// each with places of its own.
struct PackedChain {
  // Takes the sequences at the places [begin, end) through all their steps. Where these are few,
  // each step's features are cut into parts for several threads.
  void Run(int64_t begin, int64_t end) const;

  const RNNDims& dims;
  const RNNRows& rows;
  int direction;
  PackedStep step;
  const float* slots;       // (packed rows, slots, hidden), as PackedInputProduct leaves them
  const float* state;       // by place, before the first step
  const float* state_cell;  // likewise; lstm
  float* cell;              // lstm, by place: the cell state of the latest step; may be state_cell
  float* output;            // this direction's features of the first row of the layer's output
  // By place, after the last step; may be `state`, and keeps what it is for sequences without
  // steps. Null: not wanted.
  float* last_state;

 private:
  float* OutputAt(int64_t t, int64_t place) const;
  PackedStepRow RowAt(int64_t t, int64_t place) const;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_
