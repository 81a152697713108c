// FLOPs of recurrent layers: each weight is used in every step of every sequence. Steps behind a
// sequence's length count too, since shapes do not show lengths.

#include <cstddef>
#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

int64_t GateRows(const RNNParam& param) { return RNNNumGates(param.mode) * param.state_size; }

// Returns the elements of all weights, without the two biases per row of a layer and direction.
int64_t NumWeights(const RNNParam& param, int64_t input_size) {
  return RNNParameterSize(param, input_size) -
         2 * GateRows(param) * param.num_layers * RNNNumDirections(param);
}

// Returns the FLOPs of the products of each step of `data` (length, batch, input) with the weights.
double ProductsWith(int64_t weights, const Shape& data) {
  return 2 * static_cast<double>(data[0] * data[1]) * static_cast<double>(weights);
}

double Forward(const OpWork& work) {
  const Shape& data = work.inputs[0];
  return ProductsWith(NumWeights(work.param<RNNParam>(), data[2]), data);
}

// Returns the FLOPs of the gradients: one product for the weights, and one for lower layers, data
// and earlier steps. Without the gradient of data its part is left out, and without that of the
// initial state the first step's part.
double Backward(const OpWork& work) {
  const auto& param = work.param<RNNParam>();
  // The gradients of the visible outputs are the first inputs.
  const int num_visible = param.state_outputs ? 1 + RNNNumStates(param) : 1;
  const Shape& data = work.inputs[num_visible];
  const int64_t weights = NumWeights(param, data[2]);
  const int64_t of_data = GateRows(param) * data[2] * RNNNumDirections(param);
  const int64_t of_state =
      GateRows(param) * RNNOutputSize(param) * param.num_layers * RNNNumDirections(param);
  // The last outputs are the gradients of the state and, for lstm, of its cell.
  const size_t state = work.outputs.size() - RNNNumStates(param);
  double flops = 2 * ProductsWith(weights, data);
  if (!work.wanted[0]) flops -= ProductsWith(of_data, data);
  if (!work.wanted[state]) flops -= ProductsWith(of_state, {1, data[1], data[2]});
  return flops;
}

COOPER_OP_FLOPS(RNN, Forward);
COOPER_OP_FLOPS(_backward_RNN, Backward);
COOPER_OP_FLOPS(_rnn_layer, Forward);
COOPER_OP_FLOPS(_prepared_rnn, Forward);
COOPER_OP_FLOPS(_backward_rnn_layer, Backward);

}  // namespace
}  // namespace cooper
