#ifndef COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_
#define COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_

// The products of lstm and gru for prediction, where nothing is kept for a backward pass: with
// weights that are packed once, and in a step product and cell in one. The sums of a few features
// go from the registers of the product into the cell, and only the new states are written.
//
// Weights (gates * hidden, depth) are packed in panels, each of which has what kPackedFeatures
// features of the state take from a vector of `depth` elements, by element and gate:
//
//   packed[panel][k][gate][j] = weight[gate * hidden + panel * kPackedFeatures + j][k]
//
// so that a panel is read from its beginning to its end, once for some rows. What lies beyond the
// last feature is 0.

#include <cstdint>

#include "absl/types/span.h"
#include "executor/kernels/rnn/rnn_cell_functions.h"
#include "symbol/ops/rnn/pack_rnn_weight_param.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

inline constexpr int64_t kPackedFeatures = kPackedRNNFeatures;

inline int64_t NumPackedPanels(int64_t hidden) {
  return (hidden + kPackedFeatures - 1) / kPackedFeatures;
}
inline int64_t PackedWeightSize(int gates, int64_t hidden, int64_t depth) {
  return NumPackedPanels(hidden) * depth * gates * kPackedFeatures;
}

// `packed` has PackedWeightSize floats.
void PackRNNWeight(const float* weight, int gates, int64_t hidden, int64_t depth, float* packed);

// The products of rows of inputs with a packed i2h weight: of input (rows, depth) into the slots of
// each row, as the cell's slots lie (4 vectors of `hidden`, row after row), but for gru's slot nh.
struct PackedInputProduct {
  // Of all rows, on several threads.
  void Run(const float* input, int64_t rows, float* slots) const;

  int gates;
  int64_t hidden;
  int64_t depth;
  const float* weight;  // packed
};

// A row of the batch in a step: vectors of `hidden` floats.
struct PackedStepRow {
  const float* h_prev = nullptr;
  const float* slots = nullptr;   // as PackedInputProduct leaves them
  const float* c_prev = nullptr;  // lstm
  float* c = nullptr;             // lstm: the new cell state; may be c_prev
  float* h = nullptr;             // the new state; not h_prev
};

struct PackedStep {
  // Takes the rows through the features of panels [first, end), on this thread. Each sum is made in
  // the same order whatever the other rows and panels of the call are.
  void Run(absl::Span<const PackedStepRow> rows, int64_t first, int64_t end) const;

  RNNMode mode;
  int64_t hidden;
  const float* weight;  // packed h2h weight
  const float* bias;    // of each slot
  CellClip<float> clip;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_PACKED_STEP_H_
