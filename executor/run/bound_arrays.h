#ifndef COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_
#define COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_

// The arrays of an executor by name: those that the caller gave, and those that were missing.

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "executor/program/program.h"
#include "executor/run/bind_options.h"
#include "executor/run/bound_program.h"
#include "ndarray/array/array_map.h"
#include "symbol/graph/symbol.h"

namespace cooper {

struct BoundArrays {
  ArrayMap args, grads, auxs;
  std::set<std::string> constants;  // BindOptions::constants, and what follows from them

  // By slot, for a program of the same symbol: null where an argument has no array yet.
  ProgramArrays Of(const Program& program) const;

  // kInvalidArgument for constants.
  absl::Status CheckMayChange(const std::string& name) const;

  // Executor::CopyParamsFrom.
  absl::Status CopyFrom(const ArrayMap& new_args, const ArrayMap& new_auxs, bool allow_extra) const;
};

// Takes the arrays out of `options` whose names `symbol` does not have, and returns these names,
// sorted. kNotFound, naming both, if one of them resembles an argument or auxiliary state that has
// no array of the kind, or is one of the other kind.
absl::StatusOr<std::vector<std::string>> TakeUnusedArrays(const Symbol& symbol,
                                                          BindOptions& options);

// Executor::Bind: fails unless every argument and auxiliary state is given, and turns off the
// gradients of arguments that have no array for one.
absl::Status RequireArrays(const Symbol& symbol, BindOptions& options);

// Takes the arrays of `options` as they are, which ProgramRun::Create checks, and makes what is
// missing of zeros, but for unbound_args. kNotFound if one of those is no argument.
absl::StatusOr<BoundArrays> BindArrays(const CompiledProgram& compiled, const BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_
