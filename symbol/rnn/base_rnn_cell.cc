#include "symbol/rnn/base_rnn_cell.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/valid_length.h"

namespace cooper {
namespace {

// MXNet writes 0 for an unknown extent.
std::string ShapeText(const PartialShape& shape) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  std::replace(dims.begin(), dims.end(), kUnknownDim, int64_t{0});
  return PrintParamText(dims);
}

}  // namespace

StateFn ZeroStates(DType dtype) {
  return [dtype](const std::string& name, const StateInfo& info) {
    return Symbol::Create("_zeros", {.name = name,
                                     .attrs = {{"shape", ShapeText(info.shape)},
                                               {"dtype", DTypeName(dtype)},
                                               {"__layout__", info.layout}}});
  };
}

StateFn VariableStates() {
  return [](const std::string& name, const StateInfo& info) -> absl::StatusOr<Symbol> {
    return Symbol::Variable(name, {.shape = info.shape, .attrs = {{"__layout__", info.layout}}});
  };
}

BaseRNNCell::BaseRNNCell(std::string prefix, std::shared_ptr<RNNParams> params)
    : prefix_(std::move(prefix)),
      params_(params != nullptr ? std::move(params) : std::make_shared<RNNParams>(prefix_)) {}

void BaseRNNCell::Reset() {
  num_steps_ = 0;
  num_states_ = 0;
}

std::vector<PartialShape> BaseRNNCell::state_shape() const {
  std::vector<PartialShape> shapes;
  for (const StateInfo& info : state_info()) shapes.push_back(info.shape);
  return shapes;
}

std::string BaseRNNCell::NextStepPrefix() { return absl::StrCat(prefix_, "t", num_steps_++, "_"); }

std::string BaseRNNCell::Description() const { return absl::StrCat("cell '", prefix_, "'"); }

absl::StatusOr<SymbolSequence> BaseRNNCell::UnrollInputs(int length, const SymbolSequence& inputs,
                                                         const UnrollOptions& options,
                                                         std::optional<bool> merge) const {
  return AddContext(NormalizeSequence(length, inputs, options.layout, merge), "Unroll of ",
                    Description());
}

absl::Status BaseRNNCell::CheckNotModified() const {
  if (!modified_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(Description(), " is the base of a modifier (such as ZoneoutCell); ",
                   "call BeginState of the modifier"));
}

absl::Status BaseRNNCell::CheckStates(const std::vector<Symbol>& states) const {
  const size_t expected = state_info().size();
  if (states.size() == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(Description(), " has ", expected, " states, but ", states.size(), " came"));
}

absl::StatusOr<std::vector<Symbol>> BaseRNNCell::FirstStates(const UnrollOptions& options) {
  if (!options.begin_state.has_value()) return BeginState();
  COOPER_RETURN_IF_ERROR(CheckStates(*options.begin_state));
  return *options.begin_state;
}

absl::StatusOr<std::vector<Symbol>> BaseRNNCell::BeginState(const StateFn& make) {
  COOPER_RETURN_IF_ERROR(CheckNotModified());
  std::vector<Symbol> states;
  for (const StateInfo& info : state_info()) {
    COOPER_ASSIGN_OR_RETURN(Symbol state,
                            make(absl::StrCat(prefix_, "begin_state_", num_states_++), info));
    states.push_back(std::move(state));
  }
  return states;
}

absl::StatusOr<Unrolled> BaseRNNCell::Unroll(int length, const SymbolSequence& inputs,
                                             const UnrollOptions& options) {
  Reset();
  COOPER_ASSIGN_OR_RETURN(const SymbolSequence steps, UnrollInputs(length, inputs, options, false));
  COOPER_ASSIGN_OR_RETURN(std::vector<Symbol> states, FirstStates(options));
  std::vector<Symbol> outputs;
  std::vector<std::vector<Symbol>> all_states(states.size());  // by state, then step
  for (const Symbol& input : steps.steps()) {
    COOPER_ASSIGN_OR_RETURN(StepResult result, Step(input, states));
    outputs.push_back(std::move(result.output));
    states = std::move(result.states);
    for (size_t i = 0; i < states.size(); ++i) all_states[i].push_back(states[i]);
  }
  if (options.valid_length.has_value()) {
    const Symbol& valid_length = *options.valid_length;
    for (size_t i = 0; i < states.size(); ++i) {
      COOPER_ASSIGN_OR_RETURN(states[i], LastStep(all_states[i], valid_length));
    }
    COOPER_ASSIGN_OR_RETURN(SymbolSequence masked,
                            MaskSequence(length, std::move(outputs), options.layout, valid_length,
                                         options.merge_outputs));
    return Unrolled{std::move(masked), std::move(states)};
  }
  COOPER_ASSIGN_OR_RETURN(
      SymbolSequence merged,
      NormalizeSequence(length, std::move(outputs), options.layout, options.merge_outputs));
  return Unrolled{std::move(merged), std::move(states)};
}

absl::StatusOr<ArrayMap> UnpackWeights(const std::vector<RNNCellPtr>& cells, ArrayMap args) {
  for (const RNNCellPtr& cell : cells) {
    COOPER_ASSIGN_OR_RETURN(args, cell->UnpackWeights(std::move(args)));
  }
  return args;
}

absl::StatusOr<ArrayMap> PackWeights(const std::vector<RNNCellPtr>& cells, ArrayMap args) {
  for (const RNNCellPtr& cell : cells) {
    COOPER_ASSIGN_OR_RETURN(args, cell->PackWeights(std::move(args)));
  }
  return args;
}

}  // namespace cooper
