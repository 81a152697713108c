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

inline constexpr int64_t kPackedFeatures = kPackedRNNFeatures;

// Returns the number of panels for `hidden` features.
inline int64_t NumPackedPanels(int64_t hidden) {
  return (hidden + kPackedFeatures - 1) / kPackedFeatures;
}
// Returns the floats of a packed weight.
inline int64_t PackedWeightSize(int gates, int64_t hidden, int64_t depth) {
  return NumPackedPanels(hidden) * depth * gates * kPackedFeatures;
}

// Packs a weight (gates * hidden, depth) into `packed`, which has PackedWeightSize floats.
void PackRNNWeight(const float* weight, int gates, int64_t hidden, int64_t depth, float* packed);

// Multiplies rows of inputs with a packed i2h weight: input (rows, depth) gives the slots of each
// row, 4 vectors of `hidden`, row after row, as the cell expects them. Does not write gru's slot
// nh.
struct PackedInputProduct {
  // Processes all rows, on several threads.
  void Run(const float* input, int64_t rows, float* slots) const;

  int gates;
  int64_t hidden;
  int64_t depth;
  const float* weight;  // packed
};

// One row of the batch in a step: vectors of `hidden` floats, not owned.
struct PackedStepRow {
  const float* h_prev = nullptr;
  const float* slots = nullptr;   // as PackedInputProduct writes them
  const float* c_prev = nullptr;  // lstm only
  float* c = nullptr;             // lstm only: the new cell state; may be c_prev
  float* h = nullptr;             // the new state; must not be h_prev
};

// One step of a layer and direction: the product with the h2h weight, and the cell.
struct PackedStep {
  // Runs the features of the panels [first, end) for all rows, on this thread. The order of each
  // sum does not depend on the other rows and panels of the call.
  void Run(absl::Span<const PackedStepRow> rows, int64_t first, int64_t end) const;

  RNNMode mode;
  int64_t hidden;
  const float* weight;  // packed h2h weight
  const float* bias;    // one vector for each slot
  CellClip<float> clip;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_
