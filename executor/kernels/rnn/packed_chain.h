#ifndef COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_
#define COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_

// Runs all steps of some sequences through a layer in one direction, for prediction
// (packed_step.h). Each step reads the states that the previous one wrote to the layer's output.

#include <cstdint>

#include "executor/kernels/rnn/packed_step.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"

namespace cooper {

// The chain of steps of one layer and direction. Arrays "by place" are (batch, hidden) in the order
// of `rows`. Owns nothing. Several threads may call Run at once for disjoint ranges of places.
struct PackedChain {
  // Runs all steps of the sequences at the places [begin, end). If these are few, splits each
  // step's features among several threads.
  void Run(int64_t begin, int64_t end) const;

  const RNNDims& dims;
  const RNNRows& rows;
  int direction;
  PackedStep step;
  const float* slots;       // (packed rows, slots, hidden), as PackedInputProduct writes them
  const float* state;       // by place, before the first step
  const float* state_cell;  // by place, before the first step; lstm only
  float* cell;              // lstm only, by place: the latest cell state; may be state_cell
  float* output;            // this direction's features of the first row of the layer's output
  // By place, after the last step. May be `state`. Not written for sequences without steps. Null if
  // not requested.
  float* last_state;

 private:
  // Returns the output features of step t of the sequence at `place`.
  float* OutputAt(int64_t t, int64_t place) const;
  // Returns the arrays of step t of the sequence at `place`.
  PackedStepRow RowAt(int64_t t, int64_t place) const;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_
