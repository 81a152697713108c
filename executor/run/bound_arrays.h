#ifndef COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_
#define COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_

// The arrays that a symbol is bound with: those that the caller gave by name, and those that were
// missing.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "executor/run/bind_options.h"
#include "executor/run/program_arrays.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Takes the arrays out of `options` whose names `symbol` does not have, and returns these names,
// sorted. kNotFound, naming both, if one of them resembles an argument or auxiliary state that has
// no array of the kind, or is one of the other kind.
absl::StatusOr<std::vector<std::string>> ExtractUnusedArrays(const Symbol& symbol,
                                                             BindOptions& options);

// Executor::Bind: fails unless every argument and auxiliary state is given, and turns off the
// gradients of arguments that have no array for one.
absl::Status RequireArrays(const Symbol& symbol, BindOptions& options);

// kResourceExhausted if the activations, the outputs, and the arrays that `options` does not give
// and binding would allocate, exceed options.max_bytes.
absl::Status CheckBytes(const CompiledProgram& compiled, const BindOptions& options);

// Takes the arrays of `options` as they are, which BoundProgram::Bind checks, and makes what is
// missing of zeros, but for unbound_args. kNotFound if one of those is no argument.
absl::StatusOr<ProgramArrays> BindArrays(const CompiledProgram& compiled,
                                         const BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BOUND_ARRAYS_H_
