#include "symbol/rnn/valid_length.h"

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<Symbol> WithLengths(const char* op, const Symbol& data, const Symbol& valid_length,
                                   int axis) {
  return Symbol::Create(op,
                        {.named = {{"data", data}, {"sequence_length", valid_length}},
                         .attrs = {{"use_sequence_length", "True"}, {"axis", absl::StrCat(axis)}}});
}

}  // namespace

absl::StatusOr<SymbolSequence> MaskSequence(int length, const SymbolSequence& sequence,
                                            const std::string& layout, const Symbol& valid_length,
                                            std::optional<bool> merge) {
  COOPER_ASSIGN_OR_RETURN(const int axis, TimeAxis(layout));
  COOPER_ASSIGN_OR_RETURN(const SymbolSequence merged,
                          NormalizeSequence(length, sequence, layout, true));
  COOPER_ASSIGN_OR_RETURN(Symbol masked,
                          WithLengths("SequenceMask", merged.merged(), valid_length, axis));
  return NormalizeSequence(length, std::move(masked), layout, merge);
}

absl::StatusOr<Symbol> LastStep(const std::vector<Symbol>& steps, const Symbol& valid_length) {
  COOPER_ASSIGN_OR_RETURN(const SymbolSequence merged,
                          NormalizeSequence(static_cast<int>(steps.size()), steps, "TNC", true));
  return WithLengths("SequenceLast", merged.merged(), valid_length, 0);
}

absl::StatusOr<Symbol> ReverseSequence(const Symbol& merged, const Symbol& valid_length) {
  return WithLengths("SequenceReverse", merged, valid_length, 0);
}

absl::StatusOr<Symbol> SwapBatchAndTime(const Symbol& data) {
  return Symbol::Create("swapaxes", {.inputs = {data}, .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
}

}  // namespace cooper
