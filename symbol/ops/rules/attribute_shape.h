#ifndef COOPER_SYMBOL_OPS_RULES_ATTRIBUTE_SHAPE_H_
#define COOPER_SYMBOL_OPS_RULES_ATTRIBUTE_SHAPE_H_

// Rules of operators without inputs whose shape is an attribute: constants
// (symbol/ops/elemwise/init.cc) and random arrays (symbol/ops/random/draw.cc).

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

// Returns the input names of an operator without inputs, for OpBuilder::Inputs.
inline OpSchema::Names NoInputs(const OpCall&) { return {}; }

// Shape rule: gives output 0 the shape `attribute`, in which 0 is an unknown extent
// (PartialShape::FromMXNet). Unknown extents come from the consumers: the begin state of an RNN has
// shape="(0, num_hidden)". As in MXNet, a complete shape from a consumer overrides an attribute
// with unknown extents. Fails with kInvalidArgument on a contradiction.
inline absl::Status ShapeOfAttribute(ShapeContext& c, const std::vector<int64_t>& attribute) {
  const PartialShape shape = PartialShape::FromMXNet(attribute);
  if (c.output(0).IsFull() && !shape.IsFull()) return absl::OkStatus();
  return c.SetOutput(0, shape, "the attribute shape");
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RULES_ATTRIBUTE_SHAPE_H_
