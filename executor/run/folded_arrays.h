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

// Thread-safe.
class FoldedArrays {
 public:
  // The value of `folded`, which is computed if nobody has asked for it yet. `args` and `auxs` have
  // the arrays of its variables, on `context`; equal names are to be equal arrays in every call. It
  // is computed there, and is then on `place`. Fails as binding does.
  absl::StatusOr<NDArray> Get(const FoldedConstant& folded, const ArrayMap& args,
                              const ArrayMap& auxs, Context context, Context place);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, Context>, NDArray> arrays_;  // by FoldedConstant::name and place
};

// Adds what was folded of the program to options.args, computed by options.folded, which is made
// where it is null. Fails as binding does.
absl::Status BindFolded(const CompiledProgram& compiled, BindOptions& options);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_FOLDED_ARRAYS_H_
