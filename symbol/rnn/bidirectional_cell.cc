#include "symbol/rnn/bidirectional_cell.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/rnn/valid_length.h"

namespace cooper {
namespace {

absl::StatusOr<Symbol> Beside(const Symbol& l, const Symbol& r, int axis, const std::string& name) {
  return Symbol::Create("Concat",
                        {.name = name, .inputs = {l, r}, .attrs = {{"dim", absl::StrCat(axis)}}});
}

absl::StatusOr<std::vector<Symbol>> Steps(const SymbolSequence& sequence, int axis, int length) {
  if (!sequence.is_merged()) return sequence.steps();
  return SplitSteps(sequence.merged(), axis, length, "SliceChannel");
}

}  // namespace

BidirectionalCell::BidirectionalCell(RNNCellPtr l_cell, RNNCellPtr r_cell,
                                     BidirectionalCellOptions options)
    : ComposedCell(std::move(options.params)), output_prefix_(std::move(options.output_prefix)) {
  Add(std::move(l_cell));
  Add(std::move(r_cell));
}

absl::StatusOr<StepResult> BidirectionalCell::Step(const Symbol&, const std::vector<Symbol>&) {
  return absl::UnimplementedError(absl::StrCat(
      "BidirectionalCell '", output_prefix_,
      "' cannot take single steps, since its second cell starts at the end; use Unroll"));
}

std::string BidirectionalCell::Description() const {
  return absl::StrCat("BidirectionalCell '", output_prefix_, "'");
}

absl::StatusOr<Unrolled> BidirectionalCell::Unroll(int length, const SymbolSequence& inputs,
                                                   const UnrollOptions& options) {
  Reset();
  if (options.valid_length.has_value()) return UnrollLengths(length, inputs, options);
  COOPER_ASSIGN_OR_RETURN(const SymbolSequence steps, UnrollInputs(length, inputs, options, false));
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> states, FirstStates(options));
  const auto middle = states.begin() + cells()[0]->state_info().size();

  UnrollOptions cell_options = options;
  cell_options.begin_state = std::vector<Symbol>(states.begin(), middle);
  COOPER_ASSIGN_OR_RETURN(Unrolled l, cells()[0]->Unroll(length, steps, cell_options));
  std::vector<Symbol> reversed(steps.steps().rbegin(), steps.steps().rend());
  cell_options.begin_state = std::vector<Symbol>(middle, states.end());
  COOPER_ASSIGN_OR_RETURN(Unrolled r, cells()[1]->Unroll(length, reversed, cell_options));

  COOPER_ASSIGN_OR_RETURN(
      SymbolSequence outputs,
      JoinOutputs(length, l.outputs, r.outputs, options.layout, options.merge_outputs));
  l.states.insert(l.states.end(), r.states.begin(), r.states.end());
  return Unrolled{std::move(outputs), std::move(l.states)};
}

// The second cell gets the steps time-major, the only layout of SequenceReverse. In padding both
// cells' outputs are 0, and stay in place when the second's are reversed again.
absl::StatusOr<Unrolled> BidirectionalCell::UnrollLengths(int length, const SymbolSequence& inputs,
                                                          const UnrollOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const SymbolSequence merged, UnrollInputs(length, inputs, options, true));
  COOPER_ASSIGN_OR_RETURN(const int axis, TimeAxis(options.layout));
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> states, FirstStates(options));
  const auto middle = states.begin() + cells()[0]->state_info().size();

  UnrollOptions cell_options = options;
  cell_options.merge_outputs = true;
  cell_options.begin_state = std::vector<Symbol>(states.begin(), middle);
  COOPER_ASSIGN_OR_RETURN(Unrolled l, cells()[0]->Unroll(length, merged, cell_options));

  Symbol steps = merged.merged();
  if (axis != 0) {
    COOPER_ASSIGN_OR_RETURN(steps, SwapBatchAndTime(steps));
  }
  COOPER_ASSIGN_OR_RETURN(steps, ReverseSequence(steps, *options.valid_length));
  cell_options.layout = "TNC";
  cell_options.begin_state = std::vector<Symbol>(middle, states.end());
  COOPER_ASSIGN_OR_RETURN(Unrolled r, cells()[1]->Unroll(length, steps, cell_options));
  COOPER_ASSIGN_OR_RETURN(Symbol forward_again,
                          ReverseSequence(r.outputs.merged(), *options.valid_length));
  if (axis != 0) {
    COOPER_ASSIGN_OR_RETURN(forward_again, SwapBatchAndTime(forward_again));
  }

  COOPER_ASSIGN_OR_RETURN(Symbol joined, Beside(l.outputs.merged(), forward_again, 2,
                                                absl::StrCat(output_prefix_, "out")));
  COOPER_ASSIGN_OR_RETURN(
      SymbolSequence outputs,
      NormalizeSequence(length, std::move(joined), options.layout, options.merge_outputs));
  l.states.insert(l.states.end(), r.states.begin(), r.states.end());
  return Unrolled{std::move(outputs), std::move(l.states)};
}

absl::StatusOr<SymbolSequence> BidirectionalCell::JoinOutputs(int length, const SymbolSequence& l,
                                                              const SymbolSequence& r,
                                                              const std::string& layout,
                                                              std::optional<bool> merge) const {
  COOPER_ASSIGN_OR_RETURN(const int axis, TimeAxis(layout));
  if (merge.value_or(l.is_merged() && r.is_merged())) {
    COOPER_ASSIGN_OR_RETURN(const Symbol forward_again,
                            Symbol::Create("reverse", {.inputs = {r.merged()},
                                                       .attrs = {{"axis", absl::StrCat(axis)}}}));
    COOPER_ASSIGN_OR_RETURN(
        Symbol output, Beside(l.merged(), forward_again, 2, absl::StrCat(output_prefix_, "out")));
    return SymbolSequence(std::move(output));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> l_steps, Steps(l, axis, length));
  COOPER_ASSIGN_OR_RETURN(const std::vector<Symbol> r_steps, Steps(r, axis, length));
  std::vector<Symbol> outputs;
  for (int i = 0; i < length; ++i) {
    COOPER_ASSIGN_OR_RETURN(Symbol output, Beside(l_steps[i], r_steps[length - 1 - i], 1,
                                                  absl::StrCat(output_prefix_, "t", i)));
    outputs.push_back(std::move(output));
  }
  return SymbolSequence(std::move(outputs));
}

}  // namespace cooper
