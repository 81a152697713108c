#ifndef COOPER_SYMBOL_OPS_RNN_RNN_LAYOUT_H_
#define COOPER_SYMBOL_OPS_RNN_RNN_LAYOUT_H_

// The layout of the two flat arrays of the operator RNN: its parameters, in the order of MXNet and
// cuDNN, and the reserve that its forward pass keeps for its backward pass. All sizes and offsets
// are in elements.

#include <cstdint>
#include <optional>

#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

// Returns the number of gates. The order of their rows in a weight is i, f, g, o for lstm and r, z,
// n for gru; other cells have one gate.
int RNNNumGates(RNNMode mode);

// Returns whether prediction has a kernel with packed weights for the cell (_prepared_rnn).
inline bool HasPackedRNNWeight(RNNMode mode) {
  return mode == RNNMode::kLstm || mode == RNNMode::kGru;
}

// Returns whether a step passes a cell state to the next one in addition to its output.
inline bool RNNHasCell(const RNNParam& param) { return param.mode == RNNMode::kLstm; }
// Returns the number of states that a cell passes from step to step.
inline int RNNNumStates(const RNNParam& param) { return RNNHasCell(param) ? 2 : 1; }

// Returns the number of directions that each layer runs in.
inline int RNNNumDirections(const RNNParam& param) { return param.bidirectional ? 2 : 1; }

// Returns the features of a layer's output per direction: state_size, or projection_size for an
// lstm with a projection.
inline int64_t RNNOutputSize(const RNNParam& param) {
  return param.projection_size.value_or(param.state_size);
}

// Offsets of the parameters of one layer and direction. Weights have gates * state_size rows.
struct RNNWeightOffsets {
  int64_t input_size = 0;  // columns of the i2h weight
  int64_t i2h_weight = 0;
  int64_t h2h_weight = 0;
  int64_t i2h_bias = 0;
  int64_t h2h_bias = 0;
};

// Returns the offsets of a layer and direction. The parameter vector has the weights of every layer
// and direction (i2h, then h2h), then biases in the same order. Without projection.
RNNWeightOffsets RNNOffsets(const RNNParam& param, int64_t input_size, int layer, int direction);

// Returns the length of the parameter vector, including projection weights.
int64_t RNNParameterSize(const RNNParam& param, int64_t input_size);

// Returns the input size for which the parameter vector has this length; nullopt if there is none.
std::optional<int64_t> RNNInputSize(const RNNParam& param, int64_t parameter_size);

// Returns the number of slots of `state_size` elements that a step keeps per sequence. A slot holds
// a gate after its activation. gru has one slot more, since its gate n is tanh(nx + r * nh) and the
// gradient needs nh too: the order is r, z, nh, n, so that the slots which the recurrent product
// fills come first.
int RNNNumSlots(RNNMode mode);

// The layout of the reserve. Blocks are indexed by layer and direction; methods return offsets.
class RNNReserve {
 public:
  RNNReserve(const RNNParam& param, int64_t num_steps, int64_t batch_size);

  // Returns the offset of the gates, (num_steps, batch_size, slots * state_size).
  int64_t slots(int layer, int direction) const {
    return (layer * num_directions_ + direction) * slots_size_;
  }
  // Returns, for lstm, the offset of the cell states after each step, (num_steps, batch_size,
  // state_size).
  int64_t cells(int layer, int direction) const {
    return cells_begin_ + (layer * num_directions_ + direction) * cells_size_;
  }
  // Returns the offset of the output of a layer other than the last, whose output is the
  // operator's: (num_steps, batch_size, num_directions * state_size).
  int64_t output(int layer) const { return outputs_begin_ + layer * output_size_; }
  // Returns the offset of the dropout mask, one byte per element of output(layer): 0 for dropped
  // elements. There is a mask only if p > 0.
  int64_t mask(int layer) const { return masks_begin_ + layer * mask_size_; }

  // Returns the number of elements of the reserve; the greatest int64 on overflow.
  int64_t size() const { return size_; }

 private:
  int num_directions_;
  int64_t slots_size_;
  int64_t cells_size_;
  int64_t output_size_;
  int64_t mask_size_;
  int64_t cells_begin_;
  int64_t outputs_begin_;
  int64_t masks_begin_;
  int64_t size_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RNN_RNN_LAYOUT_H_
