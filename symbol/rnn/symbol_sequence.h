#ifndef COOPER_SYMBOL_RNN_SYMBOL_SEQUENCE_H_
#define COOPER_SYMBOL_RNN_SYMBOL_SEQUENCE_H_

// The input and output of recurrent cells: a sequence as one symbol with a time axis, or as one
// symbol per step.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A merged sequence or a sequence in steps. Both convert implicitly, so that cells accept either.
class SymbolSequence {
 public:
  // A symbol of one output with a time axis, whose position the layout gives.
  SymbolSequence(Symbol merged) : value_(std::move(merged)) {}  // NOLINT: implicit
  // One symbol (batch_size, ...) per step.
  SymbolSequence(std::vector<Symbol> steps) : value_(std::move(steps)) {}  // NOLINT: implicit

  bool is_merged() const { return std::holds_alternative<Symbol>(value_); }
  // Requires is_merged().
  const Symbol& merged() const { return std::get<Symbol>(value_); }
  // Requires !is_merged().
  const std::vector<Symbol>& steps() const { return std::get<std::vector<Symbol>>(value_); }

  // Returns the merged symbol, or the symbols of all steps.
  std::vector<Symbol> symbols() const {
    return is_merged() ? std::vector<Symbol>{merged()} : steps();
  }

 private:
  std::variant<Symbol, std::vector<Symbol>> value_;
};

// Returns the time axis of "NTC" (1) or "TNC" (0). Fails with kInvalidArgument for a layout without
// T.
absl::StatusOr<int> TimeAxis(const std::string& layout);

// Returns the sequence merged or in steps, as `merge` says; unchanged if `merge` is absent.
//
// Fails with kInvalidArgument if the sequence does not have `length` steps, or if a symbol to be
// split has several outputs.
absl::StatusOr<SymbolSequence> NormalizeSequence(int length, const SymbolSequence& sequence,
                                                 const std::string& layout,
                                                 std::optional<bool> merge);

// Splits `merged` along `axis` into one output per step, without that axis. `op` is SliceChannel or
// its alias, from which the node's automatic name is derived.
absl::StatusOr<std::vector<Symbol>> SplitSteps(const Symbol& merged, int axis, int length,
                                               const std::string& op = "split");

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_SYMBOL_SEQUENCE_H_
