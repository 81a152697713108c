#include "symbol/rnn/fused_rnn_cell.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/rnn_layout.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/cell_ops.h"
#include "symbol/rnn/dropout_cell.h"
#include "symbol/rnn/gate_weights.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/valid_length.h"

namespace cooper {
namespace {

// Returns the operator's text for the mode: "lstm".
std::string ModeName(RNNMode mode) {
  const RNNParam param = {.mode = mode};
  return ParamDeclaration<RNNParam>::Schema()->Print(&param).at("mode");
}

std::vector<std::string> GateNames(RNNMode mode) {
  switch (mode) {
    case RNNMode::kLstm:
      return {"_i", "_f", "_c", "_o"};
    case RNNMode::kGru:
      return {"_r", "_z", "_o"};
    default:
      return {""};
  }
}

// Returns the initializer of the parameter vector; "init" null means the network's own.
std::string InitText(int64_t num_hidden, const FusedRNNCellOptions& options) {
  return absl::StrCat("[\"fusedrnn\", {\"init\": null, \"num_hidden\": ", num_hidden,
                      ", \"num_layers\": ", options.num_layers, ", \"mode\": \"",
                      ModeName(options.mode),
                      "\", \"bidirectional\": ", options.bidirectional ? "true" : "false",
                      ", \"forget_bias\": ", PythonFloat(options.forget_bias), "}]");
}

}  // namespace

FusedRNNCell::FusedRNNCell(int64_t num_hidden, FusedRNNCellOptions options)
    : BaseRNNCell(options.prefix.value_or(absl::StrCat(ModeName(options.mode), "_")),
                  options.params),
      num_hidden_(num_hidden),
      options_(std::move(options)),
      parameters_(params()->Get("parameters", {.init = InitText(num_hidden, options_)})) {}

RNNParam FusedRNNCell::OpParam() const {
  return {.state_size = num_hidden_,
          .num_layers = options_.num_layers,
          .mode = options_.mode,
          .bidirectional = options_.bidirectional};
}

absl::Status FusedRNNCell::CheckSizes() const {
  if (num_hidden_ >= 1 && options_.num_layers >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("FusedRNNCell '", prefix(), "': num_hidden is ", num_hidden_, " and num_layers ",
                   options_.num_layers, ", expected at least 1 of each"));
}

std::vector<StateInfo> FusedRNNCell::state_info() const {
  const RNNParam param = OpParam();
  const int64_t states = param.num_layers * RNNNumDirections(param);
  return std::vector<StateInfo>(RNNNumStates(param), {{states, kUnknownDim, num_hidden_}, "LNC"});
}

absl::StatusOr<StepResult> FusedRNNCell::Step(const Symbol&, const std::vector<Symbol>&) {
  return absl::UnimplementedError(absl::StrCat(
      "FusedRNNCell '", prefix(), "' cannot take single steps; use Unroll, or Unfuse it first"));
}

absl::StatusOr<Unrolled> FusedRNNCell::Unroll(int length, const SymbolSequence& inputs,
                                              const UnrollOptions& options) {
  Reset();
  COOPER_ASSIGN_OR_RETURN(const SymbolSequence merged, UnrollInputs(length, inputs, options, true));
  COOPER_ASSIGN_OR_RETURN(const int axis, TimeAxis(options.layout));
  if (axis > 1) {
    return absl::InvalidArgumentError(absl::StrCat("FusedRNNCell '", prefix(), "': layout '",
                                                   options.layout, "', expected NTC or TNC"));
  }
  Symbol data = merged.merged();
  if (axis == 1) {
    COOPER_ASSIGN_OR_RETURN(data, SwapBatchAndTime(data));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> states, FirstStates(options));

  OpArgs args = {.name = absl::StrCat(prefix(), "rnn"),
                 .named = {{"data", data}, {"parameters", parameters_}, {"state", states[0]}},
                 .attrs = {{"state_size", absl::StrCat(num_hidden_)},
                           {"num_layers", absl::StrCat(options_.num_layers)},
                           {"bidirectional", PrintParamText(options_.bidirectional)},
                           {"p", PythonFloat(options_.dropout)},
                           {"state_outputs", PrintParamText(options_.get_next_state)},
                           {"mode", ModeName(options_.mode)}}};
  if (states.size() == 2) args.named["state_cell"] = states[1];
  if (options_.get_next_state) args.attrs["__layout__"] = "LNC";
  if (options.valid_length.has_value()) {
    args.named["sequence_length"] = *options.valid_length;
    args.attrs["use_sequence_length"] = "True";
  }
  COOPER_ASSIGN_OR_RETURN(const Symbol rnn, Symbol::Create("RNN", args));

  Symbol output = rnn[0];
  if (axis == 1) {
    COOPER_ASSIGN_OR_RETURN(output, SwapBatchAndTime(output));
  }
  COOPER_ASSIGN_OR_RETURN(SymbolSequence outputs,
                          NormalizeSequence(length, output, options.layout, options.merge_outputs));
  Unrolled result{std::move(outputs), {}};
  for (int i = 1; i < rnn.num_outputs(); ++i) result.states.push_back(rnn[i]);
  return result;
}

std::vector<FusedRNNCell::WeightSlice> FusedRNNCell::WeightSlices(int64_t input_size) const {
  const RNNParam param = OpParam();
  const std::vector<std::string> gates = GateNames(options_.mode);
  std::vector<WeightSlice> slices;
  for (int layer = 0; layer < options_.num_layers; ++layer) {
    for (int d = 0; d < RNNNumDirections(param); ++d) {
      const RNNWeightOffsets at = RNNOffsets(param, input_size, layer, d);
      const std::string name = absl::StrCat(prefix(), d == 0 ? "l" : "r", layer, "_");
      for (size_t g = 0; g < gates.size(); ++g) {
        const int64_t row = static_cast<int64_t>(g) * num_hidden_;
        const auto add = [&](const char* product, const char* kind, int64_t offset, Shape shape) {
          slices.push_back({absl::StrCat(name, product, gates[g], kind), offset, std::move(shape)});
        };
        add("i2h", "_weight", at.i2h_weight + row * at.input_size, {num_hidden_, at.input_size});
        add("h2h", "_weight", at.h2h_weight + row * num_hidden_, {num_hidden_, num_hidden_});
        add("i2h", "_bias", at.i2h_bias + row, {num_hidden_});
        add("h2h", "_bias", at.h2h_bias + row, {num_hidden_});
      }
    }
  }
  return slices;
}

absl::StatusOr<NDArray> FusedRNNCell::WeightSlice::Of(const NDArray& packed) const {
  COOPER_ASSIGN_OR_RETURN(const NDArray flat, packed.Slice(offset, offset + shape.num_elements()));
  return flat.Reshape(shape);
}

absl::StatusOr<ArrayMap> FusedRNNCell::UnpackWeights(ArrayMap args) const {
  COOPER_RETURN_IF_ERROR(CheckSizes());
  COOPER_ASSIGN_OR_RETURN(const NDArray packed, ExtractArray(args, parameters_.name()));
  const std::optional<int64_t> input_size = RNNInputSize(OpParam(), packed.size());
  if (packed.shape().rank() != 1 || !input_size.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("weight '", parameters_.name(), "' has shape ", packed.shape().ToString(),
                     ", which is not a parameter vector of ", options_.num_layers, " layers of ",
                     ModeName(options_.mode), " with state_size ", num_hidden_));
  }
  for (const WeightSlice& slice : WeightSlices(*input_size)) {
    COOPER_ASSIGN_OR_RETURN(const NDArray view, slice.Of(packed));
    COOPER_ASSIGN_OR_RETURN(args[slice.name], view.Copy());
  }
  return args;
}

absl::StatusOr<ArrayMap> FusedRNNCell::PackWeights(ArrayMap args) const {
  COOPER_RETURN_IF_ERROR(CheckSizes());
  // The first slice determines the input size, dtype and device.
  const std::string first = WeightSlices(1)[0].name;
  auto it = args.find(first);
  if (it == args.end() || it->second.shape().rank() != 2) {
    return absl::NotFoundError(absl::StrCat("no weight (num_hidden, input) called '", first, "'"));
  }
  const NDArray model = it->second;
  const int64_t input_size = model.shape()[1];
  COOPER_ASSIGN_OR_RETURN(
      const NDArray packed,
      NDArray::Empty({RNNParameterSize(OpParam(), input_size)}, model.dtype(), model.context()));
  for (const WeightSlice& slice : WeightSlices(input_size)) {
    COOPER_ASSIGN_OR_RETURN(const NDArray weight, ExtractArray(args, slice.name));
    if (weight.shape() != slice.shape) {
      return absl::InvalidArgumentError(absl::StrCat("weight '", slice.name, "' has shape ",
                                                     weight.shape().ToString(), ", expected ",
                                                     slice.shape.ToString()));
    }
    COOPER_ASSIGN_OR_RETURN(const NDArray place, slice.Of(packed));
    COOPER_RETURN_IF_ERROR(place.CopyFrom(weight));
  }
  args[parameters_.name()] = packed;
  return args;
}

RNNCellPtr FusedRNNCell::MakeLayerCell(const std::string& prefix) const {
  switch (options_.mode) {
    case RNNMode::kLstm:
      return std::make_shared<LSTMCell>(num_hidden_, LSTMCellOptions{.prefix = prefix});
    case RNNMode::kGru:
      return std::make_shared<GRUCell>(num_hidden_, GRUCellOptions{.prefix = prefix});
    case RNNMode::kRnnRelu:
      return std::make_shared<RNNCell>(num_hidden_,
                                       RNNCellOptions{.activation = "relu", .prefix = prefix});
    case RNNMode::kRnnTanh:
      return std::make_shared<RNNCell>(num_hidden_, RNNCellOptions{.prefix = prefix});
  }
  return nullptr;
}

std::shared_ptr<SequentialRNNCell> FusedRNNCell::Unfuse() const {
  auto stack = std::make_shared<SequentialRNNCell>();
  for (int i = 0; i < options_.num_layers; ++i) {
    RNNCellPtr cell = MakeLayerCell(absl::StrCat(prefix(), "l", i, "_"));
    if (options_.bidirectional) {
      cell = std::make_shared<BidirectionalCell>(
          cell, MakeLayerCell(absl::StrCat(prefix(), "r", i, "_")),
          BidirectionalCellOptions{.output_prefix = absl::StrCat(prefix(), "bi_l", i, "_")});
    }
    CHECK(stack->Add(cell).ok());
    if (options_.dropout > 0 && i != options_.num_layers - 1) {
      cell = std::make_shared<DropoutCell>(
          options_.dropout,
          DropoutCellOptions{.prefix = absl::StrCat(prefix(), "_dropout", i, "_")});
      CHECK(stack->Add(cell).ok());
    }
  }
  return stack;
}

}  // namespace cooper
