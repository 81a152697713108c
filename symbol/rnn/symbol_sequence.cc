#include "symbol/rnn/symbol_sequence.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<Symbol> MergeSteps(const std::vector<Symbol>& steps, int axis) {
  std::vector<Symbol> expanded;
  for (const Symbol& step : steps) {
    COOPER_ASSIGN_OR_RETURN(
        Symbol symbol,
        Symbol::Create("expand_dims", {.inputs = {step}, .attrs = {{"axis", absl::StrCat(axis)}}}));
    expanded.push_back(std::move(symbol));
  }
  return Symbol::Create("Concat",
                        {.inputs = std::move(expanded), .attrs = {{"dim", absl::StrCat(axis)}}});
}

}  // namespace

absl::StatusOr<int> TimeAxis(const std::string& layout) {
  const size_t axis = layout.find('T');
  if (axis == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout '", layout, "' has no axis T; use NTC or TNC"));
  }
  return static_cast<int>(axis);
}

absl::StatusOr<std::vector<Symbol>> SplitSteps(const Symbol& merged, int axis, int length,
                                               const std::string& op) {
  COOPER_ASSIGN_OR_RETURN(Symbol split,
                          Symbol::Create(op, {.inputs = {merged},
                                              .attrs = {{"axis", absl::StrCat(axis)},
                                                        {"num_outputs", absl::StrCat(length)},
                                                        {"squeeze_axis", "1"}}}));
  std::vector<Symbol> steps;
  for (int i = 0; i < split.num_outputs(); ++i) steps.push_back(split[i]);
  return steps;
}

absl::StatusOr<SymbolSequence> NormalizeSequence(int length, const SymbolSequence& sequence,
                                                 const std::string& layout,
                                                 std::optional<bool> merge) {
  COOPER_ASSIGN_OR_RETURN(const int axis, TimeAxis(layout));
  if (length < 1) {
    return absl::InvalidArgumentError(absl::StrCat("length ", length, " is not positive"));
  }
  if (sequence.is_merged()) {
    if (merge.value_or(true)) return sequence;
    if (sequence.merged().num_outputs() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("a symbol of ", sequence.merged().num_outputs(),
                       " outputs came as a sequence; give its outputs one per step"));
    }
    COOPER_ASSIGN_OR_RETURN(std::vector<Symbol> steps, SplitSteps(sequence.merged(), axis, length));
    return SymbolSequence(std::move(steps));
  }
  if (static_cast<int>(sequence.steps().size()) != length) {
    return absl::InvalidArgumentError(
        absl::StrCat("got ", sequence.steps().size(), " symbols for ", length, " steps"));
  }
  if (!merge.value_or(false)) return sequence;
  COOPER_ASSIGN_OR_RETURN(Symbol merged, MergeSteps(sequence.steps(), axis));
  return SymbolSequence(std::move(merged));
}

}  // namespace cooper
