// Operations of recurrent layers: each weight meets every step of every sequence. Steps behind a
// sequence's length count, too: no shape tells them.

#include <cstddef>
#include <cstdint>

#include "ndarray/base/shape.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

int64_t GateRows(const RNNParam& param) { return RNNNumGates(param.mode) * param.state_size; }

// Elements of all weights, without biases: two for each row of a layer and direction.
int64_t NumWeights(const RNNParam& param, int64_t input_size) {
  return RNNParameterSize(param, input_size) -
         2 * GateRows(param) * param.num_layers * RNNNumDirections(param);
}

// A product of each step of `data` (length, batch, input) with so many weights.
double ProductsWith(int64_t weights, const Shape& data) {
  return 2 * static_cast<double>(data[0] * data[1]) * static_cast<double>(weights);
}

double Forward(const OpWork& work) {
  const Shape& data = work.inputs[0];
  return ProductsWith(NumWeights(work.param<RNNParam>(), data[2]), data);
}

// One product for the weights, of whichever of them gradients are asked for, and one for what goes
// to lower layers, to data, and to earlier steps: from the first step only if the initial state's
// gradient is asked for.
double Backward(const OpWork& work) {
  const auto& param = work.param<RNNParam>();
  // The gradients of the visible outputs come first.
  const int num_visible = param.state_outputs ? 1 + RNNNumStates(param) : 1;
  const Shape& data = work.inputs[num_visible];
  const int64_t weights = NumWeights(param, data[2]);
  const int64_t of_data = GateRows(param) * data[2] * RNNNumDirections(param);
  const int64_t of_state =
      GateRows(param) * RNNOutputSize(param) * param.num_layers * RNNNumDirections(param);
  // The outputs end with the gradients of the state and, of lstm, its cell.
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
