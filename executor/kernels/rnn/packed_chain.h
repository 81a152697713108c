#ifndef COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_
#define COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_

// Runs all steps of some sequences through a layer in one direction, for prediction
// (packed_step.h). Each step reads the states that the previous one wrote to the layer's output.
//
// prepared_rnn.cc and rnn_forward.cc use it. A chain is sequential: a thread runs its sequences
// through all steps without waiting for other threads, unless it splits the features of each step.

#include <cstdint>

#include "executor/kernels/rnn/packed_step.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/kernels/rnn/rnn_rows.h"

namespace cooper {

// The chain of steps of one layer and direction. Arrays "by place" are (batch, hidden) in the order
// of `rows`. Owns nothing; all members must outlive the calls of Run. The CPU kernels of RNN and of
// the prepared RNN make one for each layer and direction and call Run from ForEachChain
// (rnn_chains.h), on several threads for disjoint ranges of places.
struct PackedChain {
  // Runs all steps of the sequences at the places [begin, end). If these are few, splits each
  // step's features among several threads. Writes the outputs of real steps only; outputs beyond a
  // sequence's length are unchanged. The result does not depend on how places are divided among
  // calls or threads.
  void Run(int64_t begin, int64_t end) const;

  // The extents and lengths of the batch; they outlive this object.
  const RNNDims& dims;
  const RNNRows& rows;
  // 0 runs from the first step to the last, 1 from each sequence's last step to its first.
  int direction;
  // The weight, bias and cell of this layer and direction.
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
  // Returns the output features of step t of the sequence at `place`. The row is dims.output_row()
  // elements from the next one of the batch.
  float* OutputAt(int64_t t, int64_t place) const;
  // Returns the arrays of step t of the sequence at `place`. The previous state is the output of
  // the previous step, or `state` before the first one.
  PackedStepRow RowAt(int64_t t, int64_t place) const;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_PACKED_CHAIN_H_
