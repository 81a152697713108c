#ifndef COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_
#define COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_

// Collects the arrays that a symbol is bound with: finds the caller's arrays by name and allocates
// missing ones.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "executor/run/bind_options.h"
#include "executor/run/program_arrays.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Removes arrays from `options` whose names `symbol` does not have, and returns these names,
// sorted. kNotFound, naming both, if one of them resembles an argument or auxiliary state without
// array, or if an array of an argument is among the auxiliary states or the other way round.
absl::StatusOr<std::vector<std::string>> ExtractUnusedArrays(const Symbol& symbol,
                                                             BindOptions& options);

// Prepares `options` for Executor::Bind: fails with kInvalidArgument, naming the missing one,
// unless every argument and auxiliary state has an array, and sets grad_reqs to kNull for arguments
// without a gradient array.
absl::Status RequireArrays(const Symbol& symbol, BindOptions& options);

// Returns kResourceExhausted if the arenas, the outputs outside of them, and the arrays that
// BindArrays would allocate exceed options.max_bytes.
absl::Status CheckBytes(const CompiledProgram& compiled, const BindOptions& options);

// Returns the arrays of `options` by slot. Missing ones are allocated and filled with zeros, except
// for unbound_args. Does not check shapes: BoundProgram::Bind does. kNotFound if unbound_args names
// something that is no argument.
absl::StatusOr<ProgramArrays> BindArrays(const CompiledProgram& compiled,
                                         const BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_
