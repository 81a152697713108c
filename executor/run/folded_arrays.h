#ifndef COOPER_EXECUTOR_RUN_FOLDED_ARRAYS_H_
#define COOPER_EXECUTOR_RUN_FOLDED_ARRAYS_H_

// Computes the values that depend only on a network's constants, such as transposed weights. The
// first executor that needs a value computes it; executors bound with the same FoldedArrays share
// it.

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "executor/passes/graph/graph_pass.h"
#include "executor/run/bind_options.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

// Thread-safe. Share it between executors of one network only: values are found by the names of
// their expressions. Its memory is that of all values.
class FoldedArrays {
 public:
  // Returns the value of `folded`, on `place`. The first call for a value computes it, on
  // `context`. `args` and `auxs` have the arrays of its variables, on `context`; a name must have
  // the same array in every call. The lock is held meanwhile, so other calls wait. Fails as binding
  // and running do.
  absl::StatusOr<NDArray> Get(const FoldedConstant& folded, const ArrayMap& args,
                              const ArrayMap& auxs, Context context, Context place);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, Context>, NDArray> arrays_;  // by FoldedConstant::name and place
};

// Adds the folded constants of the program to options.args, computed by options.folded, which is
// created if null. Fails as binding and running do.
absl::Status BindFolded(const CompiledProgram& compiled, BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_FOLDED_ARRAYS_H_
