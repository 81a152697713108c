#include "symbol/rnn/unroll.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {
namespace {

// Returns the first error of the symbols: cells may access the outputs, which are then missing.
absl::Status ErrorOf(const std::vector<Symbol>& symbols) {
  for (const Symbol& symbol : symbols) {
    if (!symbol.status().ok()) return symbol.status();
  }
  return absl::OkStatus();
}

std::vector<Symbol> Broken(size_t count, const absl::Status& error) {
  return std::vector<Symbol>(count, Symbol(error));
}

}  // namespace

Unrolled Unroll(BaseRNNCell& cell, int length, const SymbolSequence& inputs,
                const UnrollOptions& options) {
  absl::Status error = ErrorOf(inputs.symbols());
  if (error.ok() && options.begin_state.has_value()) error = ErrorOf(*options.begin_state);
  if (error.ok() && options.valid_length.has_value()) error = options.valid_length->status();
  if (error.ok()) {
    absl::StatusOr<Unrolled> unrolled = cell.Unroll(length, inputs, options);
    if (unrolled.ok()) return *std::move(unrolled);
    error = unrolled.status();
  }
  std::vector<Symbol> states = Broken(cell.state_info().size(), error);
  if (options.merge_outputs.value_or(true)) return {Symbol(error), std::move(states)};
  return {Broken(static_cast<size_t>(length < 0 ? 0 : length), error), std::move(states)};
}

StepResult Step(BaseRNNCell& cell, const Symbol& input, const std::vector<Symbol>& states) {
  absl::Status error = input.status();
  if (error.ok()) error = ErrorOf(states);
  if (error.ok()) {
    absl::StatusOr<StepResult> result = cell.Step(input, states);
    if (result.ok()) return *std::move(result);
    error = result.status();
  }
  return {Symbol(error), Broken(cell.state_info().size(), error)};
}

std::vector<Symbol> BeginState(BaseRNNCell& cell, const StateFn& make) {
  absl::StatusOr<std::vector<Symbol>> states = cell.BeginState(make);
  if (states.ok()) return *std::move(states);
  return Broken(cell.state_info().size(), states.status());
}

}  // namespace cooper
