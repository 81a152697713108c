#ifndef COOPER_EXECUTOR_COMPILE_SHAPE_READERS_H_
#define COOPER_EXECUTOR_COMPILE_SHAPE_READERS_H_

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "symbol/symbol.h"

namespace cooper {

// Whether an operator looks at the shapes of its inputs and at no element.
inline bool ReadsShapesAlone(const Node& node) {
  constexpr absl::string_view kOps[] = {"zeros_like", "ones_like", "shape_array", "size_array",
                                        "_contrib_arange_like"};
  return !node.is_variable() && absl::c_linear_search(kOps, node.op()->name());
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_COMPILE_SHAPE_READERS_H_
