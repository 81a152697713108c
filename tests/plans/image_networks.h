#ifndef COOPER_TESTS_PLANS_IMAGE_NETWORKS_H_
#define COOPER_TESTS_PLANS_IMAGE_NETWORKS_H_

// The networks of MXNet's image classification examples, written from the papers that describe
// them, as memory planning problems for which the planner was not tuned.

#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// A network with arguments `data` (batch, channels, height, width) and `softmax_label` (batch); its
// output is the probabilities of the classes.
struct ImageNetwork {
  const char* name;
  Shape image;  // (channels, height, width)
  absl::StatusOr<Symbol> (*make)();
};

const std::vector<ImageNetwork>& ImageNetworks();

}  // namespace cooper

#endif  // COOPER_TESTS_PLANS_IMAGE_NETWORKS_H_
