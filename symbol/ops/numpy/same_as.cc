#include "symbol/ops/numpy/same_as.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

OpSchema::GradientFn GradientOf(const std::string& op) {
  return [op](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
    COOPER_ASSIGN_OR_RETURN(const OpSchema* schema, FindOp(op));
    if (!schema->gradient()) return std::vector<NodeEntry>();
    return schema->gradient()(c);
  };
}

OpSchema::ShapeFn ShapeOf(const std::string& op) {
  return [op](ShapeContext& c) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const OpSchema* schema, FindOp(op));
    return schema->shape()(c);
  };
}

}  // namespace cooper
