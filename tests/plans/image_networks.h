#ifndef COOPER_TESTS_PLANS_IMAGE_NETWORKS_H_
#define COOPER_TESTS_PLANS_IMAGE_NETWORKS_H_

// The networks of MXNet's image classification examples, written from the papers that describe
// them: what memory is planned for when nobody has tuned the planner for it.

#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The symbol's arguments `data` and `softmax_label`, of shapes (batch, channels, height, width) and
// (batch); its output is the classes' probabilities.
struct ImageNetwork {
  const char* name;
  Shape image;  // (channels, height, width)
  absl::StatusOr<Symbol> (*make)();
};

const std::vector<ImageNetwork>& ImageNetworks();

}  // namespace cooper

#endif  // COOPER_TESTS_PLANS_IMAGE_NETWORKS_H_
