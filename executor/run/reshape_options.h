#ifndef COOPER_EXECUTOR_RUN_RESHAPE_OPTIONS_H_
#define COOPER_EXECUTOR_RUN_RESHAPE_OPTIONS_H_

#include "absl/status/statusor.h"
#include "executor/run/bind_options.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns the options with which Executor::Reshape binds `symbol` to `shapes`. `bound` has the
// options and arrays of the present binding: arrays whose shape stays are shared; arrays whose
// shape changes are left out, so that binding allocates them with the same dtype. The errors are
// Reshape's and InferShape's.
absl::StatusOr<BindOptions> ReshapeOptions(const Symbol& symbol, BindOptions bound,
                                           const KnownShapes& shapes, bool partial_shaping,
                                           bool allow_up_sizing);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RESHAPE_OPTIONS_H_
