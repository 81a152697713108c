#ifndef COOPER_EXECUTOR_BOUND_ARRAYS_H_
#define COOPER_EXECUTOR_BOUND_ARRAYS_H_

// The arrays of an executor by name: those that the caller gave, and those that were missing.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "executor/compile/lower.h"
#include "executor/executor.h"
#include "executor/program.h"
#include "executor/run/bound_program.h"
#include "ndarray/ndarray.h"

namespace cooper {

struct BoundArrays {
  ArrayMap args, grads, auxs;

  // By slot, for a program of the same symbol: null where an argument has no array yet.
  ProgramArrays Of(const Program& program) const;
};

// Takes the arrays of `options`, and makes what is missing of zeros, but for unbound_args. The
// errors are SimpleBind's of arrays.
absl::StatusOr<BoundArrays> BindArrays(const LoweredProgram& lowered, const BindOptions& options);

// The array of that name, or a null one.
NDArray FindArray(const ArrayMap& arrays, absl::string_view name);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_BOUND_ARRAYS_H_
