#ifndef COOPER_SYMBOL_RNN_SYMBOL_SEQUENCE_H_
#define COOPER_SYMBOL_RNN_SYMBOL_SEQUENCE_H_

// What recurrent cells take and give: a sequence as one symbol with a time axis, or as one symbol
// per step.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

class SymbolSequence {
 public:
  // One symbol of one output with a time axis; where that is, a layout says.
  SymbolSequence(Symbol merged) : value_(std::move(merged)) {}  // NOLINT: implicit
  // A symbol (batch_size, ...) per step.
  SymbolSequence(std::vector<Symbol> steps) : value_(std::move(steps)) {}  // NOLINT: implicit

  bool is_merged() const { return std::holds_alternative<Symbol>(value_); }
  // Requires is_merged().
  const Symbol& merged() const { return std::get<Symbol>(value_); }
  // Requires !is_merged().
  const std::vector<Symbol>& steps() const { return std::get<std::vector<Symbol>>(value_); }

  // The outputs of the merged symbol, or those of all steps.
  std::vector<Symbol> symbols() const {
    return is_merged() ? std::vector<Symbol>{merged()} : steps();
  }

 private:
  std::variant<Symbol, std::vector<Symbol>> value_;
};

// The axis of time in "NTC" (1) or "TNC" (0). kInvalidArgument for a layout without T.
absl::StatusOr<int> TimeAxis(const std::string& layout);

// The sequence merged or in steps, as `merge` says; as it is if `merge` is absent.
//
// Fails with kInvalidArgument if it has not `length` steps, or if what is to be split is a symbol
// of several outputs.
absl::StatusOr<SymbolSequence> NormalizeSequence(int length, const SymbolSequence& sequence,
                                                 const std::string& layout,
                                                 std::optional<bool> merge);

// The outputs of a split of `merged` along `axis`, one per step.
absl::StatusOr<std::vector<Symbol>> SplitSteps(const Symbol& merged, int axis, int length,
                                               const std::string& op = "split");

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_SYMBOL_SEQUENCE_H_
