#ifndef COOPER_MODULE_ONNX_CONSTANT_VALUES_H_
#define COOPER_MODULE_ONNX_CONSTANT_VALUES_H_

// Computes arrays of a network that are the same for all inputs, such as weights that a graph joins
// out of several parameters, or anchors that depend on the shape of an image alone.

#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/node.h"

namespace cooper {

// Returns the entry's elements on the CPU: the parameter itself, without a copy if it is on the
// CPU, or what the parameters `args` and `auxs` give. The kernels of its operators must be linked.
// kFailedPrecondition, naming the variable, if it depends on another one; else the errors of
// binding and running.
absl::StatusOr<NDArray> ConstantValue(const NodeEntry& entry, const ArrayMap& args,
                                      const ArrayMap& auxs);

// Returns output 0 of an operator that reads only the shapes of its inputs.
absl::StatusOr<NDArray> ValueFromShapes(const Node& node, const std::vector<Shape>& shapes,
                                        const std::vector<DType>& types);

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_CONSTANT_VALUES_H_
