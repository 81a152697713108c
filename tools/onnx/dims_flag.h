#ifndef COOPER_TOOLS_ONNX_DIMS_FLAG_H_
#define COOPER_TOOLS_ONNX_DIMS_FLAG_H_

// Parses shapes with open extents on a command line.

#include <string>

#include "absl/status/statusor.h"
#include "module/onnx/symbolic_shape.h"

namespace cooper {

// Parses "data:batch,3,224,224;lengths:batch". An extent is a number, the name of an open one, or a
// name and the value for which the network was made, "length=60". Names consist of letters, digits
// and _ and do not begin with a digit. An input's name may contain colons: the last one separates.
//
// Fails with kInvalidArgument, naming the part, for other texts and for a name given twice.
absl::StatusOr<InputDims> ParseDimsFlag(const std::string& text);

}  // namespace cooper

#endif  // COOPER_TOOLS_ONNX_DIMS_FLAG_H_
