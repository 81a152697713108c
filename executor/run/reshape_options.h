#ifndef COOPER_EXECUTOR_RUN_RESHAPE_OPTIONS_H_
#define COOPER_EXECUTOR_RUN_RESHAPE_OPTIONS_H_

#include "absl/status/statusor.h"
#include "executor/run/bind_options.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// What Executor::Reshape binds `symbol` with, of the options and arrays that it is bound with: an
// array whose shape stays is shared; one of another shape is to be made anew, with its dtype. The
// errors are Reshape's, and InferShape's.
absl::StatusOr<BindOptions> ReshapeOptions(const Symbol& symbol, BindOptions bound,
                                           const KnownShapes& shapes, bool partial_shaping,
                                           bool allow_up_sizing);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_RESHAPE_OPTIONS_H_
