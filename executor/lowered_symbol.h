#ifndef COOPER_EXECUTOR_LOWERED_SYMBOL_H_
#define COOPER_EXECUTOR_LOWERED_SYMBOL_H_

// The part of binding that needs no arrays: a symbol becomes a program.

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "executor/compile/lower.h"
#include "executor/executor.h"
#include "symbol/symbol.h"

namespace cooper {

struct Executor::Lowered {
  Symbol symbol;
  BindOptions options;
  LoweredProgram result;

  // Whether lowering this symbol with these options would give the same: the arrays that have come
  // since are what was inferred, and all else is equal.
  bool StillHolds(const Symbol& now, const BindOptions& with) const;
};

// Lowers a symbol and runs the passes but for `disabled`. Arrays of the options count as known
// shapes and types. The errors are SimpleBind's.
absl::StatusOr<LoweredProgram> LowerSymbol(const Symbol& symbol, const BindOptions& options,
                                           const std::set<std::string>& disabled);

// `disabled`, and the passes without which every node is computed, each for itself.
std::set<std::string> WithoutRewriting(std::set<std::string> disabled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_LOWERED_SYMBOL_H_
