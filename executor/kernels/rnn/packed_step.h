#ifndef COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_
#define COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_

// The products of lstm and gru for prediction, where nothing is kept for a backward pass. Weights
// are packed once, and a step computes product and cell together: the sums of a few features go
// from the product's registers into the cell, and only the new states are written.
//
// Weights (gates * hidden, depth) are packed in panels. A panel holds the weights of
// kPackedFeatures features of the state, ordered by element and gate:
//
//   packed[panel][k][gate][j] = weight[gate * hidden + panel * kPackedFeatures + j][k]
//
// A panel is read from its beginning to its end, once for several rows. Features beyond the last
// one are 0.

#include <cstdint>

#include "absl/types/span.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "symbol/ops/rnn/pack_rnn_weight_param.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// The width of a panel, in features. The operator that packs weights ahead of time uses the same
// number.
inline constexpr int64_t kPackedFeatures = kPackedRNNFeatures;

// Returns the number of panels for `hidden` features.
inline int64_t NumPackedPanels(int64_t hidden) {
  return (hidden + kPackedFeatures - 1) / kPackedFeatures;
}
// Returns the floats of a packed weight. `gates` is 4 for lstm, 3 for gru. The features are rounded
// up to whole panels.
inline int64_t PackedWeightSize(int gates, int64_t hidden, int64_t depth) {
  return NumPackedPanels(hidden) * depth * gates * kPackedFeatures;
}

// Packs a weight (gates * hidden, depth) into `packed`, which has PackedWeightSize floats. Runs on
// several threads; costs one pass over the weight. `weight` and `packed` must not overlap.
void PackRNNWeight(const float* weight, int gates, int64_t hidden, int64_t depth, float* packed);

// Multiplies inputs (rows, depth) with a packed i2h weight. Writes the slots of each row, 4 vectors
// of `hidden`, row after row, as the cell expects them: i, f, g, o for lstm and r, z, nh, nx for
// gru, whose slot nh is not written. Adds no bias.
struct PackedInputProduct {
  // Processes all rows, on several threads.
  void Run(const float* input, int64_t rows, float* slots) const;

  // The number of gates: 4 for lstm, 3 for gru.
  int gates;
  int64_t hidden;
  // The number of features of the input.
  int64_t depth;
  // PackedWeightSize(gates, hidden, depth) floats, not owned.
  const float* weight;  // packed
};

// One row of the batch in a step: vectors of `hidden` floats, not owned.
struct PackedStepRow {
  // The state before the step.
  const float* h_prev = nullptr;
  const float* slots = nullptr;   // as PackedInputProduct writes them
  const float* c_prev = nullptr;  // lstm only
  float* c = nullptr;             // lstm only: the new cell state; may be c_prev
  float* h = nullptr;             // the new state; must not be h_prev
};

// One step of a layer and direction: the product with the h2h weight, and the cell. Owns nothing.
// Several threads may call Run at once for different rows or panels.
struct PackedStep {
  // Runs the features of the panels [first, end) for all rows, on this thread. The order of each
  // sum does not depend on the other rows and panels of the call. Adds the bias to each slot,
  // computes the cell and writes the features of h, and of c for lstm. Reads all features of
  // h_prev, therefore the calls for all panels of a step come before the next step.
  void Run(absl::Span<const PackedStepRow> rows, int64_t first, int64_t end) const;

  // kLstm or kGru.
  RNNMode mode;
  int64_t hidden;
  const float* weight;  // packed h2h weight
  // The sums of both biases (SumBiases in rnn_matrix_ops.h), not owned.
  const float* bias;  // one vector for each slot
  // The bounds of lstm's cell state.
  CellClip<float> clip;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_
