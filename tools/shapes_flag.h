#ifndef COOPER_TOOLS_SHAPES_FLAG_H_
#define COOPER_TOOLS_SHAPES_FLAG_H_

// Parses shapes of a network's inputs on a command line.

#include <string>

#include "absl/status/statusor.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Parses "data:32,10;softmax_label:32,10". An extent of ? or -1 is unknown. A name may contain
// colons: the last one separates. Empty text gives no shapes.
//
// Fails with kInvalidArgument, naming the part, for other texts and for a name given twice.
absl::StatusOr<KnownShapes> ParseShapesFlag(const std::string& text);

}  // namespace cooper

#endif  // COOPER_TOOLS_SHAPES_FLAG_H_
