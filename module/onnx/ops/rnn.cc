// Recurrent layers: LSTM, GRU and RNN of ONNX, one node for each layer.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "module/onnx/node_export.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

// The weights of one layer and direction, in cooper's order of gates.
struct DirectionWeights {
  const char* i2h_weight;
  const char* h2h_weight;
  const char* i2h_bias;
  const char* h2h_bias;
};

// Returns cooper's gate for each of ONNX's: lstm i f g o to i o f g, gru r z n to z r n.
std::vector<int> GateOrder(RNNMode mode) {
  switch (mode) {
    case RNNMode::kLstm:
      return {0, 3, 1, 2};
    case RNNMode::kGru:
      return {1, 0, 2};
    case RNNMode::kRnnRelu:
    case RNNMode::kRnnTanh:
      return {0};
  }
  return {};
}

const char* OnnxOp(RNNMode mode) {
  switch (mode) {
    case RNNMode::kLstm:
      return "LSTM";
    case RNNMode::kGru:
      return "GRU";
    case RNNMode::kRnnRelu:
    case RNNMode::kRnnTanh:
      return "RNN";
  }
  return "";
}

// Copies the blocks of all gates, of `gate_bytes` each, in ONNX's order, and returns the end.
char* CopyGates(RNNMode mode, const char* from, int64_t gate_bytes, char* to) {
  for (int gate : GateOrder(mode)) {
    std::memcpy(to, from + gate * gate_bytes, gate_bytes);
    to += gate_bytes;
  }
  return to;
}

// The values that a layer reads and returns, by name. An empty name is an absent value.
struct LayerInputs {
  std::string data;                   // (length, batch, input)
  std::string lengths;                // (batch,) int32
  std::array<std::string, 2> states;  // (directions, batch, state_size), h and c
};
struct LayerOutputs {
  std::string output;                 // (length, batch, directions * state_size)
  std::array<std::string, 2> states;  // (directions, batch, state_size)
};

// Writes one layer, with weights of `dtype` and `input_size` columns for each direction.
absl::StatusOr<LayerOutputs> EmitLayer(NodeExport& c, const LayerInputs& inputs,
                                       absl::Span<const DirectionWeights> weights,
                                       int64_t input_size, DType dtype) {
  const auto& param = c.param<RNNParam>();
  const int64_t directions = static_cast<int64_t>(weights.size());
  const int64_t hidden = param.state_size;
  const int64_t rows = RNNNumGates(param.mode) * hidden;
  COOPER_ASSIGN_OR_RETURN(const NDArray w, NDArray::Empty({directions, rows, input_size}, dtype));
  COOPER_ASSIGN_OR_RETURN(const NDArray r, NDArray::Empty({directions, rows, hidden}, dtype));
  COOPER_ASSIGN_OR_RETURN(const NDArray b, NDArray::Empty({directions, 2 * rows}, dtype));
  char* w_end = static_cast<char*>(w.raw_data());
  char* r_end = static_cast<char*>(r.raw_data());
  char* b_end = static_cast<char*>(b.raw_data());
  const int64_t gate_bytes = hidden * SizeOf(dtype);
  for (const DirectionWeights& of : weights) {
    w_end = CopyGates(param.mode, of.i2h_weight, gate_bytes * input_size, w_end);
    r_end = CopyGates(param.mode, of.h2h_weight, gate_bytes * hidden, r_end);
    b_end = CopyGates(param.mode, of.i2h_bias, gate_bytes, b_end);
    b_end = CopyGates(param.mode, of.h2h_bias, gate_bytes, b_end);
  }
  OnnxAttrs attrs = {{"hidden_size", hidden},
                     {"direction", std::string(directions == 2 ? "bidirectional" : "forward")}};
  if (param.mode == RNNMode::kGru) attrs.emplace_back("linear_before_reset", int64_t{1});
  const bool has_cell = RNNHasCell(param);
  std::vector<std::string> names = {inputs.data,       c.Weights("W", w), c.Weights("R", r),
                                    c.Weights("B", b), inputs.lengths,    inputs.states[0]};
  if (has_cell) names.push_back(inputs.states[1]);
  const std::string op = OnnxOp(param.mode);
  if (param.mode == RNNMode::kRnnRelu) {
    attrs.emplace_back("activations", std::vector<std::string>(directions, "Relu"));
  }
  while (names.back().empty()) names.pop_back();
  const std::vector<std::string> out =
      c.EmitMany(op, std::move(names), has_cell ? 3 : 2, std::move(attrs));
  LayerOutputs outputs;
  // (length, directions, batch, state_size)
  if (directions == 1) {
    outputs.output = c.Squeeze(out[0], {1});
  } else {
    outputs.output =
        c.Emit("Reshape", {c.Transpose(out[0], {0, 2, 1, 3}), c.Ints({0, 0, directions * hidden})});
  }
  for (size_t k = 1; k < out.size(); ++k) outputs.states[k - 1] = out[k];
  return outputs;
}

// Refuses clipping and projection, which have no counterpart: ONNX clips the sums, not the cell.
absl::Status CheckParam(const NodeExport& c) {
  const auto& param = c.param<RNNParam>();
  if (param.projection_size.has_value()) return c.Refuse("it has a projection");
  if (param.lstm_state_clip_min.has_value()) return c.Refuse("it clips the cell state");
  return absl::OkStatus();
}

// Returns the lengths, the last input, as ONNX's dtype; empty if there are none.
std::string LengthsOf(NodeExport& c) {
  if (!c.param<RNNParam>().use_sequence_length) return "";
  const int last = c.num_inputs() - 1;
  return c.Cast(c.input(last), c.type(last), DType::kInt32);
}

// Returns whether input `i` is an array of zeros, ONNX's default of a state.
bool IsZeros(const NodeExport& c, int i) { return IsOp(*c.node().inputs()[i].node, "_zeros"); }

absl::Status ExportRNN(NodeExport& c) {
  constexpr int kData = 0, kParameters = 1, kState = 2;
  COOPER_RETURN_IF_ERROR(CheckParam(c));
  const auto& param = c.param<RNNParam>();
  COOPER_ASSIGN_OR_RETURN(const NDArray parameters, c.Constant(kParameters));
  if (!c.shape(kData)[2].is_number()) return c.Refuse("the features must be a number");
  const int64_t input_size = c.shape(kData)[2].number();
  const int directions = RNNNumDirections(param);
  const int64_t element = SizeOf(parameters.dtype());
  const char* first = static_cast<const char*>(parameters.raw_data());
  LayerInputs inputs{.data = c.input(kData), .lengths = LengthsOf(c)};
  std::array<std::vector<std::string>, 2> last;  // states of all layers
  for (int layer = 0; layer < param.num_layers; ++layer) {
    std::vector<DirectionWeights> weights;
    int64_t columns = 0;
    for (int d = 0; d < directions; ++d) {
      const RNNWeightOffsets at = RNNOffsets(param, input_size, layer, d);
      columns = at.input_size;
      weights.push_back({first + at.i2h_weight * element, first + at.h2h_weight * element,
                         first + at.i2h_bias * element, first + at.h2h_bias * element});
    }
    for (int k = 0; k < RNNNumStates(param); ++k) {
      if (IsZeros(c, kState + k)) continue;
      const std::string& all = c.input(kState + k);
      inputs.states[k] = param.num_layers == 1
                             ? all
                             : c.Slice(all, 0, layer * directions, (layer + 1) * directions);
    }
    COOPER_ASSIGN_OR_RETURN(const LayerOutputs out,
                            EmitLayer(c, inputs, weights, columns, parameters.dtype()));
    inputs.data = out.output;
    for (int k = 0; k < RNNNumStates(param); ++k) last[k].push_back(out.states[k]);
  }
  c.Return(inputs.data);
  if (!param.state_outputs) return absl::OkStatus();
  for (int k = 0; k < RNNNumStates(param); ++k) {
    if (!c.is_read(1 + k)) continue;
    c.Return(1 + k,
             last[k].size() == 1 ? last[k][0] : c.Emit("Concat", last[k], {{"axis", int64_t{0}}}));
  }
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(RNN, "LSTM, GRU, RNN; weights that depend on parameters alone", ExportRNN);

// One layer in one direction with weights in arrays of their own.
absl::Status ExportRNNLayer(NodeExport& c) {
  enum { kData, kI2hWeight, kI2hBias, kH2hWeight, kH2hBias, kState };
  COOPER_RETURN_IF_ERROR(CheckParam(c));
  const auto& param = c.param<RNNParam>();
  std::array<NDArray, kState> arrays;
  for (int i = kI2hWeight; i < kState; ++i) {
    COOPER_ASSIGN_OR_RETURN(arrays[i], c.Constant(i));
  }
  const auto data = [&](int i) { return static_cast<const char*>(arrays[i].raw_data()); };
  const DirectionWeights weights = {data(kI2hWeight), data(kH2hWeight), data(kI2hBias),
                                    data(kH2hBias)};
  LayerInputs inputs{.data = c.input(kData), .lengths = LengthsOf(c)};
  for (int k = 0; k < RNNNumStates(param); ++k) {
    if (!IsZeros(c, kState + k)) inputs.states[k] = c.Unsqueeze(c.input(kState + k), {0});
  }
  COOPER_ASSIGN_OR_RETURN(const LayerOutputs out,
                          EmitLayer(c, inputs, {&weights, 1}, arrays[kI2hWeight].shape()[1],
                                    arrays[kI2hWeight].dtype()));
  c.Return(out.output);
  for (int k = 0; k < RNNNumStates(param); ++k) {
    if (c.is_read(1 + k)) c.Return(1 + k, c.Squeeze(out.states[k], {0}));
  }
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_rnn_layer, "LSTM, GRU, RNN; unrolled cells become it before the export",
                   ExportRNNLayer);

}  // namespace
}  // namespace cooper
